"""How test signals act on a machine: whether it stays within its limits, and how its outputs move with its parameters.

dy/dp by central differences, all parameters and all signals in one batch:  (y(p + h) - y(p - h)) / 2h  with h a thousandth of p,
one-sided where p is at the edge of its range. A world that has noise of its own is simulated without it (`quiet.py`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushrod import metrics
from pushrod.compiled.evaluate import evaluate
from pushrod.compiled.rollout import batch
from pushrod.core.model import World
from pushrod.core.record import get, numbers
from pushrod.identify.limit import Range
from pushrod.identify.quiet import quiet
from pushrod.signals import Track, value
from pushrod.signals.forms import read

Array = NDArray[np.float64]
STEP = 1e-3  # of a parameter
CELLS = 8_000_000  # samples kept at a time
WORST = 1e6  # by how much an output that is no number is beyond its limits


@dataclass(frozen=True)
class Setup:
    """A test without its signal: `outputs` are measured every `every` ticks with that standard deviation; `limits` and `rates` bind outputs."""

    world: World
    params: Any
    state: Any
    dt: float
    steps: int
    every: int
    free: tuple[str, ...]
    outputs: Mapping[str, float]
    limits: Mapping[str, Range]
    rates: Mapping[str, float]
    others: Mapping[str, Track]  # signals of the channels that are not excited
    offsets: tuple[str, ...] = ()  # outputs whose sensor is off by a constant that has to be found, too

    @property
    def values(self) -> Array:
        return np.array([get(self.params, path) for path in self.free], float)

    def excess(self, signals: list[dict[str, Any]]) -> Array:
        """Of each candidate: by how much it goes beyond a limit at worst, as a share of the limit's width; 0 where all hold."""
        return np.concatenate([self._excess(part) for part in _parts(signals, CELLS // (self.steps // self.every + 1))])

    def information(self, signals: list[dict[str, Any]]) -> Array:
        """The Fisher matrix of each candidate, [candidate, parameter, parameter]; what the offsets take is taken away."""
        kept = len(self.outputs) * (self.steps // self.every + 1) * 2 * len(self.free)
        return np.concatenate([self._information(part) for part in _parts(signals, CELLS // kept)])

    def _excess(self, signals: list[dict[str, Any]]) -> Array:
        n = len(signals)
        # the same parameters vary and the same outputs are kept as for the information: then both are one compiled kernel
        run = self.run(signals, np.tile(self.values, (n, 1)))
        worst = np.zeros(n)
        for path, limit in self.limits.items():
            beyond = np.maximum(run.metrics[f"max {path}"] - limit.hi, limit.lo - run.metrics[f"min {path}"])
            worst = np.maximum(worst, _share(beyond, limit.hi - limit.lo))
        for path, most in self.rates.items():
            rate = np.abs(np.diff(run[path], axis=0)).max(axis=0) / (self.every * self.dt)
            worst = np.maximum(worst, _share(rate - most, most))
        finite = np.all([np.isfinite(run[path]).all(axis=0) for path in self.outputs], axis=0)
        return np.where(finite, worst, WORST)

    def _information(self, signals: list[dict[str, Any]]) -> Array:
        n, m = len(signals), len(self.free)
        above, below = self._neighbours()
        P = np.tile(self.values, (2 * m, 1))
        P[np.arange(m), np.arange(m)], P[m + np.arange(m), np.arange(m)] = above, below
        run = self.run([signal for signal in signals for _ in range(2 * m)], np.tile(P, (n, 1)))
        F = np.zeros((n, m, m))
        for path, sigma in self.outputs.items():
            y = run[path].reshape(-1, n, 2, m)
            J = (y[:, :, 0] - y[:, :, 1]) / (above - below) * self.values / sigma
            J = np.where(np.isfinite(J), J, 0.0).transpose(1, 0, 2)
            if path in self.offsets:
                J = J - J.mean(axis=1, keepdims=True)  # a constant that is free takes the mean of everything
            F += J.transpose(0, 2, 1) @ J
        return F

    def _neighbours(self) -> tuple[Array, Array]:
        """Of each parameter a value above and one below, within its range."""
        legal: dict[str, Any] = {leaf.path: leaf.meta for leaf in numbers(self.world.Params)}
        lo, hi = (np.array([getattr(legal[path], end) for path in self.free]) for end in ("lo", "hi"))
        h = STEP * np.abs(self.values)
        return np.minimum(self.values + h, hi), np.maximum(self.values - h, lo)

    def run(self, signals: list[dict[str, Any]], P: Array) -> Any:
        watched = {f"max {path}": metrics.maximum(path) for path in self.limits} | {f"min {path}": metrics.minimum(path) for path in self.limits}
        return batch(
            quiet(self.world),
            self.params,
            self._inputs(signals),
            steps=self.steps,
            dt=self.dt,
            vary={path: P[:, j] for j, path in enumerate(self.free)},
            state=self.state,
            every=self.every,
            outputs=tuple(dict.fromkeys((*self.outputs, *self.rates))),
            metrics=watched,
        )

    def _inputs(self, signals: list[dict[str, Any]]) -> dict[str, Array]:
        """Values [tick, instance] of the channels that are excited, of the others [tick]; equal signals are worked out once."""
        t = np.arange(self.steps) * self.dt
        found = {path: evaluate(value, track, t) for path, track in self.others.items()}
        rows: dict[int, Array] = {}
        for path in signals[0]:
            for signal in signals:
                if id(signal[path]) not in rows:
                    rows[id(signal[path])] = evaluate(value, read(path, signal[path], None, None)[0], t)
            found[path] = np.stack([rows[id(signal[path])] for signal in signals], axis=1)
        return found


def _parts(signals: list[dict[str, Any]], most: int) -> list[list[dict[str, Any]]]:
    most = max(1, most)
    return [signals[k : k + most] for k in range(0, len(signals), most)]


def _share(beyond: Array, width: float) -> Array:
    return np.where(np.isfinite(beyond), np.maximum(beyond, 0.0) / width, WORST)
