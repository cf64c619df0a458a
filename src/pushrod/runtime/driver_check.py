"""What can be said of a robot's drivers without running them: whether they are found, are drivers, and take their options."""

import sys
from typing import Any

from pushrod.config.yaml_file import Keys
from pushrod.core.errors import UnknownNameError
from pushrod.robot.description import Robot
from pushrod.robot.options import plain
from pushrod.robot.parameter_flaws import defaults
from pushrod.robot.path import actuator_paths, find
from pushrod.robot.reference import references, with_values
from pushrod.runtime.driver import checked_options, find_driver, option_flaws
from pushrod.runtime.driver_flaws import driver_flaws
from pushrod.runtime.part import ACTUATOR, NODE


def check_drivers(robot: Robot) -> tuple[list[tuple[Keys, str]], list[str]]:
    """Flaws, each with its path in the description; and notes about what could not be looked at. Parameters have their defaults."""
    flaws: list[tuple[Keys, str]] = []
    notes: list[str] = []
    values = defaults(robot.parameters)
    groups: dict[str, tuple[Any, ...]] = {"actuators": robot.actuators, "sensors": robot.sensors, "controllers": robot.controllers}
    for group, parts in groups.items():
        for part in parts:
            at: Keys = (group, part.name)
            if not part.driver:
                continue
            try:
                made = find_driver(part.driver)
            except Exception as error:  # its module may raise anything
                why = str(error) if isinstance(error, ImportError) else f"{type(error).__name__}: {error}"
                if part.driver.partition(":")[0] in sys.modules:  # the module is there, what is named in it is not
                    flaws.append(((*at, "driver"), f"{part.driver!r} cannot be imported: {why}; write 'package.module:Class'"))
                    continue
                notes.append(f"{group}.{part.name}: driver {part.driver!r} cannot be imported here, so its options were not looked at: {why}")
                continue
            if not isinstance(made, type):
                notes.append(f"{group}.{part.name}: driver {part.driver!r} is made by a function, so its options were not looked at")
                continue
            flaws += [
                ((*at, "driver"), f"{made.__name__} is no driver: {text}") for text in driver_flaws(made, ACTUATOR if group == "actuators" else NODE)
            ]
            if not references(part.options) - values.keys():
                options = plain(with_values(part.options, values))
                wrong = option_flaws(options, getattr(made, "options", None)) or _not_there(robot, made, options, part.name)
                flaws += [((*at, "options", *path), text) for path, text in wrong]
    return flaws, notes


def _not_there(robot: Robot, driver: Any, options: dict[str, Any], name: str) -> list[tuple[Keys, str]]:
    """Actuators that its options name, as `drives(options)` tells of a controller that commands some, and the robot does not have."""
    drives = getattr(driver, "drives", None)
    if drives is None:
        return []
    known = actuator_paths(robot)
    wrong: list[tuple[Keys, str]] = []
    for path, address in drives(checked_options(options, driver.options, name)):
        try:
            find(known, address)
        except UnknownNameError as error:
            wrong.append((path, str(error)))
    return wrong
