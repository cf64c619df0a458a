"""What is wrong with a recording is named together with the option that mends it, and that option does."""

import re

import numpy as np
import pytest
from fit_rig import names, recorded, rich

from pushrod import identify
from pushrod.core.errors import DiagnosisError
from pushrod.core.record import put
from pushrod.identify.belief import Belief, believe
from pushrod.models.first_order import FIRST_ORDER
from pushrod.models.servo import SERVO
from pushrod.sim.worlds.servo import SERVO as TORQUE_SERVO

DT = 0.002
U = rich(600, DT)
COLUMNS = names(FIRST_ORDER, {"u": U}, ("y",))
GOOD = recorded(FIRST_ORDER, FIRST_ORDER.Params(0.08, 1.7), {"u": U}, DT, ("y",))
FREE = {"T": (0.005, 1.0), "K": (0.1, 10.0)}


def told(data: dict[str, np.ndarray], offsets: tuple[str, ...] = (), starts: object = (), **how: object) -> Belief:
    one = identify.trial(FIRST_ORDER, data, **{**COLUMNS, **how}, name="bench.csv")
    problem = identify.Problem(FIRST_ORDER, [one], FREE, offsets=offsets, starts=starts)
    return believe(identify.fit(problem, seeds=1, generations=10))


def said(belief: Belief) -> str:
    return "\n".join(belief.doubts)


def found(belief: Belief) -> list[float]:
    return [one.value for one in belief.estimates[:2]]


def test_a_good_recording_has_no_cause() -> None:
    assert told(GOOD).doubts == ()


def test_an_inverted_sign() -> None:
    data = GOOD | {"y": -GOOD["y"]}
    assert "output y moves against the model: if its sign is inverted, write --output 'y=-y'" in said(told(data))
    mended = told(data, outputs={"y": "-y"})
    assert mended.doubts == ()
    assert found(mended) == pytest.approx([0.08, 1.7], rel=0.02)


def test_an_inverted_sign_that_a_negative_gain_makes_up_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FREE, "K", (-10.0, 10.0))
    data = GOOD | {"y": -GOOD["y"]}
    text = said(told(data))
    assert "y moves against the model at its guess, and K = -1.7" in text
    assert "if the sign of y is inverted, write --output 'y=-y'; else start from that sign (--set)" in text
    one = identify.trial(FIRST_ORDER, data, **COLUMNS)
    asked = identify.Problem(FIRST_ORDER, [one], FREE, params=FIRST_ORDER.Params(0.05, -1.0))
    assert believe(identify.fit(asked, seeds=1, generations=10)).doubts == (), "a gain that is negative is no problem"


def test_an_offset() -> None:
    data = GOOD | {"y": GOOD["y"] + 0.8}
    assert "output y is off by 0.8" in said(told(data))
    assert "find it by --offset y" in said(told(data))
    mended = told(data, offsets=("y",))
    assert "--offset" not in said(mended)
    assert found(mended) == pytest.approx([0.08, 1.7], rel=0.02)


def test_a_start_that_is_not_that_of_the_model() -> None:
    from pushrod.compiled.rollout import rollout

    y = rollout(FIRST_ORDER, FIRST_ORDER.Params(0.08, 1.7), {"u": U}, steps=600, dt=DT, state=FIRST_ORDER.State(6.0))["y"]
    noise = 0.01 * np.random.default_rng(2).standard_normal(601)
    data = GOOD | {"y": np.append(6.0, y) + noise}
    assert "(--start y=y)" in said(told(data))
    mended = told(data, start={"y": "y"})
    assert "--start" not in said(mended)
    assert found(mended) == pytest.approx([0.08, 1.7], rel=0.02)


def test_a_clipped_sensor() -> None:
    top = 0.6 * float(np.max(GOOD["y"]))
    data = GOOD | {"y": np.minimum(GOOD["y"], top)}
    assert "if the sensor is clipped there, give these values no weight (--weight y=COLUMN" in said(told(data))
    data["w"] = np.where(data["y"] >= top, 0.0, 1.0)
    mended = told(data, weights={"y": "w"})
    assert "--weight" not in said(mended)
    assert found(mended) == pytest.approx([0.08, 1.7], rel=0.03)


def test_a_sensor_that_is_clipped_at_both_ends() -> None:
    """A smaller gain makes up for it, so that what is left there is no larger than elsewhere."""
    top = 0.4 * float(np.max(GOOD["y"]))
    data = GOOD | {"y": np.clip(GOOD["y"], -top, top)}
    text = said(told(data))
    assert f"output y is {top:.4g} for" in text
    assert f"and {-top:.4g} for" in text
    data["w"] = np.where(np.abs(data["y"]) >= top, 0.0, 1.0)
    mended = told(data, weights={"y": "w"})
    assert mended.doubts == ()
    assert found(mended) == pytest.approx([0.08, 1.7], rel=0.03)


def test_a_coarse_sensor_and_a_machine_at_rest_are_not_clipped() -> None:
    step = 0.05 * float(np.ptp(GOOD["y"]))
    assert "clipped" not in said(told(GOOD | {"y": step * np.round(GOOD["y"] / step)}))
    resting = {"t": GOOD["t"], "in_u": np.where(GOOD["t"] < 0.4, 0.0, np.abs(GOOD["in_u"]))}
    clean = recorded(FIRST_ORDER, FIRST_ORDER.Params(0.08, 1.7), {"u": resting["in_u"][:-1]}, DT, ("y",), noise=0.0)
    assert "clipped" not in said(told(clean | {"y": clean["y"] + 0.2}))


def test_a_gap_of_the_input() -> None:
    keep = np.r_[0:300, 400:601]
    data = {name: values[keep] for name, values in GOOD.items()}
    text = said(told(data))
    assert "input u has no value from 0.598 to 0.8 s, 101 of its periods, and is held: cut the log (--to 0.598 or --from 0.8)" in text
    assert "has no value" not in said(told(data, end=0.598))


def test_degrees_for_radians_are_named_before_the_fit() -> None:
    goal = rich(600, DT)
    good = recorded(SERVO, put(SERVO.Params(), "kp", 8.0), {"goal": goal}, DT, ("q",), noise=0.001)
    columns = names(SERVO, {"goal": goal}, ("q",))

    def fitted(data: dict[str, np.ndarray], **how: object) -> identify.Fit:
        one = identify.trial(SERVO, data, **{**columns, **how}, name="bench.csv")
        return identify.fit(identify.Problem(SERVO, [one], ["kp", "J"]), seeds=1, search=False)

    with pytest.raises(DiagnosisError, match=r"if q is in degrees, say so \(--output 'q=q \[deg\]'\)"):
        fitted(good | {"q": np.degrees(good["q"])})
    with pytest.raises(DiagnosisError, match=r"if goal is in degrees, say so \(--input 'goal=in_goal \[deg\]'\)"):
        fitted(good | {"in_goal": np.degrees(good["in_goal"])})
    mended = fitted(good | {"q": np.degrees(good["q"])}, outputs={"q": "q [deg]"})
    assert mended.values["kp"] == pytest.approx(8.0, rel=0.02)
    both = {"q": np.degrees(good["q"]), "in_goal": np.degrees(good["in_goal"])}
    with pytest.raises(DiagnosisError, match="57.3"):
        fitted(good | both, inputs={"goal": "in_goal [deg]"})


@pytest.mark.parametrize("by", [0.2, 0.5, -1.0])
def test_an_offset_that_free_parameters_absorb(by: float) -> None:
    """The gain takes most of it, so that the mean of the residuals is small."""
    u = 0.4 + U
    good = recorded(FIRST_ORDER, FIRST_ORDER.Params(0.08, 1.7), {"u": u}, DT, ("y",))
    text = said(told(good | {"y": good["y"] + by}))
    named = re.search(r"output y is off by (\S+) all along", text)
    assert named is not None
    assert float(named[1]) == pytest.approx(by, abs=0.01)
    assert "find it by --offset y" in text
    assert "--start" not in text


def test_a_model_that_lacks_an_effect_has_no_offset() -> None:
    text = said(told(GOOD | {"y": GOOD["y"] + 0.3 * np.sin(9.0 * GOOD["y"])}))
    assert "autocorrelated" in text
    assert "--offset" not in text


TORQUE = np.repeat([0.0, 1.0, -0.6, 0.8, -1.0, 0.5], 200)
JOINT = recorded(TORQUE_SERVO, TORQUE_SERVO.Params(), {"torque_req": TORQUE}, 0.001, ("q", "w"), noise=1e-3)


def joint(data: dict[str, np.ndarray], **how: object) -> str:
    columns = names(TORQUE_SERVO, {"torque_req": TORQUE}, ("q", "w"))
    one = identify.trial(TORQUE_SERVO, data, **{**columns, **how}, name="joint.csv")
    problem = identify.Problem(TORQUE_SERVO, [one], {"lag.T": (0.0, 0.5), "body.J": (1e-3, 1.0), "body.b": (0.0, 1.0)})
    return said(believe(identify.fit(problem, seeds=1, generations=10)))


def test_a_joint_that_was_recorded_from_the_begin_has_no_cause() -> None:
    assert joint(JOINT) == ""


def test_a_recording_that_begins_in_motion_is_a_start_and_no_offset() -> None:
    cut = {name: values[400:] for name, values in JOINT.items()}
    text = joint(cut)
    assert "(--start drive.body.q=q)" in text
    assert "(--start drive.body.w=w)" in text
    assert "--offset" not in text
    mended = joint(cut, start={"drive.body.q": "q", "drive.body.w": "w"})
    assert "--start drive.body" not in mended
    assert "--offset" not in mended


def test_a_clipped_output_makes_no_other_output_off() -> None:
    text = joint(JOINT | {"q": np.minimum(JOINT["q"], 0.5 * float(np.max(JOINT["q"])))})
    assert "--weight q=COLUMN" in text
    assert "--offset" not in text
    assert "--start" not in text


def test_inverted_signs_make_no_output_off() -> None:
    text = joint(JOINT | {"q": -JOINT["q"], "w": -JOINT["w"]})
    assert "--output 'q=-q'" in text
    assert "--output 'w=-w'" in text
    assert "--offset" not in text
    assert "--start" not in text


def test_of_two_outputs_only_the_one_with_an_offset_is_named() -> None:
    text = joint(JOINT | {"w": JOINT["w"] + 2.0})
    assert "output w is off by 2" in text
    assert "--offset q" not in text


def test_degrees_that_a_free_gain_makes_up_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FREE, "K", (1e-3, 1e3))
    unit = recorded(FIRST_ORDER, FIRST_ORDER.Params(0.08, 1.0), {"u": U}, DT, ("y",), noise=1e-3)
    degrees = unit | {"y": np.degrees(unit["y"])}
    assert "if y is in degrees, give that unit (--output 'y=y [deg]')" in said(told(degrees))
    assert told(degrees, outputs={"y": "y [deg]"}).doubts == ()
    assert "if u is in degrees, give that unit (--input 'u=in_u [deg]')" in said(told(unit | {"in_u": np.degrees(unit["in_u"])}))
    assert "degrees" not in said(told(unit | {"y": 50.0 * unit["y"]}))


def test_outliers() -> None:
    rng = np.random.default_rng(3)
    y = GOOD["y"].copy()
    y[rng.choice(np.arange(1, 600), 18, replace=False)] += rng.choice([-8.0, 8.0], 18)
    assert "output y has 18 outliers in 600 values" in said(told(GOOD | {"y": y}))
    assert "(--loss huber)" in said(told(GOOD | {"y": y}))
    one = identify.trial(FIRST_ORDER, GOOD | {"y": y}, **COLUMNS)
    robust = believe(identify.fit(identify.Problem(FIRST_ORDER, [one], FREE, loss="huber"), seeds=1, generations=10))
    assert "--loss" not in said(robust)
    assert found(robust) == pytest.approx([0.08, 1.7], rel=0.05)
