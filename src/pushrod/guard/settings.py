"""How a robot is guarded, and where what a guard did is written down."""

import os
from numbers import Real
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from pushrod.core.errors import InputError

LEAST, MOST = 0.02, 60.0  # [s] of a limit
LONGEST = 3600.0  # [s] of a call
BEAT = 0.01  # [s] between two heartbeats, at most


class Guard(NamedTuple):
    """limit: the longest silence [s]. within: what each disarm function may take in the guard [s]. state: where records go, else the usual folder.
    call: the longest call of a driver that blocks [s]; longer than a command waits for its answer."""

    limit: float = 0.25
    within: float = 5.0
    state: str | Path | None = None
    call: float = 10.0

    @property
    def beat(self) -> float:
        """Between two heartbeats [s]."""
        return min(BEAT, 0.1 * self.limit)


def checked(guard: Guard | bool) -> Guard | None:
    """None: no guard, as was asked for."""
    if isinstance(guard, bool):
        return Guard() if guard else None
    if not isinstance(guard, Guard):
        raise InputError(f"guard must be Guard(limit=...), True, or False for none, got {guard!r:.60}")
    for name, lo, hi in (("limit", LEAST, MOST), ("within", 0.0, MOST), ("call", LEAST, LONGEST)):
        x = getattr(guard, name)
        if isinstance(x, bool) or not isinstance(x, Real) or not lo <= float(x) <= hi:
            raise InputError(f"guard: {name} must be {lo:g} to {hi:g} s, got {x!r}")
    if guard.state is not None and not isinstance(guard.state, (str, Path)):
        raise InputError(f"guard: state must be a folder, got {guard.state!r}")
    return guard


def state_folder(given: str | Path | None = None) -> Path:
    """What is given, else $PUSHROD_STATE, else the user's folder for state: $XDG_STATE_HOME/pushrod, ~/.local/state/pushrod."""
    said = given or os.environ.get("PUSHROD_STATE")
    if said:
        return Path(said).absolute()
    home = os.environ.get("XDG_STATE_HOME")
    return Path(home if home else os.path.expanduser("~/.local/state")).absolute() / "pushrod"


def record_folder(robot: str, state: str | Path | None = None) -> Path:
    """Of one robot; whatever its name is, it is one folder's."""
    return state_folder(state) / "guard" / (quote(robot, safe=" ").replace(".", "%2E") or "%")
