"""More of the kind of case 39: parameters that change while drivers are busy, being set up, or replaced; limits and gears that follow them."""

import asyncio
import threading

import msgspec
import pytest
from fixture_r import Probe, drive, heard, near, robot

from pushrod.robot import Limits, Parameter, ParameterRef, Sensor, Transmission
from pushrod.runtime import JointState, Position, WallClock


class Options(msgspec.Struct):
    gain: float = 0.0


GAIN = {"options": {"gain": ParameterRef("gain")}, "parameters": [Parameter("gain", float, 0.5, 0.0, 10.0)]}


def test_a_driver_may_set_a_parameter_of_its_own_from_a_command() -> None:
    class Tuning(Probe):
        options = Options

        def handle_command(self, payload, command):
            self.rt.parameters.set("gain", 2.0)
            return self.rt.parameters.get("gain")

    tuning = Tuning()

    async def body(rt):
        tuning.rt = rt
        rt.arm()
        answer = rt["motor"].direct.set_position(0.1)
        await asyncio.sleep(0.1)
        return answer

    assert drive(robot(**GAIN), {"motor": lambda: tuning}, body).info == 2.0
    assert tuning.options_seen == [Options(0.5), Options(2.0)]


def test_a_parameter_changed_during_slow_set_up_is_told_afterwards() -> None:
    class Slow(Probe):
        options = Options
        blocking = True

        def __init__(self):
            super().__init__()
            self.begun, self.go, self.told = threading.Event(), threading.Event(), threading.Event()

        def init(self, context, options):
            super().init(context, options)
            return self.set_up

        def set_up(self):
            self.begun.set()
            self.go.wait(5.0)

        def handle_options(self, context, options):
            super().handle_options(context, options)
            self.told.set()

    slow = Slow()

    async def body(rt):
        await asyncio.to_thread(slow.begun.wait, 5.0)
        rt.parameters.set("gain", 2.0)
        rt.parameters.set("gain", 3.0)
        before = list(slow.options_seen)
        slow.go.set()
        await asyncio.to_thread(slow.told.wait, 5.0)
        return before

    assert drive(robot(**GAIN), {"motor": lambda: slow}, body, WallClock()) == [Options(0.5)]
    assert slow.options_seen == [Options(0.5), Options(3.0)]


def test_a_parameter_can_be_set_while_a_blocking_driver_is_in_a_call() -> None:
    class Slow(Probe):
        options = Options
        blocking = True

        def __init__(self):
            super().__init__()
            self.inside, self.go = threading.Event(), threading.Event()

        def handle_command(self, payload, command):
            self.inside.set()
            self.go.wait(5.0)

    slow = Slow()

    async def body(rt):
        rt.arm()
        rt["motor"].publish.set_position(0.1)
        await asyncio.to_thread(slow.inside.wait, 5.0)
        rt.parameters.set("gain", 2.0)
        assert rt.handle("motor", "other").take_lease()
        slow.go.set()
        await rt.handle("motor", "other").sync.set_position(0.2)

    drive(robot(**GAIN), {"motor": lambda: slow}, body, WallClock())
    assert slow.options_seen == [Options(0.5), Options(2.0)]


def test_limits_and_transmission_changed_while_running() -> None:
    probe = Probe()
    declared = [
        Parameter("reach", float, 1.0, unit="rad"),
        Parameter("ratio", float, 10.0, lo=1.0),
        Parameter("back", bool, False),
        Parameter("zero", float, 0.0, unit="rad"),
    ]
    limits = Limits(-3.0, ParameterRef("reach"), 1.0, None, 1.0)
    gear = Transmission(ParameterRef("ratio"), ParameterRef("zero"), ParameterRef("back"))

    async def body(rt):
        rt.arm()
        servo = rt["motor"].direct
        first = servo.set_position(2.0)
        rt.parameters.set_many({"reach": 2.5, "ratio": 20, "back": True, "zero": "0.5 rad"})
        second = servo.set_position(2.0)
        with pytest.raises(ValueError, match="lower"):
            rt.parameters.set("reach", -4.0)
        return first, second, servo.set_position(9.0).done, probe.context.motor

    first, second, clamped, motor = drive(robot(gear, limits, parameters=declared), {"motor": lambda: probe}, body)
    assert (type(first).__name__, type(second).__name__, clamped) == ("Clamped", "Accepted", Position(2.5))
    assert [payload.position for payload in probe.commands] == [near(10.0), near(-30.0), near(-40.0)]
    assert (motor.lower, motor.upper) == (near(-40.0), near(70.0))


class Encoder:
    def init(self, context, options):
        self.context = context


def test_a_sensor_sees_its_joint_through_a_transmission_that_follows_its_parameters() -> None:
    encoder = Encoder()
    sensor = Sensor("encoder", joint="shoulder", transmission=Transmission(ParameterRef("ratio"), ParameterRef("zero"), True))
    declared = [Parameter("ratio", float, 10.0), Parameter("zero", float, 0.0, unit="rad")]

    async def body(rt):
        watch = rt.subscribe("sensor", JointState)
        encoder.context.publish(JointState(("shoulder",), (5.0,), (1.0,)))
        rt.parameters.set_many({"ratio": 50.0, "zero": 1.0})
        encoder.context.publish(JointState(("shoulder",), (5.0,), (1.0,)))
        return [(state.positions, state.velocities) for state in heard(watch)]

    before, after = drive(robot(sensors=[sensor], parameters=declared), {"motor": Probe, "encoder": lambda: encoder}, body)
    assert before == ((near(-0.5),), (near(-0.1),))
    assert after == ((near(0.9),), (near(-0.02),))


def test_parameters_of_a_driver_that_is_replaced_in_simulation_concern_nobody() -> None:
    async def body(rt):
        rt.parameters.set("gain", 2.0)
        rt.arm()
        return rt["motor"].direct.set_position(0.1).ok

    assert drive(robot(**GAIN), {}, body, simulation=True)
