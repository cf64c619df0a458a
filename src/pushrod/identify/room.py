"""Room for free delays: lines long enough for the upper end of what is searched, and a search that ends where the lines do."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from pushrod.core import check
from pushrod.core.errors import InputError
from pushrod.core.model import Model, World
from pushrod.core.record import put
from pushrod.identify.experiment import Trial
from pushrod.identify.free import Free
from pushrod.sim.room import with_room

LONGEST = 0.5  # [s] that a delay is looked for unless a range is given; a quarter of the shortest log at most
HALVINGS = 40


def roomy(
    world: Model | World, params: Any, free: list[Free], asked: Collection[str], trials: Sequence[Trial]
) -> tuple[Model | World, Any, list[Free]]:
    """The world with longer lines, its parameters, and the ranges that fit them. A range somebody asked for is kept, or refused."""
    dt = min(one.dt for one in trials)
    longest = min(LONGEST, 0.25 * min(one.seconds for one in trials))
    made = []
    for f in free:
        if f.path not in asked and f.unit == "s" and f.hi > longest and _flawed(put(params, f.path, f.hi), dt):
            hi = max(longest, f.lo + dt)
            f = replace(f, hi=hi, guess=min(f.guess, hi))
        made.append(f)
    upper = params
    for f in made:
        upper = put(upper, f.path, f.hi)
    if isinstance(world, World):
        larger, _ = with_room(world, upper, dt)
        if larger is not world:
            from pushrod.sim.room import carry

            world, params = larger, carry(larger.Params, params)
    return world, params, [_fitting(f, params, dt, f.path in asked) for f in made]


def _fitting(f: Free, params: Any, dt: float, asked: bool) -> Free:
    """With the upper end where the record has no fault to find."""
    before = set(_flawed(params, dt))
    wrong = [text for text in _flawed(put(params, f.path, f.hi), dt) if text not in before]
    if not wrong or f.unit != "s":
        return f
    if asked:
        raise InputError(f"range of parameter {f.path} up to {f.hi:g} s: {wrong[0]}")
    good, bad = f.lo, f.hi
    for _ in range(HALVINGS):
        middle = 0.5 * (good + bad)
        if set(_flawed(put(params, f.path, middle), dt)) - before:
            bad = middle
        else:
            good = middle
    return replace(f, hi=good, guess=min(f.guess, good))


def _flawed(params: Any, dt: float) -> list[str]:
    return list(check.problems(params, "", dt))
