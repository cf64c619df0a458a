"""What the page keeps of the past: bounded, thinned without losing a peak, and what it says of stages and events."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pushrod.dash.card import waypoints
from pushrod.dash.event import AGAIN, Events, told
from pushrod.dash.history import HZ, KEPT, Channel, Group, thinned
from pushrod.dash.stages import Axis
from pushrod.dash.told import Told, figure
from pushrod.dash.unit import Scale, Units
from pushrod.runtime.message import Message, Requested
from pushrod.runtime.payload import Waypoint


def test_a_group_keeps_ten_minutes_and_no_more():
    group = Group([Channel("a", "-"), Channel("b", "-")], hz=10.0)
    for k in range(7000):
        group.put(k / 10.0, (k, -k))
    n, t, (a, b) = group.since(0, ["a", "b"])
    assert n == 7000
    assert len(t) == KEPT * 10
    assert t[0] == 100.0
    assert a[-1] == 6999.0
    assert b[-1] == -6999.0
    assert group.last("b") == -6999.0


def test_only_what_is_new_is_told_and_what_comes_too_often_or_late_is_passed_over():
    group = Group([Channel("a", "-")])
    for k in range(1000):
        group.put(k * 1e-3, (float(k),))
    assert group.n <= HZ + 6
    n, _, _ = group.since(0, ["a"])
    group.put(0.5, (1.0,))  # older than the newest
    assert group.since(n, ["a"])[0] == n
    group.put(1.2, (7.0,))
    assert group.since(n, ["a"])[2][0].tolist() == [7.0]


def test_a_peak_survives_the_thinning():
    t = np.arange(30_000) / 50.0
    y = np.sin(t)
    y[12_345] = 9.0
    y[20_001] = -9.0
    few_t, few_y = thinned(t, y, 1200)
    assert len(few_t) < 1300
    assert few_y.max() == 9.0
    assert few_y.min() == -9.0
    assert (np.diff(few_t) > 0.0).all()


def test_gaps_are_kept_as_gaps():
    t = np.arange(5000.0)
    y = np.where(t < 100, np.nan, t)
    few_t, few_y = thinned(t, y, 100)
    assert np.isnan(few_y[few_t < 50]).all()
    assert few_y[-1] == 4999.0


def test_the_same_again_is_counted_not_repeated():
    events = Events()
    for k in range(50):
        events.add(100.0 + k * 0.05, "warning", "elbow", "refused")
    events.add(110.0 + AGAIN, "warning", "elbow", "refused")
    assert [event.n for event in events] == [50, 1]


def test_where_most_is_lost_is_said():
    axis = Axis("surge", "-", {"req": 1.0, "cmd": 0.8, "ach": 0.5}, {"envelope": 0.2, "slew": 0.3})
    units = Units()
    assert axis.taken(units.of("-")) == "slew takes +0.300"
    steer = Axis("steer", "rad", {"req": 0.5, "cmd": 0.5, "ach": 0.1})
    assert steer.taken(units.of("rad")) == "commanded to achieved: -22.9"
    units.switch(False)
    assert steer.taken(units.of("rad")) == "commanded to achieved: -0.400"
    assert Axis("steer", "rad", {"req": 0.5, "ach": 0.5}).taken(units.of("rad")) == ""
    torque = Axis("torque_x", "N.m", {"req": 0.0, "cmd": 0.0, "ach": 3.3e-4})
    assert torque.taken(units.of("N.m").for_size(3.3e-4)) == "commanded to achieved: +0.000330", "a small axis has the digits it needs"


@given(small=st.floats(-4.9e-4, 4.9e-4))
def test_a_loss_that_is_shown_as_zero_is_none(small):
    by_stage = Axis("surge", "-", {"req": 1.0, "ach": 1.0 - small}, {"envelope": 0.0, "slew": small})
    assert by_stage.taken(Scale(1.0, "-", 3)) == ""
    assert Axis("steer", "rad", {"req": 0.5, "ach": 0.5 + small}).taken(Scale(1.0, "rad", 3)) == ""


def test_only_what_changed_is_sent_again():
    before, now = Told(), Told()
    before.texts |= {"a": "1", "b": "2"}
    now.texts |= {"a": "1", "b": "3"}
    now.bar("p", 0.5, -1.0, 1.0)
    now.bar("q", None, -1.0, 1.0)
    news = now.news(before)
    assert news["texts"] == {"b": "3"}
    assert news["bars"] == {"p": (50.0, 75.0), "q": (0.0, 0.0)}


def test_figures_and_waypoints_as_people_write_them():
    assert figure(-0.0001, "rad") == "0.000 rad"
    assert figure(None) == "-"
    assert waypoints("1 0.5; 2, 0;") == (Waypoint(0.5, 1.0), Waypoint(0.0, 2.0))


def test_a_mode_that_was_asked_of_a_controller_and_every_refusal_is_an_event_a_course_is_not():
    def heard(kind, result="accepted", reason="", **payload):
        return told(
            Message(Requested(kind, {"type": kind, **payload}, "dash/ann-1", result, reason), ("controller", "pipeline", "request"), 0.0, 0.0, "boat")
        )

    assert heard("Switch", mode="autopilot", by="operator") == ("info", "pipeline", "mode autopilot, requested by dash/ann-1")
    assert heard("Course", v_req=1.0, psi_req=0.25) is None
    refused = heard("Course", "refused", "astern is not kept", v_req=-1.0)
    assert refused == ("warning", "pipeline", "refused Course (v_req -1) of dash/ann-1: astern is not kept")
