"""The way a machine went: seen from above (x and y), or from the side where it has no y, with its heading, and the way it should have gone."""

from typing import NamedTuple

import numpy as np

from pushrod.report.logged import Array, Logged

HEADINGS = ("yaw", "psi", "heading")
TICKS = 24  # headings that are drawn
WIDE, HIGH = 0.12, 0.07  # of a label, as a share of the way, on a small screen


class Way(NamedTuple):
    """Across and up the page, all in m. `desired` are the names of the wanted positions. `height` is the signal of a machine that also climbs."""

    view: str
    across: str
    up: str
    heading: str | None
    desired: tuple[str, str] | None
    height: str | None
    length: float


def way(log: Logged) -> Way | None:
    for view, across, up in (("top view", "x", "y"), ("side view", "x", "z")):
        if not all(name in log.channels and log.unit(name) == "m" for name in (across, up)):
            continue
        x, y = log.channels[across].values, log.channels[up].values
        if len(x) != len(y):
            continue
        heading = next((name for name in HEADINGS if view == "top view" and name in log.channels and len(log.channels[name]) == len(x)), None)
        wanted = next((pair for pair in _wanted(across, up) if set(pair) <= log.channels.keys()), None)
        climbs = view == "top view" and "z" in log.channels and log.unit("z") == "m"
        length = float(np.nansum(np.hypot(np.diff(x), np.diff(y))))
        return Way(view, across, up, heading, wanted, "z" if climbs else None, length)
    return None


def _wanted(across: str, up: str) -> tuple[tuple[str, str], ...]:
    return tuple((f"{prefix}{across}_req", f"{prefix}{up}_req") for prefix in ("", "in."))


def end_labels(x: Array, y: Array) -> tuple[str, str]:
    """What is written at the start and at the end of a way; one label for both where two would be printed over each other."""
    size = max(_extent(x), _extent(y))
    close = len(x) > 0 and abs(x[-1] - x[0]) <= WIDE * size and abs(y[-1] - y[0]) <= HIGH * size
    return ("start, end", "") if close else ("start", "end")


def _extent(values: Array) -> float:
    finite = values[np.isfinite(values)]
    return float(np.ptp(finite)) if len(finite) else 0.0


def heading_marks(log: Logged, way: Way) -> tuple[Array, Array, Array]:
    """Where a machine was, and which way it pointed [rad], a few times on its way: as far apart along it as they can be."""
    assert way.heading is not None
    x, y, psi = (log.channels[name].values for name in (way.across, way.up, way.heading))
    gone = np.concatenate(([0.0], np.cumsum(np.nan_to_num(np.hypot(np.diff(x), np.diff(y))))))
    at = np.unique(np.searchsorted(gone, np.linspace(0.0, gone[-1], TICKS)).clip(0, len(x) - 1))
    return x[at], y[at], psi[at]
