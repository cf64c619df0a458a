"""More of the kind of cases 21, 33 and 34: drivers that call back, command others, crash anywhere, and take their time."""

import asyncio
import threading
from contextlib import nullcontext

import msgspec
import numpy as np
import pytest
from fixture_r import DISARMED, LIMITS, TOPIC, Probe, drive, heard, robot

from pushrod.core.errors import InputError
from pushrod.robot import Actuator, Controller, Joint, Parameter, ParameterRef, Reaction, Robot, Transmission, Watchdog
from pushrod.runtime import HardwareError, JointState, LeaseChanged, Message, State, SteppedClock, Stopped, WallClock


class Options(msgspec.Struct):
    gain: float = 0.0


GAIN = {"options": {"gain": ParameterRef("gain")}, "parameters": [Parameter("gain", float, 0.5, 0.0, 10.0)]}


def two() -> Robot:
    joints = [Joint("j1", "revolute", "base", "a", limits=LIMITS), Joint("j2", "revolute", "a", "b", limits=LIMITS)]
    return Robot("r", ["base", "a", "b"], joints, [Actuator("m1", "j1"), Actuator("m2", "j2")])


@pytest.mark.parametrize("clock", [SteppedClock, WallClock])
def test_a_timer_that_raises_stops_its_driver_and_nobody_else(clock) -> None:
    others = threading.Event()

    class Wrong(Probe):
        def init(self, context, options):
            super().init(context, options)
            context.call_later(0.01, self.fail)
            context.call_later(0.02, lambda: self.commands.append("after it failed"))

        def fail(self):
            raise OSError("cable")

    class Sound(Probe):
        def init(self, context, options):
            super().init(context, options)
            context.call_later(0.03, others.set)

    wrong = Wrong()
    made = iter((wrong, Probe(), Probe()))

    async def body(rt):
        watch = rt.subscribe("safety/error", latched=True)
        await (asyncio.sleep(0.1) if clock is SteppedClock else asyncio.to_thread(others.wait, 5.0))
        while not rt.arm().ok:
            await asyncio.sleep(0.001)
        return heard(watch), rt.state, rt["m1"].statistics().restarts, rt["m2"].direct.set_position(0.1)

    told, state, restarts, other = drive(two(), {"m1": lambda: next(made), "m2": Sound}, body, clock())
    assert told == [HardwareError(("base", "j1", "m1"), "OSError: cable")]
    assert (state, restarts, other.ok, others.is_set()) == (State.ARMED, 1, True, True)
    assert wrong.commands == []


def test_a_driver_may_take_a_lease_on_itself_from_a_command() -> None:
    class Grasping(Probe):
        def handle_command(self, payload, command):
            return self.context.actuator("motor").take_lease(1.0).ok

    async def body(rt):
        watch = rt.subscribe(TOPIC, [LeaseChanged])
        rt.arm()
        return rt["motor"].direct.set_position(0.1), heard(watch), rt["motor"].direct.set_position(0.2)

    first, (change,), second = drive(robot(), {"motor": Grasping}, body)
    assert first.info is True
    assert (change.old, change.new) == (None, "motor")
    assert second.reason == "lease"


@pytest.mark.parametrize(
    "wrong",
    [{"seconds": float("nan")}, {"seconds": -1.0}, {"priority": 2**31}, {"priority": 0.5}, {"priority": float("nan")}],
    ids=str,
)
def test_a_lease_that_cannot_be_is_refused(wrong: dict) -> None:
    async def body(rt):
        with pytest.raises(InputError, match="lease"):
            rt["motor"].take_lease(**wrong)
        return rt["motor"].lease

    assert drive(robot(), {"motor": Probe}, body) is None


def test_a_lease_expires_by_itself() -> None:
    async def body(rt):
        rt.arm()
        planner, operator = rt.handle("motor", "planner"), rt.handle("motor", "operator")
        answers = [planner.take_lease(1.0).ok, operator.take_lease(1.0).ok, operator.direct.set_position(0.1).ok]
        await asyncio.sleep(1.0)
        return [
            *answers,
            operator.direct.set_position(0.1).ok,
            operator.take_lease(1.0).ok,
            planner.direct.set_position(0.1).ok,
            planner.release_lease(),
        ]

    assert drive(robot(), {"motor": Probe}, body) == [True, False, False, True, True, False, False]


def test_a_watchdog_bites_though_another_driver_hangs() -> None:
    inside, leave = threading.Event(), threading.Event()

    class Hanging(Probe):
        def handle_command(self, payload, command):
            inside.set()
            leave.wait(5.0)

    held = threading.Event()

    class Watched(Probe):
        def handle_command(self, payload, command):
            super().handle_command(payload, command)
            if len(self.commands) == 2:
                held.set()

    watched = Watched()
    joints = [Joint("j1", "revolute", "base", "a", limits=LIMITS), Joint("j2", "revolute", "a", "b", limits=LIMITS)]
    dogs = [Actuator(f"m{i}", f"j{i}", watchdog=Watchdog(0.05, Reaction.HOLD)) for i in (1, 2)]

    async def body(rt):
        rt.arm()
        thread = threading.Thread(target=lambda: rt["m1"].direct.set_position(0.1))
        thread.start()
        inside.wait(5.0)
        rt["m2"].direct.set_position(0.1)
        bitten = await asyncio.to_thread(held.wait, 2.0)
        leave.set()
        thread.join()
        return bitten

    assert drive(Robot("r", ["base", "a", "b"], joints, dogs), {"m1": Hanging, "m2": lambda: watched}, body, WallClock())
    assert [type(payload).__name__ for payload in watched.commands] == ["Position", "Hold"]


@pytest.mark.parametrize("hz", [0, -1.0, float("nan"), float("inf"), 1e12])
def test_a_loop_without_a_rate_is_refused(hz: float) -> None:
    async def body(rt):
        with pytest.raises(InputError, match="Hz"):
            rt.loop(hz=hz)(lambda k: None)

    drive(robot(), {"motor": Probe}, body)


@pytest.mark.parametrize("method", ["handle_command", "tick", "handle_message", "handle_options", "handle_request"])
@pytest.mark.parametrize("error", [OSError("gone"), Stopped("gone")], ids=lambda e: type(e).__name__)
def test_whatever_raises_in_a_driver_makes_that_actuator_safe_and_starts_a_new_one(method: str, error: Exception) -> None:
    made = []

    class Fragile(Probe):
        options = Options
        tick_hz = 10.0

        def __init__(self):
            super().__init__()
            made.append(self)

        def init(self, context, options):
            super().init(context, options)
            context.listen(("x",))

        def tick(self, now):
            self.maybe("tick")

        def handle_command(self, payload, command):
            self.maybe("handle_command")

        def handle_message(self, topic, message):
            self.maybe("handle_message")

        def handle_options(self, context, options):
            self.maybe("handle_options")

        def handle_request(self, request):
            self.maybe("handle_request")

        def maybe(self, what):
            if what == method and len(made) == 1:
                raise error

    async def body(rt):
        rt.arm()
        await asyncio.sleep(0.05)
        rt["motor"].direct.set_position(0.1)
        rt.parameters.set("gain", 1.0)
        rt.bus.publish(Message(1, ("x",), 0.0, 0.0, "r"))
        await asyncio.sleep(0.1)
        with pytest.raises(type(error), match="gone") if method == "handle_request" else nullcontext():
            await rt["motor"].request("hello")
        await asyncio.sleep(0.1)
        return rt["motor"].direct.set_position(0.1), len(made), rt.arm().ok, rt["motor"].direct.set_position(0.1)

    out, count, armed, back = drive(robot(**GAIN), {"motor": Fragile}, body)
    if method == "handle_request" and not isinstance(error, Stopped):
        assert (out.ok, count) == (True, 1)  # what a request raises is its caller's
    else:
        assert (out.reason, count, armed, back.ok) == ("not_armed", 2, True, True)
        assert len(DISARMED) == 2


def test_a_call_that_comes_home_late_is_followed_by_another_disarm() -> None:
    class Slow(Probe):
        blocking = True

        def __init__(self):
            super().__init__()
            self.inside, self.leave = threading.Event(), threading.Event()

        def handle_command(self, payload, command):
            self.inside.set()
            self.leave.wait(5.0)
            DISARMED.append("moved after all")

    slow = Slow()

    async def body(rt):
        rt.arm()
        watch = rt.subscribe(TOPIC)
        rt["motor"].publish.set_position(0.1)
        await asyncio.to_thread(slow.inside.wait, 5.0)
        rt["motor"].publish.set_position(0.2)
        answer = rt.disarm()
        slow.leave.set()
        first, second = await watch.get(), await watch.get()
        while DISARMED[-1] == "moved after all":
            await asyncio.sleep(0.001)
        return answer, rt.state, first.payload.result, second.payload.result, len(DISARMED)

    answer, state, first, second, count = drive(robot(), {"motor": lambda: slow}, body, WallClock())
    assert (answer.failures, state) == ({"base/shoulder/motor": "a call is still in flight: not proven safe"}, State.ERROR)
    assert (first.ok, second.reason) == (True, "not_armed")
    assert count == 3  # at once, the late move, and once more


@pytest.mark.parametrize("values", [(1,), [1.0], np.array([1.0]), (np.float32(1.0),)], ids=repr)
def test_reports_may_hold_any_real_numbers_and_are_floats_for_those_who_see_them(values) -> None:
    probe = Probe()

    async def body(rt):
        watch = rt.subscribe(TOPIC)
        probe.context.publish(JointState(["shoulder"], values))
        return msgspec.json.decode(msgspec.json.encode(watch.poll()))

    assert drive(robot(Transmission(2)), {"motor": lambda: probe}, body)["payload"]["positions"] == [0.5]


class Encoder:
    def init(self, context, options):
        self.context = context


def test_arming_wants_sensors_and_controllers_up_too() -> None:
    class Late(Encoder):
        def init(self, context, options):
            super().init(context, options)
            return lambda: None

    async def body(rt):
        early = rt.arm()
        await asyncio.sleep(0.01)
        return early, rt.arm()

    early, late = drive(robot(controllers=[Controller("pilot")]), {"motor": Probe, "pilot": Late}, body)
    assert early.missing == ("pilot: it is still being set up",)
    assert late.ok
