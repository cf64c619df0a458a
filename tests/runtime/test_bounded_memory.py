"""Memory does not grow with the number of sources, lease renewals, timers and topics."""

import gc
import sys
from collections.abc import Callable
from typing import Any

import pytest
from rig import Servo, robot, run

from pushrod.runtime import Hold, JointState, LocalBus, Message, Runtime, SteppedClock, WallClock
from pushrod.runtime.bus import KINDS, TOPICS
from pushrod.runtime.gate import SOURCES
from pushrod.runtime.handle import HANDLES

MANY = 100_000


class Quiet(Servo):
    def handle_command(self, payload: Any, command: Any) -> None:
        return None


def growth(some: Callable[[int], object], warm: int = 5_000) -> int:
    """Return how many blocks of memory MANY calls leave behind, after the bounded stores are full."""
    for k in range(warm):
        some(k)
    gc.collect()
    before = sys.getallocatedblocks()
    for k in range(warm, warm + MANY):
        some(k)
    gc.collect()
    return sys.getallocatedblocks() - before


def test_a_hundred_thousand_sources_take_no_more_memory_than_a_few() -> None:
    async def body(rt: Runtime) -> Any:
        rt.arm()
        grown = growth(lambda k: rt.handle("motor", f"source {k}").direct.set_position(0.1, sequence=1))
        return grown, len(rt["motor"].host.gate.seen), len(rt._handles._handles)

    grown, seen, handles = run(robot(), {"motor": Quiet}, body)
    assert (seen, handles <= HANDLES) == (SOURCES, True)
    assert grown < 2_000


def test_a_handle_in_use_stays_the_same_object() -> None:
    async def body(rt: Runtime) -> Any:
        mine = rt["motor"]
        for k in range(3 * HANDLES):
            rt.handle("motor", str(k))
            assert rt["motor"] is mine

    run(robot(), {"motor": Quiet}, body)


@pytest.mark.parametrize("clock", [SteppedClock, WallClock])
@pytest.mark.parametrize("seconds", [3600.0, float("inf")])
def test_a_hundred_thousand_lease_renewals_take_no_memory(clock: Any, seconds: float) -> None:
    async def body(rt: Runtime) -> Any:
        motor = rt["motor"]
        return growth(lambda k: motor.take_lease(seconds))

    assert run(robot(), {"motor": Quiet}, body, clock()) < 2_000


def test_leases_that_alternate_between_short_and_long_end_on_time() -> None:
    async def body(rt: Runtime) -> Any:
        import asyncio

        motor = rt["motor"]
        for seconds in (3600.0, 1.0, 7200.0, 0.5):
            motor.take_lease(seconds)
        await asyncio.sleep(0.4)
        held = motor.host.gate.lease is not None
        await asyncio.sleep(0.2)
        return held, motor.host.gate.lease, len(rt.clock.heap) < 100

    assert run(robot(), {"motor": Quiet}, body) == (True, None, True)


@pytest.mark.parametrize("clock", [SteppedClock, WallClock])
def test_cancelled_timers_take_no_memory(clock: Any) -> None:
    timers = clock()
    timers.open()
    called: list[int] = []
    try:
        timers.later(1800.0, lambda: called.append(1))
        assert growth(lambda k: timers.later(3600.0, lambda: None)()) < 2_000
    finally:
        timers.close()


def test_timers_that_were_not_cancelled_survive_the_others() -> None:
    clock = SteppedClock()
    called: list[int] = []
    for k in range(1000):
        cancel = clock.later(1.0 + k * 1e-3, lambda k=k: called.append(k))
        if k % 100:
            cancel()
    clock.advance(5.0)
    assert called == list(range(0, 1000, 100))


def test_topics_and_kinds_are_bounded_and_the_state_of_others_stays() -> None:
    bus = LocalBus(lambda: 0.0)
    bus.publish(Message(Hold(), ("state_machine",), 0.0, 0.0, "r"))
    for k in range(3 * TOPICS):
        bus.publish(Message(JointState(("a",)), ("sensor", f"object {k}"), 1.0 + k, 0.0, "r"))
    assert len(bus.statistics()) <= TOPICS
    assert [m for m in bus.last() if m.topic == ("state_machine",)]
    for k in range(3 * KINDS):
        bus.publish(Message(type(f"Kind{k}", (), {})(), ("sensor", "x"), 1e6 + k, 0.0, "r"))
    assert sum(1 for m in bus.last() if m.topic == ("sensor", "x")) == KINDS
