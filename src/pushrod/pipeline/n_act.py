"""All parameters of the n-effector pipeline under their dotted names, as those of two motors with a table in place of each number.

    act.hw.u_min[j] <= act.sw.u_min[j] <= act.sw.u_max[j] <= act.hw.u_max[j]        j effectors, i axes

The number of effectors is the length of act.hw.u_min, that of axes the length of act.sw.a_min; every other table must fit.
"""

from collections.abc import Iterator
from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.purity import pure
from pushrod.core.quantity import Choice, Floats, Q, Table, flag
from pushrod.core.record import leaves
from pushrod.pipeline.allocate.effectiveness import SQUARE
from pushrod.pipeline.allocate.effectiveness import Params as Law
from pushrod.pipeline.allocate.solve import POLICIES

ONES = (1.0, 1.0, 1.0, 1.0)
ZEROS = (0.0, 0.0, 0.0, 0.0)
DOWN = (-1.0, -1.0, -1.0, -1.0)
WIDE = (4.0, 4.0, 4.0, 4.0)
WIDE_DOWN = (-4.0, -4.0, -4.0, -4.0)
QUICK = (1e9, 1e9, 1e9, 1e9)


class Hw(NamedTuple):
    u_min: A[Floats, Table("-", about="least output each effector takes")] = DOWN
    u_max: A[Floats, Table("-", shape=("u_min",), about="greatest output each effector takes")] = ONES


class Sw(NamedTuple):
    u_min: A[Floats, Table("-", about="least output we let each effector have")] = DOWN
    u_max: A[Floats, Table("-", shape=("u_min",), about="greatest output we let each effector have")] = ONES
    a_min: A[Floats, Table("-", about="least command of each axis")] = WIDE_DOWN
    a_max: A[Floats, Table("-", shape=("a_min",), about="greatest command of each axis")] = WIDE


class Ap(NamedTuple):
    scale: A[Floats, Table("-", about="of the request on each axis")] = ONES


class Man(NamedTuple):
    scale: A[Floats, Table("-", about="of the request on each axis")] = ONES
    deadband: A[float, Q("-", 0.0, 0.9)] = 0.0
    expo: A[float, Q("-", 0.0, 1.0)] = 0.0


class Shp(NamedTuple):
    ap: Ap = Ap()
    man: Man = Man()


class Alloc(NamedTuple):
    policy: A[float, Choice(POLICIES, "what gives way when the effectors cannot do all")] = 0.0
    B: A[Floats, Table("-", about="effectiveness, axis by axis")] = SQUARE
    weight: A[Floats, Table("-", about="of the squared error on each axis")] = ONES
    order: A[Floats, Table("-", shape=("weight",), about="axes, most important first: the last are given up first")] = (0.0, 1.0, 2.0, 3.0)
    prefer: A[Floats, Table("-", about="where each effector goes when the axes leave it free")] = ZEROS
    stiff: A[Floats, Table("-", shape=("prefer",), about="how much it prefers that to the others")] = ONES
    gain_max: A[float, Q("-", 2.0, 1e3, "an axis or a weak effector that would need more is not served")] = 10.0
    slew_aware: A[float, flag("the allocator knows how far each effector can move in this tick")] = 0.0


class Trim(NamedTuple):
    gain: A[Floats, Table("-")] = ONES
    offset: A[Floats, Table("-", shape=("gain",))] = ZEROS


class Motor(NamedTuple):
    deadband: A[Floats, Table("-", about="smaller outputs become 0, where 0 is allowed")] = ZEROS


class Slew(NamedTuple):
    up: A[Floats, Table("1/s", about="greatest rate of a rising output")] = QUICK
    down: A[Floats, Table("1/s", shape=("up",), about="greatest rate of a falling output")] = QUICK
    neutral_time: A[float, Q("s", 1e-3, 60.0, "from any output to rest at most, whatever the rates above say")] = 1.0


class Esc(NamedTuple):
    """From a normalised output to a pulse width, effector by effector."""

    us_min: A[Floats, Table("us", about="at u = -1; us_min = us_mid: an effector that turns one way")] = (1100.0, 1100.0, 1100.0, 1100.0)
    us_mid: A[Floats, Table("us", shape=("us_min",), about="at rest")] = (1500.0, 1500.0, 1500.0, 1500.0)
    us_max: A[Floats, Table("us", shape=("us_min",), about="at u = 1")] = (1900.0, 1900.0, 1900.0, 1900.0)
    reverse: A[Floats, Table("-", shape=("us_min",), about="1: it turns the other way round; 0: it does not")] = ZEROS


# tables over axes; all others are over effectors, but for B, which is over both
OVER_AXES = ("sw.a_min", "sw.a_max", "shp.ap.scale", "shp.man.scale", "alloc.weight", "alloc.order")
LAW = {"lo": "sw.u_min", "hi": "sw.u_max"}  # what the allocator calls by another name
RANGES = {
    "hw.u_min": (-10.0, 10.0),
    "hw.u_max": (-10.0, 10.0),
    "sw.a_min": (-1e6, 1e6),
    "sw.a_max": (-1e6, 1e6),
    "shp.ap.scale": (0.0, 10.0),
    "shp.man.scale": (0.0, 10.0),
    "trim.gain": (0.1, 10.0),
    "trim.offset": (-1.0, 1.0),
    "motor.deadband": (0.0, 1.0),
    "slew.up": (0.0, 1e9),
    "slew.down": (0.0, 1e9),
    "esc.us_min": (500.0, 2500.0),
    "esc.us_mid": (500.0, 2500.0),
    "esc.us_max": (500.0, 2500.0),
    "esc.reverse": (0.0, 1.0),
}


class Act(NamedTuple):
    hw: Hw = Hw()
    sw: Sw = Sw()
    shp: Shp = Shp()
    alloc: Alloc = Alloc()
    trim: Trim = Trim()
    motor: Motor = Motor()
    slew: Slew = Slew()
    esc: Esc = Esc()

    def flaws(self, dt: float | None) -> Iterator[str]:
        n, m = len(self.hw.u_min), len(self.sw.a_min)
        tables = {leaf.path: _at(self, leaf.path) for leaf in leaves(Act) if not leaf.is_number}
        sizes = {path: m if path in OVER_AXES else n for path in tables} | {"alloc.B": n * m}
        for path, values in tables.items():
            if values and sizes[path] and len(values) != sizes[path]:
                yield f"{path} has {len(values)} values; {n} effectors (hw.u_min) and {m} axes (sw.a_min) ask for {sizes[path]}"
        for path, (lo, hi) in RANGES.items():
            for j, x in enumerate(tables[path]):
                if not lo <= x <= hi:
                    yield f"{path}[{j}] = {x:g} is outside its legal range; allowed [{lo:g}, {hi:g}]"
        yield from self._order()
        yield from self._pulses()
        for text in law(self).flaws(None):
            name = text.split("[")[0].split(" ")[0]
            yield f"{LAW.get(name, f'alloc.{name}')}{text[len(name) :].replace(' hi[', ' sw.u_max[')}"

    def _order(self) -> Iterator[str]:
        """As far as the tables go: one that is too short is told by its length."""
        hw, sw = self.hw, self.sw
        for j, (lo, hi) in enumerate(zip(hw.u_min, hw.u_max, strict=False)):
            if not lo < hi:
                yield f"hw.u_max[{j}] = {hi:g} does not lie above hw.u_min[{j}] = {lo:g}; it must"
        for j, (ours, its) in enumerate(zip(sw.u_min, hw.u_min, strict=False)):
            if ours < its:
                yield f"sw.u_min[{j}] = {ours:g} lies below hw.u_min[{j}] = {its:g}; what we allow must lie within what it can take"
        for j, (ours, its) in enumerate(zip(sw.u_max, hw.u_max, strict=False)):
            if ours > its:
                yield f"sw.u_max[{j}] = {ours:g} lies above hw.u_max[{j}] = {its:g}; what we allow must lie within what it can take"
        for i, (lo, hi) in enumerate(zip(sw.a_min, sw.a_max, strict=False)):
            if lo > hi:
                yield f"sw.a_min[{i}] = {lo:g} lies above sw.a_max[{i}] = {hi:g}; swap them"

    def _pulses(self) -> Iterator[str]:
        esc = self.esc
        for j, (lo, mid, hi, back) in enumerate(zip(esc.us_min, esc.us_mid, esc.us_max, esc.reverse, strict=False)):
            if lo > mid:
                yield f"esc.us_min[{j}] = {lo:g} us lies above esc.us_mid[{j}] = {mid:g} us; it must not"
            if mid >= hi:
                yield f"esc.us_max[{j}] = {hi:g} us does not lie above esc.us_mid[{j}] = {mid:g} us; it must"
            if back not in (0.0, 1.0):
                yield f"esc.reverse[{j}] = {back:g} must be 0 or 1"
            if lo >= mid and back == 1.0:
                yield f"esc.reverse[{j}] is set, but what turns one way (us_min >= us_mid) cannot be turned round; clear it or lower us_min"
            if lo >= mid and self.hw.u_min[j : j + 1] and self.hw.u_min[j] < 0.0:
                yield (
                    f"esc.us_min[{j}] = {lo:g} us is no less than esc.us_mid[{j}] = {mid:g} us, what turns one way, "
                    f"but hw.u_min[{j}] = {self.hw.u_min[j]:g} asks for reverse; set it to 0 or lower esc.us_min[{j}]"
                )


class Params(NamedTuple):
    act: Act = Act()


def _at(act: Act, path: str) -> Floats:
    value: object = act
    for name in path.split("."):
        value = getattr(value, name)
    assert isinstance(value, tuple)
    return value


@pure
def law(p: Act) -> Law:
    """What the allocator is told."""
    return Law(p.alloc.B, p.alloc.weight, p.alloc.order, p.sw.u_min, p.sw.u_max, p.alloc.prefer, p.alloc.stiff, p.alloc.gain_max)
