"""Rungs and seeds are chosen by conditions that are left out: of the metadata, of whole recordings, of parts of one."""

from typing import Annotated as A
from typing import NamedTuple

import numpy as np
import pytest
from fit_rig import names, recorded, rich

from pushrod import identify
from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.quantity import Q
from pushrod.identify.descent import descend
from pushrod.identify.ladder import _by_left_out
from pushrod.identify.left_out import PARTS, Fold, folds, left_out_errors
from pushrod.identify.search import Fit, Seed
from pushrod.models import first_order
from pushrod.models.first_order import FIRST_ORDER

DT = 0.002
U = rich(600, DT)
COLUMNS = names(FIRST_ORDER, {"u": U}, ("y",))


def conditions(*rows: tuple[str, str]) -> list[dict[str, str]]:
    return [{"kp": kp, "trajectory": kind, "motor": "x"} for kp, kind in rows]


def test_values_of_the_metadata_that_several_recordings_share_are_conditions() -> None:
    made = folds(conditions(("100", "sin"), ("100", "step"), ("200", "sin"), ("200", "step")), ["a", "b", "c", "d"])
    assert {one.name: set(one.logs) for one in made} == {"kp 100": {0, 1}, "kp 200": {2, 3}, "trajectory sin": {0, 2}, "trajectory step": {1, 3}}


def test_what_all_have_or_only_one_has_is_no_condition() -> None:
    made = folds([{"kp": "100", "date": str(day), "motor": "x"} for day in range(3)], ["a", "b", "c"])
    assert made == [Fold("a", frozenset((0,))), Fold("b", frozenset((1,))), Fold("c", frozenset((2,)))]


def test_keys_that_mean_the_same_recordings_are_one_condition() -> None:
    made = folds([{"kp": kp, "gain": f"g{kp}"} for kp in ("1", "1", "2", "2")], list("abcd"))
    assert [one.name for one in made] == ["kp 1", "kp 2"]


def test_a_single_recording_is_left_out_in_parts_that_cover_it_once() -> None:
    one = identify.trial(FIRST_ORDER, recorded(FIRST_ORDER, FIRST_ORDER.Params(0.08, 1.7), {"u": U}, DT, ("y",)), **COLUMNS)
    problem = identify.Problem(FIRST_ORDER, [one], ["T", "K"])
    made = folds([{}], ["only"])
    assert len(made) == PARTS
    errors = left_out_errors(problem, identify.fit(problem, search=False).z, made)
    span = one.outputs["y"].span
    assert list(errors.values()) == pytest.approx([0.01 * span * np.sqrt(2.0 / np.pi)] * PARTS, rel=0.2), "the noise, 1 % of the span"


class Params(NamedTuple):
    a: A[float, Q("-", 0.0, 10.0)] = 2.0
    b: A[float, Q("-", 0.0, 10.0)] = 2.0
    heart: A[float, Q("-", 0.0, 1.0)] = 0.5
    load: A[float, Q("-", 0.0, 10.0)] = 1.0


@pure
def step(p: Params, s: first_order.State, u: float, dt: float) -> tuple[first_order.State, float]:
    """A gain that follows the load by a law, or one that is known by heart for each of two loads."""
    law = p.a * p.load
    heart = p.a if p.load < 2.0 else p.b
    return s, (law if p.heart < 0.5 else heart) * u


TWO_WAYS = Model("two_ways", Params, first_order.State, FIRST_ORDER.In, FIRST_ORDER.Out, step)


def test_of_seeds_that_fit_as_well_the_one_that_foretells_the_left_out_load_is_taken() -> None:
    """Both explain all recordings, the one by heart a little better; with a load left out it has nothing to say of it."""
    logs = []
    for seed, load in enumerate((1.0, 1.0, 3.0, 3.0)):
        data = recorded(TWO_WAYS, Params(1.5, 4.5, 0.0, load), {"u": U}, DT, ("y",), seed)
        logs.append(identify.trial(TWO_WAYS, data, **COLUMNS, constants={"load": load}))
    problem = identify.Problem(TWO_WAYS, logs, {"a": (0.0, 10.0), "b": (0.0, 10.0), "heart": (0.0, 1.0)})
    by_law, by_heart = (descend(problem, np.array([0.15, 0.45, heart])) for heart in (0.2, 0.8))
    assert by_heart[1] < by_law[1]
    seeds = tuple(Seed(n, np.sqrt(loss / problem.samples), problem.values(z), z) for n, (z, loss) in enumerate((by_heart, by_law)))
    trained = Fit(problem, by_heart[0], seeds[0].loss, seeds, problem.noise, 0.0, 0)
    chosen, errors = _by_left_out(trained, folds([{"load": "1"}, {"load": "1"}, {"load": "3"}, {"load": "3"}], list("abcd")))
    assert list(errors) == ["load 1", "load 3"]
    assert chosen.z.tolist() == by_law[0].tolist()
    assert chosen.loss == seeds[1].loss
