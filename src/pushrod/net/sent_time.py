"""Judge the time stamp of a request: a time of the host's clock, as its sender estimates it, and the uncertainty of that estimate."""

from math import isfinite

AHEAD = 1e-3  # [s] that a request may be dated ahead of the host's clock, beyond its uncertainty
UNCERTAIN = 1.0  # [s] of uncertainty within which the age of a request can be judged


def time_problem(sent: float, doubt: float, now: float, longest: float) -> tuple[str, str] | None:
    """Return the reason of a refusal and its detail, or None. `longest`: time that a request may take to arrive [s]."""
    if not (isfinite(sent) and 0.0 <= doubt <= max(UNCERTAIN, longest)):  # a NaN fails every comparison
        return "malformed", f"sent = {sent!r} s, known within {doubt!r} s; allowed are a finite time and up to {max(UNCERTAIN, longest):g} s"
    if sent - doubt > now + AHEAD:
        return "malformed", f"sent {sent - now:.3f} s ahead of the host's clock, which is known within {doubt:.2g} s"
    took = now - sent - doubt
    return ("stale", f"{took:.3f} s on its way, which may take {longest:g} s") if took > longest else None


def duration_problem(name: str, seconds: float) -> str:
    """Return what is wrong with a duration in a request, or ""."""
    return "" if 0.0 <= seconds < float("inf") else f"{name} = {seconds!r} s; allowed are finite times, not negative"
