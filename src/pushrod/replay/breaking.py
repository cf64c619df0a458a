"""Parameters of a simulated world that were changed while it ran, faults among them: from which tick on the world had which, as its log has it.

A log tells when a change was told, which is at once or a few ticks after the world had it. So a difference shortly before a change is answered by
having it a tick earlier, and running again.
"""

from typing import Any, NamedTuple

import numpy as np

from pushrod.core.errors import ParameterError
from pushrod.log.table import Table
from pushrod.replay.rebuilding import Rebuilt

NEAR = 4  # ticks before a change that may be its own


class Change(NamedTuple):
    """The parameters of the world from tick k on."""

    k: int
    params: Any


def changes_of(table: Table, rebuilt: Rebuilt) -> list[Change]:
    """In order of time."""
    from pushrod.live.world_node import FAULT, WORLD, world_params

    ends = next(iter(table.of("/out").values())).t
    found: list[Change] = []
    told: dict[str, dict[str, Any]] = {FAULT: {}, WORLD: {}}
    for t, row in table.messages("/param") if "/param" in table.topics else ():
        group, *way, last = str(row.get("path")).split(".") if "." in str(row.get("path")) else ("", "")
        if group not in told:
            continue
        node = told[group]
        for name in way:
            node = node.setdefault(name, {})
        node[last] = row.get("new")
        try:
            params = world_params(rebuilt.params, told[WORLD], told[FAULT], rebuilt.dt)
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
