"""The restart budget of a whole robot: so many restarts within so many seconds, then no more."""

from typing import NamedTuple


class Budget(NamedTuple):
    restarts: int = 3
    seconds: float = 5.0


def spend(budget: Budget, spent: tuple[float, ...], now: float) -> tuple[tuple[float, ...], bool]:
    """The restarts that still count after one more, and whether it was allowed."""
    recent = (*(t for t in spent if now - t < budget.seconds), now)
    return recent, len(recent) <= budget.restarts
