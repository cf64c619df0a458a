"""Random effectiveness up to 8 effectors and 6 axes: well and ill conditioned, with rows and columns that repeat or vanish."""

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from numpy.typing import NDArray

from pushrod.core.check import problems
from pushrod.pipeline.allocate.axes import Axes, Effectors, Health
from pushrod.pipeline.allocate.effectiveness import Params

Array = NDArray[np.float64]
KINDS = ("any", "any", "whole", "repeated", "tiny")


@st.composite
def laws(draw: st.DrawFn, gain_max: float | None = None, kinds: tuple[str, ...] = KINDS) -> Params:
    n, m = draw(st.integers(1, 8)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(st.sampled_from(kinds))
    B = rng.normal(size=(m, n)) if kind != "whole" else rng.integers(-1, 2, (m, n)).astype(float)
    if kind == "repeated":
        B[:, rng.integers(n)] = B[:, 0]
        B[rng.integers(m)] = B[0] * rng.choice([1.0, -1.0, 1.0 + 1e-7])
    if kind == "tiny":
        B *= 10.0 ** -rng.integers(0, 5, (m, n))
    lo, hi = -rng.uniform(0.1, 1.5, n), rng.uniform(0.1, 1.5, n)
    for j in np.flatnonzero(rng.random(n) < 0.2):
        lo[j], hi[j] = rng.choice([(0.0, 1.0), (0.2, 0.9), (0.3, 0.3)])
    weight = 10.0 ** rng.uniform(-1.0, 1.0, m)
    rows = np.sqrt(((B * (hi - lo) / 2.0) ** 2).sum(1))
    weight /= np.where(rows > 0.0, np.maximum(rows, 1e-3 * rows.max()), 1.0) ** 2 / max(rows.max(), 1e-9) ** 2
    prefer = rng.uniform(-0.5, 0.5, n) if draw(st.booleans()) else np.zeros(n)
    tables = (B.ravel(), np.clip(weight, 1e-6, 1e6), rng.permutation(m), lo, hi, prefer, np.ones(n))
    p = Params(*(tuple(map(float, table)) for table in tables))
    p = p._replace(gain_max=gain_max or draw(st.sampled_from([5.0, 10.0, 100.0])))
    assume(not list(problems(p)))  # weights too far apart, now and then
    return p


@st.composite
def commands(draw: st.DrawFn) -> Axes:
    size = draw(st.sampled_from([0.0, 0.3, 1.0, 3.0, 30.0]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return Axes(*map(float, size * rng.normal(size=6)))


healths = st.lists(st.sampled_from([1.0, 1.0, 1.0, 0.5, 0.0]), min_size=8, max_size=8).map(lambda k: Health(*k))
WELL = Health()


def sizes(p: Params) -> tuple[int, int]:
    return len(p.lo), len(p.weight)


def matrix(p: Params, k: Health = WELL) -> Array:
    n, m = sizes(p)
    return np.array(p.B).reshape(m, n) * np.array(k[:n])


def axes(values: Array) -> Axes:
    return Axes(*map(float, values), *[0.0] * (6 - len(values)))


def first(values: Axes | Effectors, count: int) -> Array:
    return np.array(values[:count])


def health_range(p: Params, k: Health) -> tuple[Array, Array]:
    """How far each effector is used as its health allows."""
    lo, hi = np.array(p.lo), np.array(p.hi)
    rest = np.clip(0.0, lo, hi)
    share = np.clip(np.array(k[: len(lo)]) * p.gain_max - 1.0, 0.0, 1.0)
    return rest + share * (lo - rest), rest + share * (hi - rest)


def used_range(p: Params, k: Health, lost: Axes) -> tuple[Array, Array]:
    """How far each effector is used: as its health allows, and as what it does on the axes that are served is worth moving it for."""
    n, m = sizes(p)
    lo, hi = health_range(p, k)
    A = matrix(p) * half_ranges(p) / authority(p)[:, None] * (first(lost, m) == 0.0)[:, None] * (np.array(k[:n]) > 0.0)
    worth = np.clip(2.0 * p.gain_max * np.linalg.norm(A, axis=0) - 1.0, 0.0, 1.0)
    c = np.clip(p.prefer, lo, hi)
    return c + worth * (lo - c), c + worth * (hi - c)


def half_ranges(p: Params) -> Array:
    return np.where(np.array(p.hi) > p.lo, (np.array(p.hi) - p.lo) / 2.0, 1.0)


def slack(p: Params, k: Health, lost: Axes) -> float:
    """The most an axis may lack for the bound on the gain: half of 1 / gain_max for each half-range that all effectors together can move. No
    such number where an effector is used for a share of its range alone."""
    narrow, wide = used_range(p, k, lost), health_range(p, k)
    return 2.0 * float(np.sqrt(len(p.lo))) * 0.5 / p.gain_max if np.array_equal(narrow, wide) else np.inf


def authority(p: Params) -> Array:
    r = np.sqrt(((matrix(p) * (np.array(p.hi) - p.lo) / 2.0) ** 2).sum(1))
    return np.where(r > 0.0, r, 1.0)
