"""Fits of recordings whose truth is known: delays below the sample, gaps, offsets, outliers, several logs, starts, units."""

import numpy as np
import pytest
from fit_rig import names, recorded, rich

from pushrod import identify
from pushrod.core.errors import InputError, UnknownNameError
from pushrod.core.record import put
from pushrod.identify.belief import believe
from pushrod.identify.search import Progress
from pushrod.models.first_order import FIRST_ORDER
from pushrod.sim.worlds.servo import SERVO

DT = 0.002
U = rich(600, DT)
COLUMNS = names(FIRST_ORDER, {"u": U}, ("y",))
TRUE = FIRST_ORDER.Params(0.08, 1.7)


def lag(noise: float = 0.01, seed: int = 0, params: FIRST_ORDER.Params = TRUE) -> dict[str, np.ndarray]:
    return recorded(FIRST_ORDER, params, {"u": U}, DT, ("y",), seed, noise)


def found(*trials: identify.Trial, **how: object) -> identify.Fit:
    return identify.fit(identify.Problem(FIRST_ORDER, list(trials), ["T", "K"], **how), seeds=1, generations=30)


def test_without_noise_the_truth_is_found_to_many_digits() -> None:
    fitted = found(identify.trial(FIRST_ORDER, lag(0.0), **COLUMNS))
    assert fitted.values == pytest.approx({"T": 0.08, "K": 1.7}, rel=1e-6)
    assert believe(fitted).doubts == ()


def test_a_delay_of_13_7_ms_is_found_within_a_tenth_of_a_millisecond_from_samples_at_1_khz() -> None:
    torque = rich(6000, 0.001, 2.0)
    true = put(put(SERVO.Params(), "bus.delay", 0.0137), "lag.T", 0.03)
    data = recorded(SERVO, true, {"torque_req": torque}, 0.001, ("torque_ach",))
    one = identify.trial(SERVO, data, **names(SERVO, {"torque_req": torque}, ("torque_ach",)))
    fitted = identify.fit(identify.Problem(SERVO, [one], {"bus.delay": (0.0, 0.05), "lag.T": None}), seeds=1)
    assert one.dt == pytest.approx(0.001)
    assert fitted.values["bus.delay"] == pytest.approx(0.0137, abs=1e-4)
    told = believe(fitted).estimates[0]
    assert told.lo <= 0.0137 <= told.hi
    assert told.hi - told.lo < 3e-4


def test_the_line_of_a_free_delay_is_as_long_as_its_range() -> None:
    torque = rich(300, 0.001, 2.0)
    data = recorded(SERVO, SERVO.Params(), {"torque_req": torque}, 0.001, ("q",))
    one = identify.trial(SERVO, data, **names(SERVO, {"torque_req": torque}, ("q",)))
    problem = identify.Problem(SERVO, [one], {"bus.delay": (0.0, 0.2)})
    assert len(problem.world.State().bus.line) >= 201
    with pytest.raises(InputError, match="0 to 20 s goes beyond what is legal"):
        identify.Problem(SERVO, [one], {"bus.delay": (0.0, 20.0)})


def test_irregular_times_and_gaps() -> None:
    """A third of the samples is lost, the rest is at times of its own."""
    rng = np.random.default_rng(3)
    fine = recorded(FIRST_ORDER, TRUE, {"u": np.repeat(U, 10)}, DT / 10.0, ("y",), noise=0.0)
    keep = np.sort(rng.choice(np.arange(11, len(fine["t"])), 400, replace=False))
    keep = keep[(fine["t"][keep] < 0.4) | (fine["t"][keep] > 0.6)]
    one = identify.trial(
        FIRST_ORDER,
        {"t": fine["t"], "in_u": fine["in_u"], "y": np.where(np.isin(np.arange(len(fine["t"])), keep), fine["y"], np.nan)},
        **COLUMNS,
        dt=DT,
        missing="drop",
    )
    assert len(one.outputs["y"]) < 400
    assert np.any((one.outputs["y"].a > 0.05) & (one.outputs["y"].a < 0.95))
    assert found(one).values == pytest.approx({"T": 0.08, "K": 1.7}, rel=2e-3)


def test_values_of_one_tick_are_put_together_and_count_as_many() -> None:
    fine = recorded(FIRST_ORDER, TRUE, {"u": np.repeat(U, 10)}, DT / 10.0, ("y",), noise=0.0)
    one = identify.trial(FIRST_ORDER, fine, **COLUMNS, dt=DT)
    assert one.outputs["y"].count[1:].tolist() == [10.0] * (len(one.outputs["y"]) - 1)
    assert found(one).values == pytest.approx({"T": 0.08, "K": 1.7}, rel=2e-3)


def test_an_input_that_changes_inside_a_tick_is_not_moved_to_its_edge() -> None:
    """Input and output have clocks of their own; a tick sees the mean, so that the lag does not grow by half of one."""
    late = {"t": np.arange(601) * DT + 0.37 * DT, "in_u": np.append(U, U[-1])}
    t = np.arange(6010) * DT / 10.0
    held = late["in_u"][np.maximum(np.searchsorted(late["t"], t + 1e-12, side="right") - 1, 0)]
    y = recorded(FIRST_ORDER, TRUE, {"u": held}, DT / 10.0, ("y",), noise=0.0)
    from pathlib import Path

    from pushrod.log.table import Channel, Table

    told = Channel("u", "", "", late["t"], late["in_u"])
    seen = Channel("y", "", "", y["t"][::10], y["y"][::10])
    one = identify.trial(FIRST_ORDER, Table(Path("x"), "", {"u": told, "y": seen}), inputs={"u": "u"}, outputs={"y": "y"}, dt=DT, begin=0.01)
    assert found(one).values["T"] == pytest.approx(0.08, abs=0.1 * DT)


def test_each_log_has_its_own_constants_and_offset() -> None:
    logs = []
    for seed, (gain, offset) in enumerate(((1.7, 0.3), (0.6, -0.2))):
        data = lag(seed=seed, params=FIRST_ORDER.Params(0.08, gain))
        logs.append(identify.trial(FIRST_ORDER, data | {"y": data["y"] + offset}, **COLUMNS, constants={"K": gain}, name=f"run{seed}"))
    problem = identify.Problem(FIRST_ORDER, logs, ["T"], offsets=("y",))
    told = believe(identify.fit(problem, seeds=1, generations=20))
    assert [one.free.name for one in told.estimates] == ["T", "offset of y, log 1", "offset of y, log 2"]
    assert [one.value for one in told.estimates] == pytest.approx([0.08, 0.3, -0.2], abs=0.01)
    with pytest.raises(InputError, match="K is free and a known constant of run0"):
        identify.Problem(FIRST_ORDER, logs, ["T", "K"])


def test_a_state_at_the_start_is_found() -> None:
    full = lag(0.001)
    cut = {name: values[150:] for name, values in full.items()}
    one = identify.trial(FIRST_ORDER, cut, **COLUMNS)
    fitted = identify.fit(identify.Problem(FIRST_ORDER, [one], ["T", "K"], starts={"y": (-5.0, 5.0)}), seeds=1, generations=30)
    told = believe(fitted)
    assert told.estimates[2].value == pytest.approx(full["y"][150], abs=0.02)
    assert fitted.values == pytest.approx({"T": 0.08, "K": 1.7}, rel=0.01)


def test_a_state_may_start_where_an_output_was_measured() -> None:
    data = lag()
    assert identify.trial(FIRST_ORDER, data, **COLUMNS, start={"y": "y"}).start["y"] == data["y"][0], "at the start, not a tick later"
    later = identify.trial(FIRST_ORDER, data, **COLUMNS, start={"y": "y"}, begin=0.1)
    assert later.start["y"] == pytest.approx(data["y"][50])


@pytest.mark.parametrize("loss", ["soft_l1", "huber"])
def test_a_robust_loss_is_not_led_astray_by_outliers(loss: str) -> None:
    data = lag()
    rng = np.random.default_rng(1)
    data["y"][rng.choice(601, 60, replace=False)] += 8.0
    one = identify.trial(FIRST_ORDER, data, **COLUMNS)
    assert found(one, loss=loss).values == pytest.approx({"T": 0.08, "K": 1.7}, rel=0.03)
    assert found(one).values != pytest.approx({"T": 0.08, "K": 1.7}, rel=0.03)


def test_values_count_by_their_weights() -> None:
    data = lag()
    spoilt = (np.arange(601) % 3) == 0
    data |= {"y": np.where(spoilt, data["y"] + 5.0, data["y"]), "w": np.where(spoilt, 0.0, 4.0)}
    one = identify.trial(FIRST_ORDER, data, **COLUMNS, weights={"y": "w"})
    assert set(one.outputs["y"].count) == {4.0}
    assert len(one.outputs["y"]) == 400
    assert found(one).values == pytest.approx({"T": 0.08, "K": 1.7}, rel=0.02)


def test_units_of_columns_are_turned_into_those_of_the_world() -> None:
    from pushrod.models.servo import SERVO as MODEL

    goal = rich(400, DT)
    data = recorded(MODEL, MODEL.Params(), {"goal": goal}, DT, ("q",), noise=0.0)
    degrees = data | {"in_goal": np.degrees(data["in_goal"]), "q": 1e3 * data["q"]}
    one = identify.trial(MODEL, degrees, inputs={"goal": "in_goal [deg]"}, outputs={"q": "q [mrad]"})
    assert one.inputs["goal"] == pytest.approx(goal, abs=1e-12)
    assert one.outputs["q"].value == pytest.approx(data["q"][1:], abs=1e-12)
    with pytest.raises(InputError, match="column 'q'.*N.m.*cannot be turned into rad"):
        identify.trial(MODEL, data, inputs={"goal": "in_goal"}, outputs={"q": "q [N.m]"})


def test_names_that_are_not_there_are_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="no column named 'pos'; .*known: in_u, t, y"):
        identify.trial(FIRST_ORDER, lag(), inputs={"u": "in_u"}, outputs={"y": "pos"})
    one = identify.trial(FIRST_ORDER, lag(), **COLUMNS)
    with pytest.raises(UnknownNameError, match="no parameter of first_order named 'tau'"):
        identify.Problem(FIRST_ORDER, [one], ["tau"])


def test_ctrl_c_keeps_the_best_so_far() -> None:
    one = identify.trial(FIRST_ORDER, lag(), **COLUMNS)
    seen: list[Progress] = []

    def told(now: Progress) -> None:
        seen.append(now)
        if len(seen) == 6:
            raise KeyboardInterrupt

    problem = identify.Problem(FIRST_ORDER, [one], ["T", "K"])
    fitted = identify.fit(problem, seeds=3, told=told)
    assert fitted.stopped
    assert fitted.values == pytest.approx({"T": 0.08, "K": 1.7}, rel=0.3)
    assert "stopped before its end" in believe(fitted).doubts[0]
    assert seen[-1].loss <= seen[1].loss


def test_equal_seeds_give_equal_fits() -> None:
    one = identify.trial(FIRST_ORDER, lag(), **COLUMNS)
    assert found(one).z.tolist() == found(one).z.tolist()


def test_what_is_held_out_is_judged_and_not_fitted_to() -> None:
    data = lag()
    wrong = data | {"y": np.where(data["t"] > 0.9, data["y"] + 1.0, data["y"])}
    fitted = found(identify.trial(FIRST_ORDER, wrong, **COLUMNS, held_out=0.3))
    assert fitted.values == pytest.approx({"T": 0.08, "K": 1.7}, rel=0.02)
    other = identify.trial(FIRST_ORDER, lag(seed=9), **COLUMNS, name="other")
    told = believe(fitted, [other])
    assert [one.log for one in told.held_out] == ["log 1", "other"]
    assert told.held_out[0].rms > 0.5
    assert told.held_out[1].rms == pytest.approx(told.remainders[0].rms, rel=0.15)
    assert any("does not carry over" in doubt for doubt in told.doubts)
