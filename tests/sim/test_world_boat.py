"""The boat: which way it turns, who drives it, what the loops know of the motors, and what becomes of it when one of them breaks."""

import math
from collections.abc import Callable
from typing import Any

import pytest

from pushrod.core.check import check, problems
from pushrod.core.model import Tick
from pushrod.core.record import flat, numbers, put
from pushrod.models import fault, thruster
from pushrod.pipeline.names import ABORT, BY_ABORT, BY_DISARM, BY_IDLE, BY_NO_PULSE, BY_TIMEOUT, FINE, IDLE, IN_AUTOPILOT, IN_MANUAL, IN_TEST
from pushrod.pipeline.two_motor_pipeline import settling
from pushrod.sim.worlds.boat import BOAT, In, Out, Params, State, seen_command, step

DT = 0.02
QUIET = {"noise.speed": 0.0, "noise.heading": 0.0, "noise.rate": 0.0}


def params(**changes: Any) -> Params:
    """Without noise; changes by path, dots written as __."""
    p = Params()
    for path, value in (QUIET | {path.replace("__", "."): value for path, value in changes.items()}).items():
        p = put(p, path, value)
    check(p, "boat", DT)
    return p


def sail(p: Params, u: Callable[[float], In] | In, seconds: float, dt: float = DT, seed: int = 0) -> list[Out]:
    s, run = State(), []
    for k in range(round(seconds / dt)):
        s, y = step(p, s, u(k * dt) if callable(u) else u, Tick(k, dt, seed))
        run.append(y)
    return run


def recovery(run: list[Out], since: float, goal: float) -> float:
    outside = [k for k, y in enumerate(run) if k * DT >= since and abs(y.v - goal) > 0.1]
    return (outside[-1] + 1) * DT - since


def test_at_rest_it_stays_at_rest() -> None:
    y = sail(params(), In(), 5.0)[-1]
    assert (y.x, y.y, y.psi, y.v, y.F_L, y.F_R) == (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def test_more_on_the_starboard_side_turns_it_to_port() -> None:
    y = sail(params(), In(IN_TEST, u_s_test=0.5, u_d_test=0.2), 2.0)[-1]
    assert y.esc.u_R > y.esc.u_L
    assert y.F_R > y.F_L
    assert y.r > 0.0
    assert y.psi > 0.0
    assert y.y > 0.0, "ahead and to port is to the north of east"


def test_the_stick_to_the_right_turns_it_to_starboard() -> None:
    """As the machine file has it: a longer pulse of the yaw channel is the stick to the right."""
    y = sail(params(), In(IN_MANUAL, rc_s=1700.0, rc_d=1800.0), 2.0)[-1]
    assert y.v > 0.0
    assert y.r < 0.0


def test_a_mirrored_request_gives_the_mirrored_way() -> None:
    a = sail(params(), In(v_req=1.0, psi_req=0.8), 10.0)[-1]
    b = sail(params(), In(v_req=1.0, psi_req=-0.8), 10.0)[-1]
    assert (b.x, b.y, b.psi, b.r, b.sway) == (a.x, -a.y, -a.psi, -a.r, -a.sway)
    assert (b.F_L, b.F_R, b.esc.u_L, b.esc.u_R) == (a.F_R, a.F_L, a.esc.u_R, a.esc.u_L)


def test_it_gets_to_its_speed_and_heading_and_stays_in_a_current_too() -> None:
    for current in (0.0, 0.4):
        p = params(current__x=-current, current__y=current)
        y = sail(p, In(v_req=1.2, psi_req=2.5), 40.0)[-1]
        assert y.v == pytest.approx(1.2, abs=0.01)
        assert y.psi == pytest.approx(2.5, abs=0.01)


def test_a_heading_across_the_seam_is_taken_the_short_way() -> None:
    run = sail(params(), lambda t: In(v_req=1.0, psi_req=3.0 if t < 10.0 else -3.0), 25.0)
    assert run[-1].psi == pytest.approx(2.0 * math.pi - 3.0, abs=0.01)
    assert run[-1].psi_req == pytest.approx(2.0 * math.pi - 3.0, abs=0.01)


def beyond(t: float) -> In:
    return In(v_req=0.0 if t < 2.0 else (4.0 if t < 22.0 else 1.0))


def test_windup_is_what_the_feedback_saves() -> None:
    told, alone = (sail(params(feedback=on), beyond, 85.0) for on in (1.0, 0.0))
    assert max(abs(y.I_s) for y in told) < 0.5
    assert max(y.I_s for y in alone) > 10.0
    assert recovery(alone, 22.0, 1.0) >= 5.0 * recovery(told, 22.0, 1.0)


@pytest.mark.parametrize(("way", "T_t", "times"), [(2.0, 2.0, 3.0), (3.0, 2.0, 3.0), (3.0, 20.0, 10.0)])
def test_the_other_ways_to_unwind_are_quicker_than_none_too(way: float, T_t: float, times: float) -> None:
    """Asked for the impossible, back-calculation takes the integral past where it is needed next: the less, the longer T_t is."""
    p = params(control__speed__gains__windup=way, control__speed__gains__T_t=T_t)
    alone = sail(params(feedback=0.0), beyond, 85.0)
    assert recovery(alone, 22.0, 1.0) >= times * recovery(sail(p, beyond, 85.0), 22.0, 1.0)


def test_who_turns_the_heading_first_gives_up_speed_and_the_other_way_round() -> None:
    def wish(t: float) -> In:
        return In(v_req=3.0, psi_req=0.0 if t < 10.0 else 1.0)

    by_yaw, by_speed = (sail(params(act__alloc__policy=policy), wish, 12.0)[-1] for policy in (1.0, 0.0))
    assert by_yaw.psi > by_speed.psi + 0.2
    assert by_yaw.v < by_speed.v


@pytest.mark.parametrize(
    ("u", "reason"),
    [
        (In(IDLE, v_req=1.0), BY_IDLE),
        (In(ABORT, v_req=1.0), BY_ABORT),
        (In(armed=0.0, v_req=1.0), BY_DISARM),
        (In(v_req=1.0, age=0.6), BY_TIMEOUT),
        (In(IN_MANUAL, rc_s=1700.0, age=0.6), BY_TIMEOUT),
        (In(IN_MANUAL, rc_s=0.0), BY_NO_PULSE),
        (In(IN_TEST, u_s_test=0.5, age=10.0), BY_TIMEOUT),
    ],
)
def test_without_an_owner_the_motors_rest_within_the_time_that_is_stated(u: In, reason: float) -> None:
    p = params()
    run = sail(p, lambda t: In(v_req=1.5) if t < 5.0 else u, 8.0)
    assert run[249].req.reason == FINE
    assert run[249].esc.u_L > 0.5
    assert run[250].req.reason == reason
    assert run[250].I_s == 0.0, "whoever comes back starts afresh"
    still = [k for k, y in enumerate(run) if k >= 250 and (y.esc.u_L != 0.0 or y.esc.u_R != 0.0)]
    assert (still[-1] + 1) * DT - 5.0 <= settling(Params(act=p.act)) + DT


def test_what_is_asked_for_passes_unchanged_when_the_motors_can_do_it() -> None:
    y = sail(params(), In(IN_TEST, u_s_test=0.4, u_d_test=-0.1), 3.0)[-1]
    assert (y.fb.u_s_ach, y.fb.u_d_ach) == pytest.approx((0.4, -0.1), abs=1e-12)
    assert (y.fb.sat_any, y.diag.sat_alloc) == (0.0, 0.0)


def weak(share: float, announced: float) -> dict[str, Any]:
    return {"faults__right": fault.Params(fault.LOSS, 10.0, announced=announced, effectiveness=share)}


def test_a_weak_motor_that_says_so_is_asked_for_more_in_the_same_tick() -> None:
    run = sail(params(**weak(0.8, 1.0)), In(IN_TEST, u_s_test=0.4), 12.0)
    before, at = run[499], run[501]
    assert before.esc.u_R == pytest.approx(0.4)
    assert at.esc.u_R > before.esc.u_R
    assert run[-1].esc.u_R == pytest.approx(0.5)
    assert pytest.approx(run[-1].F_L, rel=1e-6) == run[-1].F_R
    assert run[-1].diag.resid_s == pytest.approx(0.0, abs=1e-6)
    assert run[-1].right_fault == fault.LOSS


def test_a_weak_motor_that_says_nothing_shows_in_the_residual() -> None:
    run = sail(params(**weak(0.8, 0.0)), In(IN_TEST, u_s_test=0.4), 15.0)
    assert run[-1].esc.u_R == pytest.approx(0.4)
    assert run[-1].diag.resid_s == pytest.approx(-0.04, abs=1e-6)
    assert run[-1].diag.resid_d == pytest.approx(-0.04, abs=1e-6)
    assert run[-1].fb.aw_s == pytest.approx(0.0, abs=1e-12), "making up for it is for the loops"
    assert run[-1].right_fault == fault.NONE


def test_a_dead_motor_that_says_so_costs_the_speed_and_not_the_heading() -> None:
    p = params(**weak(0.0, 1.0))
    run = sail(p, In(v_req=1.0, psi_req=0.0), 40.0)
    after = run[round((10.0 + p.act.slew.neutral_time) / DT) :]
    assert max(abs(y.psi) for y in run) < math.radians(5.0)
    assert all(y.esc.u_R == 0.0 for y in after)
    assert abs(run[-1].v) < 0.1
    assert run[-1].diag.loss_s.fault > 0.3
    assert max(abs(y.I_s) for y in run) < 0.5


def test_the_losses_add_up_in_every_tick_of_a_rough_run() -> None:
    p = params(**weak(0.6, 1.0))
    for y in sail(p, lambda t: In(v_req=3.0, psi_req=1.0 if 8.0 < t < 14.0 else -1.0), 20.0):
        for loss, req, cmd, ach, trim in (
            (y.diag.loss_s, y.req.u_s_req, y.cmd.u_s_cmd, y.fb.u_s_ach, y.fb.trim_s),
            (y.diag.loss_d, y.req.u_d_req, y.cmd.u_d_cmd, y.fb.u_d_ach, y.fb.trim_d),
        ):
            assert loss.shaping + loss.envelope == pytest.approx(req - cmd, abs=1e-12)
            assert loss.allocation + loss.fault + loss.clamp + loss.dead_band + loss.slew == pytest.approx(cmd - (ach - trim), abs=1e-12)


def test_a_stuck_motor_keeps_pushing_and_is_not_counted_on() -> None:
    p = params(faults__left=fault.Params(fault.STUCK, 10.0, announced=1.0))
    run = sail(p, In(IN_TEST, u_s_test=0.4), 13.0)
    assert pytest.approx(run[498].F_L, rel=1e-6) == run[-1].F_L
    assert run[-1].esc.u_L == 0.0


def test_a_fault_of_kind_delay_is_refused() -> None:
    p = Params(faults=Params().faults._replace(left=fault.Params(fault.DELAY, 1.0)))
    assert any(text.startswith("faults.left.kind") for text in problems(p))


def test_the_command_is_read_back_from_the_rotor() -> None:
    p = thruster.Params()
    for u in (-1.0, -0.4, 0.0, 0.2, 1.0):
        s, _ = thruster.step(p, thruster.State(), u, 100.0)
        assert seen_command(p, s.n, 1.0) == pytest.approx(u)
        assert seen_command(p, s.n, 0.5) == pytest.approx(2.0 * u)
    assert seen_command(p, 100.0, 0.0) == 0.0


def test_halving_the_step_changes_less_and_less() -> None:
    def wish(t: float) -> In:
        return In(v_req=1.0 + 0.3 * math.sin(t), psi_req=0.5 * math.sin(0.5 * t))

    ends = [sail(params(), wish, 6.0, dt)[-1] for dt in (0.04, 0.02, 0.01, 0.005)]
    for name in ("x", "y", "psi", "v", "F_L"):
        coarse, middle, fine = (abs(getattr(ends[i], name) - getattr(ends[i + 1], name)) for i in range(3))
        assert fine <= 0.75 * middle + 1e-4 * (1.0 + abs(getattr(ends[-1], name))), name
        assert middle <= 0.75 * coarse + 1e-4 * (1.0 + abs(getattr(ends[-1], name))), name


ANSWERS = {
    "mode": (IDLE, ("req.src", "req.reason", "esc.u_L", "F_L", "v", "x", "I_s")),
    "armed": (0.0, ("req.reason", "esc.u_L", "v")),
    "v_req": (0.5, ("v_req", "v", "req.u_s_req", "cmd.u_s_cmd", "alloc.u_s_alloc", "fb.u_s_ach", "esc.pulse_L", "n_L", "n_R", "v_meas", "x")),
    "psi_req": (0.5, ("psi_req", "psi", "r_req", "r", "req.u_d_req", "fb.u_d_ach", "F_R", "y", "sway", "psi_meas", "r_meas", "I_d")),
    "age": (1.0, ("req.reason", "esc.u_R")),
}


@pytest.mark.parametrize("channel", ANSWERS)
def test_each_output_answers_to_its_input(channel: str) -> None:
    value, outputs = ANSWERS[channel]
    rest = In(v_req=1.0)
    row = {leaf.path: i for i, leaf in enumerate(numbers(Out))}
    a, b = (flat(sail(params(), u, 3.0)[-1]) for u in (rest, rest._replace(**{channel: value})))
    assert [name for name in outputs if a[row[name]] == b[row[name]]] == []


def test_noise_reaches_the_loops_and_follows_the_seed() -> None:
    a, b, c = (sail(Params(), In(v_req=1.0), 1.0, seed=seed)[-1] for seed in (1, 1, 2))
    assert a == b
    assert a != c
    assert a.v_meas != a.v


def test_the_set_points_are_those_of_the_shipped_machine() -> None:
    from pushrod.sim import machine

    shipped = machine.load("boat").params
    assert shipped.control == Params().control
    assert shipped.hull == Params().hull
    assert In().mode == IN_AUTOPILOT
    assert BOAT.Params is Params
