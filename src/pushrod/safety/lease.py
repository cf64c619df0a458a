"""Who may command an actuator: a lease with an owner, a priority and an end.

Without a lease anyone may. A lease of higher priority takes over; one of equal or lower priority is refused while it lasts. Taking over is always an
explicit act and is announced; a command never takes a lease by itself.
"""

from typing import NamedTuple

WATCHDOG = "watchdog"  # holds an actuator after it has bitten, above everybody, until it is cleared


class Lease(NamedTuple):
    owner: str
    priority: int = 0
    until: float = float("inf")  # [s] of the runtime's clock


def holds(lease: Lease | None, source: str, now: float) -> bool:
    """May this source command now?"""
    return lease is None or lease.owner == source or now >= lease.until


def may_take(lease: Lease | None, wish: Lease, now: float) -> bool:
    """May this lease replace the present one?"""
    return holds(lease, wish.owner, now) or (lease is not None and wish.priority > lease.priority)
