"""Stops at a router where another host answers with bytes that cannot be read: every other robot is stopped all the same."""

import asyncio
import json
import threading
from contextlib import ExitStack, contextmanager

import msgspec
import pytest

pytest.importorskip("zenoh", reason="the extra `net` is not installed: pip install 'pushrod[net]'")

from net.net_rig import HostProcess, free_port
from net.waiting import until
from pushrod.cli.estop import _stop
from pushrod.net import Link, Session, key, router
from pushrod.net.wire import Hello, Reply, Value, encode

pytestmark = pytest.mark.on_time

DEEP = b"\x91" * 5000
BODIES = {"no message": b"\xff\xff", "empty": b"", "another type": msgspec.msgpack.encode(5), "bad text": b"\xa2\xff\xff", "deep": DEEP}
HOST = {"instance": "i", "where": "w", "ok": True, "state": "disarmed", "failures": {}, "why": "", "ignored": []}
VALUES = {
    "no mapping": 5,
    "no keys": {},
    "unknown state": HOST | {"state": "asleep"},
    "no outcome": HOST | {"ok": 1},
    "failures": HOST | {"failures": 7},
}
ANSWERS = {**BODIES, **{name: encode(Reply(Value(value))) for name, value in VALUES.items()}, "a result": b"\x91\x92\xa1a\xc0"}


@pytest.fixture(scope="module")
def meeting():
    end = f"tcp/127.0.0.1:{free_port()}"
    with router(Link(end)), HostProcess(connect=end, armed=False), Session(Link(connect=end)) as session:
        yield end, session.zenoh


@contextmanager
def answering(session, name, body):
    """Answer every query below a key."""
    declared = session.declare_queryable(name, lambda query: query.reply(query.key_expr if "ask" in name else name, body))
    try:
        yield
    finally:
        declared.undeclare()


def arm(pushrod, end):
    pushrod("reset", "arm", "--net", end)
    assert pushrod("arm", "arm", "--net", end).exit_code == 0


def state(pushrod, end):
    return json.loads(pushrod("top", "arm", "--net", end, "--json").stdout)["robots"][0]["overview"]["state"]


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_a_hello_that_cannot_be_read_hides_no_robot(meeting, pushrod, body):
    end, session = meeting
    arm(pushrod, end)
    with answering(session, key.hello("evil"), body):
        got = pushrod("disarm", "arm", "--net", end)
        assert (got.exit_code, got.stdout) == (0, "arm: disarmed\n"), got.output
        got = pushrod("estop", "--net", end)
        assert (got.exit_code, got.stdout) == (0, "arm: estopped\n"), got.output


@pytest.mark.parametrize("body", ANSWERS.values(), ids=ANSWERS)
def test_an_answer_that_cannot_be_read_is_the_failure_of_that_robot_alone(meeting, pushrod, body):
    end, session = meeting
    arm(pushrod, end)
    hello = encode(Hello(key.SCHEMA, "1", "evil", "f", "inst"))
    with answering(session, key.hello("evil"), hello), answering(session, key.of("evil", "ask", key.BELOW), body):
        got = pushrod("estop", "--net", end)
        assert got.exit_code in (3, 4), got.output
        assert "arm: estopped\n" in got.stdout
        assert "NOT STOPPED: evil: unreadable answer" in got.stderr
        assert "Traceback" not in got.output
    assert state(pushrod, end) == "estopped"


def test_many_hosts_that_do_not_answer_delay_no_stop_of_another(meeting, pushrod):
    """The names come before that of the robot, and are more than the threads of a pool on a small computer."""
    end, session = meeting
    arm(pushrod, end)
    unanswered, is_stopped = [], threading.Event()

    def ask(query):
        query.reply(query.key_expr, b"") if is_stopped.is_set() else unanswered.append(query)

    with ExitStack() as stack:
        for n in range(40):
            stack.enter_context(answering(session, key.hello(f"a{n:02}"), encode(Hello(key.SCHEMA, "1", f"a{n:02}", "f", f"i{n}"))))
            declared = session.declare_queryable(key.of(f"a{n:02}", "ask", key.BELOW), ask)
            stack.callback(declared.undeclare)
        stopping = threading.Thread(target=lambda: asyncio.run(_stop([], [end], None, "ann")))
        stopping.start()
        until(lambda: state(pushrod, end) == "estopped", 8.0)
        is_stopped.set()
        while unanswered:
            ask(unanswered.pop())
        stopping.join(30.0)


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_a_description_that_cannot_be_read_hides_no_robot_from_top(meeting, pushrod, body):
    end, session = meeting
    told = msgspec.Raw(body if body and len(body) < 5 and body[0] != 0xFF else b"\x05")
    hello = encode(Hello(key.SCHEMA, "1", "evil", "f", "inst", told))
    with answering(session, key.hello("evil"), hello), answering(session, key.of("evil", "info", key.BELOW), body):
        got = pushrod("top", "--once", "--net", end)
        assert "arm  " in got.stdout, got.output
        assert "evil" in got.output
        got = pushrod("arm", "evil", "--net", end)
        assert got.exit_code == 4, got.output
        assert got.stderr.startswith("error: ")
