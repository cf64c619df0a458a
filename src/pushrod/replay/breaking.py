"""Faults that were put into a simulated machine while it ran, found in its log: from which tick on the world had which parameters.

A log tells when a change was told, which is at once or a few ticks after the world had it. So a difference shortly before a change is answered by
having it a tick earlier, and running again.
"""

from typing import Any, NamedTuple

import numpy as np

from pushrod.core.errors import ParameterError
from pushrod.log.table import Table
from pushrod.replay.rebuilding import Rebuilt

PREFIX = "fault."
NEAR = 4  # ticks before a change that may be its own


class Change(NamedTuple):
    """The parameters of the world from tick k on."""

    k: int
    params: Any


def changes_of(table: Table, rebuilt: Rebuilt) -> list[Change]:
    """In order of time."""
    from pushrod.live.pipeline.act_parameters import read

    faults = getattr(rebuilt.params, "faults", None)
    ends = next(iter(table.of("/out").values())).t
    found: list[Change] = []
    told: dict[str, Any] = {}
    for t, row in table.messages("/param") if faults is not None and "/param" in table.topics else ():
        path = str(row.get("path"))
        if not path.startswith(PREFIX):
            continue
        *way, last = path.removeprefix(PREFIX).split(".")
        node = told
        for name in way:
            node = node.setdefault(name, {})
        node[last] = row.get("new")
        try:
            params = rebuilt.params._replace(faults=read(faults, told, rebuilt.dt, PREFIX.rstrip(".")))
        except ParameterError:
            continue  # half of a change that was made as one
        k = int(np.searchsorted(ends, t))
        found = [change for change in found if change.k != k] + [Change(k, params)]
    return found


def earlier(changes: list[Change], k: int) -> list[Change] | None:
    """The changes with the one that may explain a difference at tick k a tick earlier; None where none does."""
    near = [i for i, change in enumerate(changes) if 0 < change.k - k <= NEAR]
    if not near:
        return None
    i = near[0]
    return [*changes[:i], changes[i]._replace(k=changes[i].k - 1), *changes[i + 1 :]]
