"""The mechanical steering without the reference's quirks, and what the quirks are."""

import itertools
import math

import pytest

from pushrod.vehicles import make

MODEL = make("ACTUATION_CMD_MECHANICAL")
M = MODEL.Params().mechanical_params
DT = 0.01


def traces(reference, wheel, ticks, start=None, **mechanical):
    p = MODEL.Params(reference=reference, sampling_time=DT, steer_time_delay=0.0, mechanical_params=M._replace(**mechanical))
    s = MODEL.State(vx=5.0) if start is None else start
    states = []
    for k in range(ticks):
        s, _ = MODEL.step(p, s, MODEL.In(steer_des=wheel(k) if callable(wheel) else wheel), DT)
        states.append(s)
    return states


@pytest.mark.parametrize("reference", [0.0, 1.0])
def test_it_gets_there(reference):
    last = traces(reference, 4.0, 1500)[-1]
    assert last.steer == pytest.approx(last.mechanical.prev_tire_des, abs=4e-3)
    assert last.steer > 0.2


def test_a_torque_delay_delays():
    quick = [s.steer for s in traces(0.0, 4.0, 60, torque_delay_time=0.0)]
    late = [s.steer for s in traces(0.0, 4.0, 60, torque_delay_time=0.08)]
    first = next(k for k, x in enumerate(quick) if x != 0.0)
    assert next(k for k, x in enumerate(late) if x != 0.0) == first + 8


def test_in_the_reference_it_only_freezes_the_start():
    quick = [
        s.steer for s in traces(1.0, lambda k: 4.0 if k > 50 else 0.0, 80, torque_delay_time=0.0, poly_h=0.0, poly_d=0.0, poly_e=0.0, poly_f=0.0)
    ]
    late = [
        s.steer for s in traces(1.0, lambda k: 4.0 if k > 50 else 0.0, 80, torque_delay_time=0.08, poly_h=0.0, poly_d=0.0, poly_e=0.0, poly_f=0.0)
    ]
    assert late[60] - late[50] == pytest.approx(quick[60] - quick[50], rel=0.05)


def test_a_step_command_is_limited_until_it_is_reached():
    asked = [s.mechanical.prev_tire_des for s in traces(0.0, 8.0, 60, rate_limit=0.5)]
    steps = [b - a for a, b in zip([0.0, *asked], asked, strict=False)]
    assert max(steps) <= 0.5 * DT * (1.0 + 1e-9)
    assert steps[40] == pytest.approx(0.5 * DT)
    assert traces(1.0, 8.0, 3, rate_limit=0.5)[1].mechanical.prev_tire_des > 0.3  # the reference compares with the command itself


def test_friction_holds_a_wheel_that_stands_still():
    # the offset of the power steering is less than the friction
    assert M.poly_h < M.friction
    assert all(s.steer == 0.0 for s in traces(0.0, 0.0, 100, MODEL.State()))
    assert traces(1.0, 0.0, 100, MODEL.State())[-1].steer != 0.0  # sign(0) = 1 pushes it in the reference


def test_friction_stops_a_motion_and_never_reverses_it():
    moving = MODEL.State(vx=5.0, mechanical=MODEL.State().mechanical._replace(vel=0.5))
    rates = [s.mechanical.vel for s in traces(0.0, 0.0, 500, moving, kp=0.0, ki=0.0, kd=0.0, ff_gain=0.0, stiffness=0.0, friction=5.0, damping=0.0)]
    assert all(a >= b for a, b in itertools.pairwise(rates))
    assert rates[-1] == 0.0
    assert min(rates) == 0.0


def test_a_dead_zone_stops_the_wheel():
    # a torque of -1 against a wheel that turns to the left
    small = {"kp": 0.0, "ki": 0.0, "kd": 0.0, "ff_gain": 0.0, "poly_d": 0.0, "poly_e": 0.0, "poly_f": 0.0, "poly_h": -1.0}
    for reference in (0.0, 1.0):
        turning = MODEL.State(vx=5.0, mechanical=MODEL.State().mechanical._replace(vel=0.3))
        states = [s.mechanical for s in traces(reference, 0.0, 400, turning, dead_zone_threshold=4.0, friction=0.0, damping=0.0, **small)]
        assert all(m.dead_zone == 1.0 for m in states)
        rates = [m.vel for m in states]
        if reference:
            assert set(rates) == {0.3}  # kept, to go on with later
        else:
            assert rates[0] == pytest.approx(0.3 - DT * 4.0 / M.inertia)
            assert min(rates) == 0.0
            assert all(a > b or a == 0.0 for a, b in itertools.pairwise(rates))
            assert states[-1].pos == states[-50].pos


def test_the_end_stop_takes_the_rate_away():
    p = MODEL.Params(reference=0.0, steer_lim=0.1, steer_time_delay=0.0, sampling_time=DT)
    s = MODEL.State(vx=1.0, steer=0.0999, mechanical=MODEL.State().mechanical._replace(vel=1.0, prev_tire_des=0.1))
    s, _ = MODEL.step(p, s, MODEL.In(steer_des=9.0), DT)
    assert (s.steer, s.mechanical.vel) == (0.1, 0.0)


def test_a_saturated_torque_does_not_wind_the_integral_up():
    blocked = {"steering_torque_limit": 0.5, "friction": 1.0}  # never moves
    assert abs(traces(0.0, 8.0, 400, **blocked)[-1].mechanical.pid_integral) < 0.05
    assert abs(traces(1.0, 8.0, 400, **blocked)[-1].mechanical.pid_integral) > 1.0


def test_halving_the_step_brings_it_nearer():
    def at(n):
        p = MODEL.Params(reference=0.0, steer_time_delay=0.0)
        s = MODEL.State(vx=5.0)
        for _ in range(n):
            s, _ = MODEL.step(p, s, MODEL.In(steer_des=2.0), 1.0 / n)
        return s.steer

    finest = at(1600)
    assert abs(at(200) - finest) < 0.65 * abs(at(100) - finest)


def test_a_short_step_is_no_worse_than_the_reference_on_an_everyday_manoeuvre():
    """Both modes are the same steering where no quirk acts: a slow sweep at speed."""

    def sweep(k):
        return 3.0 * min(k / 400.0, 1.0)

    sane = [s.steer for s in traces(0.0, sweep, 800)]
    reference = [s.steer for s in traces(1.0, sweep, 800)]
    assert max(abs(a - b) for a, b in zip(sane, reference, strict=True)) < 5e-3


@pytest.mark.parametrize("wheel", [1.0, -1.0])
def test_the_car_turns_by_its_speed_and_its_tyre_angle_on_the_way(wheel):
    """d yaw = v dt tan(angle) / wheelbase, by Simpson's rule over the angles of the tick."""
    model = make("ACTUATION_CMD_MECHANICAL")
    p, s = model.Params(reference=0.0), model.State(vx=10.0)
    for _ in range(60):
        e, _ = model.step(p, s, model.In(accel_des=0.05, steer_des=wheel), 0.025)
        angle = (math.tan(s.steer) + 4.0 * math.tan(0.5 * (s.steer + e.steer)) + math.tan(e.steer)) / 6.0
        assert e.yaw - s.yaw == pytest.approx(0.5 * (s.vx + e.vx) * 0.025 * angle / p.wheelbase, rel=1e-3, abs=1e-6)
        s = e
    assert s.yaw * wheel > 0.1
