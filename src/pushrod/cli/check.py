"""`pushrod check`: read machine, scenario, study and robot files and say everything that is wrong with them."""

from pathlib import Path
from typing import TYPE_CHECKING, Any
from typing import Annotated as A

import typer

from pushrod.cli.output import answer, say

ROBOT_KEYS = {"robot", "links", "joints", "actuators"}
OTHER_KEYS = {"machine", "world", "scenario", "study"}  # a machine may name a robot

if TYPE_CHECKING:
    from pushrod.config.yaml_file import Document, Keys
    from pushrod.robot.description import Robot


def check(
    files: A[list[Path], typer.Argument(help="Machine, scenario, study or robot files (.yaml, and for robots .urdf).")],
    machine: A[str | None, typer.Option(help="Check scenarios for this machine, whatever machine they name.")] = None,
) -> None:
    """Say everything that is wrong with machine, scenario, study or robot files, with file, line and path.

    Exit codes: 0 all are sound; 2 something is wrong.
    """
    from pushrod.core.errors import ConfigError, PushrodError

    problems: list[str] = []
    told: list[dict[str, Any]] = []
    answer(files=told)
    for file in files:
        found: tuple[str, ...] = ()
        try:
            text = _check_file(file, machine)
            say(f"{file}: {text}")
        except ConfigError as e:
            found, text = e.problems, ""
        except PushrodError as e:
            found, text = (f"{file}: {e}",), ""
        told.append({"file": file, "sound": not found, "about": text, "problems": found})
        problems += found
    if problems:
        raise ConfigError(list(dict.fromkeys(problems)))  # that of a machine is also that of its scenarios


def _check_file(file: Path, machine: str | None) -> str:
    """What a sound file is; ConfigError for one that is not."""
    from pushrod.config import yaml_file

    if file.suffix.lower() == ".urdf":
        return _check_urdf(file)
    document = yaml_file.load(file, hold=True)
    if document.data.keys() & ROBOT_KEYS and not document.data.keys() & OTHER_KEYS:
        return _check_robot(document)
    document.raise_problems()
    return _check_study(document) if "study" in document.data else _check(document, machine)


def _drivers(robot: "Robot", folder: Path) -> tuple[list[tuple["Keys", str]], list[str]]:
    """Flaws and notes of its drivers, as far as they can be imported from here: modules beside the file and in the current folder are found."""
    import sys

    from pushrod.runtime.driver_check import check_drivers

    before = list(sys.path)
    sys.path += [str(folder.resolve()), str(Path.cwd())]
    try:
        return check_drivers(robot)
    finally:
        sys.path[:] = before


def _check_robot(document: "Document") -> str:
    from pushrod.cli.robot_summary import robot_summary
    from pushrod.robot.robot_file import read_yaml

    robot = read_yaml(document)
    flaws, notes = _drivers(robot, document.folder)
    for at, what in flaws:
        document.add(at, what)
    document.raise_problems()
    return "\n".join([robot_summary(robot), *(f"  note: {note}" for note in notes)])


def _check_urdf(file: Path) -> str:
    import warnings

    from pushrod.cli.robot_summary import robot_summary
    from pushrod.robot import xml_file
    from pushrod.robot.urdf_file import read_with_lines

    with warnings.catch_warnings(record=True) as left_out:
        warnings.simplefilter("always")
        robot, document = read_with_lines(xml_file.load(file), str(file))
    flaws, notes = _drivers(robot, file.parent)
    for at, what in flaws:
        document.add(at, what)
    document.raise_problems()
    return "\n".join([robot_summary(robot), *(f"  note: {note}" for note in (*notes, *(warning.message for warning in left_out)))])


def _check_study(document: "Document") -> str:
    from pushrod.core.names import count
    from pushrod.sweep.building import build

    made = build(document)
    parts = [
        count(made.n, "run"),
        f"{count(len(made.names), 'parameter')} drawn",
        count(len(made.metrics), "metric"),
        f"{len(made.criteria)} to pass",
    ]
    return "\n".join([f"ok, study {made.name} of {made.machine.name}: {', '.join(parts)}", *(f"  note: {note}" for note in made.notes)])


def _check(document: "Document", machine: str | None) -> str:
    """The same for a machine or a scenario."""
    from pushrod.core.names import count
    from pushrod.core.record import numbers
    from pushrod.sim import machine as machines
    from pushrod.sim import scenario as scenarios
    from pushrod.sim.run import sample

    if "scenario" in document.data and "world" not in document.data:
        name = machine or document.data.get("machine")
        if not isinstance(name, str):
            scenarios.read_head(document)
            return "ok as far as it goes; to check channels and signals too, say for which --machine"
        what = machines.load(machine or str(_named(document, name)))
        how = scenarios.build(document, what)
        sample(what, how)
        parts = [count(how.steps, "tick"), count(len(how.tracks) + len(how.streams), "signal"), count(len(how.expectations), "expectation")]
        parts += [count(len(how.commands), "command")] if how.commands else []
        return f"ok, scenario {how.name} for {what.name}: {', '.join(parts)}"
    what = machines.build(document)
    if what.scenario is not None:
        sample(what, scenarios.load(None, what))
    return f"ok, machine {what.name} of world {what.world.name}: {count(len(numbers(what.world.Params)), 'parameter')}, " + count(
        len(what.track), "tracked pair"
    )


def _named(document: "Document", name: str) -> Path:
    """The file of the machine that a scenario names; ConfigError by its line where there is none."""
    from pushrod.core.errors import UnknownNameError
    from pushrod.sim import machine as machines

    try:
        file = machines.locate(name, machines.shipped(), "machine", document.folder)
        why = "" if machines.is_there(file) else f"there is no file {file}"
    except UnknownNameError as error:
        file, why = Path(name), str(error)
    if why:
        document.add(("machine",), why)
        document.raise_problems()
    return file
