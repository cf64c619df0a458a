"""`pushrod urdf`: a robot as URDF, for the tools that read that."""

from pathlib import Path
from typing import Annotated as A

import typer

from pushrod.cli.output import answer, say


def urdf(
    robot: A[str, typer.Argument(help="A shipped robot (see `pushrod list robots`) or a robot file (.yaml, .urdf).")],
    out: A[Path | None, typer.Option(help="File to write; printed if left out.")] = None,
) -> None:
    """Write a robot as URDF. What URDF cannot say stands in elements that other tools pass over.

    Exit codes: 0 fine; 2 wrong input.
    """
    from pushrod.core.errors import InputError
    from pushrod.robot import to_urdf
    from pushrod.sim.machine_robot import named

    text = to_urdf(named(robot))
    if out is None:
        answer(urdf=text)
        say(text)
        return
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as e:
        raise InputError(f"{out}: cannot be written: {e.strerror or e}") from e
    answer(file=out)
    say(f"wrote {out}")
