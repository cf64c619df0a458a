"""Parameters that vary together: a normal in several dimensions, as the covariance of a fit is one.

    x = mean + L z        L L^T = covariance (Cholesky),  z standard normal

A sample with a value where its parameter is not legal is drawn again, by its number and the turn: what is beyond the legal range is cut off.
A parameter that a fit is not informed of and that goes with no other one has no mean: it is drawn from its range by a distribution of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pushrod.config.yaml_file import Document
from pushrod.core.errors import StudyError
from pushrod.sweep.counter import Numbers, Words, uniforms
from pushrod.sweep.distribution import Distribution

Flags = NDArray[np.bool_]
TURNS = 200  # draws of one sample at most
STREAM = 1 << 20  # streams of a turn after the first: more than a study has parameters, so that neither groups nor turns share one
FAR = 6.0  # standard deviations to which it is looked at to find room for it
ROUNDING = 1e-9  # of a correlation


@dataclass(frozen=True)
class Correlated:
    name: str
    paths: tuple[str, ...]
    units: tuple[str, ...]
    mean: tuple[float, ...]
    factor: tuple[tuple[float, ...], ...]  # L
    lo: tuple[float, ...]
    hi: tuple[float, ...]
    levels: int | None = None
    own: tuple[tuple[int, Distribution], ...] = ()  # parameters that are drawn by themselves, by their number

    @property
    def sd(self) -> tuple[float, ...]:
        return tuple(sum(x * x for x in row) ** 0.5 for row in self.factor)

    @property
    def spans(self) -> tuple[tuple[float, float], ...]:
        """The ends of what is drawn, or nearly so."""
        ends = zip(self.mean, self.sd, self.lo, self.hi, strict=True)
        spans = [(max(m - FAR * s, lo), min(m + FAR * s, hi)) for m, s, lo, hi in ends]
        for i, distribution in self.own:
            spans[i] = distribution.span()
        return tuple(spans)

    def on_grid(self, levels: int | None, document: Document) -> "Correlated":
        document.add(("vary", self.name), "parameters that vary together have no levels for a grid; use design: lhs, random, sobol or saltelli")
        return self

    def quantile(self, u: Numbers, index: Words, seed: int, first: int = 0) -> dict[str, Numbers]:
        """Return values by path, of places u [parameter, sample] of the samples with these numbers. `first`: parameters of the study before these."""
        x = self._values(u)
        wrong = np.flatnonzero(self._outside(x))
        for turn in range(TURNS):
            if not len(wrong):
                return dict(zip(self.paths, x, strict=True))
            again = np.stack([uniforms(seed, (turn + 1) * STREAM + first + j, index[wrong]) for j in range(len(self.paths))])
            x[:, wrong] = self._values(again)
            wrong = wrong[self._outside(x[:, wrong])]
        raise StudyError(f"vary.{self.name}: sample {index[wrong[0]]} is outside the legal range of a parameter in {TURNS} draws; narrow the spread")

    def outside(self, u: Numbers) -> Flags:
        """Which of the samples at these places would have to be drawn again."""
        return self._outside(self._values(u))

    def _values(self, u: Numbers) -> Numbers:
        from scipy.special import ndtri

        z = ndtri(u)
        x = np.empty_like(u)
        for i, row in enumerate(self.factor):  # term by term: a matrix product may round otherwise for other sizes
            x[i] = self.mean[i]
            for j in range(i + 1):
                x[i] += row[j] * z[j]
        for i, distribution in self.own:
            x[i] = distribution.quantile(u[i])
        return x

    def _outside(self, x: Numbers) -> Flags:
        lo, hi = np.array(self.lo)[:, None], np.array(self.hi)[:, None]
        return np.asarray(np.any(~((x >= lo) & (x <= hi)), axis=0))


def cholesky(correlation: Sequence[Sequence[float]], sd: Sequence[float]) -> tuple[tuple[float, ...], ...] | None:
    """L of the covariance; None where there is none. Perfectly correlated parameters are fine. In plain Python, so that it is the same everywhere."""
    n = len(sd)
    L = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i + 1):
            rest = correlation[i][j] - sum(L[i][k] * L[j][k] for k in range(j))
            if i == j:
                if rest < -ROUNDING:
                    return None
                L[i][i] = max(rest, 0.0) ** 0.5
            elif L[j][j] > ROUNDING:
                L[i][j] = rest / L[j][j]
            elif abs(rest) > 1e-6:
                return None
    return tuple(tuple(sd[i] * x for x in L[i]) for i in range(n))
