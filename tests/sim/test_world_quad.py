"""The multirotor: which rotor lifts which side, what the loops hold, and what is left of it when a rotor dies."""

import math
from typing import Any

import numpy as np
import pytest

from pushrod.compiled.rollout import rollout
from pushrod.core.check import check, problems
from pushrod.core.model import Tick
from pushrod.core.record import put
from pushrod.models import fault
from pushrod.pipeline.names import BY_DISARM
from pushrod.plants.attitude import Angles, Quaternion, from_angles
from pushrod.sim.worlds.quad import QUAD, In, Params, State, error, step

DT = 0.005
HOVERING = put(State(), "body.p.z", 10.0)


def params(**changes: Any) -> Params:
    """Without noise; changes by path, dots written as __."""
    p = Params(noise=Params().noise._replace(attitude=0.0, rate=0.0, height=0.0, climb=0.0))
    for path, value in changes.items():
        p = put(p, path.replace("__", "."), value)
    check(p, "quad", DT)
    return p


def fly(p: Params, seconds: float, state: State = HOVERING, dt: float = DT, **channels: Any) -> Any:
    n = round(seconds / dt)
    inputs = {"z_req": 10.0} | channels
    return rollout(QUAD, p, inputs, steps=n, dt=dt, state=state)


@pytest.mark.parametrize(
    ("channel", "rotors", "rate"),
    [
        ("roll_req", (1, -1, -1, 1), "w_x"),  # the left side up
        ("pitch_req", (-1, -1, 1, 1), "w_y"),  # the nose down
        ("yaw_req", (1, -1, 1, -1), "w_z"),
    ],
)
def test_each_axis_moves_its_rotors_and_turns_its_way(channel: str, rotors: tuple[int, ...], rate: str) -> None:
    s = HOVERING
    for k in range(20):
        s, y = step(params(), s, In(z_req=10.0, **{channel: 0.3}), Tick(k, DT))
    mean = sum(y.pipe.u[:4]) / 4.0
    assert tuple(int(math.copysign(1, u - mean)) for u in y.pipe.u[:4]) == rotors
    assert getattr(y, rate) > 0.01
    assert [getattr(y, other) for other in ("w_x", "w_y", "w_z") if other != rate] == pytest.approx([0.0, 0.0], abs=1e-9)


def test_it_hovers_where_it_is_and_by_its_weight() -> None:
    p = params()
    run = fly(p, 10.0)
    assert run["z"][-1] == pytest.approx(10.0, abs=0.01)
    assert run["pipe.ach.a0"][-1] == pytest.approx(p.body.m * p.body.g / (4.0 * p.rotor.F_ahead), rel=1e-3)
    assert np.max(np.abs(run["tilt"])) < 1e-9


def test_it_takes_the_attitude_it_is_asked_for_about_all_axes_at_once() -> None:
    run = fly(params(), 8.0, roll_req=0.3, pitch_req=-0.2, yaw_req=2.0)
    for name, goal in (("roll", 0.3), ("pitch", -0.2), ("yaw", 2.0)):
        assert run[name][-1] == pytest.approx(goal, abs=0.01)


def test_the_error_of_the_tilt_does_not_depend_on_the_yaw() -> None:
    for yaw in (0.0, 1.0, 3.0, -2.0):
        e = error(from_angles(Angles(0.0, 0.0, yaw)), Quaternion())
        assert (e.x, e.y) == pytest.approx((0.0, 0.0), abs=1e-12)
        assert e.z == pytest.approx(-yaw)
    for yaw in (0.0, 1.0, 2.5):
        e = error(from_angles(Angles(0.2, 0.0, yaw)), from_angles(Angles(0.2, 0.0, 0.0)))
        n = error(from_angles(Angles(0.2, 0.0, yaw)), from_angles(Angles(0.0, 0.0, 0.0)))
        assert math.hypot(n.x, n.y) == pytest.approx(2.0 * math.sin(0.1), rel=1e-9)
        assert math.hypot(e.x, e.y) <= 2.0 * 2.0 * math.sin(0.1) + 1e-9
    over = error(from_angles(Angles(math.pi, 0.0, 0.0)), Quaternion())
    assert math.hypot(over.x, over.y) == pytest.approx(2.0)


def test_disarmed_the_rotors_rest_and_it_falls() -> None:
    run = fly(params(), 3.0, armed=np.where(np.arange(600) < 200, 1.0, 0.0))
    assert run["pipe.reason"][-1] == BY_DISARM
    late = slice(200 + round(params().act.slew.neutral_time / DT), None)
    for j in range(4):
        assert np.all(run[f"pipe.u.e{j}"][late] == 0.0)
    assert run["z"][-1] < 6.0


def loss(announced: float) -> Params:
    return params(faults__e1=fault.Params(fault.LOSS, 2.0, announced=announced, effectiveness=0.0))


def test_a_dead_rotor_that_says_so_costs_yaw_alone_from_the_same_tick_on() -> None:
    run = fly(loss(1.0), 12.0)
    k = round(2.0 / DT)
    assert run["pipe.lost.a3"][k - 1] == 0.0
    assert run["pipe.lost.a3"][k] == 1.0
    assert all(np.all(run[f"pipe.lost.a{i}"] == 0.0) for i in range(3))
    assert np.all(run["pipe.u.e1"][k + 1 :] == 0.0)
    assert run["pipe.rank"][-1] == 3.0
    assert np.max(run["pipe.gain"]) < Params().act.alloc.gain_max
    assert np.max(run["tilt"]) < 0.05
    assert np.min(run["z"]) > 9.5
    assert run["w_z"][-1] > 5.0, "and it spins"
    assert np.max(np.abs(run["I_climb"])) < 0.5


def test_a_dead_rotor_that_says_nothing_shows_in_the_residual_and_tips_it_over() -> None:
    run = fly(loss(0.0), 3.0)
    k = round(2.1 / DT)
    assert np.all(run["pipe.lost.a3"] == 0.0)
    assert run["pipe.resid.a0"][k] < -0.05
    assert run["pipe.resid.a1"][k] > 0.05
    assert run["pipe.resid.a2"][k] > 0.05
    assert np.max(run["tilt"]) > 1.0


def test_a_weak_rotor_that_says_so_is_made_up_for() -> None:
    weak = params(faults__e2=fault.Params(fault.LOSS, 2.0, announced=1.0, effectiveness=0.6))
    run = fly(weak, 8.0)
    assert run["pipe.u.e2"][-1] == pytest.approx(run["pipe.u.e0"][-1] / 0.6, rel=1e-3)
    assert np.max(run["tilt"]) < 0.05
    assert np.all(run["pipe.lost.a3"] == 0.0)


def test_outputs_keep_their_bounds_and_losses_add_up_when_too_much_is_asked() -> None:
    heavy = params(body__m=3.2)
    t = np.arange(800) * DT
    run = fly(heavy, 4.0, roll_req=np.where((t * 2).astype(int) % 2 == 0, 0.6, -0.6), yaw_req=2.0, z_req=30.0)
    assert np.max(run["pipe.sat_any"]) == 1.0
    for j in range(4):
        assert np.min(run[f"pipe.u.e{j}"]) >= 0.0
        assert np.max(run[f"pipe.u.e{j}"]) <= 1.0
    for i in range(4):
        lost = sum(run[f"pipe.loss.{stage}.a{i}"] for stage in ("allocation", "fault", "clamp", "dead_band", "slew"))
        assert np.max(np.abs(lost - (run[f"pipe.cmd.a{i}"] - run[f"pipe.ach.a{i}"] + run[f"pipe.trim.a{i}"]))) < 1e-12


def test_windup_of_the_climb_loop_is_what_the_feedback_saves() -> None:
    """It carries more than it can lift."""
    heavy = params(body__m=3.4, control__climb_max=1.0)
    told, alone = (fly(put(heavy, "feedback", on), 15.0, put(State(), "body.p.z", 500.0), z_req=500.0)["I_climb"] for on in (1.0, 0.0))
    assert np.max(told) < 0.3
    assert np.max(alone) > 3.0 * np.max(told)


def test_halving_the_step_changes_less_and_less() -> None:
    ends = [fly(params(), 2.0, dt=dt, roll_req=0.2, yaw_req=0.5, z_req=11.0) for dt in (0.01, 0.005, 0.0025)]
    for name in ("z", "roll", "yaw", "y"):
        coarse, fine = (abs(ends[i][name][-1] - ends[i + 1][name][-1]) for i in (0, 1))
        assert fine <= 0.7 * coarse + 1e-4, name


def test_what_cannot_be_is_refused() -> None:
    p = Params()
    assert any("faults.e3.kind" in text for text in problems(put(p, "faults.e3.kind", fault.DELAY)))
    assert any("rotor.F_ahead" in text for text in problems(put(p, "rotor.F_ahead", 0.0)))
    three = (0.0, 0.0, 0.0)
    assert any("4 effectors" in text for text in problems(put(p, "act.hw.u_min", three)))
