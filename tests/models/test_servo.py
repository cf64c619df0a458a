"""The servo against its maker's figures, its statics, and the tick it is run at."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counts import examples
from pushrod.models import dc_motor, gear_friction
from pushrod.models.servo import In, Out, Params, State, step

P = Params()
SMOOTH = P._replace(drag=gear_friction.Params(c=0.0, b=0.02))


def run(p: Params, s: State, u: In, t: float, n: int) -> tuple[State, Out]:
    y = Out()
    for _ in range(n):
        s, y = step(p, s, u, t / n)
    return s, y


def test_no_load_speed_is_the_makers() -> None:
    s, _ = run(P, State(), In(goal=1e3), 2.0, 200)
    assert s.w * 60.0 / (2.0 * math.pi) == pytest.approx(61.0, rel=0.05)


def test_stall_torque_and_current_are_the_makers() -> None:
    """It lifts a little less than 1.5 N.m and not a little more; at stall it draws 1.4 A."""
    lifted, _ = run(P, State(), In(goal=3.0, tau=-1.35), 1.0, 100)
    held, y = run(P, State(), In(goal=3.0, tau=-1.65), 1.0, 100)
    assert lifted.q > 0.1
    assert held.q <= 0.0
    assert y.i == pytest.approx(1.4, rel=0.03)


def test_standing_error_of_a_proportional_loop() -> None:
    """Without dry friction: K kp e V / (R + R_s d^2) = tau."""
    s, y = run(SMOOTH, State(), In(goal=0.5, tau=-0.8), 3.0, 3000)
    K = SMOOTH.ratio * SMOOTH.motor.k
    e = 0.5 - s.q
    assert s.w == pytest.approx(0.0, abs=1e-9)
    assert K * SMOOTH.kp * e * 12.0 / (SMOOTH.motor.R + SMOOTH.R_s * y.d * y.d) == pytest.approx(0.8, rel=1e-9)
    assert y.torque == pytest.approx(0.8, rel=1e-9)
    assert y.d == pytest.approx(SMOOTH.kp * e, rel=1e-12)


def test_supply_sags_with_the_current_it_gives() -> None:
    s, y = run(P._replace(R_s=2.0), State(), In(goal=3.0, tau=-5.0, enabled=1.0), 0.001, 1)
    strong, _ = run(P._replace(R_s=0.0), State(), In(goal=3.0, tau=-5.0), 0.001, 1)
    assert s.i < strong.i
    assert pytest.approx(12.0 - 2.0 * y.d * y.i) == y.V
    assert y.V < 10.0


def test_dry_friction_leaves_it_standing_off_its_goal_and_still() -> None:
    s, _ = run(P, State(), In(goal=0.5), 2.0, 400)
    assert s.w == 0.0
    again, _ = run(P, s, In(goal=0.5), 2.0, 37)
    assert again.q == s.q
    # the motor's torque at the standing error is within the break-away level
    K = P.ratio * P.motor.k
    assert K * P.kp * abs(0.5 - s.q) * 12.0 / P.motor.R < (P.drag.c + P.drag.s) / (1.0 - 0.5 * P.drag.mu) * 1.01


def test_switched_off_it_gives_no_torque_and_no_braking() -> None:
    off, y = run(SMOOTH, State(0.0, 3.0, 0.5), In(goal=9.0, enabled=0.0), 0.1, 10)
    assert y.i == y.d == y.torque == 0.0
    assert off.w == pytest.approx(3.0 / (1.0 + 0.001 * 0.02 / 0.01) ** 100, rel=1e-9)
    on, _ = run(SMOOTH, State(0.0, 3.0, 0.0), In(goal=0.15), 0.1, 10)
    assert on.w < 0.5 * off.w, "back-EMF brakes when on"


def test_current_limit() -> None:
    p = P._replace(motor=P.motor._replace(i_max=0.5))
    s = State()
    for k in range(300):
        s, y = step(p, s, In(goal=1.0 if k < 100 else -1.0), 0.005)
        assert abs(y.i) <= 0.5
    assert s.q < 0.0


def test_at_its_current_limit_it_is_torque_on_an_inertia() -> None:
    """J dw = (K i_max + tau - b w) dt, implicit in the viscous part, with dry friction off and on."""
    motor = SMOOTH.motor._replace(i_max=0.3, L=0.0)
    K = SMOOTH.ratio * motor.k
    for side in (1.0, -1.0):
        s, y = step(SMOOTH._replace(motor=motor), State(0.0, side * 0.4, 0.0), In(goal=side * 9.0, tau=side * 0.2), 0.001)
        assert y.i == side * 0.3
        assert s.w == pytest.approx(side * (0.01 * 0.4 + 0.001 * (K * 0.3 + 0.2)) / (0.01 + 0.001 * 0.02), rel=1e-12)
        rough = SMOOTH._replace(motor=motor, drag=gear_friction.Params(c=0.1, b=0.02))
        s, _ = step(rough, State(0.0, side * 0.4, 0.0), In(goal=side * 9.0, tau=side * 0.2), 0.001)
        assert s.w == pytest.approx(side * (0.01 * 0.4 + 0.001 * (K * 0.3 + 0.2 - 0.1)) / (0.01 + 0.001 * 0.02), rel=1e-12)


def test_a_tick_of_ten_periods_is_ten_ticks_of_one() -> None:
    a, _ = run(P, State(), In(goal=1.0, tau=-0.3), 0.5, 50)
    b, _ = run(P, State(), In(goal=1.0, tau=-0.3), 0.5, 500)
    assert b.q == pytest.approx(a.q, rel=1e-9)
    assert b.w == pytest.approx(a.w, rel=1e-7, abs=1e-9)


def test_error_shrinks_with_the_period() -> None:
    def end(period: float) -> float:
        return run(P._replace(period=period), State(), In(goal=1.0, tau=-0.3), 0.2, 20)[0].q

    fine = end(1e-4)
    error = [abs(end(period) - fine) for period in (1e-2, 5e-3, 2.5e-3)]
    assert error[0] < 0.05
    assert error[1] < 0.65 * error[0]
    assert error[2] < 0.65 * error[1]


def test_damping_gain_takes_the_overshoot_away() -> None:
    heavy = SMOOTH._replace(J=0.05, kp=20.0)

    def peak(p: Params) -> float:
        s, top = State(), 0.0
        for _ in range(400):
            s, _ = step(p, s, In(goal=0.2), 0.005)
            top = max(top, s.q)
        return top

    assert peak(heavy) > 0.21
    assert peak(heavy._replace(kd=2.0)) < 0.201


motors = st.builds(
    dc_motor.Params, st.floats(1e-3, 1e3), st.sampled_from([0.0, 1e-6, 1e-3, 10.0]), st.floats(1e-6, 100.0), st.floats(0.0, 1e4), st.floats(0.0, 1e4)
)


@given(
    motors,
    st.floats(0.0, 1e4),
    st.floats(0.0, 1e2),
    st.floats(1.0, 1e4),
    st.floats(1e-7, 1e4),
    st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=5),
    st.floats(1e-6, 0.1),
)
@settings(max_examples=examples(40))
def test_finite_and_within_its_current_for_any_motor(
    motor: dc_motor.Params, kp: float, kd: float, ratio: float, J: float, goals: list[float], dt: float
) -> None:
    p, s = Params(kp, kd, ratio=ratio, J=J, motor=motor, period=0.01), State()
    for goal in goals:
        s, y = step(p, s, In(goal, -goal), dt)
        assert all(math.isfinite(x) for x in (*s, *y))
        assert abs(y.i) <= motor.i_max
        assert abs(y.d) <= 1.0
