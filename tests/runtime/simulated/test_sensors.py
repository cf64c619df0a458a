"""Simulated sensors: what the signal says, at their rate, with their names."""

import math

import pytest
from bench import Bench

from pushrod.core.errors import InputError
from pushrod.runtime.simulated.pulse import Pulse
from pushrod.runtime.simulated.sensors import Imu, ImuOptions, ImuReading, WheelOptions, WheelSpeedReading, WheelSpeeds


def signal(name: str, t: float) -> float:
    return {"linear_x": 5.0, "angular_z": 2.0 * t}.get(name, 0.0)


def test_imu() -> None:
    b, imu = Bench(), Imu(signal)
    imu.init(b.context, ImuOptions(rate=100.0))
    b.clock.advance(0.5)
    assert len(b.said) == 51
    assert [t for t, _ in b.said] == pytest.approx([0.01 * k for k in range(51)])
    for t, reading in b.said:
        assert reading == ImuReading(5.0, 0.0, 0.0, 0.0, 0.0, pytest.approx(2.0 * t))
    imu.terminate("done")
    b.clock.advance(1.0)
    assert (len(b.said), imu.replay.published, imu.replay.dropped) == (51, 51, 0)


def test_wheel_speeds() -> None:
    b, wheels = Bench(), WheelSpeeds(lambda name, t: t + float(name[-1]))
    wheels.init(b.context, WheelOptions(rate=10.0, wheels=("wheel_1", "wheel_2")))
    b.clock.advance(0.1)
    assert [p for _, p in b.said] == [WheelSpeedReading(("wheel_1", "wheel_2"), (t + 1.0, t + 2.0)) for t in (0.0, 0.1)]


def test_the_usual_wheels() -> None:
    b, wheels = Bench(), WheelSpeeds(lambda name, t: 1.0)
    wheels.init(b.context)
    assert b.said[0][1].names == ("wheel_fl", "wheel_fr", "wheel_rl", "wheel_rr")


def test_what_is_not_finite_is_not_published() -> None:
    b, imu = Bench(), Imu(lambda name, t: math.nan if name == "linear_y" and t > 0.0 else 1.0)
    imu.init(b.context)
    b.clock.advance(0.1)
    assert (imu.replay.published, imu.replay.dropped, len(b.said)) == (1, 10, 1)


def test_a_channel_that_is_not_there_is_told_at_the_start() -> None:
    with pytest.raises(KeyError):
        Imu(lambda name, t: {"linear_x": 1.0}[name]).init(Bench().context)


def test_rates_that_cannot_be_are_refused() -> None:
    with pytest.raises(InputError, match=r"rate = 0\.0 Hz: allowed are numbers above 0, up to 10000"):
        Imu(signal).init(Bench().context, ImuOptions(rate=0.0))


class Counter:
    def __init__(self) -> None:
        self.seen: list[int] = []

    def tick(self, k: int) -> None:
        self.seen.append(k)


def test_missed_periods_are_left_out() -> None:
    b, c = Bench(), Counter()
    pulse = Pulse(10.0, b.clock.now, b.clock.later, c.tick)
    pulse.start()
    b.clock.advance(0.25)
    b.clock.ns += 500_000_000  # nobody came by for half a second
    b.clock.advance(0.2)
    assert c.seen == [0, 1, 2, 7, 8, 9]
    pulse.stop()
    b.clock.advance(1.0)
    assert c.seen[-1] == 9
