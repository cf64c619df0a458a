"""What is asked of a test, checked; and what is taken where nobody says, told in words (`assumed`)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pushrod.core import check
from pushrod.core.errors import InputError
from pushrod.core.names import find
from pushrod.core.quantity import Q
from pushrod.core.record import get, numbers, put
from pushrod.identify.excitation_signal import FAMILIES, Span
from pushrod.identify.limit import Range
from pushrod.identify.sensitivity import Setup
from pushrod.sim.machine import Machine
from pushrod.sim.room import carry, with_room

NOISE = 0.01  # of the root mean square of an output, where nobody says how noisy it is
SIZES = (1.0, 0.8, 0.6, 0.4, 0.2, 0.0)  # of sweeps, as a family takes them, and the rest of what it takes: no offset, most of the band
SWEEP = (0.5, 0.1, 0.9, 0.25)


def free_parameters(machine: Machine, asked: Sequence[str], assumed: list[str]) -> tuple[str, ...]:
    """The parameters of which something is to be learnt. One that is 0 has no size to measure its error by."""
    legal: dict[str, Any] = {leaf.path: leaf.meta for leaf in numbers(machine.world.Params) if isinstance(leaf.meta, Q)}
    for path in asked:
        find(legal, path, f"parameter of {machine.name}")
        if get(machine.params, path) == 0.0:
            raise InputError(f"{path} is 0 {legal[path].unit}, so nobody knows of what size it is; put a guess over it, such as --set {path}=...")
    if asked:
        return tuple(dict.fromkeys(asked))
    found = tuple(path for path in legal if get(machine.params, path) != 0.0)
    if not found:
        raise InputError(f"{machine.name} has no parameter that is not 0, so there is nothing to learn; put guesses over them with --set")
    left = [path for path in legal if path not in found]
    assumed.append(f"all {len(found)} parameters are to be found" + (f"; left out because they are 0: {', '.join(left)}" if left else ""))
    return found


def roomy(machine: Machine, free: Sequence[str], dt: float) -> tuple[Any, Any]:
    """World and parameters, with room for delays a little longer than they are."""
    more = machine.params
    for path in free:
        more = put(more, path, get(more, path) * 1.01)
    larger, _ = with_room(machine.world, more, dt)
    world, params = (machine.world, machine.params) if larger is machine.world else (larger, carry(larger.Params, machine.params))
    check.check(params, machine.name, dt)
    return world, params


def channels(machine: Machine, asked: Mapping[str, tuple[float, float]] | None, assumed: list[str]) -> dict[str, Range]:
    """The channels to excite with their ranges: those asked for, else the only one there is."""
    legal: dict[str, Any] = {leaf.path: leaf.meta for leaf in numbers(machine.world.In) if isinstance(leaf.meta, Q)}
    there = ", ".join(f"{path} [{q.unit}]" for path, q in legal.items())
    how = f"say which and how far, such as --input {next(iter(legal), 'CHANNEL')}=1; there are {there}"
    if not asked:
        if len(legal) != 1:
            raise InputError(f"{machine.name} has {len(legal)} input channels that can be excited: {how}")
        path, q = next(iter(legal.items()))
        if not math.isfinite(q.lo) or not math.isfinite(q.hi):
            raise InputError(f"how far may {path} go? Its record does not say: {how}")
        assumed.append(f"{path} may go from {q.lo:g} to {q.hi:g} {q.unit}, all that is legal; say how far it really may, such as --input {path}=1")
        return {path: Range(q.lo, q.hi)}
    for path, (lo, hi) in asked.items():
        q = find(legal, path, f"input channel of {machine.name}")
        if lo < q.lo or hi > q.hi:
            raise InputError(f"input {path}: {lo:g} to {hi:g} {q.unit} goes beyond what is legal; allowed {q.legal()}")
    return {path: Range(*span) for path, span in asked.items()}


def output_range(machine: Machine, path: str, span: tuple[float, float]) -> tuple[float, float]:
    """The limits of an output, if there is one of that name."""
    find({leaf.path: leaf for leaf in numbers(machine.world.Out)}, path, f"output of {machine.name}")
    if not span[0] < span[1]:
        raise InputError(f"limit of {path}: {span[0]:g} to {span[1]:g} holds nothing")
    return span


def inside(r: Range, margin: float) -> Range:
    aside = 0.5 * margin * (r.hi - r.lo)
    return Range(r.lo + aside, r.hi - aside)


def noises(
    setup: Setup, asked: Mapping[str, float | None] | None, spans: Mapping[str, Span], machine: Machine, assumed: list[str]
) -> dict[str, float]:
    """The noise of each measured output. Where nobody says, it is taken from how far the output goes in a sweep of middling size."""
    legal = {leaf.path: str(leaf.meta.unit) for leaf in numbers(machine.world.Out) if isinstance(leaf.meta, Q)}
    for path, sigma in (asked or {}).items():
        find(legal, path, f"output of {machine.name}")
        if sigma is not None and not 0.0 < sigma < math.inf:
            raise InputError(f"noise of {path} = {sigma:g} {legal[path]}; a standard deviation is above 0 and finite")
    told = {leaf.path for leaf in numbers(machine.world.In)}  # an output of the same name only repeats what was asked for
    wanted = dict(asked) if asked else dict.fromkeys([path for path in legal if path not in told] or legal)
    if not asked:
        assumed.append(f"everything is measured: {', '.join(wanted)}; say what really is, such as --output {next(reversed(wanted))}")
    unknown = [path for path, sigma in wanted.items() if sigma is None]
    if not unknown:
        return {path: float(sigma) for path, sigma in wanted.items() if sigma is not None}
    sizes_of = _sweep(replace(setup, outputs=dict.fromkeys(wanted, 1.0)), spans)
    found: dict[str, float] = {}
    for path, sigma in wanted.items():
        size = sizes_of[path]
        if sigma is not None or (math.isfinite(size) and size > 0.0):
            found[path] = float(sigma) if sigma is not None else NOISE * size
    sizes = ", ".join(f"{path} {found[path]:.2g} {legal[path]}".removesuffix(" -") for path in unknown if path in found)
    assumed.append(f"noise is {NOISE * 100:g} % of what a sweep does: {sizes}")
    if not found:
        raise InputError(f"nothing that is measured moves, however far {', '.join(spans)} may go; choose another input or output")
    return found


def _sweep(setup: Setup, spans: Mapping[str, Span]) -> dict[str, float]:
    """The root mean square of what each output does in the largest sweep that keeps the limits."""
    sweeps = [{path: FAMILIES["chirp"].write(np.array([size, *SWEEP]), span) for path, span in spans.items()} for size in SIZES]
    first = int(np.argmin(setup.excess(sweeps) > 0.0))
    run = setup.run(sweeps[first : first + 1], setup.values[None, :])
    return {path: float(np.std(run[path])) for path in setup.outputs}
