"""What each mode does with each verb, through the whole runtime, on servos that move."""

import asyncio
import math
from typing import Any

import pytest
from fake_servo import FakeBus, FakeServo, corrupt, drop, noise, sound
from servo_rig import robot, run, until

from pushrod.core.errors import InputError
from pushrod.drivers.dynamixel import Current, Duty, ServoHealth
from pushrod.drivers.dynamixel.driver import OVERDUE
from pushrod.drivers.dynamixel.register import PULSE, REGISTERS, RPM, RPM2
from pushrod.robot.description import Limits, Transmission
from pushrod.runtime.message import BeginMotion, EndMotion, JointState
from pushrod.runtime.motions import SILENT
from pushrod.runtime.part import DriverError
from pushrod.runtime.payload import Position, Waypoint
from pushrod.runtime.runtime import Runtime

WITHIN = 5.0  # [s] much longer than anything here takes


def payloads(heard: Any, kind: type) -> list[Any]:
    """What was published of a kind, so far."""
    found = []
    while (message := heard.poll()) is not None:
        if type(message.payload) is kind:
            found.append(message.payload)
    return found


def addresses(servo: FakeServo) -> list[str]:
    """The registers that were written, in order; of several in one packet the first."""
    names = {r.address: name for name, r in REGISTERS.items()}
    return [names[start] for start, _ in servo.writes]


def test_nothing_moves_before_the_first_command_and_nothing_jumps_at_it() -> None:
    servo = FakeServo(1, position=0.7)
    servo.set("drive_mode", 0x08)  # torque comes on by itself when a goal is written: must go
    servo.set("torque_enable", 1)
    servo.set("goal_position", 100)

    async def body(rt: Runtime) -> None:
        assert servo.torque_history == [0]
        assert not {"goal_position", "profile_acceleration", "torque_enable"} & set(addresses(servo)) - {"torque_enable"}
        assert servo.get("drive_mode") == 0
        assert rt.arm().ok
        assert servo.get("torque_enable") == 0
        before = len(servo.writes)
        assert (await rt["motor1"].sync.hold()).ok
        order = addresses(servo)[before:]
        goal, torque = order.index("profile_acceleration"), order.index("torque_enable")
        assert goal < torque, order
        assert servo.get("goal_position") * PULSE - 2048 * PULSE == pytest.approx(0.7, abs=0.05)
        await asyncio.sleep(0.1)
        assert servo.state.q == pytest.approx(0.7, abs=0.05)

    with FakeBus(servo) as bus:
        run(robot(bus.path), body)
    assert servo.get("torque_enable") == 0


def test_a_position_is_reached_and_told() -> None:
    async def body(rt: Runtime) -> None:
        heard = rt.subscribe(("actuator",))
        rt.arm()
        assert (await rt["motor1"].sync.set_position(1.0, id="go")).ok
        end = await rt.motion("motor1", "go", WITHIN)
        assert (end.reason, end.position) == ("completed", pytest.approx(1.0, abs=0.03))
        seen = heard
        messages = []
        while (m := seen.poll()) is not None:
            messages.append(m.payload)
        begin = next(p for p in messages if type(p) is BeginMotion)
        assert (begin.initial_position, begin.target_position) == (pytest.approx(0.0, abs=0.01), pytest.approx(1.0))
        assert begin.expected_arrival - rt.clock.now() < 1.0
        states = [p for p in messages if type(p) is JointState]
        assert states[-1].names == ("joint1",)
        assert states[-1].positions[0] == pytest.approx(1.0, abs=0.03)
        assert any(state.velocities[0] > 0.5 for state in states)
        assert all(state.efforts == () for state in states)  # nobody said what a current is worth
        health = [p for p in messages if type(p) is ServoHealth] or [await rt["motor1"].request("health")]
        assert (health[0].temperature, health[0].voltage, health[0].load) == (31.0, 5.0, None)

    with FakeBus(FakeServo(1)) as bus:
        run(robot(bus.path), body)


def test_hints_become_the_profile_of_the_servo() -> None:
    servo = FakeServo(1)

    async def body(rt: Runtime) -> None:
        rt.arm()
        motor = rt["motor1"]
        await motor.sync.set_position(0.5, velocity=0.5)
        assert servo.get("profile_velocity") * RPM == pytest.approx(0.5, abs=RPM)
        assert servo.get("profile_acceleration") * RPM2 == pytest.approx(2.0, abs=RPM2)
        await motor.sync.stop()
        await until(lambda: abs(servo.state.w) < 1e-3)
        heard = rt.subscribe(("actuator",), (BeginMotion,))
        here, now = servo.state.q, rt.clock.now()
        await motor.sync.set_position(here + 0.5, duration=2.0)
        # v (T - v / a) = d
        v = servo.get("profile_velocity") * RPM
        assert v * (2.0 - v / 2.0) == pytest.approx(0.5, abs=0.05)
        (begin,) = payloads(heard, BeginMotion)
        assert begin.expected_arrival - now == pytest.approx(2.0, abs=0.2)
        await motor.sync.set_position(here, velocity=1e-6)
        assert servo.get("profile_velocity") == 1  # 0 would be as fast as it can

    with FakeBus(servo) as bus:
        run(robot(bus.path, limits=Limits(-2.0, 2.0, 6.0, 2.0, 1.0)), body)


def test_a_small_acceleration_is_not_rounded_to_none() -> None:
    async def body(rt: Runtime) -> None:
        rt.arm()
        await rt["motor1"].sync.set_position(0.5)
        assert bus.servo().get("profile_acceleration") == 1  # 0 would be as fast as it can

    with FakeBus(FakeServo(1)) as bus:
        run(robot(bus.path, limits=Limits(-2.0, 2.0, 6.0, 0.1, 1.0)), body)


def test_a_servo_that_was_turned_by_hand_while_it_was_off_does_not_jump() -> None:
    servo = FakeServo(1, position=0.5 + 4.0 * math.pi)

    async def body(rt: Runtime) -> None:
        rt.arm()
        assert (await rt["motor1"].sync.hold()).ok
        first = next(data for start, data in servo.writes if start == 108)  # profile and goal, before torque came on
        assert int.from_bytes(first[8:], "little") == round(0.5 / PULSE) + 2048
        await until(lambda: (state := rt["motor1"].joint_state) and state.positions[0] < 1.0)
        assert servo.state.q == pytest.approx(0.5, abs=0.05)

    with FakeBus(servo) as bus:
        run(robot(bus.path), body)


def test_the_transmission_stands_between() -> None:
    servo = FakeServo(1)

    async def body(rt: Runtime) -> None:
        rt.arm()
        await rt["motor1"].sync.set_position(0.3, id="a")
        end = await rt.motion("motor1", "a", WITHIN)
        assert end.position == pytest.approx(0.3, abs=0.02)
        assert servo.state.q == pytest.approx(-2.0 * (0.3 - 0.1), abs=0.04)

    with FakeBus(servo) as bus:
        run(robot(bus.path, transmission=Transmission(2.0, 0.1, True), limits=Limits(-1.0, 1.0, 3.0, 30.0, 1.0)), body)


@pytest.mark.parametrize(
    ("mode", "verb", "text"),
    [
        ("position", "set_velocity", "it accepts Hold, Position, Stop, Trajectory"),
        ("velocity", "set_position", "it accepts Hold, Stop, Velocity"),
        ("current", "set_effort", "it accepts Current, Stop"),
        ("pwm", "set_effort", "it accepts Duty, Stop"),
    ],
)
def test_what_a_mode_cannot_do_is_refused_and_hurts_nobody(mode: str, verb: str, text: str) -> None:
    async def body(rt: Runtime) -> None:
        rt.arm()
        result = await getattr(rt["motor1"].sync, verb)(0.5)
        assert (result.reason, text in result.detail) == ("unsupported", True)
        assert rt.state == "armed"
        assert bus.servo().get("torque_enable") == 0

    with FakeBus(FakeServo(1)) as bus:
        run(robot(bus.path, mode=mode), body)


def test_a_velocity_runs_for_its_time_or_to_the_end_of_the_travel() -> None:
    servo = FakeServo(1)

    async def body(rt: Runtime) -> None:
        rt.arm()
        motor = rt["motor1"]
        await motor.sync.set_velocity(2.0, duration=0.2, id="short")
        end = await rt.motion("motor1", "short", WITHIN)
        assert end.reason == "completed"
        assert 0.2 < end.position < 1.2
        await motor.sync.set_velocity(4.0, id="far")
        end = await rt.motion("motor1", "far", WITHIN)
        assert (end.reason, end.detail) == ("limit_reached", "end_of_travel")
        await until(lambda: abs(servo.state.w) < 0.05)
        assert servo.state.q < 2.2
        result = await motor.sync.set_velocity(1.0)  # further out is not possible; back is
        assert result.ok
        await until(lambda: servo.get("goal_velocity") == 0)
        await motor.sync.set_velocity(-1.0)
        await until(lambda: servo.state.w < -0.5)
        assert (await motor.sync.hold()).ok
        await until(lambda: abs(servo.state.w) < 0.05)
        assert servo.get("torque_enable") == 1

    with FakeBus(servo) as bus:
        run(robot(bus.path, mode="velocity"), body)


def test_currents_and_efforts() -> None:
    servo = FakeServo(1, model=1020)

    async def body(rt: Runtime) -> None:
        rt.arm()
        motor = rt["motor1"]
        at_torque_on: list[int] = []
        with bus.lock:
            real = servo._write

            def spy(start: int, data: bytes) -> int:
                if start == 64 and data == b"\x01":
                    at_torque_on.append(servo.get("goal_current"))
                return real(start, data)

            servo._write = spy  # type: ignore[method-assign]
        result = await motor.sync.set_effort(0.4, duration=0.1, id="push")
        assert result.ok
        assert at_torque_on == [0]  # not the full current that a change of mode leaves there
        assert servo.get("goal_current") == round(0.4 / 1.6 / 2.69e-3)
        assert (await rt.motion("motor1", "push", WITHIN)).reason in ("completed", "limit_reached")
        assert servo.get("goal_current") == 0
        state = await until(lambda: motor.joint_state)
        assert len(state.efforts) == 1
        result = await motor.sync.send(Current(-100.0))
        assert result.ok
        assert (result.info["goal_current"], "limit of the servo" in result.info["why"]) == (pytest.approx(-1193 * 2.69e-3), True)
        assert servo.get("goal_current") in (-1193, 0)  # 0 where it has reached the end of its travel already
        assert (await motor.sync.stop("decelerate")).ok
        assert servo.get("torque_enable") == 0

    with FakeBus(servo) as bus:
        run(robot(bus.path, mode="current", torque_per_ampere=1.6), body)


def test_a_duty() -> None:
    servo = FakeServo(1)

    async def body(rt: Runtime) -> None:
        rt.arm()
        motor = rt["motor1"]
        assert (await motor.sync.send(Duty(float("nan")))).reason == "malformed"
        result = await motor.sync.send(Duty(-2.0, duration=0.05), id="pull")
        assert (result.done, servo.get("goal_pwm")) == (Duty(-1.0, duration=0.05), -885)
        assert (await rt.motion("motor1", "pull", WITHIN)).reason in ("completed", "limit_reached")
        assert servo.state.q < 0.0

    with FakeBus(servo) as bus:
        run(robot(bus.path, mode="pwm"), body)


def test_more_than_a_turn_needs_the_extended_mode() -> None:
    limits = Limits(-7.0, 7.0, velocity=50.0, effort=1.0)
    with FakeBus(FakeServo(1)) as bus:
        with pytest.raises(DriverError, match="in mode position the servo goes from -3.142 to 3.14 rad; use the mode extended_position"):
            run(robot(bus.path, limits=limits), lambda rt: asyncio.sleep(0.0))

        async def body(rt: Runtime) -> None:
            rt.arm()
            await rt["motor1"].sync.set_position(-6.5, id="far")
            assert (await rt.motion("motor1", "far", WITHIN)).position == pytest.approx(-6.5, abs=0.03)

        run(robot(bus.path, limits=limits, mode="extended_position"), body)
        assert bus.servo().get("operating_mode") == 4


def test_a_soft_grip() -> None:
    async def body(rt: Runtime) -> None:
        rt.arm()
        assert (await rt["motor1"].sync.set_position(0.2)).ok
        assert bus.servo().get("goal_current") == 150

    with FakeBus(FakeServo(1)) as bus:
        run(robot(bus.path, mode="current_position", current_limit=0.15), body)


def test_a_trajectory_is_followed() -> None:
    servo = FakeServo(1)

    async def body(rt: Runtime) -> None:
        rt.arm()
        points = [Waypoint(0.4, 0.4), Waypoint(-0.2, 1.0), Waypoint(0.1, 1.4)]
        assert (await rt["motor1"].sync.follow_trajectory(points, id="path")).ok
        furthest = [0.0, 0.0]

        async def watch() -> None:
            while True:
                furthest[:] = [min(furthest[0], servo.state.q), max(furthest[1], servo.state.q)]
                await asyncio.sleep(0.002)

        watching = asyncio.create_task(watch())
        end = await rt.motion("motor1", "path", WITHIN)
        watching.cancel()
        assert (end.reason, end.position) == ("completed", pytest.approx(0.1, abs=0.03))
        assert furthest == [pytest.approx(-0.2, abs=0.08), pytest.approx(0.4, abs=0.08)]

    with FakeBus(servo) as bus:
        run(robot(bus.path), body)


def test_stop_ends_passive_at_once_or_after_slowing_down() -> None:
    servo = FakeServo(1)

    async def body(rt: Runtime) -> None:
        rt.arm()
        motor = rt["motor1"]
        await motor.sync.set_position(1.5, velocity=2.0, id="a")
        await until(lambda: servo.state.w > 1.0)
        heard = rt.subscribe(("actuator",), (EndMotion,))
        await motor.sync.stop("decelerate", id="slow")
        assert servo.get("torque_enable") == 1
        end = await rt.motion("motor1", "slow", WITHIN)
        assert (end.reason, servo.get("torque_enable")) == ("completed", 0)
        assert end.position < 1.4
        assert next((e.command_id, e.reason, e.detail) for e in payloads(heard, EndMotion)) == ("a", "cancelled", "superseded")
        await motor.sync.set_position(-0.5, velocity=2.0)
        await until(lambda: servo.state.w < -1.0)
        assert (await motor.sync.stop("immediate")).ok
        assert servo.get("torque_enable") == 0

    with FakeBus(servo) as bus:
        run(robot(bus.path), body)


def test_a_motion_that_is_blocked_does_not_pretend_to_arrive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pushrod.drivers.dynamixel.driver.OVERDUE", 0.1)
    servo = FakeServo(1)
    servo.PARAMS = servo.PARAMS._replace(d_max=0.0)  # type: ignore[misc]

    async def body(rt: Runtime) -> None:
        rt.arm()
        await rt["motor1"].sync.set_position(1.0, id="a")
        end = await rt.motion("motor1", "a", WITHIN)
        assert (end.reason, end.detail) == ("fault", "not_arrived")
        assert "blocked, or too weak" in (end.message or "")

    with FakeBus(servo) as bus:
        run(robot(bus.path), body)


def test_a_late_servo_is_judged_by_its_driver_before_the_runtime_ends_its_motion() -> None:
    assert OVERDUE + 1.0 < SILENT


def test_a_motion_longer_than_the_horizon_ends_at_its_own_target(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pushrod.drivers.dynamixel.driver.HORIZON", 0.2)

    async def body(rt: Runtime) -> None:
        rt.arm()
        heard = rt.subscribe(("actuator",), (BeginMotion,))
        now = rt.clock.now()
        await rt["motor1"].sync.follow_trajectory([Waypoint(0.2, 0.4), Waypoint(0.5, 0.8)], id="a")
        (begin,) = payloads(heard, BeginMotion)
        assert begin.expected_arrival - now == pytest.approx(0.8, abs=0.2)
        assert begin.target_position == pytest.approx(0.5)
        end = await rt.motion("motor1", "a", WITHIN)
        assert (end.reason, end.position) == ("completed", pytest.approx(0.5, abs=0.05))

    with FakeBus(FakeServo(1)) as bus:
        run(robot(bus.path), body)


@pytest.mark.parametrize("mode", ["velocity", "extended_position"])
def test_a_motion_without_an_end_goes_on_and_is_announced_again(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pushrod.drivers.dynamixel.driver.HORIZON", 0.1)
    monkeypatch.setattr("pushrod.runtime.motions.SILENT", 0.05)

    async def body(rt: Runtime) -> None:
        rt.arm()
        heard = rt.subscribe(("actuator",), (BeginMotion, EndMotion))
        if mode == "velocity":
            await rt["motor1"].sync.set_velocity(0.1, id="a")
        else:
            await rt["motor1"].sync.follow_trajectory([Waypoint(0.1, 0.5), Waypoint(0.0, 1.0)], repeat="forever", id="a")
        seen: list[Any] = []

        def announced() -> bool:
            while (message := heard.poll()) is not None:
                seen.append(message.payload)
            return len(seen) >= 4

        await until(announced, WITHIN)
        assert {type(report) for report in seen} == {BeginMotion}

    with FakeBus(FakeServo(1)) as bus:
        run(robot(bus.path, mode=mode), body)


def test_it_arrives_though_every_third_answer_is_bad() -> None:
    async def body(rt: Runtime) -> None:
        bad = [corrupt, drop, noise]
        bus.spoil(*(bad[k // 3 % 3] if k % 3 == 1 else sound for k in range(3000)))
        rt.arm()
        assert (await rt["motor1"].sync.set_position(1.0, id="a")).ok
        assert (await rt.motion("motor1", "a", WITHIN)).reason == "completed"
        health = await rt["motor1"].request("health")
        assert health.retries > 0
        assert rt.hosts["motor1"].part.restarts == 0
        bus.heal()

    with FakeBus(FakeServo(1)) as bus:
        run(robot(bus.path, patience=0.1, retries=8), body)


def test_two_servos_on_one_line() -> None:
    async def body(rt: Runtime) -> None:
        rt.arm()
        ends = []
        for name, x in (("motor1", 0.8), ("motor2", -0.8)):
            assert (await rt[name].sync.set_position(x, id=name)).ok
        for name in ("motor1", "motor2"):
            ends.append((await rt.motion(name, name, WITHIN)).position)
        assert ends == [pytest.approx(0.8, abs=0.03), pytest.approx(-0.8, abs=0.03)]

    with FakeBus(FakeServo(1), FakeServo(2, 1060)) as bus:
        run(robot(bus.path, 1, 2), body)


def test_requests() -> None:
    servo = FakeServo(1, position=0.3)

    async def body(rt: Runtime) -> None:
        ask = rt["motor1"].request
        assert await ask("ping") == {"model": "XL330-M288", "firmware": 52}
        assert await ask("temperature") == 31.0
        assert await ask({"read": "present_input_voltage"}) == 5.0
        assert (await ask({"calibrate": 0.5}))["position"] == pytest.approx(0.5, abs=PULSE)
        assert servo.get("homing_offset") == pytest.approx(0.2 / PULSE, abs=1.0)
        with pytest.raises(InputError, match="the servo takes -1024 to 1024 in mode position"):
            await ask({"calibrate": 3.0})
        with pytest.raises(LookupError, match="answers 'ping', 'health'"):
            await ask("dance")
        await ask("reboot")
        rt.arm()
        await rt["motor1"].sync.hold()
        for request in ("reboot", {"calibrate": 0.0}):
            with pytest.raises(InputError, match="torque is on; disarm first"):
                await ask(request)
        assert rt.state == "armed"

    with FakeBus(servo) as bus:
        run(robot(bus.path), body)


def test_commands_stream() -> None:
    """Set-points faster than they are done: each costs one exchange, the newest counts."""
    servo = FakeServo(1)

    async def body(rt: Runtime) -> None:
        rt.arm()
        motor = rt["motor1"]
        await motor.sync.set_position(0.0)
        before = bus.count
        for k in range(100):
            assert (await motor.sync.send(Position(0.005 * k))).ok
        assert bus.count - before < 100 + 60  # commands, and what the ticks asked in the meantime
        await until(lambda: abs(servo.state.q - 0.495) < 0.03)

    with FakeBus(servo) as bus:
        run(robot(bus.path, feedback_hz=20.0), body)
