"""A parameter set is checked as a whole: every reason at once, and a bad one changes nothing."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pushrod.compiled.stepper import Stepper
from pushrod.core.check import check, problems
from pushrod.core.errors import ParameterError
from pushrod.core.record import get, put
from pushrod.pipeline import n_act
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
        ({"act__rc__us_lost_above": 1900.0}, "act.rc.us_lost_above"),
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


# each breaks one rule, of one field or between several; none of them makes another one of them good
MISTAKES = {
    "act.slew.up": (("act.slew.up", -1.0),),
    "act.trim.gain_R": (("act.trim.gain_R", float("nan")),),
    "act.hw.u_LR_max": (("act.hw.u_LR_max", 20.0),),
    "act.sw.u_LR_min": (("act.sw.u_LR_min", -30.0),),
    "act.sw.u_s_min": (("act.sw.u_s_min", 0.7), ("act.sw.u_s_max", 0.6)),
    "act.rc.d.us_mid": (("act.rc.d.us_mid", 990.0),),
    "act.rc.us_lost_below": (("act.rc.us_lost_below", 1200.0),),
    "act.esc.us_max": (("act.esc.us_max", 1400.0),),
}


@settings(max_examples=100, deadline=None)
@given(st.sets(st.sampled_from(sorted(MISTAKES)), min_size=1))
def test_no_mistake_hides_another(which: set[str]) -> None:
    p = Params()
    for name in which:
        for path, value in MISTAKES[name]:
            p = put(p, path, value)
    found = list(problems(p))
    assert {name for name in MISTAKES if any(text.startswith(f"{name} ") for text in found)} == which


def test_a_number_out_of_its_range_is_still_held_against_the_others() -> None:
    found = list(problems(changed(act__sw__u_LR_max=20.0)))
    assert [text.split(";")[0] for text in found] == [
        "act.sw.u_LR_max = 20 - is outside its legal range",
        "act.sw.u_LR_max = 20 lies above hw.u_LR_max = 1",
    ]


def test_nothing_is_said_of_what_cannot_be_known() -> None:
    text = "fast"
    for unread in (float("nan"), None, text):
        found = list(problems(changed(act__hw__u_LR_max=unread, act__sw__u_s_min=3.0)))  # type: ignore[arg-type]
        assert [line.split(" ")[0] for line in found] == ["act.hw.u_LR_max", "act.sw.u_s_min"]


def test_of_n_effectors_a_table_that_does_not_fit_hides_nothing() -> None:
    act = n_act.Act(
        hw=n_act.Hw(u_min=(-1.0, -1.0, 2.0, -20.0)),
        sw=n_act.Sw(a_min=(5.0, -4.0, -4.0, -4.0)),
        alloc=n_act.Alloc(B=(1.0, 2.0), order=(0.0, 1.0, 1.0, 3.0), weight=(1.0, -1.0, 1.0, 1.0), gain_max=0.0),
        slew=n_act.Slew(up=(1.0,)),
    )
    found = list(problems(n_act.Params(act)))
    for says in (
        "act.alloc.B has 2 values; 4 effectors (hw.u_min) and 4 axes (sw.a_min) ask for 16",
        "act.slew.up has 1 values; 4 effectors",
        "act.hw.u_min[3] = -20 is outside its legal range",
        "act.hw.u_max[2] = 1 does not lie above hw.u_min[2] = 2",
        "act.sw.u_min[2] = -1 lies below hw.u_min[2] = 2",
        "act.sw.a_min[0] = 5 lies above sw.a_max[0] = 4",
        "act.alloc.order = ",
        "act.alloc.weight[1] = -1 is outside its legal range",
        "act.alloc.gain_max = 0 - is outside its legal range",
    ):
        assert any(text.startswith(says) for text in found), says


@pytest.mark.parametrize("unread", [(), None, (1.0, None, 1.0, 1.0), (1.0, float("nan"), 1.0, 1.0)])
def test_of_n_effectors_what_cannot_be_read_is_told_once(unread: Any) -> None:
    tables = n_act.Act(hw=n_act.Hw(u_max=unread), sw=n_act.Sw(a_min=(5.0, -4.0, -4.0, -4.0)))
    found = [text.split(" ")[0] for text in problems(n_act.Params(tables))]
    assert sorted(path.partition("[")[0] for path in found) == ["act.hw.u_max", "act.sw.a_min"]


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
