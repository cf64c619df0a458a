"""A parameter set is checked as a whole: every reason at once, and a bad one changes nothing."""

import pytest

from pushrod.compiled.stepper import Stepper
from pushrod.core.check import check, problems
from pushrod.core.errors import ParameterError
from pushrod.core.record import get, put
from pushrod.pipeline.act import PARAMETERS, Params
from pushrod.pipeline.topic import ActuatorReq
from pushrod.pipeline.two_motor_pipeline import TWO_MOTOR, In


def changed(**values: float) -> Params:
    p = Params()
    for path, value in values.items():
        p = put(p, path.replace("__", "."), value)
    return p


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"act__sw__u_LR_min": -1.1}, "act.sw.u_LR_min"),
        ({"act__sw__u_LR_max": 1.1}, "act.sw.u_LR_max"),
        ({"act__sw__u_LR_min": 0.5, "act__sw__u_LR_max": 0.4}, "act.sw.u_LR_min"),
        ({"act__hw__u_LR_max": -1.0, "act__sw__u_LR_max": -1.0}, "act.hw.u_LR_max"),
        ({"act__sw__u_d_max_neg": -0.1}, "act.sw.u_d_max_neg"),
        ({"act__sw__u_d_max_pos": -0.1}, "act.sw.u_d_max_pos"),
        ({"act__shp__ap__u_s_scale": -0.1}, "act.shp.ap.u_s_scale"),
        ({"act__shp__ap__u_d_scale": -0.1}, "act.shp.ap.u_d_scale"),
        ({"act__shp__man__u_s_scale": -0.1}, "act.shp.man.u_s_scale"),
        ({"act__shp__man__u_d_scale": -0.1}, "act.shp.man.u_d_scale"),
        ({"act__sw__u_s_min": 0.5, "act__sw__u_s_max": 0.4}, "act.sw.u_s_min"),
        ({"act__alloc__w_s": 0.0}, "act.alloc.w_s"),
        ({"act__alloc__policy": 3.0}, "act.alloc.policy"),
        ({"act__trim__gain_L": 0.0}, "act.trim.gain_L"),
        ({"act__esc__us_mid": 1950.0}, "act.esc.us_max"),
        ({"act__esc__us_min": 1500.0}, "act.esc.us_min"),
        ({"act__rc__s__us_max": 1400.0}, "act.rc.s.us_max"),
        ({"act__slew__up": float("nan")}, "act.slew.up"),
    ],
)
def test_each_rule_is_told_by_the_name_of_its_parameter(values: dict[str, float], named: str) -> None:
    assert [text for text in problems(changed(**values)) if text.startswith(f"{named} ")]


def test_every_reason_is_told_at_once() -> None:
    bad = changed(act__sw__u_LR_min=-2.0, act__sw__u_d_max_pos=-1.0, act__shp__man__u_d_scale=-1.0, act__esc__us_min=1600.0)
    with pytest.raises(ParameterError) as caught:
        check(bad)
    for name in ("act.sw.u_LR_min", "act.sw.u_d_max_pos", "act.shp.man.u_d_scale", "act.esc.us_min"):
        assert any(text.startswith(name) for text in caught.value.problems), name


def test_a_bad_set_is_refused_whole_and_the_old_one_stays() -> None:
    stepper = Stepper(TWO_MOTOR, changed(act__sw__u_s_max=0.5), dt=0.01)
    with pytest.raises(ParameterError):
        stepper.set_params(changed(act__sw__u_s_max=0.9, act__sw__u_LR_max=3.0))
    assert stepper.params.act.sw.u_s_max == 0.5
    assert stepper.step(In(ActuatorReq(1.0, 0.0, 1.0))).cmd.u_s_cmd == 0.5


def test_the_names_are_those_of_the_specification() -> None:
    named = [
        *("act.hw.u_LR_min", "act.hw.u_LR_max", "act.sw.u_LR_min", "act.sw.u_LR_max", "act.sw.u_s_min", "act.sw.u_s_max"),
        *("act.sw.u_d_max_neg", "act.sw.u_d_max_pos", "act.shp.ap.u_s_scale", "act.shp.ap.u_d_scale"),
        *("act.shp.man.u_s_scale", "act.shp.man.u_d_scale"),
    ]
    assert set(named) <= set(PARAMETERS)
    assert all(get(Params(), name) == 1.0 for name in named if name.endswith("scale"))
