"""`pushrod check`: validate machine, scenario, study and robot files, and list the code they refer to."""

from pathlib import Path
from typing import TYPE_CHECKING, Any
from typing import Annotated as A

import typer

from pushrod.cli.output import answer, say
from pushrod.cli.trust import Trust

ROBOT_KEYS = {"robot", "links", "joints", "actuators"}
OTHER_KEYS = {"machine", "world", "scenario", "study"}  # a machine may name a robot
UNCHECKED = "ok as far as it can be checked without the code below"
REPLACED = "a machine replaces it or loads it live"

if TYPE_CHECKING:
    from pushrod.config.named_code import NamedCode
    from pushrod.config.yaml_file import Document
    from pushrod.robot.description import Robot


def check(
    files: A[list[Path], typer.Argument(help="Machine, scenario, study or robot files (.yaml, and for robots .urdf).")],
    machine: A[str | None, typer.Option(help="Check scenarios for this machine, whatever machine they name.")] = None,
    trust: Trust = False,
) -> None:
    """Validate machine, scenario, study or robot files, print every problem with file, line and path, and list the code that they refer to.

    Without --trust no code outside Pushrod is loaded, and what depends on it is not checked.

    Exit codes: 0 no problems; 2 problems.
    """
    from pushrod.core.errors import ConfigError, PushrodError

    problems: list[str] = []
    results: list[dict[str, Any]] = []
    answer(files=results)
    for file in files:
        found: tuple[str, ...] = ()
        code: list[NamedCode] = []
        try:
            text = _check_file(file, machine, trust, code)
            say(f"{file}: {text}")
        except ConfigError as e:
            found, text = e.problems, ""
        except PushrodError as e:
            found, text = (f"{file}: {e}",), ""
        unloaded = {each: why for each in code if (why := _why_not_loaded(each, trust, found, file))}
        _print_code(file, code, unloaded, trust)
        listed = [{**each._asdict(), "loaded": each not in unloaded, "why": unloaded.get(each, "")} for each in code]
        results.append({"file": file, "valid": not found, "about": text, "problems": found, "code": listed, "trusted": trust})
        problems += found
    if problems:
        raise ConfigError(list(dict.fromkeys(problems)))  # that of a machine is also that of its scenarios


def _why_not_loaded(code: "NamedCode", trust: bool, problems: tuple[str, ...], file: Path) -> str:
    """Return why code was not loaded, "" where it was. A problem at the place that names the code says why its import failed."""
    import sys

    from pushrod.config.named_code import NOT_IMPORTED

    if not trust:
        return _not_found(code) or "--trust was not given"
    at = f"{code.where}: "
    failed = [problem.removeprefix(at) for problem in problems if problem.startswith(at)]
    why = next((text for text in failed if NOT_IMPORTED in text or text.startswith("there is no file")), "")
    if not why and code.what == "driver" and code.code.partition(":")[0] not in sys.modules:
        robot = code.where.rpartition(": ")[0].rpartition(":")[0]
        return "it comes after a problem above" if robot == str(file) else f"{REPLACED}; to check it: pushrod check {robot} --trust"
    return why


def _not_found(code: "NamedCode") -> str:
    """Return that a driver's module is neither beside the file nor installed. Looking for a package imports nothing."""
    from importlib.util import find_spec

    package = code.code.partition(":")[0].partition(".")[0]
    if code.what != "driver" or code.file is not None or not package.isidentifier() or package == "__main__" or find_spec(package) is not None:
        return ""
    return f"no module {package!r} was found beside the file or among the installed packages"


def _print_code(file: Path, code: "list[NamedCode]", unloaded: "dict[NamedCode, str]", trust: bool) -> None:
    if not code:
        return
    loaded = "" if unloaded else " (loaded)"
    say(f"  code that {file} refers to{loaded if trust else ' (not loaded; read it, then re-run with --trust)'}:")
    for each in code:
        say(f"    {each}")
        if trust and unloaded:
            say(f"      not loaded: {unloaded[each]}" if each in unloaded else "      loaded")
        elif not trust and (missing := _not_found(each)):
            say(f"      {missing}")


def _check_file(file: Path, machine: str | None, trust: bool, code: "list[NamedCode]") -> str:
    """Return a line about a valid file; ConfigError for an invalid one. References to code are added to `code`."""
    from pushrod.config import yaml_file

    if file.suffix.lower() == ".urdf":
        return _check_urdf(file, trust, code)
    document = yaml_file.load(file, hold=True)
    if document.data.keys() & ROBOT_KEYS and not document.data.keys() & OTHER_KEYS:
        from pushrod.robot.robot_file import read_yaml

        return "\n".join(_robot_lines(read_yaml(document), document, trust, code))
    document.raise_problems()
    if "study" in document.data:
        return _check_study(document, trust, code)
    if "scenario" in document.data and "world" not in document.data:
        return _check_scenario(document, machine, trust, code)
    return _check_machine(document, trust, code)


def _robot_lines(robot: "Robot", document: "Document", trust: bool, code: "list[NamedCode]") -> list[str]:
    """Return a summary of a robot whose drivers have no problems; those of Pushrod are checked, others with `trust`."""
    import sys

    from pushrod.cli.robot_summary import robot_summary
    from pushrod.cli.trust import import_beside
    from pushrod.robot.named_drivers import named_drivers
    from pushrod.runtime.driver_check import check_drivers

    code += named_drivers(robot, document)
    before = list(sys.path)
    try:
        if trust:
            import_beside(Path(document.file))
        problems = check_drivers(robot, trust)
    finally:
        sys.path[:] = before
    for at, what in problems:
        document.add(at, what)
    document.raise_problems()
    return [robot_summary(robot, UNCHECKED if code and not trust else "ok")]


def _check_urdf(file: Path, trust: bool, code: "list[NamedCode]") -> str:
    import warnings

    from pushrod.robot.loading import load_with_lines

    with warnings.catch_warnings(record=True) as left_out:
        warnings.simplefilter("always")
        robot, document = load_with_lines(file)
    return "\n".join([*_robot_lines(robot, document, trust, code), *(f"  note: {warning.message}" for warning in left_out)])


def _check_study(document: "Document", trust: bool, code: "list[NamedCode]") -> str:
    from pushrod.config.structure import read
    from pushrod.core.names import count
    from pushrod.sweep.building import build
    from pushrod.sweep.study_file import StudyFile

    if isinstance(name := document.data.get("machine"), str) and _has_code(_named(document, name), trust, code, document):
        read(StudyFile, document.data, (), document)
        document.raise_problems()
        return UNCHECKED
    made = build(document, trust=trust)
    parts = [
        count(made.n, "run"),
        f"{count(len(made.names), 'parameter')} drawn",
        count(len(made.metrics), "metric"),
        f"{len(made.criteria)} to pass",
    ]
    return "\n".join([f"ok, study {made.name} of {made.machine.name}: {', '.join(parts)}", *(f"  note: {note}" for note in made.notes)])


def _check_scenario(document: "Document", machine: str | None, trust: bool, code: "list[NamedCode]") -> str:
    from pushrod.core.names import count
    from pushrod.sim import machine as machines
    from pushrod.sim import scenario as scenarios
    from pushrod.sim.run import sample

    name = machine or document.data.get("machine")
    if not isinstance(name, str):
        scenarios.read_head(document)
        return "ok as far as it goes; to check channels and signals too, say for which --machine"
    file = machines.locate(machine, machines.shipped(), "machine") if machine else _named(document, name)
    if _has_code(file, trust, code, document):
        scenarios.read_head(document)
        return UNCHECKED
    what = machines.load(machine or str(file), trust=trust)
    how = scenarios.build(document, what)
    sample(what, how)
    parts = [count(how.steps, "tick"), count(len(how.tracks) + len(how.streams), "signal"), count(len(how.expectations), "expectation")]
    parts += [count(len(how.commands), "command")] if how.commands else []
    return f"ok, scenario {how.name} for {what.name}: {', '.join(parts)}"


def _check_machine(document: "Document", trust: bool, code: "list[NamedCode]") -> str:
    from pushrod.core.names import count
    from pushrod.core.record import numbers
    from pushrod.sim import machine as machines
    from pushrod.sim import scenario as scenarios
    from pushrod.sim.run import sample

    code += _code_of(document)
    if machines.named_worlds(document) and not trust:
        machines.check_without_code(document)
        return UNCHECKED
    what = machines.build(document, trust=trust)
    if what.scenario is not None:
        sample(what, scenarios.load(None, what))
    return f"ok, machine {what.name} of world {what.world.name}: {count(len(numbers(what.world.Params)), 'parameter')}, " + count(
        len(what.track), "tracked pair"
    )


def _has_code(file: Path, trust: bool, code: "list[NamedCode]", by: "Document") -> bool:
    """Add the code of a machine file to `code`; return whether it has a world that may not be loaded. Its problems are noted in what names it."""
    from pushrod.config import yaml_file
    from pushrod.core.errors import ConfigError
    from pushrod.sim import machine as machines

    document = yaml_file.load(file)
    code += _code_of(document)
    if not machines.named_worlds(document) or trust:
        return False
    try:
        machines.check_without_code(document)
    except ConfigError as e:
        for problem in e.problems:
            by.add(("machine",), problem)
    return True


def _code_of(document: "Document") -> "list[NamedCode]":
    """Return the code that a machine file and the robot it names refer to."""
    from pushrod.core.errors import ConfigError
    from pushrod.robot.loading import load_with_lines
    from pushrod.robot.named_drivers import named_drivers
    from pushrod.sim.machine import named_worlds
    from pushrod.sim.machine_robot import robot_file

    code = named_worlds(document)
    file = robot_file(document)
    try:
        return code if file is None else [*code, *named_drivers(*load_with_lines(file))]
    except ConfigError:  # reported with the machine file
        return code


def _named(document: "Document", name: str) -> Path:
    """The file of the machine that a scenario or a study names; ConfigError by its line where there is none."""
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
