"""Drivers outside Pushrod that a robot description names, and which of them a runtime would load."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

from pushrod.config.named_code import NamedCode, file_of, is_own, refusal
from pushrod.config.yaml_file import Document, Keys, dotted
from pushrod.robot.description import Controller, Robot
from pushrod.robot.loading import load_with_lines


def named_drivers(robot: Robot, document: Document) -> list[NamedCode]:
    """Return the drivers outside Pushrod, with their lines."""
    return [
        NamedCode("driver", driver, f"{document.file}:{document.line(at)}: {dotted(at)}", _file(driver, document))
        for at, _, driver in _drivers(robot)
        if not is_own(driver.partition(":")[0])
    ]


def loaded_drivers(robot: Robot, replaced: Collection[str] = (), simulation: bool = False, machine: bool = False) -> list[tuple[Keys, str]]:
    """Return the drivers outside Pushrod that a runtime would load, by path, as `runtime.building.sources` chooses them.

    `replaced` are the parts whose drivers come from a simulated machine; `simulation` replaces every actuator's driver.
    """
    return [
        (at, driver)
        for at, part, driver in _drivers(robot)
        if not is_own(driver.partition(":")[0])
        and part.name not in replaced
        and not (simulation and at[0] == "actuators")
        and not ((simulation or machine) and isinstance(part, Controller) and part.simulation != "start")
    ]


def refuse_drivers(robot: Robot, file: Path, replaced: Collection[str] = (), simulation: bool = False, machine: bool = False) -> None:
    """Raise ConfigError with the file and line of every driver outside Pushrod that a runtime would load."""
    drivers = loaded_drivers(robot, replaced, simulation, machine)
    if not drivers:
        return
    _, document = load_with_lines(file)
    for at, driver in drivers:
        document.add(at, refusal("driver", driver, _file(driver, document)))
    document.raise_problems()


def _drivers(robot: Robot) -> list[tuple[Keys, Any, str]]:
    groups: dict[str, tuple[Any, ...]] = {"actuators": robot.actuators, "sensors": robot.sensors, "controllers": robot.controllers}
    return [
        ((group, part.name, "driver"), part, part.driver)
        for group, parts in groups.items()
        for part in parts
        if isinstance(part.driver, str) and part.driver
    ]


def _file(driver: str, document: Document) -> Path | None:
    return file_of(driver.partition(":")[0], (document.folder, Path()))
