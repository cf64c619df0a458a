"""Sensors that a robot file names, with their signals beside them or in a file of their own."""

import asyncio
import textwrap
from pathlib import Path
from typing import Any

import pytest

from pushrod.core.errors import InputError
from pushrod.robot import Robot, Sensor, load
from pushrod.runtime import DriverError, Runtime, SteppedClock, run
from pushrod.runtime.simulated import Imu, ImuReading, WheelSpeedReading
from pushrod.sim.signal_set import SignalSet

ROBOT = """
robot: buggy
links: [body]
sensors:
  imu:
    link: body
    driver: pushrod.live:Imu
    options: {rate: 10, signals: SIGNALS}
  wheels:
    driver: pushrod.live:WheelSpeeds
    options: {rate: 10, wheels: [left, right], signals: {left: 2 rad/s, right: [{at: 0, for: 1, linear: [0, 1]}]}}
"""


def readings(folder: Path, signals: str) -> list[Any]:
    file = folder / "buggy.yaml"
    file.write_text(textwrap.dedent(ROBOT).replace("SIGNALS", signals))

    async def main() -> list[Any]:
        async with Runtime(load(file)) as rt:
            watch = rt.subscribe("sensor", latched=True)
            await asyncio.sleep(0.55)
            return [message.payload for message in iter(watch.poll, None)]

    return run(main(), SteppedClock())


def test_signals_in_the_robot_file(tmp_path: Path) -> None:
    found = readings(tmp_path, "{linear_x: [{at: 0, for: 1, linear: [0, 1 m/s2]}], angular_z: 180 deg/s}")
    imu = [r for r in found if isinstance(r, ImuReading)]
    assert [r.linear_x for r in imu] == pytest.approx([0.1 * k for k in range(6)])
    assert {(r.linear_y, r.angular_z) for r in imu} == {(0.0, 3.141592653589793)}
    wheels = [r for r in found if isinstance(r, WheelSpeedReading)]
    assert wheels[-1] == WheelSpeedReading(("left", "right"), (2.0, pytest.approx(0.5)))


@pytest.mark.parametrize("head", ["", "signals:\n  "])
def test_signals_in_a_file_of_their_own(tmp_path: Path, head: str) -> None:
    (tmp_path / "ride.yaml").write_text(f"{head}linear_z: 9.81\n")
    assert readings(tmp_path, str(tmp_path / "ride.yaml"))[0].linear_z == 9.81


@pytest.mark.parametrize(
    ("signals", "why"),
    [
        ("{linear_w: 1}", r"options\.signals: linear_w: there is no channel 'linear_w'; did you mean 'linear_.*known: linear_x, linear_y"),
        ("{linear_x: 1 rad}", r"options\.signals: linear_x: '1 rad' is in rad, which cannot be turned into m/s2"),
        ("{linear_x: [{at: 0, wobble: 1}]}", "wobble"),
        ("no_such_file.yaml", r"no_such_file\.yaml: cannot be read"),
    ],
)
def test_what_is_wrong_with_signals_is_told_at_the_start(tmp_path: Path, signals: str, why: str) -> None:
    with pytest.raises(DriverError, match=f"imu could not be started: .*{why}"):
        readings(tmp_path, signals)


def test_the_simulated_imu_takes_a_signal_set_as_it_is() -> None:
    signals = SignalSet(ImuReading.__struct_fields__, {"linear_x": [{"at": 0, "constant": 3.0}]})
    robot = Robot("r", links=["body"], sensors=[Sensor("imu", link="body")])

    async def main() -> Any:
        async with Runtime(robot, {"imu": lambda: Imu(signals)}) as rt:
            return rt.subscribe("sensor", latched=True).poll().payload.linear_x

    assert run(main(), SteppedClock()) == 3.0


@pytest.mark.parametrize("source", [5, None, SignalSet], ids=repr)
def test_what_is_neither_a_signal_set_nor_a_function_is_refused(source: Any) -> None:
    with pytest.raises(InputError, match=r"signals must be a SignalSet, or a function \(channel, t\) -> value; got"):
        Imu(source)


def test_one_that_could_not_be_set_up_ends_without_a_second_error(caplog: pytest.LogCaptureFixture) -> None:
    robot = Robot("r", links=["body"], sensors=[Sensor("imu", link="body")])

    def broken(channel: str, t: float) -> float:
        raise KeyError(channel)

    async def main() -> None:
        async with Runtime(robot, {"imu": lambda: Imu(broken)}):
            raise AssertionError("it must not start")

    with pytest.raises(DriverError, match="imu could not be started: KeyError: 'linear_x'"):
        run(main(), SteppedClock())
    assert "terminate" not in caplog.text
