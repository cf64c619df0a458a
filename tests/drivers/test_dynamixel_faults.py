"""When the bus dies, a servo overheats, power fails, or somebody asked for what cannot be."""

import asyncio
import time
from typing import Any

import pytest
from fake_servo import FakeBus, FakeServo, drop
from servo_rig import LIMITS, QUICK, robot, run, until

from pushrod.core.errors import ConfigError, PushrodError
from pushrod.drivers.dynamixel import Dynamixel, Options
from pushrod.robot.description import Actuator, Joint, Parameter, ParameterRef, Robot
from pushrod.robot.motor_profile import MotorProfile
from pushrod.runtime.arming import NotSafeError
from pushrod.runtime.driver import Context, Stopped
from pushrod.runtime.message import Command, HardwareError
from pushrod.runtime.part import DriverError
from pushrod.runtime.payload import Velocity
from pushrod.runtime.runtime import Runtime
from pushrod.safety.state import State


async def nothing(rt: Runtime) -> None:
    return None


def test_a_dead_bus_stops_the_actuator_and_says_that_it_is_not_proven_safe() -> None:
    async def body(rt: Runtime) -> None:
        rt.arm()
        await rt["motor1"].sync.set_position(1.0, velocity=0.2)
        heard = rt.subscribe(("safety",), (HardwareError,))
        bus.cut()
        message = await until(heard.poll)
        assert "no good reading for" in message.payload.error or "the port failed" in message.payload.error
        await until(lambda: rt.state is State.ERROR)
        assert (await rt["motor1"].sync.set_position(0.0)).reason == "stopped"
        assert "in_error" in rt.arm().refusal

    with FakeBus(FakeServo(1)) as bus, pytest.raises(NotSafeError, match="could not be proven off"):
        run(robot(bus.path, patience=0.01, stale_after=0.1, restarts=1), body)


def test_a_command_that_gets_no_answer_is_refused_and_the_actuator_made_safe() -> None:
    async def body(rt: Runtime) -> None:
        rt.arm()
        await rt["motor1"].sync.set_position(0.5)
        bus.spoil(*[drop] * 9)  # more than a command is tried; the rest is for the others
        result = await rt["motor1"].sync.set_position(-0.5)
        assert (result.reason, "NoAnswer" in result.detail) in (("driver_error", True), ("stopped", False))
        bus.heal()
        await until(lambda: bus.servo().get("torque_enable") == 0)
        await until(lambda: rt.hosts["motor1"].part.stopped == "")  # started again, and out until armed again
        assert (await rt["motor1"].sync.set_position(0.0)).reason == "not_armed"
        assert rt.arm().ok
        assert (await rt["motor1"].sync.set_position(0.0, id="again")).ok
        assert (await rt.motion("motor1", "again", 5.0)).reason == "completed"

    with FakeBus(FakeServo(1)) as bus:
        run(robot(bus.path, patience=0.02, retries=1, stale_after=60.0), body)


def test_a_silence_within_its_time_is_borne() -> None:
    async def body(rt: Runtime) -> None:
        rt.arm()
        await rt["motor1"].sync.set_position(0.5, velocity=0.5, id="a")
        bus.spoil(always=drop)
        await asyncio.sleep(0.15)
        bus.heal()
        assert (await rt.motion("motor1", "a", 5.0)).reason == "completed"
        assert rt.hosts["motor1"].part.restarts == 0

    with FakeBus(FakeServo(1)) as bus:
        run(robot(bus.path, patience=0.02), body)


def test_an_overheated_servo_stops_for_good_and_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pushrod.drivers.dynamixel.driver.HEALTH", 60.0)  # every answer carries the alert: nobody waits for a health report

    async def body(rt: Runtime) -> None:
        rt.arm()
        await rt["motor1"].sync.set_position(1.0, velocity=0.2)
        heard = rt.subscribe(("safety",), (HardwareError,))
        bus.servo().fail(0x04)
        message = await until(heard.poll)
        assert "overheating: above the temperature limit of the servo; let it cool down" in message.payload.error
        assert message.payload.path == ("base", "joint1", "motor1")
        await until(lambda: rt.state is State.ERROR)  # it is latched in the servo: starting again does not help
        assert bus.servo().get("torque_enable") == 0
        assert rt.force_disarm().ok
        assert "overheating" in rt.arm().missing[0]

    with FakeBus(FakeServo(1)) as bus:
        run(robot(bus.path, restarts=2), body)


def test_an_overload_is_rebooted_away_where_that_is_asked_for() -> None:
    async def body(rt: Runtime) -> None:
        rt.arm()
        await rt["motor1"].sync.set_position(0.5)
        bus.servo().fail(0x20)
        await until(lambda: rt.hosts["motor1"].part.restarts == 1 and not rt.hosts["motor1"].part.stopped)
        assert bus.servo().get("hardware_error_status") == 0
        assert rt.arm().ok
        assert (await rt["motor1"].sync.set_position(0.0)).ok

    with FakeBus(FakeServo(1)) as bus:
        run(robot(bus.path, on_hardware_error="reboot"), body)


def test_a_command_that_meets_a_hardware_error() -> None:
    """Without a runtime, whose ticks would see it first."""
    said: list[Any] = []
    context = Context("r", ("base", "joint1", "motor1"), "joint1", MotorProfile(), time.monotonic, said.append, lambda seconds, call: call)
    with FakeBus(FakeServo(1)) as bus:
        driver = Dynamixel()
        driver.init(context, Options(bus.path, baud=1_000_000, mode="velocity", patience=0.1))
        bus.servo().fail(0x20)
        with pytest.raises(Stopped, match="overload: loaded beyond its output"):
            driver.handle_command(Velocity(1.0), Command(Velocity(1.0), "test", 0.0))
        with pytest.raises(Stopped, match="it is started again with the new ones"):
            driver.handle_options(context, Options(bus.path, id=2, baud=1_000_000, mode="velocity"))
        driver.terminate("test")
        driver.terminate("twice")
        assert bus.servo().torque_history == [0]


def test_a_latched_error_at_the_start_is_told() -> None:
    with FakeBus(FakeServo(1)) as bus:
        bus.servo().fail(0x31)
        with pytest.raises(DriverError, match="input voltage.*electrical shock.*overload.*reboot it"):
            run(robot(bus.path), nothing)


@pytest.mark.parametrize(("torque", "text"), [(0, "lost its torque"), (1, "has torque that nobody here switched on")])
def test_torque_that_is_not_as_it_should_be(torque: int, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pushrod.drivers.dynamixel.driver.HEALTH", 0.02)

    async def body(rt: Runtime) -> None:
        rt.arm()
        if not torque:
            await rt["motor1"].sync.hold()
        heard = rt.subscribe(("safety",), (HardwareError,))
        bus.servo().set("torque_enable", torque)
        message = await until(heard.poll)
        assert text in message.payload.error
        await until(lambda: bus.servo().get("torque_enable") == 0)

    with FakeBus(FakeServo(1)) as bus:
        run(robot(bus.path), body)


def test_the_servo_stops_by_itself_when_nobody_speaks_to_it() -> None:
    servo = FakeServo(1)

    async def body(rt: Runtime) -> None:
        rt.arm()
        await rt["motor1"].sync.set_position(1.0, velocity=0.2)
        assert servo.get("bus_watchdog") == 20
        heard = rt.subscribe(("safety",), (HardwareError,))
        with bus.lock:
            servo.set("bus_watchdog", -1)  # as it does by itself after 0.4 s of silence
        result = await rt["motor1"].sync.set_position(0.0)
        message = await until(heard.poll)
        assert "its bus watchdog saw no packet for 0.4 s" in message.payload.error
        assert result.reason in ("driver_error", "stopped")
        await until(lambda: not rt.hosts["motor1"].part.stopped)
        assert rt.arm().ok
        assert (await rt["motor1"].sync.set_position(0.0)).ok  # cleared with the next torque

    with FakeBus(servo) as bus:
        run(robot(bus.path, bus_watchdog=0.4), body)


def test_a_driver_that_hangs_up_leaves_the_servo_to_its_watchdog() -> None:
    servo = FakeServo(1)
    with FakeBus(servo):
        servo.set("operating_mode", 1)
        servo.set("bus_watchdog", 1)
        servo._write(104, (100).to_bytes(4, "little"))
        servo._write(64, b"\x01")
        servo._now -= 0.5
        servo._heard -= 0.5
        servo.move()
        assert servo.get("bus_watchdog") == -1
        assert abs(servo.state.w) < 2.0


def test_it_answers_though_it_was_set_not_to() -> None:
    servo = FakeServo(1)
    servo.set("status_return_level", 1)
    with FakeBus(servo) as bus:
        run(robot(bus.path, patience=0.03), nothing)
        assert servo.get("status_return_level") == 2


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"id": 253, "feedback_hz": 0.0, "patience": -1.0}, "id = 253: allowed are 0 to 252; feedback_hz = 0.0 Hz.*patience = -1.0 s"),
        ({"baud": 12345}, "baud = 12345 bit/s: allowed are 9600"),
        ({"port": ""}, "port is empty"),
        ({"stale_after": 0.05, "feedback_hz": 5.0}, "stale_after = 0.05 s is shorter than the time between two readings, 0.2 s"),
        ({"bus_watchdog": 0.02}, "bus_watchdog = 0.02 s is shorter than two readings take"),
        ({"model": "XL330"}, "model = 'XL330': known are"),
    ],
    ids=lambda x: str(x)[:20],
)
def test_bad_options_are_all_named_and_nothing_is_touched(options: dict[str, Any], text: str) -> None:
    with FakeBus(FakeServo(1)) as bus:
        with pytest.raises(ConfigError, match=text):
            run(robot(bus.path, **options), nothing)
        assert bus.heard == []


def test_another_model_than_expected() -> None:
    with FakeBus(FakeServo(1)) as bus, pytest.raises(DriverError, match="is a XL330-M288, not a XM430-W350"):
        run(robot(bus.path, model="XM430-W350"), nothing)


def test_unknown_options_and_modes_are_named() -> None:
    with FakeBus(FakeServo(1)) as bus:
        for options, text in (({"mood": 1}, "mood"), ({"mode": "torque"}, "torque")):
            with pytest.raises(ConfigError, match=text):
                run(robot(bus.path, **options), nothing)


def test_a_servo_without_a_current_sensor_has_no_current_mode() -> None:
    with (
        FakeBus(FakeServo(1, 1060)) as bus,
        pytest.raises(DriverError, match="a XL430-W250 cannot measure current; it has position, extended_position"),
    ):
        run(robot(bus.path, mode="current"), nothing)


def test_a_slave_is_not_commanded() -> None:
    servo = FakeServo(1, 1120)
    servo.set("drive_mode", 2)
    with FakeBus(servo) as bus, pytest.raises(DriverError, match="is the slave of another"):
        run(robot(bus.path), nothing)


def test_two_actuators_with_one_id() -> None:
    with FakeBus(FakeServo(1)) as bus, pytest.raises(DriverError, match="have the same id"):
        run(robot(bus.path, 1, 2, id=1), nothing)


def test_no_servo_there() -> None:
    with FakeBus(FakeServo(2)) as bus, pytest.raises(DriverError, match="no answer in 3 attempts; look at its power, cable, id and baud rate"):
        run(robot(bus.path, patience=0.01), nothing)


def test_an_option_by_parameter_changes_while_it_runs() -> None:
    async def body(rt: Runtime) -> None:
        rt.arm()
        with pytest.raises(PushrodError, match="bus_watchdog = 0.5 s is shorter than two readings take, 1 s"):
            rt.parameters.set("rate", 2.0)
        rt.parameters.set("rate", 100.0)
        assert (await rt["motor1"].sync.set_position(0.5, id="a")).ok
        assert (await rt.motion("motor1", "a", 5.0)).reason == "completed"
        assert rt.hosts["motor1"].part.driver.driver.shaft.options.feedback_hz == 100.0
        assert rt.hosts["motor1"].part.restarts == 0

    with FakeBus(FakeServo(1)) as bus:
        what = Robot(
            "r",
            links=("base", "link1"),
            joints=(Joint("joint1", "revolute", "base", "link1", limits=LIMITS),),
            actuators=(
                Actuator(
                    "motor1",
                    "joint1",
                    driver="pushrod.drivers.dynamixel:Dynamixel",
                    options={**QUICK, "port": bus.path, "feedback_hz": ParameterRef("rate"), "bus_watchdog": 0.5},
                ),
            ),
            parameters=(Parameter("rate", "float", 50.0, lo=1.0, hi=100.0),),
        )
        run(what, body)
