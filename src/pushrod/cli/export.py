"""`pushrod export`: parameters for another simulator."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING
from typing import Annotated as A

import typer

from pushrod.cli.output import answer, say
from pushrod.cli.trust import Trust

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pushrod.sim.machine import Machine


class To(StrEnum):
    mujoco = "mujoco"
    ros2_control = "ros2_control"
    autoware = "autoware"


def export(
    fit: A[str, typer.Argument(help="The file that a fit wrote; or a machine, world or model by name, a machine file, or FILE.py:NAME.")],
    to: A[To, typer.Option(help="For whom.")],
    out: A[Path, typer.Option(help="Folder to write to.")] = Path(),
    name: A[str | None, typer.Option(help="Of the files and of what they describe; that of the model if left out.")] = None,
    joint: A[str, typer.Option(help="Name of the driven joint.")] = "joint",
    range_: A[str | None, typer.Option("--range", metavar="LOW..HIGH", help="Positions of the joint, where it has ends: '-90..90 deg'.")] = None,
    check: A[str | None, typer.Option(metavar="STEP", help="For mujoco: run a step of that command there and here, and compare: '30 deg'.")] = None,
    set_: A[list[str] | None, typer.Option("--set", metavar="PATH=VALUE", help="Put a value over a parameter; may be repeated.")] = None,
    trust: Trust = False,
) -> None:
    """Write fitted parameters as MuJoCo MJCF, as URDF and YAML of ros2_control, or as Autoware's simulator YAML, and say what cannot be told there.

    Exit codes: 0 written; 2 wrong input, nothing was written.
    """
    from pushrod.core.errors import InputError
    from pushrod.identify.export.exported import Wanted
    from pushrod.identify.export.target import TARGETS
    from pushrod.identify.limit import read_range
    from pushrod.identify.plain_yaml import name_of
    from pushrod.identify.subject import subject
    from pushrod.identify.written import write_all

    machine = subject(fit, set_ or (), trust=trust)
    for option, text in (("--name", name), ("--joint", joint)):
        if text is not None and name_of(text) != text:
            raise InputError(f"{option} {text}: write letters, digits, _ and -, beginning with a letter")
    unit = "m" if machine.document.data["world"] == "linear_axis" else "rad"
    span = None if range_ is None else read_range(range_, unit, f"--range {range_}")
    found = TARGETS[to.value].export(Wanted(machine, name or machine.name, joint, span))
    apart = None if check is None else _compared(machine, found.files, to, check)
    written = write_all({out / file: text for file, text in found.files.items()})
    answer(model=machine.name, to=to.value, written=written, left_out=list(found.left_out), **({} if apart is None else {"difference": apart}))
    for words in found.left_out:
        say(f"left out: {words}", err=True)
    for file in written:
        say(f"wrote {file}")
    if apart is not None:
        say(f"a step of {check} in MuJoCo is at most {apart * 100:.2g} % of its way from ours")


def _compared(machine: "Machine", files: "Mapping[str, str]", to: To, step: str) -> float:
    from pushrod.core.errors import InputError
    from pushrod.identify.export.drive import drive_of
    from pushrod.identify.export.mujoco_check import command_unit, difference
    from pushrod.identify.limit import number

    if to is not To.mujoco:
        raise InputError(f"--check {step}: only MuJoCo can be run here, so only --to mujoco can be checked")
    drive = drive_of(machine)
    size = number(step, command_unit(machine, drive), f"--check {step}")
    return difference(machine, drive, next(iter(files.values())), size)
