"""Every command passes one gate and gets one typed answer, whichever way it comes."""

import math
import threading

import pytest
from rig import Servo, robot, run

from pushrod.core.errors import InputError
from pushrod.robot.description import Actuator, Joint, Robot, Transmission
from pushrod.runtime.message import Command
from pushrod.runtime.payload import Effort, Hold, Payload, Position, Stop, Trajectory, Velocity, Waypoint
from pushrod.runtime.result import Accepted, Clamped, Refused

WAYS = ("direct", "sync", "publish")


async def ask(view, payload, **envelope):
    answer = view.send(payload, **envelope)
    return answer if isinstance(answer, Accepted | Clamped | Refused) else await answer


@pytest.mark.parametrize("way", WAYS)
def test_nothing_acts_before_arming_and_after_disarming(way: str) -> None:
    servo = Servo()

    async def body(rt):
        view = getattr(rt["motor"], way)
        for payload in (Position(0.5), Stop(), Hold()):
            before = await ask(view, payload)
            assert (before.reason, before.command) == ("not_armed", type(payload).__name__)
            assert "arm the robot" in str(before)
        assert rt.arm().ok
        assert (await ask(view, Position(0.5))).ok
        assert rt.disarm().ok
        assert (await ask(view, Position(0.6))).reason == "not_armed"

    run(robot(), {"motor": lambda: servo}, body)
    assert servo.told == [Position(0.5)]


@pytest.mark.parametrize("way", WAYS)
def test_a_geared_reversed_joint_is_commanded_in_motor_space(way: str) -> None:
    servo = Servo()

    async def body(rt):
        rt.arm()
        await ask(getattr(rt["motor"], way), Position(math.pi / 4 + 0.01, velocity=0.1))

    run(robot(Transmission(50.0, math.pi / 4, True)), {"motor": lambda: servo}, body)
    assert servo.told[0].position == pytest.approx(-0.5)
    assert servo.told[0].velocity == pytest.approx(-5.0)


@pytest.mark.parametrize(
    ("asked", "done"),
    [
        (Position(9.0), Position(3.0)),
        (Position(-9.0, velocity=5.0), Position(-3.0, velocity=1.0)),
        (Velocity(-7.0, 2.0), Velocity(-1.0, 2.0)),
        (Effort(99), Effort(10.0)),
        (Trajectory((Waypoint(9.0, 0.5, 4.0, -9.0),)), Trajectory((Waypoint(3.0, 0.5, 1.0, -2.0),))),
    ],
)
def test_beyond_the_limits_is_clamped_and_said(asked: Payload, done: Payload) -> None:
    servo = Servo()

    async def body(rt):
        rt.arm()
        return rt["motor"].direct.send(asked)

    assert run(robot(), {"motor": lambda: servo}, body) == Clamped(asked, done)
    assert servo.told == [done]


def test_beyond_the_limits_is_refused_where_that_is_the_policy() -> None:
    async def body(rt):
        rt.arm()
        return rt["motor"].direct.set_position(9.0)

    answer = run(robot(limit_policy="reject"), {"motor": Servo}, body)
    assert answer.reason == "limits"
    assert "9.0" in answer.detail


@pytest.mark.parametrize(
    ("payload", "says"),
    [
        (Position(math.nan), "position must be finite"),
        (Position("1"), "position must be a number"),  # type: ignore[arg-type]
        (Position(True), "position must be a number"),
        (Position(10**400), "position must be finite"),
        (Position(1.0, velocity=math.inf), "velocity must be finite"),
        (Position(1.0, duration=0.0), "duration must be 1e-09 to 1e"),
        (Velocity(1.0, -1.0), "duration must be 1e-09 to"),
        (Effort(math.nan), "effort must be finite"),
        (Trajectory(()), "at least one waypoint"),
        (Trajectory((Waypoint(0.0, 0.0), Waypoint(1.0, 0.0))), r"waypoints\[1\].time must be at least 1e-09 s after"),
        (Trajectory((Waypoint(0.0, 0.0), Waypoint(math.nan, 1.0))), r"waypoints\[1\].position must be finite"),
        (Trajectory((Waypoint(0.0, -1.0),)), r"waypoints\[0\].time must be 0 to"),
        (Trajectory((Waypoint(0.0, 1.0),), repeat=0), "repeat must be"),
        (Stop("gently"), "mode must be"),  # type: ignore[arg-type]
    ],
)
def test_malformed_payloads_are_refused_by_element(payload: Payload, says: str) -> None:
    servo = Servo()

    async def body(rt):
        rt.arm()
        return rt["motor"].direct.send(payload)

    answer = run(robot(), {"motor": lambda: servo}, body)
    assert answer.reason == "malformed"
    assert pytest.importorskip("re").search(says, answer.detail)
    assert answer.advice.endswith("see the detail"), "what is wrong may be an order or a word, not a number"
    assert servo.told == []


@pytest.mark.parametrize("way", WAYS)
def test_what_the_gear_makes_infinite_does_not_reach_the_driver(way: str) -> None:
    servo = Servo()
    spinning = Robot(
        "r",
        links=("base", "wheel"),
        joints=(Joint("axle", "continuous", "base", "wheel"),),
        actuators=(Actuator("motor", "axle", transmission=Transmission(50.0)),),
    )

    async def body(rt):
        rt.arm()
        return await ask(getattr(rt["motor"], way), Velocity(1e308)), *rt.send([("motor", Velocity(1e308))])

    for answer in run(spinning, {"motor": lambda: servo}, body):
        assert answer.reason == "malformed"
        assert "in motor space: velocity must be finite, got inf" in answer.detail
    assert servo.told == []


@pytest.mark.parametrize("method", ["problem", "within", "to_motor"])
def test_a_payload_whose_own_check_raises_is_refused(method: str) -> None:
    def broken(*_):
        raise ZeroDivisionError("oops")

    Odd = type("Odd", (Payload,), {method: broken}, frozen=True, tag=True)

    class Takes(Servo):
        command_payloads = (Odd,)

    servo = Takes()

    async def body(rt):
        rt.arm()
        return rt["motor"].direct.send(Odd()), rt["motor"].direct.send(Odd()), rt.state.value

    first, second, state = run(robot(), {"motor": lambda: servo}, body)
    assert first.reason == second.reason == "malformed"
    assert "ZeroDivisionError: oops" in first.detail
    assert state == "armed"
    assert servo.told == []


def test_integers_are_fine_where_a_float_is_meant() -> None:
    async def body(rt):
        rt.arm()
        return rt["motor"].direct.set_position(1, velocity=1, duration=2)

    assert run(robot(), {"motor": Servo}, body).ok


def test_a_driver_takes_only_what_it_declares() -> None:
    class Pusher(Servo):
        command_payloads = (Effort,)

    async def body(rt):
        rt.arm()
        view = rt["motor"].direct
        return view.set_effort(1.5), view.set_position(0.5), view.stop()

    push, go, stop = run(robot(), {"motor": Pusher}, body)
    assert push.ok
    assert go.reason == "unsupported"
    assert "Effort" in go.detail
    assert stop.command == "Stop"


def test_a_payload_of_the_drivers_own_passes_the_same_gate() -> None:
    class Blink(Payload, frozen=True, tag=True):
        times: int = 1

    class Lamp(Servo):
        command_payloads = (Blink,)

    lamp = Lamp()

    async def body(rt):
        refused = rt["motor"].direct.send(Blink(2))
        rt.arm()
        return refused, rt["motor"].direct.send(Blink(3))

    refused, done = run(robot(), {"motor": lambda: lamp}, body)
    assert refused.reason == "not_armed"
    assert done.ok
    assert lamp.told == [Blink(3)]


def test_a_payload_that_cannot_pass_a_gate_is_told_when_the_robot_is_built() -> None:
    class Lamp(Servo):
        command_payloads = (Effort, dict)

    with pytest.raises(InputError, match=r"motor: its driver accepts dict, which must subclass Payload"):
        run(robot(), {"motor": Lamp}, lambda rt: None)


def test_stale_duplicate_and_reordered_commands_are_refused() -> None:
    servo = Servo()

    async def body(rt):
        rt.arm()
        host, view = rt["motor"].host, rt["motor"].direct
        old = Command(Position(0.1), "me", rt.clock.now() - 1.0, validity=0.5)
        assert host.gate(old).reason == "stale"
        assert host.gate(Command(Position(0.1), "me", rt.clock.now(), validity=math.nan)).reason == "malformed"
        assert host.gate(Command(Stop(), "me", rt.clock.now() - 1.0, validity=0.5)).ok
        assert view.set_position(0.1, sequence=5).ok
        assert view.set_position(0.2, sequence=5).reason == "sequence"
        assert view.set_position(0.2, sequence=4).reason == "sequence"
        assert rt.handle("motor", "other").direct.set_position(0.3, sequence=1).ok
        assert view.set_position(0.4).ok

    run(robot(), {"motor": lambda: servo}, body)


def test_what_was_refused_does_not_count_as_seen() -> None:
    async def body(rt):
        assert rt["motor"].direct.set_position(0.1, sequence=5).reason == "not_armed"
        rt.arm()
        assert rt["motor"].direct.set_position(0.1, sequence=5).ok

    run(robot(), {"motor": Servo}, body)


def test_a_lease_keeps_other_commanders_out_but_never_a_stop() -> None:
    async def body(rt):
        rt.arm()
        planner, operator = rt.handle("motor", "planner"), rt.handle("motor", "operator")
        assert planner.take_lease(seconds=2.0)
        assert operator.direct.set_position(0.1).reason == "lease"
        assert "planner" in operator.direct.set_position(0.1).detail
        assert operator.direct.stop().ok
        assert not operator.take_lease()
        assert operator.take_lease(priority=1)
        assert planner.direct.set_position(0.1).reason == "lease"
        assert operator.release_lease()
        assert planner.direct.set_position(0.1).ok

    run(robot(), {"motor": Servo}, body)


def test_a_driver_that_commands_itself_is_refused_not_stuck() -> None:
    answers = []

    class Selfish(Servo):
        def handle_command(self, payload, command):
            answers.append(self.view.set_position(0.2))

    servo = Selfish()

    async def body(rt):
        rt.arm()
        servo.view = rt["motor"].direct
        assert rt["motor"].direct.set_position(0.1).ok

    run(robot(), {"motor": lambda: servo}, body)
    assert answers[0].reason == "busy"


def test_a_driver_that_hangs_makes_others_busy_not_wait() -> None:
    inside, leave = threading.Event(), threading.Event()

    class Hanging(Servo):
        def handle_command(self, payload, command):
            inside.set()
            leave.wait(5.0)

    async def body(rt):
        rt.arm()
        view = rt["motor"].direct
        first = threading.Thread(target=lambda: view.set_position(0.1))
        first.start()
        inside.wait(5.0)
        answer = view.set_position(0.2)
        leave.set()
        first.join()
        return answer

    assert run(robot(), {"motor": Hanging}, body).reason == "busy"


def test_a_driver_that_raises_is_out_at_once_and_made_safe() -> None:
    from rig import DISARMED

    class Broken(Servo):
        def handle_command(self, payload, command):
            raise OSError("bus gone")

    async def body(rt):
        rt.arm()
        first = rt["motor"].direct.set_position(0.1)
        return first, len(DISARMED), rt["motor"].direct.set_position(0.2)

    first, made_safe, second = run(robot(), {"motor": Broken}, body)
    assert first.reason == "driver_error"
    assert "bus gone" in first.detail
    assert made_safe == 1
    assert not second.ok
