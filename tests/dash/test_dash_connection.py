"""A connection whose client takes nothing of what it is sent is aborted; one that takes a little is not."""

import asyncio

import pytest
from uvicorn import Config
from uvicorn.server import ServerState

from pushrod.dash.connection import MOST, STALLED, WATCH, Connection


class Clock:
    """An event loop as far as a connection uses one."""

    def __init__(self):
        self.now, self.calls = 0.0, []

    def time(self):
        return self.now

    def call_later(self, delay, call, *arguments):
        handle = asyncio.TimerHandle(self.now + delay, call, arguments, self)
        self.calls.append(handle)
        return handle

    def _timer_handle_cancelled(self, handle):
        self.calls.remove(handle)

    def get_debug(self):
        return False

    def run(self, until):
        while due := sorted((one for one in self.calls if one.when() <= until), key=lambda one: one.when()):
            self.now = due[0].when()
            self.calls.remove(due[0])
            due[0]._run()
        self.now = until


class Transport:
    def __init__(self):
        self.unsent, self.ended, self.protocol = 0, "", None

    def get_write_buffer_size(self):
        return self.unsent

    def get_extra_info(self, name):
        return None

    def get_protocol(self):
        return self.protocol

    def is_closing(self):
        return bool(self.ended)

    def close(self):
        self.ended = "closed"

    def abort(self):
        self.ended, self.unsent = "aborted", 0


@pytest.fixture
def connected():
    """Open connections of one server."""
    loop, state, config = Clock(), ServerState(), Config(lambda *_: None, http=Connection)
    config.load()

    def connect(busy=False):
        one = Connection(config, state, {}, loop)
        transport = Transport()
        transport.protocol = one
        one.connection_made(transport)
        if busy:
            one.cycle = type("Cycle", (), {"response_complete": False})()
            one._stop()
        return one

    connect.loop = loop
    return connect


def test_a_client_that_takes_nothing_is_aborted(connected):
    one = connected(busy=True)
    one.transport.unsent = 1000
    connected.loop.run(STALLED - WATCH)
    assert one.transport.ended == ""
    connected.loop.run(STALLED + 2 * WATCH)
    assert one.transport.ended == "aborted"


def test_a_client_that_takes_a_little_is_not(connected):
    one = connected(busy=True)
    for k in range(20):
        one.transport.unsent = 10_000 - k
        connected.loop.run(5.0 * k)
    one.transport.unsent = 20_000  # refilled, after it had been emptied
    for k in range(20, 40):
        one.resume_writing()
        connected.loop.run(5.0 * k)
    assert one.transport.ended == ""


def test_a_request_that_the_application_works_on_may_take_its_time(connected):
    one = connected(busy=True)
    connected.loop.run(10 * STALLED)
    assert one.transport.ended == ""


def test_a_connection_that_closes_is_not_waited_for_without_end(connected):
    one = connected(busy=True)
    one.transport.unsent = 1000
    one.transport.close()
    connected.loop.run(STALLED + 2 * WATCH)
    assert one.transport.ended == "aborted"
    assert connected.loop.calls == []


def test_the_connection_that_delivers_nothing_for_longest_makes_room(connected):
    served = connected(busy=True)  # the oldest, without a response yet
    connected.loop.run(0.1)
    stuck = connected(busy=True)
    stuck.transport.unsent = 1000
    connected.loop.run(0.2)
    later = [connected(busy=True) for _ in range(MOST - 2)]
    for one in later:
        one.transport.unsent = 1000
    assert stuck.transport.ended == ""
    connected(busy=True)
    assert (stuck.transport.ended, served.transport.ended) == ("aborted", "")
    connected(busy=True)  # one that is aborted is not chosen twice, though its end is still to come
    assert sum(one.transport.ended == "aborted" for one in later) == 1
    assert served.transport.ended == ""
