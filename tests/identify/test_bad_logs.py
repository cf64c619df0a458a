"""Recordings that nothing can be learnt from give a diagnosis, not a fit."""

import numpy as np
import pytest
from fit_rig import names, recorded, rich

from pushrod import identify
from pushrod.core.errors import DiagnosisError
from pushrod.core.record import put
from pushrod.models.first_order import FIRST_ORDER
from pushrod.models.servo import SERVO

DT = 0.002
GOAL = rich(600, DT)
COLUMNS = names(SERVO, {"goal": GOAL}, ("q",))


@pytest.fixture(scope="module")
def good() -> dict[str, np.ndarray]:
    return recorded(SERVO, put(SERVO.Params(), "kp", 8.0), {"goal": GOAL}, DT, ("q",), noise=0.001)


def fitted(data: dict[str, np.ndarray], **how: object) -> identify.Fit:
    one = identify.trial(SERVO, data, **{**COLUMNS, **how}, name="bench.csv")
    return identify.fit(identify.Problem(SERVO, [one], ["kp", "J"]), seeds=1)


def attempt(data: dict[str, np.ndarray], **how: object) -> str:
    """What is said of it."""
    with pytest.raises(DiagnosisError) as said:
        fitted(data, **how)
    assert said.value.problems
    return str(said.value)


def test_the_good_one_is_fitted(good: dict[str, np.ndarray]) -> None:
    one = identify.trial(SERVO, good, **COLUMNS)
    found = identify.fit(identify.Problem(SERVO, [one], ["kp", "J"]), seeds=1, search=False)
    assert found.values["kp"] == pytest.approx(8.0, rel=0.02)


def test_nan_is_named_by_column_and_time(good: dict[str, np.ndarray]) -> None:
    torn = good | {"q": good["q"].copy()}
    torn["q"][[100, 200]] = np.nan
    said = attempt(torn)
    assert "bench.csv: column 'q': 2 of 601 values are no numbers" in said
    assert "at 0.2 s" in said
    assert "drop" in said


def test_what_is_missing_may_be_dropped(good: dict[str, np.ndarray]) -> None:
    torn = good | {"q": good["q"].copy()}
    torn["q"][100:160] = np.nan
    one = identify.trial(SERVO, torn, **COLUMNS, missing="drop")
    assert len(one.outputs["q"]) == 540


def test_a_constant_input(good: dict[str, np.ndarray]) -> None:
    assert "goal never changes" in attempt(good | {"in_goal": np.full(601, 0.3)})


def test_a_constant_output(good: dict[str, np.ndarray]) -> None:
    assert "output q is 0.25 rad all the time" in attempt(good | {"q": np.full(601, 0.25)})


def test_time_that_goes_backwards(good: dict[str, np.ndarray]) -> None:
    t = good["t"].copy()
    t[300:] -= 0.1
    assert "time goes backwards from 0.598 s to 0.5 s (value 300)" in attempt(good | {"t": t})


@pytest.mark.parametrize("factor", [1000.0, 0.001])
def test_units_wrong_by_a_thousand(good: dict[str, np.ndarray], factor: float) -> None:
    said = attempt(good | {"q": good["q"] * factor})
    assert "unit" in said
    assert "q=column [mrad]" in said


def test_an_input_that_is_too_weak_by_a_thousand_to_overcome_friction() -> None:
    from pushrod.sim.worlds.servo import SERVO as WORLD

    u = {"torque_req": rich(600, DT)}
    data = recorded(WORLD, WORLD.Params(), u, DT, ("q",))
    weak = data | {"in_torque_req": 0.001 * data["in_torque_req"]}
    one = identify.trial(WORLD, weak, **names(WORLD, u, ("q",)), name="bench.csv")
    with pytest.raises(DiagnosisError, match="does not move the model at its guess; a thousand times as much would: is the column in another unit"):
        identify.fit(identify.Problem(WORLD, [one], ["body.J"]), seeds=1)


def test_times_that_are_all_the_same(good: dict[str, np.ndarray]) -> None:
    assert "bench.csv: every value has the same time, 0 s" in attempt(good | {"t": np.zeros(601)})


def test_an_input_beyond_what_is_legal_is_a_matter_of_units() -> None:
    from pushrod.sim.worlds.servo import SERVO as WORLD

    data = {"t": np.arange(600) * DT, "torque": 1000.0 * GOAL, "q": np.cumsum(GOAL)}
    with pytest.raises(DiagnosisError, match=r"column 'torque'.*is more than input torque_req can be.*\[mN\.m\]"):
        identify.trial(WORLD, data, inputs={"torque_req": "torque"}, outputs={"q": "q"})


def test_times_in_milliseconds(good: dict[str, np.ndarray]) -> None:
    assert "such as ms" in attempt(good | {"t": good["t"] * 1000.0})


def test_goal_and_position_swapped(good: dict[str, np.ndarray]) -> None:
    assert "swapped" in attempt(good, inputs={"goal": "q"}, outputs={"q": "in_goal"})


def test_two_outputs_swapped() -> None:
    data = recorded(SERVO, SERVO.Params(), {"goal": GOAL}, DT, ("q", "w"), noise=0.001)
    with pytest.raises(DiagnosisError, match="outputs q and w look like each other's: are the two columns swapped"):
        fitted(data, outputs={"q": "w", "w": "q"})


def test_three_samples(good: dict[str, np.ndarray]) -> None:
    few = {name: values[:3] for name, values in good.items()}
    assert "3 values, which is too few" in attempt(few)


def test_fewer_values_than_free_numbers() -> None:
    u = rich(12, DT)
    one = identify.trial(FIRST_ORDER, recorded(FIRST_ORDER, FIRST_ORDER.Params(), {"u": u}, DT, ("y",)), **names(FIRST_ORDER, {"u": u}, ("y",)))
    with pytest.raises(DiagnosisError, match="5 values to fit 2 free numbers to"):
        identify.fit(identify.Problem(FIRST_ORDER, [_only(one, 5)], ["T", "K"]))


def _only(one: identify.Trial, n: int) -> identify.Trial:
    from dataclasses import replace

    seen = one.outputs["y"]
    cut = replace(seen, k=seen.k[:n], a=seen.a[:n], value=seen.value[:n], count=seen.count[:n], held_out=seen.held_out[:n])
    return replace(one, outputs={"y": cut})


def test_everything_wrong_is_told_at_once(good: dict[str, np.ndarray]) -> None:
    torn = good | {"q": good["q"].copy(), "in_goal": good["in_goal"].copy()}
    torn["q"][5], torn["in_goal"][7] = np.nan, np.inf
    said = attempt(torn)
    assert "column 'q'" in said
    assert "column 'in_goal'" in said
