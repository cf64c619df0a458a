"""`--trust`: the option of every verb that reads files which may refer to code."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING
from typing import Annotated as A

import typer

if TYPE_CHECKING:
    from pushrod.sim.machine import Machine

Trust = A[bool, typer.Option("--trust", help="Load code outside Pushrod that the files refer to. Read it first: it runs with your permissions.")]


def import_beside(file: Path) -> None:
    """Let trusted drivers be imported from the folder of a robot file and from the current folder; installed packages come first."""
    sys.path += [folder for folder in (str(file.parent.resolve()), str(Path.cwd())) if folder not in sys.path]


def admit_drivers(machine: "Machine", trust: bool) -> None:
    """Let the drivers be imported that the robot of a machine names and its world does not replace; ConfigError without `trust`."""
    from pushrod.sim.machine_robot import refuse_drivers, robot_file

    if not trust:
        refuse_drivers(machine)
    elif (file := robot_file(machine.document)) is not None:
        import_beside(file)


def trust_words(machine: "Machine") -> list[str]:
    """Return the option that a command needs to load a machine like this one again, for the commands that verbs suggest."""
    from pushrod.sim.machine import named_worlds

    return ["--trust"] if named_worlds(machine.document) else []
