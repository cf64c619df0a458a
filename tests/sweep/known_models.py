"""Functions whose Sobol indices are known in closed form, over designs as studies draw them."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pushrod.sweep.design import places, replicates
from pushrod.sweep.influence import Influence, influences, ranked
from pushrod.sweep.saltelli import factor_rows

A, B = 7.0, 0.1
V1, V2, V13 = 0.5 * (1.0 + B * np.pi**4 / 5.0) ** 2, A * A / 8.0, B * B * np.pi**8 * 8.0 / 225.0
PASS = np.array([0.7, 0.8, 0.9])  # shares of each parameter that pass


class Model(NamedTuple):
    name: str
    y: Callable[[np.ndarray], np.ndarray]  # of places in the unit cube [parameter, sample]
    S: np.ndarray
    ST: np.ndarray


def _ishigami(u: np.ndarray) -> np.ndarray:
    """Ishigami and Homma (1990): x3 acts only together with x1, x2 goes up and down."""
    x = (2.0 * u - 1.0) * np.pi
    return np.sin(x[0]) + A * np.sin(x[1]) ** 2 + B * x[2] ** 4 * np.sin(x[0])


def _first(P: np.ndarray) -> np.ndarray:
    """S of a product of independent flags that are 1 with these probabilities."""
    p = P.prod()
    return (p / P) ** 2 * P * (1.0 - P) / (p * (1.0 - p))


def _total(P: np.ndarray) -> np.ndarray:
    p = P.prod()
    return (p / P) * P * (1.0 - P) / (p * (1.0 - p))


ISHIGAMI = Model("ishigami", _ishigami, np.array([V1, V2, 0.0]) / (V1 + V2 + V13), np.array([V1 + V13, V2, V13]) / (V1 + V2 + V13))
LINEAR = Model("linear", lambda u: u[0] + 2.0 * u[1] + 3.0 * u[2], np.array([1.0, 4.0, 9.0]) / 14.0, np.array([1.0, 4.0, 9.0]) / 14.0)
PASSING = Model("passing", lambda u: (u[:3] < PASS[:, None]).all(axis=0).astype(float), _first(PASS), _total(PASS))
MODELS = (ISHIGAMI, LINEAR, PASSING)


class Drawn(NamedTuple):
    """Places [parameter, sample], the replicate of each sample, how many replicates there are, and how many samples share a value."""

    u: np.ndarray
    replicate: np.ndarray
    replicates: int
    repeats: float = 1.0


def drawn_by(design: str, n: int, seed: int, dimensions: int = 3) -> Drawn:
    """Draw n samples as a study does. Of a Saltelli design n must be a multiple of its rows."""
    if design != "saltelli":
        return Drawn(places(design, seed, dimensions, n, 0, n), np.arange(n) % replicates(n), replicates(n))
    rows = dimensions + 2
    base, row = np.divmod(np.arange(n), rows)
    u = places("sobol", seed, 2 * dimensions, n // rows, 0, n // rows)[:, base]
    mixed = np.stack([np.where(factor_rows(f, row), u[dimensions + f], u[f]) for f in range(dimensions)])
    R = replicates(n // rows)
    return Drawn(mixed, base % R, R, rows / 2)


def first_order(model: Model, drawn: Drawn) -> list[Influence]:
    return influences([[ranked(x, drawn.replicate, drawn.replicates, drawn.repeats)] for x in drawn.u], [model.y(drawn.u)])
