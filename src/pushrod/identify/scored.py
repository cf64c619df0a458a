"""A world around a world that compares it with a recording while it runs: the loss of a whole population leaves the kernel as one number each.

    e = weight (before + a (now - before) - value)        loss = sum of rho(e), of each compared output

now, before   an output after this tick and after the one before
a             where in this tick the measured value was taken, 0 at its begin to 1 at its end; between two outputs the straight line counts
weight        1 / standard deviation of the noise; 0 where nothing was measured in this tick

With a sensor offset the loss is the least over all offsets, which for squares has a closed form:  sum e2 - (sum w e)2 / sum w2.
"""

import functools
import math
from typing import Annotated as A
from typing import Any, NamedTuple

from pushrod.core.model import Model, Tick, World
from pushrod.core.pick import Pick
from pushrod.core.purity import pure
from pushrod.core.quantity import Choice, Q, flag
from pushrod.metrics.metric import Measure, Metric

LOSSES = ("linear", "soft_l1", "huber")


class Sample(NamedTuple):
    """What was measured of one output during a tick."""

    value: A[float, Q("y")] = 0.0
    weight: A[float, Q("1/y", 0.0)] = 0.0
    a: A[float, Q("-", 0.0, 1.0)] = 1.0


class Weighing(NamedTuple):
    rho: A[float, Choice(LOSSES, "how much a large residual counts: its square, or less")] = 0.0
    scale: A[float, Q("-", 0.0, about="weighted residual above which it counts less")] = 1.0
    offset: A[float, flag("the least over all sensor offsets")] = 0.0


class Sums(NamedTuple):
    rho: A[float, Q("-")] = 0.0
    we: A[float, Q("-")] = 0.0
    ww: A[float, Q("-")] = 0.0


class Side(NamedTuple):
    """One output beside what was measured of it."""

    before: A[float, Q("y")]
    now: A[float, Q("y")]
    value: A[float, Q("y")]
    weight: A[float, Q("1/y")]
    a: A[float, Q("-")]


class Scored(NamedTuple):
    """`world` with its inputs under `u`, samples under `data`; `measures` gives the loss of each compared output, by name."""

    world: World
    names: tuple[str, ...]
    metrics: tuple[Metric, ...]

    def measures(self, rho: str, scale: float, offsets: tuple[str, ...]) -> dict[str, Measure]:
        kind = float(LOSSES.index(rho))
        return {
            name: Measure(metric, "", Weighing(kind, scale, float(name in offsets))) for name, metric in zip(self.names, self.metrics, strict=True)
        }


@pure
def rho_of(p: Weighing, e: float) -> float:
    """As scipy's least_squares has it: scale2 rho((e / scale)2)."""
    if p.rho == 0.0:
        return e * e
    z = e / p.scale
    if p.rho == 1.0:
        return p.scale * p.scale * 2.0 * (math.sqrt(1.0 + z * z) - 1.0)
    return e * e if abs(z) <= 1.0 else p.scale * p.scale * (2.0 * abs(z) - 1.0)


@pure
def finish(p: Weighing, m: Sums, at: Tick) -> float:
    return m.rho - m.we * m.we / m.ww if p.offset != 0.0 and p.rho == 0.0 and m.ww > 0.0 else m.rho


def slot(j: int) -> str:
    """The field of compared output j; outputs have dotted names, fields have not."""
    return f"y{j}"


@functools.cache
def of(world: Model | World, paths: tuple[str, ...]) -> Scored:
    """The world compared by the outputs at these paths ("y" for a lone number). Equal arguments give the same, so that it is compiled once."""
    inner: Any = world.step
    Row = _record("Row", [(slot(j), A[float, Q("-")]) for j in range(len(paths))], 0.0)
    Data = _record("Data", [(slot(j), Sample) for j in range(len(paths))], Sample())
    row = Pick(Row, tuple("" if path == "y" and not hasattr(world.Out, "_fields") else path for path in paths))

    class In(NamedTuple):
        u: world.In = world.In() if hasattr(world.In, "_fields") else 0.0  # type: ignore[name-defined]
        data: Data = Data()  # type: ignore[valid-type]

    class State(NamedTuple):
        s: world.State = world.State()  # type: ignore[name-defined]
        before: Row = Row()  # type: ignore[valid-type]

    class Out(NamedTuple):
        before: Row = Row()  # type: ignore[valid-type]
        now: Row = Row()  # type: ignore[valid-type]
        data: Data = Data()  # type: ignore[valid-type]

    @pure
    def step_world(p: Any, s: State, u: In, at: Tick) -> tuple[State, Out]:
        after, y = inner(p, s.s, u.u, at)
        now = row(y)
        return State(after, now), Out(s.before, now, u.data)

    @pure
    def step_model(p: Any, s: State, u: In, at: Tick) -> tuple[State, Out]:
        after, y = inner(p, s.s, u.u, at.dt)
        now = row(y)
        return State(after, now), Out(s.before, now, u.data)

    step = step_world if isinstance(world, World) else step_model
    return Scored(World(f"{world.name}_scored", world.Params, State, In, Out, step), paths, tuple(_loss(slot(j)) for j in range(len(paths))))


@functools.cache
def _loss(name: str) -> Metric:
    side = Pick(Side, (f"before.{name}", f"now.{name}", f"data.{name}.value", f"data.{name}.weight", f"data.{name}.a"))

    @pure
    def fold(p: Weighing, m: Sums, y: Any, at: Tick) -> Sums:
        c = side(y)
        if c.weight <= 0.0:
            return m
        e = c.weight * (c.before + c.a * (c.now - c.before) - c.value)
        return Sums(m.rho + rho_of(p, e), m.we + c.weight * e, m.ww + c.weight * c.weight)

    return Metric("loss", Weighing, Sums, fold, finish, unit="-")


def _record(name: str, fields: list[tuple[str, Any]], default: Any) -> Any:
    """A record with as many fields as there are outputs."""
    made: Any = NamedTuple(name, fields)  # type: ignore[misc]
    made.__new__.__defaults__ = (default,) * len(fields)
    made.__qualname__ = name
    made.__module__ = __name__
    return made
