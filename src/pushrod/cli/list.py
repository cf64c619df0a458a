"""`pushrod list`: what there is to work with."""

import sys
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated as A
from typing import Any

import typer

from pushrod.cli.output import answer, console

Rows = Iterable[tuple[str, str]]


class Kind(StrEnum):
    machines = "machines"
    scenarios = "scenarios"
    studies = "studies"
    robots = "robots"
    worlds = "worlds"
    models = "models"
    plants = "plants"
    vehicles = "vehicles"
    signals = "signals"


def list_(kind: A[Kind | None, typer.Argument(help="Only these; all if left out.")] = None) -> None:
    """List the machines, scenarios, studies, robots, worlds, models, plants, vehicles and signal kinds there are.

    Exit codes: 0 fine; 2 wrong input.
    """
    from rich.table import Table

    at = console()
    for one in Kind if kind is None else (kind,):
        table = Table(box=None, pad_edge=False, show_header=False, title=f"[bold]{one}[/]", title_justify="left")
        table.add_column(overflow="fold")
        table.add_column(overflow="fold")
        rows = list(ROWS[one]())
        answer(**{one.value: [{"name": name, "about": about} for name, about in rows]})
        for name, about in rows:
            table.add_row(f"  {name}", about)
        at.print(table)


def _files(files: dict[str, Path], more: str) -> Rows:
    from pushrod.config import yaml_file

    for name, file in files.items():
        data = yaml_file.load(file).data
        yield name, f"{data.get('about', '')} ({more} {data.get(more)})"


def _machines() -> Rows:
    from pushrod.sim import machine

    return _files(machine.shipped(), "world")


def _scenarios() -> Rows:
    from pushrod.sim import scenario

    return _files(scenario.shipped(), "machine")


def _studies() -> Rows:
    from pushrod.sweep import study

    return _files(study.shipped(), "machine")


def _robots() -> Rows:
    from pushrod.robot import load
    from pushrod.sim import machine_robot

    for name, file in machine_robot.shipped().items():
        yield name, f"actuators {', '.join(actuator.name for actuator in load(file).actuators)}"


def _worlds() -> Rows:
    from pushrod.sim.worlds import WORLDS

    return ((name, _first_line(world)) for name, world in WORLDS.items())


def _models() -> Rows:
    from pushrod.models import MODELS

    return ((name, _first_line(model)) for name, model in MODELS.items())


def _plants() -> Rows:
    from pushrod.plants import PLANTS

    return ((name, _first_line(plant)) for name, plant in PLANTS.items())


def _vehicles() -> Rows:
    from pushrod.vehicles import VEHICLES, make

    for name in VEHICLES:
        head, _, about = _first_line(make(name)).partition(": ")
        yield name, about if name in head else head


def _signals() -> Rows:
    from pushrod.signals import KINDS

    return ((name, kind.about) for name, kind in KINDS.items())


def _first_line(model: Any) -> str:
    """What a step says of itself, or else the first line of the file it is written in."""
    return (model.step.__doc__ or sys.modules[model.step.__module__].__doc__ or "").partition("\n")[0]


ROWS = {
    Kind.machines: _machines,
    Kind.scenarios: _scenarios,
    Kind.studies: _studies,
    Kind.robots: _robots,
    Kind.worlds: _worlds,
    Kind.models: _models,
    Kind.plants: _plants,
    Kind.vehicles: _vehicles,
    Kind.signals: _signals,
}
