"""What a name or a file on the command line is, live: a machine's robot with its simulated world, or a robot with its drivers."""

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

    @property
    def extras(self) -> tuple[str, ...]:
        """The optional dependencies of its drivers."""
        real = () if self.simulation or self.machine is not None else self.robot.actuators
        return ("dynamixel",) if any(str(one.driver).startswith("pushrod.drivers.dynamixel") for one in real) else ()


def live_robot(name: str, settings: list[str], alias: str | None, simulation: bool, dt: str | None, trust: bool = False) -> LiveRobot:
    """InputError, ConfigError or UnknownNameError where there is none."""
    file = Path(name)
    if file.suffix.lower() == ".urdf" or _is_robot(file):
        if dt is not None:
            raise InputError(f"--dt applies to machines; {name} is a robot file")
        return _of_robot(file, settings, alias, simulation, trust)
    if simulation:
        raise InputError(f"--simulation applies to robot files; the machine {name} is simulated already")
    return _of_machine(name, settings, alias, dt, trust)


def _is_robot(file: Path) -> bool:
    from pushrod.cli.check import OTHER_KEYS, ROBOT_KEYS
    from pushrod.config import yaml_file
    from pushrod.sim.machine import is_there

    if file.suffix.lower() not in (".yaml", ".yml") or not is_there(file):
        return False
    data = yaml_file.load(file, hold=True).data
    return bool(data.keys() & ROBOT_KEYS) and not data.keys() & OTHER_KEYS


def _of_robot(file: Path, settings: list[str], alias: str | None, simulation: bool, trust: bool) -> LiveRobot:
    from pushrod.cli.trust import import_beside
    from pushrod.robot.loading import load
    from pushrod.robot.named_drivers import refuse_drivers

    robot = load(file)
    if trust:
        import_beside(file)
    else:
        refuse_drivers(robot, file, simulation=simulation)
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


def _of_machine(name: str, settings: list[str], alias: str | None, dt: str | None, trust: bool) -> LiveRobot:
    from pushrod.cli.trust import admit_drivers
    from pushrod.live.machine import SimulatedMachine
    from pushrod.sim import machine as machines

    what = machines.load(name, settings, trust=trust)
    admit_drivers(what, trust)
    tick = _dt(what, dt)
    live = SimulatedMachine(what, dt=tick)
    live.open_to_onlookers()
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
