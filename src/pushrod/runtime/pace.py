"""How often something comes, of late: over the last seconds in which it came, and 0 once it has fallen silent.

What comes a thousand times a second is only compared with one number each time; where it began to count is moved on about once a second.
"""

WINDOW = 1.0  # [s] after which the count begins anew; a rate is that of one to two of these
SILENT = 2.0  # [s] without anything, or
MISSED = 5.0  # times its own period, whichever is longer, and it has fallen silent


class Pace:
    """Whoever counts calls `mark(time, count)` when `time >= turn`, with what it has counted by then."""

    __slots__ = ("_before", "_since", "turn")

    def __init__(self) -> None:
        self._before: tuple[float, int] | None = None
        self._since: tuple[float, int] | None = None
        self.turn = float("-inf")

    def mark(self, time: float, count: int) -> None:
        self._before, self._since = self._since or (time, count), (time, count)
        self.turn = time + WINDOW

    def rate(self, last: float, count: int, age: float) -> float:
        """[1/s], where the last one came at `last` [s] and that is `age` [s] ago."""
        if self._before is None:
            return 0.0
        start, counted = self._before
        if last <= start or count <= counted:
            return 0.0
        period = (last - start) / (count - counted)
        return 0.0 if age > max(SILENT, MISSED * period) else 1.0 / period
