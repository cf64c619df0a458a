"""Where things are: the path from the root link, (link, joint, link, joint, ..., name). Names are unique, so a name or any tail of a path will do."""

from collections.abc import Mapping, Sequence

from pushrod.core.errors import UnknownNameError
from pushrod.core.names import unknown
from pushrod.robot.description import Robot

Path = tuple[str, ...]


def paths(robot: Robot) -> dict[str, Path]:
    """The full path of every link, joint, actuator, sensor and controller, by name."""
    found: dict[str, Path] = {}
    below: dict[str, list[tuple[str, str]]] = {}
    for joint in robot.joints:
        below.setdefault(joint.parent, []).append((joint.name, joint.child))
    children = {joint.child for joint in robot.joints}
    open_links: list[tuple[str, Path]] = [(link.name, ()) for link in robot.links if link.name not in children]
    while open_links:
        link, above = open_links.pop()
        found[link] = (*above, link)
        for name, child in below.get(link, ()):
            found[name] = (*found[link], name)
            open_links.append((child, found[name]))
    for actuator in robot.actuators:
        found[actuator.name] = (*found[actuator.joint], actuator.name)
    for sensor in robot.sensors:
        place = sensor.joint or sensor.link
        found[sensor.name] = (*(found[place] if place else ()), sensor.name)
    for controller in robot.controllers:
        found[controller.name] = (controller.name,)
    return found


def actuator_paths(robot: Robot) -> dict[str, Path]:
    """The full path of every actuator, by name."""
    whole = paths(robot)
    return {actuator.name: whole[actuator.name] for actuator in robot.actuators}


def find(known: Mapping[str, Path], address: str | Sequence[str], what: str = "actuator") -> Path:
    """The full path that an address means: a name, a full path, or the tail of one, as a sequence or as text "shoulder/motor"."""
    tail = tuple(address.split("/")) if isinstance(address, str) else tuple(address)
    name = tail[-1] if tail else ""
    if name not in known:
        raise UnknownNameError(unknown(known, name, what))
    if known[name][-len(tail) :] != tail:
        raise UnknownNameError(f"there is no {what} at {'/'.join(map(str, tail))}; {name!r} is at {'/'.join(known[name])}")
    return known[name]
