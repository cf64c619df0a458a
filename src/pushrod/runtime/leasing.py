"""The answer to who asks for a lease."""

from typing import NamedTuple

from pushrod.safety.lease import WATCHDOG, Lease, may_take


class Taken(NamedTuple):
    """The answer to who asks for a lease, true where it was given. `owner` has it now; `why` says what stands in the way."""

    ok: bool
    owner: str
    why: str = ""

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        return f"taken by {self.owner}" if self.ok else self.why


def taken(lease: Lease | None, wish: Lease, now: float) -> Taken:
    """What becomes of a wish."""
    if lease is None or may_take(lease, wish, now):
        return Taken(True, wish.owner)
    if lease.owner == WATCHDOG:
        return Taken(False, lease.owner, "its watchdog has tripped: clear that first")
    left = f" for {lease.until - now:.3g} s more" if lease.until < float("inf") else ""
    how = f"wait, or take it over with a priority above {lease.priority}"
    return Taken(False, lease.owner, f"leased by {lease.owner} with priority {lease.priority}{left}: {how}")
