"""The robot of a machine: the description its actuators are commanded by, and which part of the world each of them is.

robot: arm                                             a shipped robot, or a .yaml or .urdf file beside the machine's
ports: {shoulder_motor: shoulder, elbow_motor: elbow}  actuator: where its channels are in the world's inputs and outputs; "" is the top.
                                                       A sensor that the world measures for has its place too
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pushrod.config.yaml_file import Document
from pushrod.core.errors import ConfigError, UnknownNameError
from pushrod.core.model import World
from pushrod.core.names import unknown
from pushrod.core.record import fields, is_record
from pushrod.robot import named_drivers
from pushrod.robot.description import Robot
from pushrod.robot.loading import load

if TYPE_CHECKING:
    from pushrod.sim.machine import Machine

FOLDER = Path(__file__).parent / "robots"


def shipped() -> dict[str, Path]:
    """The robots that come with the package, by name."""
    return {file.stem: file for file in sorted(FOLDER.glob("*.yaml"))}


def named(name: str, folder: Path = Path()) -> Robot:
    """A shipped robot, or that of a file in the folder; UnknownNameError or ConfigError where there is none."""
    known = shipped()
    if name not in known and "." not in name:
        raise UnknownNameError(f"{unknown(known, name, 'robot')}; or give the path of a .yaml or .urdf file")
    return load(known.get(name, folder / name))


def robot_file(document: Document) -> Path | None:
    """Return the file of the robot that a machine file names; None for a shipped robot, or none."""
    name = document.data.get("robot")
    return document.folder / name if isinstance(name, str) and name not in shipped() else None


def refuse_drivers(machine: "Machine") -> None:
    """Raise ConfigError with the file and line of every driver outside Pushrod that the machine would load live."""
    file = robot_file(machine.document)
    if machine.robot is not None and file is not None:
        named_drivers.refuse_drivers(machine.robot, file, replaced=machine.ports, machine=True)


def places(world: World) -> list[str]:
    """Where a port can be: the top, and the records within the inputs that the outputs have too."""
    outputs = {f.name for f in fields(world.Out) if is_record(f.type)}
    return ["", *(f.name for f in fields(world.In) if is_record(f.type) and f.name in outputs)]


def read_robot(document: Document, world: World) -> tuple[Robot | None, dict[str, str]]:
    """What a machine file says of its robot; problems are noted in the document."""
    name, ports = document.data.get("robot"), document.data.get("ports")
    if name is None:
        if ports:
            document.add(("ports",), "there is no robot whose actuators these are; add a line `robot: NAME`")
        return None, {}
    robot = load_named(name, document) if isinstance(name, str) else None
    if robot is None or not isinstance(ports, dict | None):
        return robot, {}
    return robot, _read_ports(robot, ports or {}, world, document)


def load_named(name: str, document: Document) -> Robot | None:
    """Return the robot that a machine file names; None with its problems noted in the document."""
    try:
        return named(name, document.folder)
    except ConfigError as e:
        for text in e.problems:
            document.add(("robot",), text)
    except UnknownNameError as e:
        document.add(("robot",), str(e))
    return None


def _read_ports(robot: Robot, ports: dict[str, Any], world: World, document: Document) -> dict[str, str]:
    actuators = dict.fromkeys(actuator.name for actuator in robot.actuators)
    sensors = dict.fromkeys(sensor.name for sensor in robot.sensors)
    there = {place: place for place in places(world)}
    for actuator, place in ports.items():
        if actuator not in actuators and actuator not in sensors:
            document.add(("ports", actuator), unknown(actuators | sensors, actuator, "actuator" if not sensors else "actuator or sensor"))
        if place not in there:
            known = ", ".join(map(repr, there))
            document.add(("ports", actuator), f"no part {place!r} of the world {world.name} has a motor; known: {known} ('' is the top)")
    missing = [name for name in actuators if name not in ports]
    if missing:
        what = f"nothing is said of {', '.join(missing)}; every actuator of {robot.name} needs its place in the world {world.name}"
        document.add(("ports",) if ports else ("robot",), what)
    taken: dict[str, str] = {}
    for actuator, place in ports.items():
        if place in taken and actuator in actuators:
            document.add(("ports", actuator), f"{place!r} is the place of {taken[place]} already")
        if actuator in actuators:
            taken.setdefault(place, actuator)
    return {name: place for name, place in ports.items() if place in there and name in actuators | sensors}
