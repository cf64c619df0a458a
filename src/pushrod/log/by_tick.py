"""What a world was told and what it gave, side by side: /in stands at the begin of each tick in a log, /out at its end."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from pushrod.log.table import Array, Channel, Table

TOLD, GIVEN = "/in", "/out"


def by_tick(table: Table, channels: Iterable[Channel]) -> tuple[Channel, ...]:
    """The channels, those of /in at the times of /out: a tick is then one time. As they are where ticks are missing in one of the two."""
    channels = tuple(channels)
    ends = next((c.t for c in table.of(GIVEN).values()), None)
    told = [c for c in channels if c.source == TOLD]
    if not table.about or ends is None or not told or GIVEN not in {c.source for c in channels}:
        return channels
    if any(abs(len(c) - len(ends)) > 1 or np.any(c.t[: len(ends)] > ends[: len(c)]) for c in told):  # the last tick of a torn file may be half there
        return channels
    return tuple(replace(c, t=_ends(c.t, ends)) if c.source == TOLD else c for c in channels)


def _ends(t: Array, ends: Array) -> Array:
    n = len(ends)
    return np.concatenate((ends[: len(t)], np.maximum(t[n:], ends[-1]))) if n else t
