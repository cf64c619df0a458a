"""The whole two-motor pipeline: bounds, sums of losses, neutral, faults, residuals."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from two_motor_sets import U, allocs, params, requests

from counts import examples
from pushrod.core.record import flat, put
from pushrod.pipeline import request, two_motor_pipeline
from pushrod.pipeline.act import Act, Alloc, Params, Trim
from pushrod.pipeline.names import MODES, REASONS
from pushrod.pipeline.topic import ActuatorReq, Allocated
from pushrod.pipeline.two_motor_pipeline import In, Known, Out, Sources, State, settling, step, step_sources

HEALTH = st.sampled_from([1.0, 1.0, 0.6, 0.0])
DT = 0.02


def with_(**values: float) -> Params:
    p = Params()
    for path, value in values.items():
        p = put(p, f"act.{path.replace('__', '.')}", value)
    return p


def run(p: Params, s: State, req: ActuatorReq, known: Known = Known(), n: int = 1) -> tuple[State, Out]:  # noqa: B008
    for _ in range(n):
        s, y = step(p, s, In(req, known), DT)
    return s, y


@given(params(), st.lists(requests, min_size=1, max_size=6), HEALTH, HEALTH)
@settings(max_examples=examples(60))
def test_outputs_stay_within_bounds(p: Params, reqs: list[ActuatorReq], k_L: float, k_R: float) -> None:
    s = State()
    for req in reqs:
        last = s
        s, y = step(p, s, In(req, Known(k_L, k_R)), DT)
        for u, before in ((y.esc.u_L, last.u_L), (y.esc.u_R, last.u_R)):
            assert p.act.hw.u_LR_min <= u <= p.act.hw.u_LR_max
            start = min(max(before, p.act.hw.u_LR_min), p.act.hw.u_LR_max)
            lo, hi = min(start, p.act.sw.u_LR_min), max(start, p.act.sw.u_LR_max)  # on its way back from outside the software envelope
            assert lo - 1e-12 <= u <= hi + 1e-12 or req.src == 0.0


@given(params(), st.lists(requests, min_size=1, max_size=6), HEALTH, HEALTH)
@settings(max_examples=examples(100))
def test_the_losses_add_up_and_the_residual_is_theirs(p: Params, reqs: list[ActuatorReq], k_L: float, k_R: float) -> None:
    s = State()
    for req in reqs:
        s, y = step(p, s, In(req, Known(k_L, k_R)), DT)
        for loss, asked, cmd, ach, aw, trim in (
            (y.diag.loss_s, y.req.u_s_req, y.cmd.u_s_cmd, y.fb.u_s_ach, y.fb.aw_s, y.fb.trim_s),
            (y.diag.loss_d, y.req.u_d_req, y.cmd.u_d_cmd, y.fb.u_d_ach, y.fb.aw_d, y.fb.trim_d),
        ):
            assert loss.shaping + loss.envelope == pytest.approx(asked - cmd, abs=1e-12)
            behind = loss.allocation + loss.fault + loss.clamp + loss.dead_band + loss.slew
            assert behind == pytest.approx(cmd - (ach - trim), abs=1e-12)
            assert aw == pytest.approx(-behind, abs=1e-12)


@given(params(), requests)
def test_achieved_is_the_final_outputs_through_the_mix(p: Params, req: ActuatorReq) -> None:
    _, y = run(p, State(), req, n=3)
    assert y.fb.u_s_ach == 0.5 * (y.esc.u_L + y.esc.u_R)
    assert y.fb.u_d_ach == 0.5 * (y.esc.u_R - y.esc.u_L)


def test_each_stage_is_charged_with_its_own_loss() -> None:
    ap = 1.0
    for values, req, part, size in [
        ({"shp__ap__u_s_scale": 0.5}, (0.8, 0.0), "shaping", 0.4),
        ({"sw__u_s_max": 0.5}, (0.8, 0.0), "envelope", 0.3),
        ({"sw__u_LR_max": 0.5}, (0.8, 0.0), "allocation", 0.3),
        ({"motor__deadband": 0.1}, (0.05, 0.0), "dead_band", 0.05),
        ({"slew__up": 10.0}, (0.8, 0.0), "slew", 0.6),
        ({"trim__gain_L": 2.0, "trim__gain_R": 2.0}, (0.8, 0.0), "clamp", 0.3),
    ]:
        _, y = run(with_(**values), State(), ActuatorReq(*req, ap))
        loss = y.diag.loss_s._asdict()
        assert loss.pop(part) == pytest.approx(size)
        assert max(map(abs, loss.values())) < 1e-15, part
    _, y = run(Params(), State(), ActuatorReq(0.6, 0.0, ap), Known(health_L=0.0))
    assert y.diag.loss_s.fault + y.diag.loss_s.allocation == pytest.approx(0.6 - y.fb.u_s_ach)
    assert y.diag.loss_s.allocation == 0.0


def test_the_trim_is_no_loss() -> None:
    """Unsaturated, a trim shows in what is achieved and in no residual; else an integrator would creep away."""
    p = with_(trim__gain_L=0.9, trim__offset_L=0.05, trim__offset_R=-0.02)
    _, y = run(p, State(), ActuatorReq(0.3, 0.1, 1.0))
    assert abs(y.fb.u_s_ach - 0.3) > 1e-3
    assert max(abs(x) for x in (y.fb.aw_s, y.fb.aw_d, y.fb.aw_s_req, y.fb.aw_d_req)) < 1e-15
    assert y.fb.u_s_ach == pytest.approx(y.cmd.u_s_cmd + y.fb.aw_s + y.fb.trim_s, abs=1e-15)


@pytest.mark.parametrize(("scale", "req"), [(0.5, 1.5), (1.0, 1.5), (2.0, 0.9)])
def test_the_residual_comes_back_to_the_request(scale: float, req: float) -> None:
    """With straight shaping the request less its residual is just what can be had: asked for that, nothing is lost."""
    p = with_(shp__ap__u_s_scale=scale, sw__u_s_max=0.4)
    _, y = run(p, State(), ActuatorReq(req, 0.0, 1.0))
    assert y.fb.aw_s == pytest.approx(0.0, abs=1e-15), "the command itself was met: the envelope had cut it before"
    _, z = run(p, State(), ActuatorReq(req + y.fb.aw_s_req, 0.0, 1.0))
    assert z.diag.sat_cmd_stage == 0.0
    assert z.cmd.u_s_cmd == pytest.approx(0.4)


def test_an_axis_scaled_to_nothing_takes_the_whole_request_back() -> None:
    _, y = run(with_(shp__ap__u_d_scale=0.0), State(), ActuatorReq(0.0, 0.7, 1.0))
    assert y.fb.aw_d_req == -0.7


@given(params(), requests, st.sampled_from([math.nan, math.inf, -math.inf]), st.booleans())
def test_what_is_no_number_gives_neutral_and_a_report(p: Params, req: ActuatorReq, bad: float, first: bool) -> None:
    broken = req._replace(**{"u_s_req" if first else "u_d_req": bad}, src=1.0)
    s, _ = run(p, State(), req, n=2)
    after, y = step(p, s, In(broken), DT)
    assert REASONS[int(y.req.reason)] == "not_finite"
    assert y.req.src == 0.0
    assert all(math.isfinite(x) for x in flat(y))
    assert (after, y.esc) == (lambda r: (r[0], r[1].esc))(step(p, s, In(ActuatorReq()), DT)), "the same as no request"


@given(params(), requests)
@settings(max_examples=examples(50))
def test_neutral_is_reached_in_the_stated_time(p: Params, req: ActuatorReq) -> None:
    s, _ = run(p, State(), req, n=100)
    n = math.ceil(settling(p) / DT) + 1
    s, y = run(p, s, ActuatorReq(), n=n)
    assert (y.esc.u_L, y.esc.u_R) == (0.0, 0.0)


@pytest.mark.parametrize("why", ["idle", "abort", "disarmed", "timeout"])
def test_every_reason_to_be_neutral_brings_the_motors_to_rest(why: str) -> None:
    p = with_(slew__up=2.0, slew__down=2.0, sw__u_LR_min=0.2, trim__offset_L=0.1)
    asks = request.In(mode=float(MODES.index("autopilot")), u_s_raw=0.8)
    s = State()
    for _ in range(100):
        s, y = step_sources(p, s, Sources(asks), DT)
    assert y.esc.u_R == pytest.approx(0.8)
    change = {
        "idle": {"mode": 0.0},
        "abort": {"mode": float(MODES.index("abort"))},
        "disarmed": {"armed": 0.0},
        "timeout": {"ap_age": 1.0},
    }[why]
    s, y = step_sources(p, s, Sources(asks._replace(**change)), DT)
    assert y.esc.u_R == pytest.approx(0.8 - 2.0 * DT), "slewed, not dropped"
    for _ in range(math.ceil(settling(p) / DT)):
        s, y = step_sources(p, s, Sources(asks._replace(**change)), DT)
    assert (y.esc.u_L, y.esc.u_R, y.esc.pulse_L) == (0.0, 0.0, 1500.0)
    assert REASONS[int(y.req.reason)] == why


def test_a_dead_motor_is_not_asked_and_the_other_one_does_what_it_can() -> None:
    p = with_(alloc__policy=0.0)
    _, y = run(p, State(), ActuatorReq(0.3, 0.0, 1.0), Known(health_L=0.0))
    assert y.esc.u_L == 0.0
    assert y.esc.u_R == pytest.approx(0.6)
    assert y.fb.u_s_ach == pytest.approx(0.3), "speed first: the surge is kept, at the cost of turning"
    _, y = run(with_(alloc__policy=1.0), State(), ActuatorReq(0.3, 0.0, 1.0), Known(health_L=0.0))
    assert y.fb.u_d_ach == pytest.approx(0.0), "yaw first: no turning, so no surge"


@pytest.mark.parametrize(
    ("policy", "w_s", "k_L", "k_R", "lost"),
    [
        (0.0, 1.0, 0.11, 1.0, (0.0, 0.0)),
        (0.0, 1.0, 0.1, 1.0, (0.0, 1.0)),
        (1.0, 1.0, 1.0, 0.09, (1.0, 0.0)),
        (2.0, 2.0, 0.0, 1.0, (0.0, 1.0)),
        (2.0, 0.5, 0.0, 1.0, (1.0, 0.0)),
        (1.0, 1.0, 0.0, 0.05, (1.0, 1.0)),
    ],
)
def test_a_motor_that_would_need_too_much_gain_is_not_asked_and_costs_an_axis(
    policy: float, w_s: float, k_L: float, k_R: float, lost: tuple[float, float]
) -> None:
    _, y = run(with_(alloc__policy=policy, alloc__w_s=w_s), State(), ActuatorReq(0.01, 0.0, 1.0), Known(k_L, k_R))
    assert (y.diag.lost_s, y.diag.lost_d) == lost
    assert y.diag.gain == max([1.0 / k for k in (k_L, k_R) if k > 0.1], default=0.0)
    assert [u != 0.0 for u, k in ((y.esc.u_L, k_L), (y.esc.u_R, k_R)) if k <= 0.1] == [False] * ((k_L <= 0.1) + (k_R <= 0.1))


@given(allocs(), st.sampled_from([2.0, 5.0, 10.0, 100.0]), st.floats(0.0, 1.0), st.floats(0.0, 1.0), U, U, st.floats(-0.3, 0.3), st.floats(-0.3, 0.3))
@settings(max_examples=examples(200))
def test_no_gain_above_the_stated_bound_when_a_motor_fails(
    alloc: Alloc, gain_max: float, k_L: float, k_R: float, s: float, d: float, ds: float, dd: float
) -> None:
    p = Params(Act(alloc=alloc._replace(gain_max=gain_max)))
    known = Known(k_L, k_R)
    _, y = run(p, State(), ActuatorReq(s, d, 1.0), known)
    _, z = run(p, State(), ActuatorReq(s + ds, d + dd, 1.0), known)
    assert y.diag.gain <= gain_max
    way = abs(z.cmd.u_s_cmd - y.cmd.u_s_cmd) + abs(z.cmd.u_d_cmd - y.cmd.u_d_cmd)
    met = y.diag.sat_alloc == 0.0 and z.diag.sat_alloc == 0.0
    bound = (1.0 if met else 2.0) * gain_max * way
    assert max(abs(z.esc.u_L - y.esc.u_L), abs(z.esc.u_R - y.esc.u_R)) <= bound * (1.0 + 1e-9) + 1e-12


@given(allocs(), U, U, st.sampled_from([1.0, 0.5, 0.15]), st.booleans())
@settings(max_examples=examples(20))
def test_no_output_jumps_while_a_motor_weakens(alloc: Alloc, s: float, d: float, other: float, left: bool) -> None:
    """Down to nothing and past 1 / gain_max, where it is given up; trims too."""
    p = Params(Act(alloc=alloc, trim=Trim(1.0, 1.0, 0.1, -0.2)))
    n, last = 1000, None
    for i in range(n + 1):
        k = 1.0 - i / n
        _, y = run(p, State(), ActuatorReq(s, d, 1.0), Known(k, other) if left else Known(other, k))
        if last is not None:
            assert max(abs(y.esc.u_L - last.u_L), abs(y.esc.u_R - last.u_R)) <= 10.0 * alloc.gain_max / n
        last = y.esc


@given(params(), requests, st.floats(-0.5, 0.5), HEALTH)
def test_a_dead_band_is_a_loss_and_nothing_to_unwind_by(p: Params, req: ActuatorReq, last: float, k_L: float) -> None:
    without = Params(p.act._replace(motor=p.act.motor._replace(deadband=0.0)))
    known = Known(health_L=k_L)
    _, y = run(p, State(last, last), req, known)
    _, z = run(without, State(last, last), req, known)
    assert (y.fb.aw_s_req, y.fb.aw_d_req) == (z.fb.aw_s_req, z.fb.aw_d_req)
    _, y = run(with_(motor__deadband=0.3), State(), ActuatorReq(0.2, 0.05, 1.0))
    assert (y.fb.aw_s, y.fb.aw_d, y.diag.loss_s.dead_band) == pytest.approx((-0.2, -0.05, 0.2))
    assert (y.fb.aw_s_req, y.fb.aw_d_req) == pytest.approx((0.0, 0.0), abs=1e-15)


def test_what_could_not_be_done_with_all_well_is_not_charged_to_the_fault() -> None:
    p = with_(sw__u_LR_max=0.5, sw__u_LR_min=-0.5)
    for known in (Known(health_L=0.5), Known(health_L=0.0), Known(health_R=0.5), Known(health_R=0.0)):
        _, y = run(p, State(), ActuatorReq(0.8, 0.1, 1.0), known)
        assert y.diag.loss_s.allocation == pytest.approx(0.3)
        assert y.diag.loss_s.fault == pytest.approx(0.5 - y.fb.u_s_ach)
        assert y.diag.loss_s.fault > 0.1


@given(params(), requests, st.sampled_from([math.nan, math.inf, -math.inf, -1e-3, -5.0]), st.floats(-0.3, 0.6))
def test_a_tick_that_is_no_time_moves_nothing_and_is_told(p: Params, req: ActuatorReq, dt: float, last: float) -> None:
    s = State(last, last)
    after, y = step(p, s, In(req), dt)
    none, z = step(p, s, In(req), 0.0)
    assert after == none == s
    assert (y.diag.bad_dt, z.diag.bad_dt) == (1.0, 0.0)
    assert y == z._replace(diag=z.diag._replace(bad_dt=1.0))
    held = min(max(last, p.act.hw.u_LR_min), p.act.hw.u_LR_max)
    assert (y.esc.u_L, y.esc.u_R) == (held, held)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
@pytest.mark.parametrize("side", ["u_L_meas", "u_R_meas", "health_L", "health_R"])
def test_what_is_known_of_a_motor_and_is_no_number_is_told(side: str, bad: float) -> None:
    known = Known(measured=1.0, u_L_meas=0.1, u_R_meas=0.2)
    req = ActuatorReq(0.3, 0.1, 1.0)
    _, fine = run(Params(), State(), req, known)
    assert fine.diag.bad_known == 0.0
    _, y = run(Params(), State(), req, known._replace(**{side: bad}))
    assert y.diag.bad_known == 1.0
    assert all(math.isfinite(x) for x in flat(y))
    if "meas" in side:
        assert (y.diag.resid_s, y.diag.resid_d) == (0.0, 0.0)
        assert (y.esc, y.fb) == (fine.esc, fine.fb), "a measurement moves no motor"
        _, unused = run(Params(), State(), req, known._replace(**{side: bad}, measured=0.0))
        assert unused.diag.bad_known == 0.0
    elif math.isnan(bad):
        assert getattr(y.esc, side.replace("health", "u")) == 0.0


@given(params(), requests, st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_a_failing_motor_makes_no_output_greater_than_its_bound(p: Params, req: ActuatorReq, k_L: float, k_R: float) -> None:
    _, y = run(p, State(), req, Known(k_L, k_R), n=5)
    assert max(abs(y.esc.u_L), abs(y.esc.u_R)) <= max(abs(p.act.hw.u_LR_min), abs(p.act.hw.u_LR_max))


def test_a_fault_nobody_announced_shows_as_a_residual_alone() -> None:
    req = ActuatorReq(0.4, 0.0, 1.0)
    _, well = run(Params(), State(), req, Known(measured=1.0, u_L_meas=0.4, u_R_meas=0.4))
    _, weak = run(Params(), State(), req, Known(measured=1.0, u_L_meas=0.1, u_R_meas=0.4))
    assert (well.diag.resid_s, well.diag.resid_d) == (0.0, 0.0)
    assert (weak.diag.resid_s, weak.diag.resid_d) == pytest.approx((-0.15, 0.15))
    assert weak.fb == well.fb, "controllers are to make up for it, so it is nothing to unwind by"


def test_the_allocator_may_know_how_far_a_motor_can_slew() -> None:
    """Speed first: without knowing, both motors slew alike and the turn is lost; knowing, the surge takes what there is and no slew limit acts."""
    req = ActuatorReq(0.5, 0.5, 1.0)
    blind, aware = (with_(slew__up=1.0, slew__down=1.0, alloc__slew_aware=x) for x in (0.0, 1.0))
    _, y = run(blind, State(), req)
    _, z = run(aware, State(), req)
    assert y.diag.loss_s.slew != 0.0
    assert abs(z.diag.loss_s.slew) + abs(z.diag.loss_d.slew) < 1e-15
    assert z.fb.u_s_ach == pytest.approx(DT)
    assert z.fb.u_d_ach == 0.0
    trimmed = with_(slew__up=1.0, slew__down=1.0, alloc__slew_aware=1.0, trim__gain_L=1.5, trim__offset_R=0.01)
    _, z = run(trimmed, State(), req)
    assert max(z.esc.u_L, z.esc.u_R) == pytest.approx(DT), "as far as it can slew, the trim counted in"
    assert abs(z.diag.loss_s.slew) + abs(z.diag.loss_d.slew) < 1e-15


def test_the_motors_keep_their_place_when_the_source_changes() -> None:
    p = with_(slew__up=1.0, slew__down=1.0)
    s, _ = run(p, State(), ActuatorReq(0.5, 0.0, 1.0), n=100)
    s, y = run(p, s, ActuatorReq(-0.5, 0.0, 2.0))
    assert y.esc.u_L == pytest.approx(0.5 - DT)


@pytest.mark.parametrize("d", [0.3, 0.1])
def test_a_dead_motor_is_saturated_where_something_would_be_asked_of_it(d: float) -> None:
    _, left = run(Params(), State(), ActuatorReq(0.3, d, 1.0), Known(health_L=0.0))
    _, right = run(Params(), State(), ActuatorReq(0.3, -d, 1.0), Known(health_R=0.0))
    assert left.fb.sat_L == right.fb.sat_R == float(d != 0.3)


def test_a_dead_motor_rests_in_spite_of_its_trim() -> None:
    s, y = run(with_(trim__offset_L=0.05, trim__gain_R=1.2), State(0.4, 0.4), ActuatorReq(0.3, 0.0, 1.0), Known(health_L=0.0), n=200)
    assert (y.esc.u_L, s.u_L) == (0.0, 0.0)
    assert y.esc.pulse_L == 1500.0
    assert y.esc.u_R > 0.0


@given(params(), requests, HEALTH, HEALTH)
@settings(max_examples=examples(40))
def test_the_certificate_says_that_no_better_allocation_exists(p: Params, req: ActuatorReq, k_L: float, k_R: float) -> None:
    _, y = run(p, State(), req, Known(k_L, k_R))
    assert y.diag.optimality <= 1e-9


def test_the_certificate_shows_an_allocator_that_does_not_work(monkeypatch: pytest.MonkeyPatch) -> None:
    ask = ActuatorReq(0.8, 0.5, 1.0)
    assert run(Params(), State(), ask)[1].diag.optimality <= 1e-12
    monkeypatch.setattr(two_motor_pipeline, "allocate", lambda p, b, s, d: Allocated(0.1, 0.0))
    for policy in (0.0, 1.0, 2.0):
        assert run(with_(alloc__policy=policy), State(), ask)[1].diag.optimality > 0.05


def test_a_lost_axis_does_not_come_and_go_with_a_health_that_wavers() -> None:
    """gain_max is 10: a motor of a tenth is lost, and back well above that; what it is asked for does not wait for that."""
    s, told, asked = State(), [], []
    for k in (0.2, 0.099, 0.101, 0.099, 0.105, 0.11, 0.12, 0.105):
        s, y = run(Params(), s, ActuatorReq(0.05, 0.0, 1.0), Known(health_L=k))
        told.append(y.diag.lost_d)
        asked.append(y.esc.u_L)
    assert told == [0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0]
    assert asked[2] > 0.0
    assert asked[4] == asked[7]
