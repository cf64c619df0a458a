"""`pushrod acknowledge`: what the guard did while nobody looked, and that somebody has looked now."""

from pathlib import Path
from typing import Annotated as A

import typer

from pushrod.cli.output import answer, say


def acknowledge(
    robot: A[str | None, typer.Argument(help="Name of the robot; left out: show what waits, and acknowledge nothing.")] = None,
    state: A[Path | None, typer.Option(help="Folder of the records; $PUSHROD_STATE or the user's own if left out.")] = None,
) -> None:
    """Show what a guard recorded when it disarmed a robot, and let the robot be armed again.

    Exit codes: 0 shown, or acknowledged; 2 no record of that robot waits, or its guard is still at work.
    """
    from pushrod.core.errors import InputError
    from pushrod.guard.record import acknowledge as seen
    from pushrod.guard.record import all_waiting
    from pushrod.guard.settings import state_folder

    waiting = all_waiting(state)
    names = sorted({record.robot for record in waiting})
    if robot is None:
        answer(folder=state_folder(state), acknowledged=False, records=[record._asdict() for record in waiting])
        for record in waiting:
            say(str(record))
        say(f"to acknowledge: pushrod acknowledge {' | '.join(names)}" if names else f"no record waits in {state_folder(state)}")
        return
    if robot not in names:
        raise InputError(f"no record of {robot} waits in {state_folder(state)}; records of these do: {', '.join(names) or 'none'}")
    records = seen(robot, state)
    answer(folder=state_folder(state), robot=robot, acknowledged=True, records=[record._asdict() for record in records])
    for record in records:
        say(str(record))
    say(f"acknowledged: {robot} may be armed again")
