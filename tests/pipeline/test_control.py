"""Controllers unwind by what was achieved, and by nothing else."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushrod.core.record import leaves, put
from pushrod.pipeline.act import Params as Act
from pushrod.pipeline.control import autopilot, heading, pi, pid, speed, yaw_rate
from pushrod.pipeline.feedback import in_request, less_achieved
from pushrod.pipeline.shaping import Feel
from pushrod.pipeline.topic import ActuatorReq, MixerFeedback
from pushrod.pipeline.two_motor_pipeline import In as Asks
from pushrod.pipeline.two_motor_pipeline import State as Motors
from pushrod.pipeline.two_motor_pipeline import step as pipeline

DT = 0.02
NONE, CONDITIONAL, BACK, BOTH = 0.0, 1.0, 2.0, 3.0


def recovery(windup: float, act: Act = Act()) -> float:  # noqa: B008
    """A vessel v' = -v + 1.2 u_s is asked for twice what it can do for 20 s, then for half: seconds until it is there within 5 %."""
    p = speed.Params(pi.Params(0.9, 0.5, 0.5, windup), 0.3)
    s, m, fb, v = pi.State(), Motors(), MixerFeedback(), 0.0
    late = 0.0
    for k in range(int(150.0 / DT)):
        t = k * DT
        v_d = 2.4 if t < 20.0 else 0.6
        s, y = speed.step(p, s, speed.In(v_d, v, fb), DT)
        m, z = pipeline(act, m, Asks(ActuatorReq(y.u_s_raw, 0.0, 1.0)), DT)
        fb = z.fb
        v += DT * (-v + 1.2 * fb.u_s_ach)
        if t > 20.0 and abs(v - 0.6) > 0.03:
            late = t - 20.0
    return late


@pytest.mark.parametrize(("windup", "times"), [(CONDITIONAL, 5.0), (BACK, 4.0), (BOTH, 5.0)])
def test_recovery_is_many_times_quicker_than_without(windup: float, times: float) -> None:
    assert recovery(windup) * times <= recovery(NONE)


def test_the_envelope_winds_nothing_up_either() -> None:
    """A command cut before the allocator is met by it: only the residual in the space of the request tells the controller."""
    tight = put(Act(), "act.sw.u_s_max", 0.6)
    assert recovery(BOTH, tight) * 5.0 <= recovery(NONE, tight)


def test_a_scaled_request_is_tracked_in_its_own_space() -> None:
    half = put(Act(), "act.shp.ap.u_s_scale", 0.5)
    s, m, fb = pi.State(), Motors(), MixerFeedback()
    for _ in range(2000):
        s, y = pi.step(pi.Params(0.0, 1.0, 0.2, BACK), s, pi.In(1.0, 0.0, 0.0, fb.aw_s_req), DT)
        m, z = pipeline(half, m, Asks(ActuatorReq(y.u, 0.0, 1.0)), DT)
        fb = z.fb
    assert y.u == pytest.approx(2.0 + 0.2, rel=0.05), "the request that is just achieved, 1 / 0.5, and ki e T_t above it"


def test_unsaturated_it_is_a_plain_pi() -> None:
    p = pi.Params(2.0, 0.5)
    s = pi.State()
    for _ in range(100):
        s, y = pi.step(p, s, pi.In(1.0, 0.25, 0.1), 0.01)
    assert y.u == pytest.approx(2.0 * 0.75 + 0.5 * 0.75 * 1.0 + 0.1)


def test_a_trim_lets_no_integral_creep() -> None:
    act = put(put(Act(), "act.trim.offset_L", 0.1), "act.trim.gain_R", 0.9)
    s, m, fb = pi.State(), Motors(), MixerFeedback()
    for _ in range(1000):
        s, y = pi.step(pi.Params(windup=BOTH), s, pi.In(0.3, 0.3, 0.2, fb.aw_s_req), DT)
        m, z = pipeline(act, m, Asks(ActuatorReq(y.u, 0.0, 1.0)), DT)
        fb = z.fb
    assert abs(s.I) < 1e-12


@given(st.floats(-2.0, 2.0), st.floats(-2.0, 2.0), st.floats(-5.0, 5.0))
def test_conditional_integration_freezes_only_what_pushes_further(e: float, aw: float, I: float) -> None:  # noqa: E741
    after = pi.integrate(pi.Params(1.0, 1.0, 0.5, CONDITIONAL), I, e, aw, 0.1)
    assert after == (I if abs(aw) > pi.TOLD and e * aw < 0.0 else I + e * 0.1)


@given(st.floats(-2.0, 2.0), st.floats(-2.0, 2.0), st.floats(-5.0, 5.0), st.sampled_from([NONE, CONDITIONAL, BACK, BOTH]))
def test_backwards_is_forwards_mirrored(e: float, aw: float, I: float, windup: float) -> None:  # noqa: E741
    p = pi.Params(1.0, 0.7, 0.05, windup, 3.0)
    after = pi.integrate(p, I, e, aw, 0.1)
    assert pi.integrate(p, -I, -e, -aw, 0.1) == -after
    assert abs(after) <= 3.0
    if windup == BOTH and I * aw < 0.0 and e * aw < 0.0 and abs(aw) > pi.TOLD and abs(I) <= 3.0:
        assert 0.0 <= after / I <= 1.0, "back, but not past 0"


def test_back_calculation_does_not_depend_on_the_step() -> None:
    p = pi.Params(0.0, 0.0, 0.3, BACK)
    ends = []
    for n in (1, 10, 100):  # the residual shrinks as the integral follows: aw = goal - I
        I = 1.0  # noqa: E741
        for _ in range(n):
            I = pi.integrate(p, I, 0.0, 0.2 - I, 0.5 / n)  # noqa: E741
        ends.append(I)
    assert ends == pytest.approx([0.2 + 0.8 * math.exp(-0.5 / 0.3)] * 3)


def test_not_active_the_integral_is_empty() -> None:
    s, _ = pi.step(pi.Params(), pi.State(0.7), pi.In(1.0, active=0.0), DT)
    assert s.I == 0.0


def test_the_derivative_kicks_neither_at_a_step_of_the_set_point_nor_at_the_start() -> None:
    p = pid.Params(pi.Params(1.0, 0.0), 2.0, 0.05)
    s, y = pid.step(p, pid.State(), pi.In(0.0, 5.0), DT)
    assert y.D == 0.0
    s, y = pid.step(p, s, pi.In(9.0, 5.0), DT)
    assert y.D == 0.0
    for k in range(200):  # a ramp of 3 per second
        s, y = pid.step(p, s, pi.In(0.0, 5.0 + 3.0 * (k + 1) * DT), DT)
    slope = -2.0 * 3.0 * DT / 0.05 / (math.exp(DT / 0.05) - 1.0)  # of a lag sampled after it moved
    assert pytest.approx(slope, rel=1e-6) == y.D


def test_heading_takes_the_short_way_and_keeps_the_rate_limit() -> None:
    _, y = heading.step(heading.Params(r_max=0.5), heading.State(), heading.In(3.0, -3.0), DT)
    assert y.e == pytest.approx(6.0 - 2.0 * math.pi)
    assert y.r_d == pytest.approx(-0.5)


def test_heading_does_not_wind_up_past_the_rate_or_past_what_was_achieved() -> None:
    s = heading.State()
    for _ in range(1000):
        s, _ = heading.step(heading.Params(r_max=0.5), s, heading.In(2.0, 0.0), DT)
    assert s.I == 0.0
    short = MixerFeedback(aw_d_req=-0.3)
    for psi, fb, grows in ((0.1, MixerFeedback(), True), (0.1, short, False), (-0.1, short, True)):
        s, _ = heading.step(heading.Params(), heading.State(), heading.In(psi, 0.0, fb), DT)
        assert (s.I != 0.0) == grows


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_one_measurement_that_is_no_number_is_forgotten(bad: float) -> None:
    """The request of that tick is none; the next one is as if it had not been."""
    p = pid.Params(pi.Params(1.0, 0.5), 0.1)
    s, _ = pid.step(p, pid.State(), pi.In(1.0, 0.2), DT)
    hit, y = pid.step(p, s, pi.In(1.0, bad), DT)
    assert not math.isfinite(y.u)
    assert hit == s
    assert pid.step(p, pid.State(), pi.In(1.0, bad), DT)[0] == pid.State()
    t, _ = heading.step(heading.Params(), heading.State(), heading.In(0.1, 0.0), DT)
    hit_t, y_t = heading.step(heading.Params(), t, heading.In(0.1, bad), DT)
    assert math.isnan(y_t.r_d)
    assert hit_t == t
    assert hit_t.I > 0.0


@pytest.mark.parametrize("windup", [CONDITIONAL, BACK, BOTH])
@pytest.mark.parametrize("band", [0.2, 0.6])
def test_an_integral_pushes_through_the_dead_band_of_a_motor(windup: float, band: float) -> None:
    """A rover in a motor with a dead band is asked for a small speed; were its loss unwound by, it would stand still for ever."""
    act = put(Act(), "act.motor.deadband", band)
    s, m, fb, v, moved = pi.State(), Motors(), MixerFeedback(), 0.0, 0
    for _ in range(3000):
        s, y = pi.step(pi.Params(0.2, 0.3, 0.5, windup), s, pi.In(0.3, v, 0.0, fb.aw_s_req), DT)
        m, z = pipeline(act, m, Asks(ActuatorReq(y.u, 0.0, 1.0)), DT)
        fb = z.fb
        moved += fb.u_s_ach != 0.0
        v += DT * (-v + fb.u_s_ach)
    assert moved > 100
    assert v > 0.1


def test_the_autopilot_is_its_three_loops_in_a_row() -> None:
    p, s = autopilot.Params(), autopilot.State(pi.State(0.1), heading.State(0.02), pi.State(-0.05))
    fb = MixerFeedback(aw_s_req=-0.2, aw_d_req=0.3)
    t, y = autopilot.step(p, s, autopilot.In(1.5, 0.4, 1.0, 0.1, 0.05, fb), DT)
    a, v = speed.step(p.speed, s.speed, speed.In(1.5, 1.0, fb), DT)
    b, psi = heading.step(p.heading, s.heading, heading.In(0.4, 0.1, fb), DT)
    c, r = yaw_rate.step(p.yaw_rate, s.yaw_rate, yaw_rate.In(psi.r_d, 0.05, fb), DT)
    assert t == (a, b, c)
    assert y[:4] == (v.u_s_raw, r.u_d_raw, psi.r_d, psi.e)
    assert v.u_s_raw == pytest.approx(0.9 * 0.5 + a.I + 0.55 * 1.5)
    assert r.u_d_raw == pytest.approx(0.8 * (psi.r_d - 0.05) + c.I + 0.2 * psi.r_d)
    idle, _ = autopilot.step(p, s, autopilot.In(1.5, 0.4, active=0.0), DT)
    assert (idle.speed.I, idle.heading.I, idle.yaw_rate.I) == (0.0, 0.0, 0.0)


@given(st.floats(-1.0, 1.0), st.floats(-0.5, 0.5), st.floats(0.05, 2.0))
def test_what_a_gate_takes_comes_back_to_the_request_by_the_slope(x: float, gone: float, scale: float) -> None:
    """As if the motors had given so much less from the start."""
    feel = Feel(scale * x, scale)
    before = in_request(0.1 - feel.u, x, feel)
    assert less_achieved(before, gone, feel) == pytest.approx(in_request(0.1 - gone - feel.u, x, feel))
    assert less_achieved(-x, gone, Feel(0.0, 0.0)) == -x, "where nothing comes through it is the whole request anyway"
    assert less_achieved(0.0, 1e-3, Feel(1e-9, 1e-9)) == pytest.approx(-0.1), "a hundredfold at most"


@pytest.mark.parametrize("module", [speed, yaw_rate, heading])
def test_a_loop_learns_of_limits_from_the_feedback_alone(module: object) -> None:
    """Its input has MIXER_FEEDBACK and its own signals; none of its parameters is a limit of an actuator."""
    names = {leaf.path for leaf in leaves(module.In)}  # type: ignore[attr-defined]
    assert {name for name in names if name.startswith("fb.")} == {f"fb.{leaf.path}" for leaf in leaves(MixerFeedback)}
    assert not [name for name in {leaf.path for leaf in leaves(module.Params)} if "u_" in name]  # type: ignore[attr-defined]
