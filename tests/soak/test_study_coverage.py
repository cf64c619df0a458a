"""95 % intervals of studies contain the truth in 95 of 100 studies: counted in 400 studies of functions that are known in closed form.

PUSHROD_TABLE=1 prints what was counted.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pushrod.sweep.design import replicates
from pushrod.sweep.pass_rate import interval
from pushrod.sweep.total import totals

sys.path.append(str(Path(__file__).parents[1] / "sweep"))
from known_models import MODELS, Model, drawn_by, first_order

pytestmark = pytest.mark.soak
STUDIES = 400
LEAST, MOST = 368, 392  # of 400: 92 to 98 %
WIDEST = 1.5  # times 2 * 1.96 standard deviations of the estimate over all studies


def sizes(even: tuple[int, ...], saltelli: tuple[int, ...]) -> list[tuple[str, int]]:
    """Return each design with numbers of samples; those of a Saltelli design of three parameters are multiples of 5."""
    return [*((design, n) for design in ("random", "lhs", "sobol") for n in even), *(("saltelli", n) for n in saltelli)]


def shown(*words: object) -> None:
    if os.environ.get("PUSHROD_TABLE"):
        print(*words)


@pytest.mark.parametrize(("design", "n"), sizes((1000, 4096), (1280, 5120)))
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_intervals_of_first_order_indices(model: Model, design: str, n: int) -> None:
    held = np.zeros(3, int)
    for seed in range(STUDIES):
        found = first_order(model, drawn_by(design, n, seed))
        held += [abs(one.S - S) <= one.S_error for one, S in zip(found, model.S, strict=True)]
    shown("S", model.name, design, n, held)
    assert ((held >= LEAST) & (held <= MOST)).all(), held


@pytest.mark.parametrize("points", [64, 128, 256, 1024])
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_intervals_of_total_indices(model: Model, points: int) -> None:
    held = np.zeros(3, int)
    for seed in range(STUDIES):
        y = model.y(drawn_by("saltelli", 5 * points, seed).u)
        found = totals(np.arange(5 * points), [y], 5, replicates(points))
        held += [abs(ST - true) <= error for (ST, error), true in zip(found, model.ST, strict=True)]
    shown("ST", model.name, points, held)
    assert ((held >= LEAST) & (held <= MOST)).all(), held


CRITERIA: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "one parameter": lambda u: u[0],
    "sum": lambda u: u[0] + 2.0 * u[1] + 3.0 * u[2],
    "product": lambda u: u[0] * u[1] * u[2],
    "ring": lambda u: (u[0] - 0.4) ** 2 + (u[1] - 0.55) ** 2 + 0.3 * u[2],
}


@pytest.mark.parametrize(("design", "n"), sizes((100, 256, 1000, 4096), (500, 1280, 5120)))
def test_intervals_of_pass_rates(design: str, n: int) -> None:
    """Never too narrow; and where studies differ by two samples (of a Saltelli design: base points) or more, not much wider than they differ."""
    many = np.random.default_rng(0).random((3, 4_000_000))
    drawn = [drawn_by(design, n, seed) for seed in range(STUDIES)]
    R, replicate = drawn[0].replicates, drawn[0].replicate
    of = np.tile(np.bincount(replicate), (STUDIES, 1)).T
    rows = 5 if design == "saltelli" else 1
    bad = []
    for name, y in CRITERIA.items():
        for p in (0.5037, 0.913, 0.99, 0.9985):
            edge = p if name == "one parameter" else float(np.quantile(y(many), p))
            k = np.stack([np.bincount(replicate[y(one.u) <= edge], minlength=R) for one in drawn], axis=1)
            lo, hi = interval(k, of, rows) if design != "random" else interval(k.sum(axis=0)[None], of.sum(axis=0)[None])
            held, sd = int(((lo <= p) & (p <= hi)).sum()), float((k.sum(axis=0) / n).std())
            width = float(np.mean(hi - lo)) / (2.0 * 1.96 * sd)
            shown("pass", design, n, name, p, held, f"{width:.2f}", f"{n * sd:.1f}")
            if held < LEAST or (n * sd >= 2.0 * rows and width > WIDEST):
                bad.append((name, p, held, width))
    assert not bad
