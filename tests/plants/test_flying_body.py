"""The flying body: it falls, hovers, turns and slows down as the formulas say, and stands on the ground."""

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pushrod.plants.attitude import Angles, Quaternion, from_angles, turn
from pushrod.plants.flying_body import In, Params, State, TurnDrag, Vector, Velocity, halfway, step, up
from pushrod.plants.rigid_body import Params as Inertia
from pushrod.plants.rigid_body import Rate, Torque
from pushrod.plants.rigid_body import State as Turn

HIGH = Vector(0.0, 0.0, 1000.0)
attitudes = st.builds(from_angles, st.builds(Angles, *[st.floats(-math.pi, math.pi)] * 3))


def dot(a: Quaternion, b: Quaternion) -> float:
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def fly(p: Params, u: In, seconds: float, s: State, dt: float = 0.01) -> State:
    for _ in range(round(seconds / dt)):
        s, _ = step(p, s, u, dt)
    return s


def test_without_thrust_it_falls_along_a_parabola() -> None:
    p = Params()
    s = fly(p, In(), 3.0, State(HIGH, Velocity(2.0, -1.0, 5.0)))
    assert (s.p.x, s.p.y) == pytest.approx((6.0, -3.0))
    assert s.p.z == pytest.approx(1000.0 + 15.0 - 0.5 * p.g * 9.0, rel=1e-12)
    assert s.v.z == pytest.approx(5.0 - 3.0 * p.g)


def test_with_drag_it_falls_at_its_terminal_speed_exactly_at_any_step() -> None:
    p = Params(m=2.0, b=0.5)
    goal = -p.m * p.g / p.b
    for dt in (0.001, 0.01, 0.1):
        s = fly(p, In(), 2.0, State(HIGH), dt)
        assert s.v.z == pytest.approx(goal * (1.0 - math.exp(-0.5)), rel=1e-10)
    assert fly(p, In(), 90.0, State(Vector(0.0, 0.0, 5000.0)), 0.1).v.z == pytest.approx(goal, rel=1e-9)


def test_drag_takes_its_way_in_every_direction() -> None:
    p = Params(m=2.0, b=0.5, g=0.0)
    s = fly(p, In(), 2.0, State(HIGH, Velocity(3.0, -2.0, 1.0)))
    left, far = math.exp(-0.5), 4.0 * (1.0 - math.exp(-0.5))
    assert (s.v.x, s.v.y, s.v.z) == pytest.approx((3.0 * left, -2.0 * left, left), rel=1e-10)
    assert (s.p.x, s.p.y, s.p.z) == pytest.approx((3.0 * far, -2.0 * far, 1000.0 + far), rel=1e-10)


def test_thrust_equal_to_the_weight_hovers_and_a_tilt_leads_where_it_leans() -> None:
    p = Params(m=1.5)
    still = fly(p, In(F=1.5 * p.g), 10.0, State(HIGH))
    assert still == State(HIGH, Velocity(), Turn())
    for angles, way in ((Angles(pitch=0.2), (1.0, 0.0)), (Angles(roll=0.2), (0.0, -1.0)), (Angles(pitch=0.2, yaw=math.pi / 2), (0.0, 1.0))):
        s = fly(p, In(F=1.5 * p.g / math.cos(0.2)), 2.0, State(HIGH, turn=Turn(Rate(), from_angles(angles))))
        far = 0.5 * p.g * math.tan(0.2) * 4.0
        assert (s.p.x, s.p.y, s.p.z) == pytest.approx((way[0] * far, way[1] * far, 1000.0), abs=1e-9)


@pytest.mark.parametrize(("axis", "c"), [(0, 0.1), (1, 0.15), (2, 0.2)])
def test_a_spin_slows_down_exponentially_and_never_turns_round(axis: int, c: float) -> None:
    p = Params(c=TurnDrag(0.1, 0.15, 0.2), inertia=Inertia(0.5, 0.5, 0.5))
    spin = Turn(Rate(*(4.0 if i == axis else 0.0 for i in range(3))))
    s = fly(p, In(), 1.0, State(HIGH, turn=spin))
    assert s.turn.w[axis] == pytest.approx(4.0 * math.exp(-2.0 * c), rel=1e-9)
    stiff = Params(c=TurnDrag(1e6, 1e6, 1e6), inertia=Inertia(0.5, 0.5, 0.5))
    assert 0.0 <= fly(stiff, In(), 0.1, State(HIGH, turn=spin), 0.1).turn.w[axis] < 1e-3


def test_it_stands_on_the_ground_until_it_is_lifted() -> None:
    p = Params()
    s, y = step(p, State(), In(F=0.9 * p.g, tau=Torque(1.0, 0.0, 0.0)), 0.01)
    assert s == State()
    assert y.grounded == 1.0
    assert [step(p, start, In(), 0.0)[1].grounded for start in (State(), State(HIGH))] == [1.0, 0.0]
    assert step(p, State(HIGH), In(), 0.01)[1].grounded == 0.0
    up_there = fly(p, In(F=1.1 * p.g), 1.0, State())
    assert up_there.p.z == pytest.approx(0.05 * p.g, rel=1e-9)
    tilted = from_angles(Angles(0.3, 0.1, 0.5))
    down = fly(p, In(), 3.0, State(Vector(1.0, 2.0, 3.0), Velocity(1.0, 0.0, 0.0), Turn(Rate(0.0, 0.0, 1.0), tilted)))
    assert down.p.z == 0.0
    assert down.v == Velocity()
    assert down.turn.w == Rate()
    assert down.p.x == pytest.approx(1.0 + math.sqrt(6.0 / p.g), abs=0.011)


def test_halving_the_step_while_it_turns_shrinks_the_error_four_times() -> None:
    p, u = Params(inertia=Inertia(0.5, 0.4, 0.6)), In(F=12.0, tau=Torque(0.05, -0.03, 0.02))
    finest = fly(p, u, 1.0, State(HIGH), 1e-3)
    coarse, fine = (math.dist(fly(p, u, 1.0, State(HIGH), dt).p, finest.p) for dt in (0.1, 0.05))
    assert coarse / fine > 3.5


@given(attitudes, attitudes)
@example(Quaternion(0.6, 0.8, 0.0, 0.0), Quaternion(0.0, 1.0, 0.0, 0.0))
@example(Quaternion(0.6, 0.8, 0.0, 0.0), Quaternion(0.0, -1.0, 0.0, 0.0))
def test_the_middle_of_two_attitudes_is_half_of_the_shorter_turn(a: Quaternion, b: Quaternion) -> None:
    """Whichever of its two signs each is written with: the cosine of a quarter of the turn is the same to either end."""
    m = halfway(a, b)
    for end in (a, b):
        assert abs(dot(m, end)) == pytest.approx(math.sqrt(0.5 * (1.0 + abs(dot(a, b)))), rel=1e-12)


def test_the_middle_of_a_roll_is_half_of_it_and_up_is_up() -> None:
    assert up(Quaternion()) == Vector(0.0, 0.0, 1.0)
    assert turn(halfway(Quaternion(), from_angles(Angles(roll=0.8)))) == pytest.approx(0.4)
