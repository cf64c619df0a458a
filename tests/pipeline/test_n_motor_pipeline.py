"""The pipeline for n effectors: the same as the two-motor one where both apply, and its own promises elsewhere."""

import itertools
import math
import re

import numpy as np
import pytest
from effector_sets import commands, first, healths, laws, matrix, sizes
from hypothesis import given, settings
from hypothesis import strategies as st
from two_motor_sets import params, requests

from counts import examples
from pushrod.core.check import problems
from pushrod.core.record import flat
from pushrod.pipeline import n_act, two_motor_pipeline
from pushrod.pipeline.act import Params as TwoParams
from pushrod.pipeline.allocate.axes import Axes, Effectors, Health
from pushrod.pipeline.allocate.effectiveness import Params as Law
from pushrod.pipeline.n_act import Act, Params
from pushrod.pipeline.n_motor_pipeline import State, step
from pushrod.pipeline.n_topic import In, Out
from pushrod.pipeline.names import REASONS
from pushrod.pipeline.topic import ActuatorReq

DT = 0.02


def pulses(n: int) -> n_act.Esc:
    return n_act.Esc((1100.0,) * n, (1500.0,) * n, (1900.0,) * n, (0.0,) * n)


def from_law(law: Law, policy: float, slew_aware: float, rate: float, trim: float) -> Params:
    n, m = sizes(law)
    act = Act(
        n_act.Hw(tuple(x - 0.05 for x in law.lo), tuple(x + 0.05 for x in law.hi)),
        n_act.Sw(law.lo, law.hi, (-5.0,) * m, (4.0,) * m),
        n_act.Shp(n_act.Ap((1.1,) * m), n_act.Man((0.7,) * m, 0.05, 0.3)),
        n_act.Alloc(policy, law.B, law.weight, law.order, law.prefer, law.stiff, law.gain_max, slew_aware),
        n_act.Trim((1.0 + trim,) * n, (trim,) * n),
        n_act.Motor((0.05,) * n),
        n_act.Slew((rate,) * n, (2.0 * rate,) * n, 0.5),
        pulses(n),
    )
    assert not list(problems(Params(act)))
    return Params(act)


sets = st.builds(
    from_law, laws(), st.sampled_from([0.0, 1.0]), st.sampled_from([0.0, 1.0]), st.sampled_from([0.5, 5.0, 5e8]), st.sampled_from([0.0, 0.1])
)
SOURCE = st.sampled_from([0.0, 1.0, 2.0, 3.0])


@given(params(), st.lists(requests, min_size=1, max_size=5))
@settings(max_examples=examples(60))
def test_with_two_effectors_it_is_the_two_motor_pipeline(p: TwoParams, reqs: list[ActuatorReq]) -> None:
    a = p.act
    mixed = Act(
        n_act.Hw((a.hw.u_LR_min,) * 2, (a.hw.u_LR_max,) * 2),
        n_act.Sw((a.sw.u_LR_min,) * 2, (a.sw.u_LR_max,) * 2, (a.sw.u_s_min, -a.sw.u_d_max_neg), (a.sw.u_s_max, a.sw.u_d_max_pos)),
        n_act.Shp(n_act.Ap((1.0, 1.0)), n_act.Man((a.shp.man.u_s_scale, a.shp.man.u_d_scale), a.shp.man.deadband, a.shp.man.expo)),
        n_act.Alloc(
            1.0 if a.alloc.policy == 2.0 else 0.0,
            (0.5, 0.5, -0.5, 0.5),
            (a.alloc.w_s, a.alloc.w_d),
            (1.0, 0.0) if a.alloc.policy == 1.0 else (0.0, 1.0),
            (0.0, 0.0),
            (1.0, 1.0),
            10.0,
            a.alloc.slew_aware,
        ),
        n_act.Trim((a.trim.gain_L, a.trim.gain_R), (a.trim.offset_L, a.trim.offset_R)),
        n_act.Motor((a.motor.deadband,) * 2),
        n_act.Slew((a.slew.up,) * 2, (a.slew.down,) * 2, a.slew.neutral_time),
        pulses(2),
    )
    if a.sw.u_LR_max - a.sw.u_LR_min < 1e-6:
        return  # motors that cannot move serve no axis there
    s, t = State(), two_motor_pipeline.State()
    for req in reqs:
        s, y = step(Params(mixed), s, In(Axes(req.u_s_req, req.u_d_req), req.src), DT)
        t, z = two_motor_pipeline.step(p, t, two_motor_pipeline.In(req), DT)
        for ours, theirs in (
            (y.cmd[:2], z.cmd),
            (y.alloc[:2], z.alloc),
            (y.u[:2], z.esc[:2]),
            (y.ach[:2], (z.fb.u_s_ach, z.fb.u_d_ach)),
            (y.aw[:2], (z.fb.aw_s, z.fb.aw_d)),
            (y.aw_req[:2], (z.fb.aw_s_req, z.fb.aw_d_req)),
            (y.trim[:2], (z.fb.trim_s, z.fb.trim_d)),
            (y.pulse[:2], (z.esc.pulse_L, z.esc.pulse_R)),
            (y.a_max_eff[:1] if req.src else (), (z.diag.u_s_max_eff,) if req.src else ()),
            *(((x.a0, x.a1), (a, b)) for x, a, b in zip(y.loss, z.diag.loss_s, z.diag.loss_d, strict=True)),
        ):
            assert ours == pytest.approx(theirs, abs=1e-7)  # the residual in requests is up to a hundredfold


@given(sets, st.lists(st.tuples(commands(), SOURCE), min_size=1, max_size=4), healths)
@settings(max_examples=examples(50))
def test_outputs_stay_within_bounds_and_losses_add_up(p: Params, asked: list[tuple[Axes, float]], k: Health) -> None:
    n, m = len(p.act.hw.u_min), len(p.act.sw.a_min)
    law = n_act.law(p.act)
    s = State()
    for req, src in asked:
        last = np.clip(first(s.u, n), p.act.hw.u_min, p.act.hw.u_max)
        s, y = step(p, s, In(req, src, health=k), DT)
        u = first(y.u, n)
        assert (u >= p.act.hw.u_min).all()
        assert (u <= p.act.hw.u_max).all()
        if src != 0.0:
            assert (u >= np.minimum(last, p.act.sw.u_min) - 1e-12).all()
            assert (u <= np.maximum(last, p.act.sw.u_max) + 1e-12).all()
        scale = 1e-12 * max(1.0, np.abs(matrix(law)).sum(1).max(), np.abs(req).max())
        loss = {name: first(x, m) for name, x in y.loss._asdict().items()}
        before = loss.pop("shaping") + loss.pop("envelope")
        asked_for = first(req, m) if src != 0.0 else np.zeros(m)
        assert before == pytest.approx(asked_for - first(y.cmd, m), abs=scale)
        assert sum(loss.values()) == pytest.approx(first(y.cmd, m) - (first(y.ach, m) - first(y.trim, m)), abs=scale)
        assert first(y.aw, m) == pytest.approx(-sum(loss.values()), abs=scale)
        assert first(y.ach, m) == pytest.approx(matrix(law, k) @ u, abs=scale)


@given(sets, commands(), st.sampled_from([math.nan, math.inf, -math.inf]), st.integers(0, 5))
@settings(max_examples=examples(30))
def test_what_is_no_number_gives_neutral_and_a_report(p: Params, req: Axes, bad: float, i: int) -> None:
    i = i % len(p.act.sw.a_min)
    s, _ = step(p, State(), In(req, 1.0), DT)
    after, y = step(p, s, In(req._replace(**{f"a{i}": bad}), 1.0), DT)
    calm, _ = step(p, s, In(), DT)
    assert REASONS[int(y.reason)] == "not_finite"
    assert after == calm
    assert all(math.isfinite(x) for x in flat(y))


@given(sets, commands(), healths)
@settings(max_examples=examples(20))
def test_neutral_is_reached_in_the_stated_time(p: Params, req: Axes, k: Health) -> None:
    s = State()
    for _ in range(3):
        s, _ = step(p, s, In(req, 1.0, health=k), 0.1)
    for _ in range(math.ceil(p.act.slew.neutral_time / DT) + 1):
        s, y = step(p, s, In(), DT)
    for j, u in enumerate(first(y.u, len(p.act.hw.u_min))):
        assert u == min(max(0.0, p.act.hw.u_min[j]), p.act.hw.u_max[j])


QUAD = Params(Act(n_act.Hw((0.0,) * 4), n_act.Sw((0.0,) * 4), alloc=n_act.Alloc(order=(1.0, 2.0, 0.0, 3.0), prefer=(0.5,) * 4)))


def quad(u: In, p: Params = QUAD) -> Out:
    return step(p, State(), u, DT)[1]


def test_an_announced_failure_is_allocated_round_at_once_and_charged_to_the_fault() -> None:
    ask = In(Axes(1.2, 0.1, -0.1, 0.0), 1.0)
    well, dead = quad(ask), quad(ask._replace(health=Health(e2=0.0)))
    assert well.loss.fault == (0.0,) * 6
    assert well.ach[:4] == pytest.approx((1.2, 0.1, -0.1, 0.0), abs=1e-9)
    assert dead.u.e2 == 0.0
    assert dead.lost == (0.0, 0.0, 0.0, 1.0, 0.0, 0.0), "yaw is given up"
    assert dead.ach[:3] == pytest.approx((1.2, 0.1, -0.1), abs=1e-9), "thrust and tilts are kept"
    assert dead.loss.fault.a3 == pytest.approx(-dead.ach.a3, abs=1e-9)
    assert dead.gain <= 10.0


def test_what_could_not_be_done_with_all_well_is_not_charged_to_the_fault() -> None:
    ask = In(Axes(4.0, 1.0, 0.0, 0.0), 1.0)
    well, weak = quad(ask), quad(ask._replace(health=Health(0.5, 0.5, 0.5, 0.5)))
    assert well.loss.allocation.a0 == pytest.approx(1.0)
    assert weak.loss.allocation == pytest.approx(well.loss.allocation)
    assert weak.loss.fault.a0 == pytest.approx(well.ach.a0 - weak.ach.a0) != 0.0


def test_a_failure_nobody_announced_shows_as_a_residual_alone() -> None:
    ask = In(Axes(2.0, 0.0, 0.0, 0.0), 1.0, measured=1.0, u_meas=Effectors(0.5, 0.5, 0.0, 0.5))
    y = quad(ask)
    assert y.resid[:4] == pytest.approx((-0.5, -0.5, -0.5, -0.5))
    assert (y.aw, y.ach) == (quad(ask._replace(measured=0.0)).aw, quad(ask._replace(measured=0.0)).ach)


@given(sets, commands(), healths)
@settings(max_examples=examples(40))
def test_the_limits_in_effect_are_those_of_the_bounds(p: Params, req: Axes, k: Health) -> None:
    """Of each effector what the allocator may ask for; of each axis the most of all corners of these bounds."""
    n, m = len(p.act.hw.u_min), len(p.act.sw.a_min)
    s, _ = step(p, State(), In(req, 1.0, health=k), DT)
    _, y = step(p, s, In(req, 1.0, health=k), DT)
    lo, hi = first(y.u_min_eff, n), first(y.u_max_eff, n)
    if p.act.alloc.slew_aware == 0.0:
        rest = np.clip(0.0, p.act.sw.u_min, p.act.sw.u_max)
        dead = np.array(k[:n]) == 0.0
        assert (lo == np.where(dead, rest, p.act.sw.u_min)).all()
        assert (hi == np.where(dead, rest, p.act.sw.u_max)).all()
    assert (lo <= hi).all()
    corners = np.array(list(itertools.product(*zip(lo, hi, strict=True)))) @ matrix(n_act.law(p.act), k).T
    assert first(y.a_max_eff, m) == pytest.approx(np.minimum(p.act.sw.a_max, corners.max(0)), abs=1e-9)
    assert first(y.a_min_eff, m) == pytest.approx(np.maximum(p.act.sw.a_min, corners.min(0)), abs=1e-9)
    assert (y.u_max_eff[n:], y.a_max_eff[m:], y.pulse[n:]) == ((0.0,) * (8 - n), (0.0,) * (6 - m), (0.0,) * (8 - n))


def test_each_effector_has_its_own_pulse() -> None:
    p = Params(QUAD.act._replace(hw=n_act.Hw(), sw=n_act.Sw(), esc=n_act.Esc((1000.0, 1100.0, 1100.0, 1100.0), reverse=(0.0, 1.0, 0.0, 0.0))))
    s = State(Effectors(-0.5, 0.5, 0.25, 0.0))
    y = step(p, s, In(Axes(0.2, 0.0, 0.0, 0.0), 1.0), 0.0)[1]
    assert y.pulse == (1250.0, 1300.0, 1600.0, 1500.0, 0.0, 0.0, 0.0, 0.0)


@given(sets, commands(), st.sampled_from([math.nan, math.inf, -1e-3]))
@settings(max_examples=examples(20))
def test_a_tick_that_is_no_time_moves_nothing_and_is_told(p: Params, req: Axes, dt: float) -> None:
    s, _ = step(p, State(), In(req, 1.0), DT)
    after, y = step(p, s, In(req, 2.0), dt)
    none, z = step(p, s, In(req, 2.0), 0.0)
    assert after == none == s
    assert y == z._replace(bad_dt=1.0)
    assert y.u == s.u


def test_what_is_known_of_an_effector_and_is_no_number_is_told() -> None:
    ask = In(Axes(1.2, 0.1, -0.1, 0.0), 1.0, measured=1.0, u_meas=Effectors(0.5, 0.5, 0.5, 0.5))
    fine = quad(ask)
    assert fine.bad_known == 0.0
    y = quad(ask._replace(u_meas=Effectors(0.5, math.nan, 0.5, 0.5)))
    assert (y.bad_known, y.resid, y.u) == (1.0, (0.0,) * 6, fine.u)
    assert quad(ask._replace(u_meas=Effectors(0.5, math.nan, 0.5, 0.5), measured=0.0)).bad_known == 0.0
    y = quad(ask._replace(health=Health(e2=math.nan)))
    dead = quad(ask._replace(health=Health(e2=0.0)))
    assert y == dead._replace(bad_known=1.0)


def test_a_dead_band_is_a_loss_and_nothing_to_unwind_by() -> None:
    ask = In(Axes(0.8, 0.1, 0.0, 0.0), 1.0)
    banded = QUAD.act._replace(motor=n_act.Motor((0.3, 0.0, 0.3, 0.0)), alloc=QUAD.act.alloc._replace(prefer=(0.0,) * 4))
    y = quad(ask, Params(banded))
    assert y.u.e0 == 0.0
    assert y.loss.dead_band.a0 == pytest.approx(-y.aw.a0) != 0.0
    assert y.aw_req[:4] == pytest.approx((0.0,) * 4, abs=1e-9)


def test_per_effector_limits_are_kept_and_shared_out() -> None:
    p = QUAD._replace(act=QUAD.act._replace(sw=QUAD.act.sw._replace(u_max=(0.3, 1.0, 1.0, 1.0))))
    y = quad(In(Axes(2.0, 0.0, 0.0, 0.0), 1.0), p)
    assert y.u.e0 == pytest.approx(0.3)
    assert y.ach[:3] == pytest.approx((2.0, 0.0, 0.0), abs=1e-9), "yaw gives way, not thrust"
    assert y.sat == (1.0, *y.sat[1:])


def test_the_allocator_may_know_how_far_an_effector_can_slew() -> None:
    slow = QUAD.act._replace(slew=n_act.Slew((1.0,) * 4, (1.0,) * 4))
    blind, aware = (Params(slow._replace(alloc=slow.alloc._replace(slew_aware=x))) for x in (0.0, 1.0))
    ask = In(Axes(2.0, 0.04, 0.0, 0.3), 1.0)
    y, z = quad(ask, blind), quad(ask, aware)
    assert y.ach.a1 == pytest.approx(0.0), "all slewed alike: the tilt, most important, is lost"
    assert z.ach.a1 == pytest.approx(0.04), "it gets what there is"
    assert max(map(abs, z.loss.slew)) < 1e-12
    trimmed = slow._replace(alloc=slow.alloc._replace(slew_aware=1.0), trim=n_act.Trim((1.5, 1.0, 1.0, 1.0), (0.0, 0.01, 0.0, 0.0)))
    z = step(Params(trimmed), State(Effectors(0.5, 0.5, 0.5, 0.5)), ask._replace(req=Axes(0.0, 0.3, 0.0, 0.0)), DT)[1]
    assert max(map(abs, z.loss.slew)) < 1e-12, "the trim counted in"


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"hw": n_act.Hw((0.0,) * 3, (1.0,) * 3)}, "act.sw.u_min has 4 values"),
        ({"sw": n_act.Sw((-2.0, 0.0, 0.0, 0.0))}, r"act.sw.u_min\[0\]"),
        ({"sw": n_act.Sw(u_max=(1.0, 2.0, 1.0, 1.0))}, r"act.sw.u_max\[1\] = 2 lies above hw.u_max\[1\] = 1"),
        ({"sw": n_act.Sw(a_max=(1.0, -5.0, 1.0, 1.0))}, r"act.sw.a_min\[1\]"),
        ({"alloc": n_act.Alloc(order=(0.0, 0.0, 2.0, 3.0))}, "act.alloc.order"),
        ({"alloc": n_act.Alloc(weight=(1.0, -1.0, 1.0, 1.0))}, r"act.alloc.weight\[1\]"),
        ({"alloc": n_act.Alloc(B=(1.0, 2.0))}, "act.alloc.B has 2 values"),
        ({"trim": n_act.Trim((1.0, 1.0, 0.0, 1.0))}, r"act.trim.gain\[2\]"),
        ({"slew": n_act.Slew((1.0, -1.0, 1.0, 1.0))}, r"act.slew.up\[1\]"),
        ({"shp": n_act.Shp(n_act.Ap((-1.0,) * 4))}, r"act.shp.ap.scale\[0\]"),
        ({"esc": n_act.Esc(us_min=(1100.0, 1600.0, 1100.0, 1100.0))}, r"act.esc.us_min\[1\] = 1600 us lies above"),
        ({"esc": n_act.Esc(us_min=(1100.0, 1500.0, 1100.0, 1100.0))}, r"act.esc.us_min\[1\] .* asks for reverse"),
        ({"esc": n_act.Esc(us_min=(1500.0,) * 4, reverse=(0.0, 0.0, 0.0, 1.0)), "hw": n_act.Hw((0.0,) * 4)}, r"act.esc.reverse\[3\] is set"),
        ({"esc": n_act.Esc(us_max=(1900.0, 1500.0, 1900.0, 1900.0))}, r"act.esc.us_max\[1\] = 1500"),
        ({"esc": n_act.Esc(reverse=(0.5, 0.0, 0.0, 0.0))}, r"act.esc.reverse\[0\] = 0.5 must be 0 or 1"),
    ],
)
def test_mistakes_are_told_by_name(changes: dict[str, tuple[object, ...]], named: str) -> None:
    assert [text for text in problems(Params(Act(**changes))) if re.match(named, text)]  # type: ignore[arg-type]


def test_a_lost_axis_does_not_come_and_go_with_a_health_that_wavers() -> None:
    k = next(k for k in (0.3 - 1e-3 * a for a in range(200)) if quad(In(Axes(1.2), 1.0, health=Health(e1=k))).lost.a3)
    s, told = State(), []
    for turn in range(10):
        s, y = step(QUAD, s, In(Axes(1.2), 1.0, health=Health(e1=k + (1e-3 if turn % 2 else -1e-3))), DT)
        told.append(y.lost.a3)
    assert told == [1.0] * 10
    s, y = step(QUAD, s, In(), DT)
    assert s.lost.a3 == 1.0, "a neutral request decides nothing"
    s, y = step(QUAD, s, In(Axes(1.2), 1.0, health=Health(e1=1.3 * k)), DT)
    assert (y.lost.a3, s.lost.a3) == (0.0, 0.0)
