"""Whoever only looks on gets the newest of what comes again and again, and every one of all else; whoever listens to all still gets all."""

import threading
import time

import pytest
from net_rig import free_port
from test_net_bus import drain, heard, message
from waiting import until

from pushrod.net import Link, ZenohBus
from pushrod.net.glance import EVERY
from pushrod.runtime import Accepted, BeginMotion, Command, EndMotion, JointState, Message, Outcome, Position, Stop, Transition
from pushrod.runtime.result import refused


@pytest.fixture
def pair():
    end = f"tcp/127.0.0.1:{free_port()}"
    with ZenohBus(Link(end)) as one, ZenohBus(Link(connect=end)) as other:
        yield one, other


def state(k: int) -> Message:
    return message(JointState(("j",), (float(k),)), time=float(k))


def outcome(k: int, payload, result, source: str = "me") -> Message:
    return message(Outcome(Command(payload, source, float(k), sequence=k), result), time=float(k))


def test_of_a_stream_the_newest_and_the_last(pair):
    one, other = pair
    glance, whole = other.subscribe("actuator", (), 10_000, glance=True), other.subscribe("actuator", (), 10_000)
    heard(one, other, glance)
    heard(one, other, whole)
    drain(glance)
    begun = time.monotonic()
    for k in range(1000):
        one.publish(state(k))
        time.sleep(2e-4)
    took = time.monotonic() - begun
    until(lambda: whole.statistics().waiting == 1000)
    until(lambda: glance.statistics().waiting > 0)
    threading.Event().wait(3.0 * EVERY)  # what was left when the stream ended
    seen = [one.payload.positions[0] for one in drain(glance)]
    assert seen[-1] == 999.0, "the last of a stream is not lost"
    assert seen == sorted(set(seen)), "none twice, in order"
    assert 2 <= len(seen) <= took / EVERY + 2


def test_what_is_no_stream_comes_each_and_at_once(pair):
    one, other = pair
    glance = other.subscribe((), (), 1000, glance=True)
    heard(one, other, glance)
    told = [message(Transition("disarmed", "armed", str(k)), "state_machine", time=float(k)) for k in range(20)]
    told += [outcome(k, Stop(), Accepted()) for k in range(20)]
    for each in told:
        one.publish(each)
    until(lambda: glance.statistics().waiting >= 40)
    seen = [each.payload for each in drain(glance)]
    assert [each for each in seen if not isinstance(each, EndMotion)] == [each.payload for each in told]  # `heard` has sent some of these


def test_among_a_thousand_accepted_commands_one_that_was_refused_is_seen(pair):
    one, other = pair
    glance = other.subscribe((), (), 1000, glance=True)
    heard(one, other, glance)
    no = refused("not_armed", "motor", "Position")
    for k in range(300):
        one.publish(outcome(k, Position(0.1), no if k == 150 else Accepted(), "ann" if k == 200 else "bob"))
    threading.Event().wait(4.0 * EVERY)
    seen = [each for each in drain(glance) if not isinstance(each.payload, EndMotion)]  # `heard` has sent some of these
    assert len(seen) < 50
    assert [each.payload.result for each in seen].count(no) == 1
    assert [each.payload.command.sequence for each in seen if each.payload.command.source == "ann"] == [200]
    assert max(each.payload.command.sequence for each in seen) == 299


def test_of_motions_begun_and_cut_short_a_thousand_times_the_newest_and_each_other_way_to_end(pair):
    """A loop that commands positions begins and ends one with every call."""
    one, other = pair
    glance = other.subscribe("actuator", (), 1000, glance=True)
    heard(one, other, glance)
    for k in range(300):
        one.publish(message(BeginMotion(0.0, float(k), float(k)), time=float(k)))
        one.publish(message(EndMotion(float(k), "limit_reached" if k == 150 else "cancelled"), time=float(k)))
    threading.Event().wait(4.0 * EVERY)
    seen = [each.payload for each in drain(glance)]
    assert len(seen) < 100
    assert [end.position for end in seen if isinstance(end, EndMotion) and end.reason == "limit_reached"] == [150.0]
    assert max(end.position for end in seen if isinstance(end, EndMotion)) == 299.0
    assert max(begun.target_position for begun in seen if isinstance(begun, BeginMotion)) == 299.0


def test_who_comes_late_gets_the_newest(pair):
    one, other = pair
    one.publish(state(7))
    late = other.subscribe("actuator", (), 100, latched=True, glance=True)
    until(lambda: late.statistics().waiting == 1)
    assert drain(late)[0].payload.positions == (7.0,)
    one.publish(state(8))
    until(lambda: late.statistics().waiting == 1)
    assert drain(late)[0].payload.positions == (8.0,)
