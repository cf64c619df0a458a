"""Prefixes, types, bounds: who gets what, once, and who is told of drops."""

import asyncio
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from pushrod.core.errors import InputError
from pushrod.runtime.bus import Bus, LocalBus
from pushrod.runtime.message import HardwareError, JointState, Message
from pushrod.runtime.payload import Position


def message(topic: str, payload=None, time: float = 0.0) -> Message:
    return Message(payload or JointState(("j",), (1.0,)), tuple(topic.split("/")), time, time, "r")


@pytest.fixture(params=["local", "zenoh"])
def make(request) -> Iterator[Callable[..., Bus]]:
    """A bus of each kind: what holds in one process holds on the network too."""
    made: list[Bus] = []

    def bus(now: Callable[[], float] = time.monotonic) -> Bus:
        if request.param == "local":
            made.append(LocalBus(now))
        else:
            net = pytest.importorskip("pushrod.net")
            made.append(net.ZenohBus(net.Link(), now=now))
        return made[-1]

    yield bus
    for one in made:
        one.close()


def test_a_prefix_sees_what_is_at_it_and_below(make) -> None:
    bus = make(lambda: 0.0)
    everything, sensors, other = bus.subscribe(), bus.subscribe(("sensor", "base")), bus.subscribe(("sensor", "base2"))
    bus.publish(message("sensor/base/joint1/imu"))
    bus.publish(message("sensor/base"))
    bus.publish(message("actuator/base"))
    assert [everything.statistics().waiting, sensors.statistics().waiting, other.statistics().waiting] == [3, 2, 0]


def test_types_are_filtered_exactly(make) -> None:
    bus = make(lambda: 0.0)
    states = bus.subscribe((), (JointState,))
    bus.publish(message("a", HardwareError(("a",), "hot")))
    bus.publish(message("a"))
    assert isinstance(states.poll().payload, JointState)
    assert states.poll() is None


def test_a_full_queue_drops_and_counts_and_never_blocks(make) -> None:
    bus = make(lambda: 9.0)
    oldest, newest = bus.subscribe(size=2), bus.subscribe(size=2, policy="drop_newest")
    for k in range(5):
        bus.publish(message("a", time=float(k)))
    assert [m.time for m in (oldest.poll(), oldest.poll())] == [3.0, 4.0]
    assert [m.time for m in (newest.poll(), newest.poll())] == [0.0, 1.0]
    assert oldest.statistics().dropped == newest.statistics().dropped == 3
    (topic,) = bus.statistics()
    assert (topic.messages, topic.rate, topic.age, topic.dropped) == (5, 1.0, 5.0, 6)


def test_the_rate_of_a_topic_is_that_of_late_and_none_once_it_is_silent() -> None:
    now = 0.0
    bus = LocalBus(lambda: now)

    def rate(hz: float, seconds: float) -> float:
        nonlocal now
        for _ in range(round(hz * seconds)):
            now += 1.0 / hz
            bus.publish(message("a", time=now))
        return bus.statistics()[0].rate

    assert rate(100.0, 10.0) == pytest.approx(100.0)
    assert rate(10.0, 4.0) == pytest.approx(10.0), "not the mean since the first message"
    now += 1.0
    assert bus.statistics()[0].rate == pytest.approx(10.0), "it may still be late"
    now += 5.0
    assert bus.statistics()[0].rate == 0.0
    assert rate(0.2, 20.0) == pytest.approx(0.2), "what is slow is not silent"
    now += 20.0
    assert bus.statistics()[0].rate == pytest.approx(0.2)
    now += 10.0
    assert bus.statistics()[0].rate == 0.0


def test_who_comes_late_gets_the_last_value_on_request(make) -> None:
    bus = make(lambda: 0.0)
    bus.publish(message("a", time=1.0))
    bus.publish(message("a", time=2.0))
    assert bus.subscribe(("a",)).poll() is None
    latched = bus.subscribe(("a",), latched=True)
    assert latched.poll().time == 2.0
    assert latched.poll() is None


def test_after_unsubscribing_nothing_comes_and_waiters_end(make) -> None:
    bus = make(lambda: 0.0)

    async def main() -> list[float]:
        watch = bus.subscribe(("a",))
        seen: list[float] = []

        async def read() -> None:
            async for m in watch:
                seen.append(m.time)

        task = asyncio.create_task(read())
        await asyncio.sleep(0)
        bus.publish(message("a", time=1.0))
        await asyncio.sleep(0.01)
        bus.unsubscribe(watch)
        bus.publish(message("a", time=2.0))
        await task
        return seen

    from pushrod.runtime.clock import SteppedClock

    with asyncio.Runner(loop_factory=SteppedClock().loop_factory) as runner:
        assert runner.run(main()) == [1.0]


def test_an_observer_whose_event_loop_has_ended_does_not_hurt_the_publisher(make) -> None:
    bus = make(lambda: 0.0)
    watch = bus.subscribe()
    loop = asyncio.new_event_loop()
    task = loop.create_task(watch.get())
    task._log_destroy_pending = False  # type: ignore[attr-defined]
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    with ThreadPoolExecutor(1) as elsewhere:
        elsewhere.submit(bus.publish, message("a")).result()
    assert watch.statistics().waiting == 1


@pytest.mark.parametrize("prefix", [5, None, ("actuator", 5), [None], [["actuator"]]], ids=repr)
def test_a_prefix_that_could_never_match_is_refused(make, prefix) -> None:
    with pytest.raises(InputError, match="a topic is text such as 'actuator/base', or its words"):
        make().subscribe(prefix)


@pytest.mark.parametrize("types", ["JointState", ["JointState"], 5, [None], (Position, "Stop")], ids=repr)
def test_a_type_that_is_none_is_refused(make, types) -> None:
    with pytest.raises(InputError, match="types must be classes, such as .JointState., not their names"):
        make().subscribe("actuator", types)


def test_words_and_text_may_be_mixed_and_one_type_needs_no_list(make) -> None:
    bus = make()
    watch = bus.subscribe(["actuator", "base/shoulder"], Position)
    assert watch.prefix == ("actuator", "base", "shoulder")
    assert watch.types == {Position}
