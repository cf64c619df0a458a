"""Check a robot's drivers without running them: whether they are found, are drivers, and take their options."""

from typing import Any

from pushrod.config.named_code import is_own, path_problem
from pushrod.config.yaml_file import Keys
from pushrod.core.errors import UnknownNameError
from pushrod.robot.description import Robot
from pushrod.robot.options import plain
from pushrod.robot.parameter_flaws import defaults
from pushrod.robot.path import actuator_paths, find
from pushrod.robot.reference import references, with_values
from pushrod.runtime.driver import checked_options, class_problems, find_driver, import_problem, option_flaws
from pushrod.runtime.part import ACTUATOR, NODE


def check_drivers(robot: Robot, trust: bool = False) -> list[tuple[Keys, str]]:
    """Return problems, each with its path in the description. Parameters have their defaults.

    Drivers of Pushrod are imported, others only with `trust`; one that cannot be imported is a problem. What an import path names is checked by type
    before anything of it is called.
    """
    problems: list[tuple[Keys, str]] = []
    values = defaults(robot.parameters)
    groups: dict[str, tuple[Any, ...]] = {"actuators": robot.actuators, "sensors": robot.sensors, "controllers": robot.controllers}
    for group, parts in groups.items():
        for part in parts:
            at: Keys = (group, part.name)
            needs = ACTUATOR if group == "actuators" else NODE
            if part.driver and (problem := path_problem(part.driver)):
                problems.append(((*at, "driver"), problem))
                continue
            if not part.driver or not (trust or is_own(part.driver.partition(":")[0])):
                continue
            try:
                found = find_driver(part.driver, needs)
            except Exception as error:  # its module may raise anything
                problems.append(((*at, "driver"), import_problem(part.driver, error)))
                continue
            unfit = class_problems(found, needs)
            problems += [((*at, "driver"), text) for text in unfit]
            if isinstance(found, type) and not references(part.options) - values.keys():
                options = plain(with_values(part.options, values))
                wrong = option_flaws(options, getattr(found, "options", None)) or ([] if unfit else _not_there(robot, found, options, part.name))
                problems += [((*at, "options", *path), text) for path, text in wrong]
    return problems


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
