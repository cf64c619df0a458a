"""The free parameters of a problem, and room for delays among them: lines as long as the upper end of what is searched, and no search beyond."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pushrod.core import check
from pushrod.core.errors import InputError
from pushrod.core.model import Model, World
from pushrod.core.names import find
from pushrod.core.quantity import Q
from pushrod.core.record import get, numbers, put
from pushrod.identify.experiment import Trial
from pushrod.identify.free import Free, narrowed
from pushrod.sim.room import carry, with_room

Range = tuple[float, float] | None
LONGEST = 0.5  # [s] that a delay is looked for unless a range is given; a quarter of the shortest log at most
HALVINGS = 40


def parameters_of(world: Model | World, params: Any, ranges: Mapping[str, Range], trials: Sequence[Trial]) -> tuple[Model | World, Any, list[Free]]:
    """The free parameters, and the world with room for the longest delay among them."""
    legal: dict[str, Any] = {leaf.path: leaf.meta for leaf in numbers(world.Params)}
    found = []
    for path, asked in ranges.items():
        meta = find(legal, path, f"parameter of {world.name}")
        if not isinstance(meta, Q):
            raise InputError(f"{path} is a choice ({meta.legal()}), which cannot be fitted: fit with each of them in turn")
        guess = float(get(params, path))
        lo, hi = narrowed(path, meta, asked, guess)
        found.append(Free(path, meta.unit, lo, hi, min(max(guess, lo), hi), about=meta.about))
    return _roomy(world, params, found, {path for path, asked in ranges.items() if asked is not None}, trials)


def _roomy(
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
