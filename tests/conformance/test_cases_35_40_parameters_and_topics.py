"""Cases 35 to 40: parameters of a running robot, and who hears what on the bus."""

import asyncio

import msgspec
import pytest
from fixture_r import Probe, drive, heard, robot

from pushrod.core.errors import ConfigError, ParameterError, UnknownNameError
from pushrod.robot import Parameter, ParameterRef, Robot
from pushrod.runtime import JointState, LocalBus, Message, ParameterChanged
from pushrod.runtime.simulated import ImuReading


def with_parameters(*parameters: Parameter, **more) -> Robot:
    return robot(parameters=parameters, **more)


GAIN = Parameter("gain", float, 0.5, 0.0, 1.0)
OFFSET = Parameter("offset", float, 0.0, lo=-1.0)
TAP = Parameter("tap_duration", int, 10, hi=127)
REACH = Parameter("reach", float, 0.5, hi=1.0, unit="m")


@pytest.mark.parametrize(
    ("parameter", "value", "held"),
    [
        (GAIN, 0.75, 0.75),
        (GAIN, 1, 1.0),
        (OFFSET, 1e6, 1e6),
        (TAP, -1_000_000, -1_000_000),
        (TAP, 127, 127),
        (REACH, "30 cm", 0.3),
        (REACH, 0.3, 0.3),
    ],
    ids=str,
)
def test_35_within_its_bounds(parameter: Parameter, value, held) -> None:
    async def body(rt):
        rt.parameters.set(parameter.path, value)
        return rt.parameters.get(parameter.path)

    assert drive(with_parameters(parameter), {"motor": Probe}, body) == held


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        (GAIN, -0.5),
        (GAIN, 1000.0),
        (GAIN, "nope"),
        (GAIN, float("nan")),
        (GAIN, True),
        (GAIN, None),
        (GAIN, [0.5]),
        (OFFSET, -2),
        (OFFSET, float("inf")),
        (TAP, 128),
        (TAP, 1.5),
        (TAP, "12"),
        (REACH, "3 m"),
        (REACH, "3 rad"),
        (REACH, 3.0),
    ],
    ids=str,
)
def test_35_beyond_them(parameter: Parameter, value) -> None:
    async def body(rt):
        watch = rt.subscribe(("param",))
        with pytest.raises(ParameterError, match=parameter.path):
            rt.parameters.set(parameter.path, value)
        return rt.parameters.get(parameter.path), heard(watch)

    assert drive(with_parameters(parameter), {"motor": Probe}, body) == (parameter.default, [])


KP, KI = Parameter("kp", float, 1.0), Parameter("ki", float, 0.1)


def test_36_several_at_once_or_none() -> None:
    async def body(rt):
        watch = rt.subscribe(("param",))
        with pytest.raises(ParameterError) as caught:
            rt.parameters.set_many({"kp": 2.0, "ki": "invalid"})
        before = rt.parameters.get("kp"), heard(watch)
        rt.parameters.set_many({"kp": 2.0, "ki": 0.2})
        return caught.value.problems, before, heard(watch)

    problems, before, after = drive(with_parameters(KP, KI), {"motor": Probe}, body)
    assert len(problems) == 1
    assert problems[0].startswith("ki:")
    assert before == (1.0, [])
    assert [(c.path, c.old, c.new) for c in after] == [("kp", 1.0, 2.0), ("ki", 0.1, 0.2)]


def test_36_nobody_sees_half_of_it() -> None:
    seen = []

    async def body(rt):
        rt.parameters.watch("", lambda changes: seen.append((len(changes), rt.parameters.get("kp"), rt.parameters.get("ki"))))
        rt.parameters.set_many({"kp": 2.0, "ki": 0.2})

    drive(with_parameters(KP, KI), {"motor": Probe}, body)
    assert seen == [(2, 2.0, 0.2)]


def test_37_a_change_is_told_with_old_new_and_source() -> None:
    async def body(rt):
        watch = rt.subscribe(("param", "pid", "kp"))
        rt.parameters.set("pid.kp", 1.0)
        rt.parameters.set("pid.kp", 2.0)
        rt.parameters.set("pid.kp", 3.0, source="remote")
        rt.parameters.set("pid.ki", 3.0)
        return heard(watch)

    declared = Parameter("pid.kp", float), Parameter("pid.ki", float, 0.0)
    assert drive(with_parameters(*declared), {"motor": Probe}, body) == [
        ParameterChanged("pid.kp", None, 1.0, "local"),
        ParameterChanged("pid.kp", 1.0, 2.0, "local"),
        ParameterChanged("pid.kp", 2.0, 3.0, "remote"),
    ]


MOTION = Parameter("motion.max_speed", float, 1.0, lo=0.0), Parameter("motion.acceleration", float, 0.5)


def test_38_unknown_paths() -> None:
    async def body(rt):
        with pytest.raises(UnknownNameError, match="unregistered parameter"):
            rt.parameters.set("nothing.here", 1.0)
        with pytest.raises(UnknownNameError, match="unknown parameter.*acceleration, max_speed"):
            rt.parameters.set("motion.max_sped", 1.0)
        with pytest.raises(UnknownNameError):
            rt.parameters.get("motion")
        with pytest.raises(ParameterError, match="unregistered parameter"):
            rt.parameters.set_many({"motion.max_speed": 2.0, "nothing.here": 1.0})
        return rt.parameters.get("motion.max_speed")

    assert drive(with_parameters(*MOTION), {"motor": Probe}, body) == 1.0


def test_38_start_up_values_win() -> None:
    async def body(rt):
        return rt.parameters.get("motion.max_speed"), rt.parameters.get("motion.acceleration")

    assert drive(with_parameters(*MOTION), {"motor": Probe}, body, startup={"motion.max_speed": 5.0}) == (5.0, 0.5)


@pytest.mark.parametrize("startup", [{"motion.max_sped": 5.0}, {"motion.max_speed": "fast"}, {"motion.max_speed": -1}, {"motion": 1.0}], ids=str)
def test_38_wrong_start_up_values_end_the_start(startup: dict) -> None:
    async def body(rt):
        raise AssertionError("must not start")

    with pytest.raises(ConfigError, match=r"start-up parameters: motion"):
        drive(with_parameters(*MOTION), {"motor": Probe}, body, startup=startup)


class Options(msgspec.Struct):
    max_effort: float
    name: str = "m"


class Configured(Probe):
    options = Options


def test_39_an_option_follows_its_parameter() -> None:
    probe = Configured()

    async def body(rt):
        rt.parameters.set("max_effort", "20 N.m")
        rt.parameters.set("other", 3.0)

    declared = Parameter("max_effort", float, 10.0, unit="N.m"), Parameter("other", float, 1.0)
    drive(with_parameters(*declared, options={"max_effort": ParameterRef("max_effort")}), {"motor": lambda: probe}, body)
    assert probe.options_seen == [Options(10.0), Options(20.0)]


IMU = ImuReading(0.0, 0.0, 9.81, 0.0, 0.0, 0.0)


def publish(bus: LocalBus, topic: tuple[str, ...], payload=IMU, robot: str = "r") -> None:
    bus.publish(Message(payload, topic, 0.0, 0.0, robot))


def test_40_a_message_reaches_its_topic_and_all_above_once_each() -> None:
    bus = LocalBus(lambda: 0.0)
    whole = ("sensor", "base_link", "joint1", "imu")
    above = [bus.subscribe(whole[:n]) for n in range(len(whole) + 1)]
    beside = [bus.subscribe(topic) for topic in ((*whole, "x"), ("sensor", "base"), ("imu",), ("actuator",))]
    publish(bus, whole)
    assert [len(heard(watch)) for watch in above] == [1] * 5
    assert [len(heard(watch)) for watch in beside] == [0] * 4
    publish(bus, ())
    assert [len(heard(watch)) for watch in above] == [1, 0, 0, 0, 0]


def test_40_types_are_filtered_and_no_filter_passes_all() -> None:
    bus = LocalBus(lambda: 0.0)
    imus, everything = bus.subscribe(("sensor",), [ImuReading]), bus.subscribe(("sensor",), [])
    publish(bus, ("sensor", "imu"))
    publish(bus, ("sensor", "pose"), JointState(("a",)))
    assert heard(imus) == [IMU]
    assert heard(everything) == [IMU, JointState(("a",))]


def test_40_messages_say_where_they_come_from() -> None:
    probe = Probe()

    async def body(rt):
        watch = rt.subscribe()
        await asyncio.sleep(0.25)
        probe.context.publish(JointState(("shoulder",), (0.1,)))
        return watch.poll()

    message = drive(robot(), {"motor": lambda: probe}, body)
    assert (message.robot, message.topic, message.source) == ("r", ("actuator", "base", "shoulder", "motor"), "base/shoulder/motor")
    assert (message.time, message.wall_time, message.frame) == (0.25, 0.25, "motor")
