"""`pushrod acknowledge`: show unacknowledged records of robots that were disarmed by their guard or left armed, and acknowledge them."""

from pathlib import Path
from typing import Annotated as A

import typer

from pushrod.cli.output import answer, say


def acknowledge(
    robot: A[str | None, typer.Argument(metavar="ROBOT", help="Name of the robot; default: list the unacknowledged records of all.")] = None,
    state: A[Path | None, typer.Option(metavar="FOLDER", help="Folder of the records; default: $PUSHROD_STATE, or that of the user.")] = None,
) -> None:
    """Show and acknowledge the records of a robot that was disarmed by its guard, or left armed. Inspect it first: it can be armed afterwards.

    Exit codes: 0 shown, or acknowledged; 2 no unacknowledged record of that robot, or its guard is still disarming.
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
        say(f"to acknowledge: pushrod acknowledge {' | '.join(names)}" if names else f"no unacknowledged records in {state_folder(state)}")
        return
    if robot not in names:
        raise InputError(f"no unacknowledged records of {robot} in {state_folder(state)}; robots with records: {', '.join(names) or 'none'}")
    records = seen(robot, state)
    answer(folder=state_folder(state), robot=robot, acknowledged=True, records=[record._asdict() for record in records])
    for record in records:
        say(str(record))
    unsafe = any(not record.is_safe for record in records)
    after = "its disarm functions are called at the next start, before it can be armed" if unsafe else "these records no longer block arming"
    say(f"acknowledged: {robot}; {after}")
