"""What a name or a file on the command line is, live: a machine's robot with its simulated world, or a robot with its drivers."""

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pushrod.core.errors import InputError

if TYPE_CHECKING:
    from pushrod.robot.description import Robot
    from pushrod.sim.machine import Machine

DT = 1e-3  # [s] of a machine without a scenario


class LiveRobot(NamedTuple):
    """`machine` is what moves its motors, None where its drivers do; `startup` are values of its parameters."""

    robot: "Robot"
    machine: Any = None
    simulation: bool = False
    startup: Mapping[str, Any] = {}
    file: Path | None = None  # of the robot, where it is one


def live_robot(name: str, settings: list[str], alias: str | None, simulation: bool, dt: str | None) -> LiveRobot:
    """InputError, ConfigError or UnknownNameError where there is none."""
    file = Path(name)
    if file.suffix.lower() == ".urdf" or _is_robot(file):
        if dt is not None:
            raise InputError(f"--dt is the tick of a machine's world, and {name} is a robot, which has none")
        return _of_robot(file, settings, alias, simulation)
    if simulation:
        raise InputError(f"--simulation is for robot files: the machine {name} has a simulated world of its own")
    return _of_machine(name, settings, alias, dt)


def _is_robot(file: Path) -> bool:
    from pushrod.cli.check import OTHER_KEYS, ROBOT_KEYS
    from pushrod.config import yaml_file
    from pushrod.sim.machine import is_there

    if file.suffix.lower() not in (".yaml", ".yml") or not is_there(file):
        return False
    data = yaml_file.load(file, hold=True).data
    return bool(data.keys() & ROBOT_KEYS) and not data.keys() & OTHER_KEYS


def _of_robot(file: Path, settings: list[str], alias: str | None, simulation: bool) -> LiveRobot:
    from pushrod.robot.loading import load

    robot = load(file)
    sys.path += [str(file.parent.resolve()), str(Path.cwd())]  # its drivers may be beside it
    return LiveRobot(robot if alias is None else replace(robot, name=alias), None, simulation, _startup(settings), file)


def _startup(settings: list[str]) -> dict[str, Any]:
    from pushrod.config import yaml_file

    values = {}
    for text in settings:
        path, equals, value = text.partition("=")
        if not equals or not path.strip():
            raise InputError(f"--set {text}: write --set PATH=VALUE, such as --set speed='1 rad/s'")
        values[path.strip()] = yaml_file.parse(f"value: {value}", f"--set {text}").data["value"]
    return values


def _of_machine(name: str, settings: list[str], alias: str | None, dt: str | None) -> LiveRobot:
    from pushrod.live.machine import SimulatedMachine
    from pushrod.sim import machine as machines

    what = machines.load(name, settings)
    tick = _dt(what, dt)
    live = SimulatedMachine(what, dt=tick)
    live.open_to_onlookers()
    live.warm()  # before others are told that it is being started
    if alias is not None:
        live.robot = replace(live.robot, name=alias)
    return LiveRobot(live.robot, live)


def _dt(machine: "Machine", written: str | None) -> float:
    from pushrod.config.unit import to_si
    from pushrod.sim import scenario as scenarios

    if written is None:
        return scenarios.load(None, machine).dt if machine.scenario is not None else DT
    try:
        dt = to_si(written, "s")
    except ValueError as error:
        raise InputError(f"--dt: {error}") from None
    if not 1e-4 <= dt <= 1.0:
        raise InputError(f"--dt: {written}: allowed are 0.1 ms to 1 s")
    return dt
