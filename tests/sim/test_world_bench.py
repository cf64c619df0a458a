"""The worlds that recordings are fitted with: statics, step halving, that each effect acts, and the loop of a real drive."""

import math

import numpy as np
import pytest

from pushrod.compiled.rollout import rollout
from pushrod.core.model import Tick
from pushrod.core.record import put
from pushrod.sim.worlds.lag import LAG
from pushrod.sim.worlds.linear_axis import LINEAR_AXIS
from pushrod.sim.worlds.servo_bench import SERVO_BENCH, G
from pushrod.sim.worlds.steering import MECHANICAL_STEERING, SECOND_ORDER_STEERING


def changed(world, **values):
    p = world.Params()
    for path, value in values.items():
        p = put(p, path.replace("__", "."), value)
    return p


SMOOTH = {"drive__drag__c": 0.0, "drive__kp": 5.0}


def test_a_servo_without_dry_friction_stands_where_its_torque_carries_the_weight():
    run = rollout(SERVO_BENCH, changed(SERVO_BENCH, **SMOOTH, load__q_0=0.05), {"goal": 0.8}, steps=2000, dt=0.005)
    q, w, i = run["q"][-1], run["w"][-1], run["i"][-1]
    assert w == pytest.approx(0.0, abs=1e-9)
    assert 0.4 * i == pytest.approx(0.5 * G * 0.1 * math.sin(q + 0.05), rel=1e-9)
    assert i == pytest.approx(7.4 * 5.0 * (0.8 - q) / 4.0, rel=1e-9)


def test_switched_off_a_weight_swings_with_its_own_period():
    """Without friction and motor: a pendulum with the gear's inertia, and the energy it began with."""
    p = changed(SERVO_BENCH, drive__drag__c=0.0, drive__drag__b=0.0, drive__period=1e-4)
    state = put(SERVO_BENCH.State(), "drive.q", 0.1)
    run = rollout(SERVO_BENCH, p, {"goal": 0.0, "enabled": 0.0}, steps=2000, dt=0.001, state=state)
    crossings = run.t[1:][np.diff(np.sign(run["q"])) != 0]
    period = 2.0 * np.mean(np.diff(crossings))
    J = 0.003 + 0.5 * 0.1 * 0.1
    assert period == pytest.approx(2.0 * math.pi * math.sqrt(J / (0.5 * G * 0.1)) * (1.0 + 0.1**2 / 16.0), rel=2e-3)
    energy = 0.5 * J * run["w"] ** 2 + 0.5 * G * 0.1 * (1.0 - np.cos(run["q"]))
    assert energy == pytest.approx(energy[0], rel=0.01)


def test_half_the_period_of_the_firmware_is_nearer():
    def end(period):
        return rollout(SERVO_BENCH, changed(SERVO_BENCH, drive__period=period), {"goal": 0.5}, steps=20, dt=0.01)["q"][-1]

    fine = end(1e-4)
    errors = [abs(end(period) - fine) for period in (5e-3, 2.5e-3, 1.25e-3)]
    assert errors[1] < 0.6 * errors[0]
    assert errors[2] < 0.6 * errors[1]


@pytest.mark.parametrize(
    ("effect", "value"),
    [
        ("bus.delay", 0.0123),
        ("drive.R_s", 2.0),
        ("drive.motor.i_max", 0.5),
        ("drive.heat", 0.5),
        ("drive.play", 0.03),
        ("drive.drag.s", 0.02),
        ("drive.drag.mu", 0.2),
        ("drive.drag.mu_s", 0.2),
        ("drive.drag.mu_q", 0.5),
        ("drive.drag.mu_m", 0.2),
        ("drive.drag.mu_e", 0.2),
        ("drive.drag.skew_c", 0.4),
        ("drive.drag.skew_b", 0.4),
        ("load.q_0", 0.05),
    ],
)
def test_each_effect_moves_the_arm_otherwise(effect, value):
    t = 0.005 * np.arange(400)
    p = changed(SERVO_BENCH, drive__kp=3.0)
    inputs = {"goal": 0.8 * np.sin(3.0 * t)}
    plain = rollout(SERVO_BENCH, p, inputs, steps=400, dt=0.005)["q"]
    other = rollout(SERVO_BENCH, put(p, effect, value), inputs, steps=400, dt=0.005)["q"]
    assert np.abs(plain - other).max() > 1e-3


def test_play_is_what_the_arm_can_be_turned_while_the_gear_stands():
    """A gear that friction holds, a weight that hangs: turned by the play and no further."""
    p = changed(SERVO_BENCH, drive__play=0.05, drive__drag__c=1.0, load__q_0=0.3)
    run = rollout(SERVO_BENCH, p, {"goal": 0.0, "enabled": 0.0}, steps=400, dt=0.005)
    assert run["q"][-1] == pytest.approx(-0.025, abs=1e-3)
    tight = rollout(SERVO_BENCH, put(p, "drive.play", 0.0), {"goal": 0.0, "enabled": 0.0}, steps=400, dt=0.005)
    assert tight["q"][-1] == 0.0


def test_a_lag_is_late_limited_and_stops_at_its_band():
    p = changed(LAG, lag__T_0=0.1, lag__K_0=0.9, lag__bias=0.05, bus__delay=0.0123)
    run = rollout(LAG, p, {"goal": 1.0}, steps=1000, dt=0.005, state=put(LAG.State(), "q", 0.05))
    assert run["q"] == pytest.approx(np.where(run.t > 0.0123, 0.95 - 0.9 * np.exp(-(run.t - 0.0123) / 0.1), 0.05), abs=1e-9)
    slow = rollout(LAG, changed(LAG, lag__rate=0.5), {"goal": 1.0}, steps=100, dt=0.005)
    assert slow["q"][-1] == pytest.approx(0.25)
    banded = rollout(LAG, changed(LAG, lag__band=0.1), {"goal": 1.0}, steps=1000, dt=0.005)
    assert banded["q"][-1] == pytest.approx(0.9)


def test_a_lag_that_follows_the_gain_inside():
    p = changed(LAG, lag__T_0=0.1, lag__k=4.0, lag__k_0=1.0, lag__n=0.5, lag__a=0.8)
    run = rollout(LAG, p, {"goal": 1.0}, steps=1000, dt=0.005)
    K = 1.0 / (1.0 + 0.8 / 4.0)
    assert run["q"][-1] == pytest.approx(K)
    assert run["q"] == pytest.approx(K * (1.0 - np.exp(-run.t / 0.05)), abs=1e-9)


@pytest.mark.parametrize("world", [SECOND_ORDER_STEERING, MECHANICAL_STEERING])
def test_a_steering_gets_where_it_is_asked_to_after_its_delay(world):
    still = rollout(world, changed(world, bus__delay=0.1), {"goal": 0.0, "v": 5.0}, steps=1200, dt=0.01)["q"]
    run = rollout(world, changed(world, bus__delay=0.1), {"goal": np.where(np.arange(1200) < 600, 0.0, 0.2), "v": 5.0}, steps=1200, dt=0.01)["q"]
    assert np.array_equal(run[:609], still[:609])
    assert run[-1] == pytest.approx(0.2, abs=0.02)


AXIS = {"body__M": 95.0, "body__Fv": 200.0, "gain": 35.0}


def test_an_axis_follows_its_reference():
    t = 1e-3 * np.arange(3000)
    run = rollout(LINEAR_AXIS, changed(LINEAR_AXIS, **AXIS), {"ref": 0.1 * (1.0 - np.cos(2.0 * t))}, steps=3000, dt=1e-3)
    # a position loop alone lags by about speed / kp
    assert np.abs(run["q"] - run["ref"]).max() < 1.3 * 0.2 / 160.0


def test_an_open_axis_obeys_newton():
    p = changed(LINEAR_AXIS, **AXIS, loop__closed=0.0, body__Fc=20.0)
    run = rollout(LINEAR_AXIS, p, {"volts": 2.0}, steps=500, dt=1e-3)
    T = 95.0 / 200.0
    assert run["v"] == pytest.approx((70.0 - 20.0) / 200.0 * (1.0 - np.exp(-run.t / T)), rel=1e-9)
    later = rollout(LINEAR_AXIS, put(p, "amplifier.delay", 3.4e-4), {"volts": 2.0}, steps=500, dt=1e-3)
    assert later["v"] == pytest.approx((70.0 - 20.0) / 200.0 * (1.0 - np.exp(-(run.t - 3.4e-4) / T)), rel=1e-9)


def test_the_controller_of_an_axis_is_what_its_head_says():
    p = changed(LINEAR_AXIS, **AXIS)
    state = put(put(put(LINEAR_AXIS.State(), "body.q", 0.01), "q_last", 0.00999), "qf_last", 0.00998)
    u = rollout(LINEAR_AXIS, p, {"ref": 0.0101, "extra": 0.3}, steps=1, dt=1e-3, state=state)["u"][0]
    assert u == pytest.approx(160.0 * 240.0 * 1e-4 - 240.0 * 1.5e-5 / 1e-3 + 0.3)
    assert rollout(LINEAR_AXIS, p, {"ref": 1.0}, steps=1, dt=1e-3)["u"][0] == 10.0


@pytest.mark.parametrize("dt", [5e-324, 1e-310, 1e-300])
@pytest.mark.parametrize("kv", [0.0, 240.0])
def test_an_axis_at_the_shortest_ticks_has_a_voltage(dt, kv):
    """The rate of the position overflows there, and 0 * inf is no number."""
    state = put(put(LINEAR_AXIS.State(), "body.q", 0.3), "qf_last", 0.1)
    after, out = LINEAR_AXIS.step(changed(LINEAR_AXIS, loop__kv=kv), state, LINEAR_AXIS.In(ref=0.5, extra=2.0), Tick(0, dt))
    assert out.u == (2.0 if kv == 0.0 else -10.0)
    assert math.isfinite(out.q)
    assert math.isfinite(after.body.q)
