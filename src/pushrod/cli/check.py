"""`pushrod check`: read machine and scenario files and say everything that is wrong with them."""

from pathlib import Path
from typing import TYPE_CHECKING
from typing import Annotated as A

import typer

if TYPE_CHECKING:
    from pushrod.config.yaml_file import Document


def check(
    files: A[list[Path], typer.Argument(help="Machine or scenario files.")],
    machine: A[str | None, typer.Option(help="Check scenarios for this machine, whatever machine they name.")] = None,
) -> None:
    """Say everything that is wrong with machine or scenario files, with file, line and path."""
    from pushrod.config import yaml_file
    from pushrod.core.errors import ConfigError, PushrodError

    problems: list[str] = []
    for file in files:
        try:
            typer.echo(f"{file}: {_check(yaml_file.load(file), machine)}")
        except ConfigError as e:
            problems += e.problems
        except PushrodError as e:
            problems.append(f"{file}: {e}")
    if problems:
        raise ConfigError(problems)


def _check(document: "Document", machine: str | None) -> str:
    """What a sound file is; ConfigError for one that is not."""
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
        file = machines.locate(name, machines.shipped(), "machine", None if machine else document.folder)
        if machine is None and not file.is_file():
            document.add(("machine",), f"there is no file {file}")
            document.raise_problems()
        what = machines.load(str(file))
        how = scenarios.build(document, what)
        sample(what, how)
        return f"ok, scenario {how.name} for {what.name}: {count(how.steps, 'tick')}, {count(len(how.tracks), 'signal')}, " + count(
            len(how.expectations), "expectation"
        )
    what = machines.build(document)
    if what.scenario is not None:
        sample(what, scenarios.load(None, what))
    return f"ok, machine {what.name} of world {what.world.name}: {count(len(numbers(what.world.Params)), 'parameter')}, " + count(
        len(what.track), "tracked pair"
    )
