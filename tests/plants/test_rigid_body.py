"""The rigid body against closed solutions, conservation laws and a plain integration of Euler's equations written out here."""

import inspect
import itertools
import math
from collections.abc import Callable

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from counts import examples
from pushrod.core.check import check, problems
from pushrod.core.errors import ParameterError
from pushrod.core.purity import is_pure, offences
from pushrod.plants import PLANTS, attitude, rigid_body
from pushrod.plants.attitude import Angles, Quaternion, conjugate, from_angles, product, to_angles, turn, unit
from pushrod.plants.rigid_body import Momentum, Motion, Params, Rate, State, Torque, energy, inverse, momentum, principal_moments, runge_kutta, step

moments = st.floats(0.1, 100.0)
angle = st.floats(-math.pi, math.pi)
angles = st.builds(Angles, angle, st.floats(-1.5, 1.5), angle)
rates = st.builds(Rate, *[st.floats(-5.0, 5.0)] * 3)
torques = st.builds(Torque, *[st.floats(-5.0, 5.0)] * 3)


def rotated(q: Quaternion, v: tuple[float, ...]) -> tuple[float, float, float]:
    r = product(product(q, Quaternion(0.0, *v)), conjugate(q))
    return r.x, r.y, r.z


def about(axis: tuple[float, ...], theta: float) -> Quaternion:
    n = math.hypot(*axis)
    if n == 0.0:
        return Quaternion()
    s = math.sin(theta / 2.0) / n
    return Quaternion(math.cos(theta / 2.0), axis[0] * s, axis[1] * s, axis[2] * s)


def tensor(principal: tuple[float, float, float], q: Quaternion) -> Params:
    """The tensor whose principal axes are the body axes turned by q."""
    axes = [rotated(q, e) for e in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))]

    def element(i: int, j: int) -> float:
        return math.fsum(m * a[i] * a[j] for m, a in zip(principal, axes, strict=True))

    return Params(element(0, 0), element(1, 1), element(2, 2), element(0, 1), element(0, 2), element(1, 2))


def solid(a: float, b: float, c: float, q: Angles) -> Params:
    """The tensor of matter spread by a, b, c along three axes: no moment exceeds the sum of the other two."""
    return tensor((b + c, a + c, a + b), from_angles(q))


solids = st.builds(solid, moments, moments, moments, angles)
tensors = st.builds(tensor, st.tuples(moments, moments, moments), st.builds(from_angles, angles))


def run(p: Params, s: State, tau: Torque, dt: float, n: int) -> State:
    for _ in range(n):
        s, _ = step(p, s, tau, dt)
    return s


def worst(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    return max(abs(x - y) for x, y in zip(a, b, strict=True))


# closed solutions


def test_a_free_symmetric_top_nutates_and_precesses() -> None:
    A, C, w0, dt, n = 2.0, 3.2, Rate(0.7, 0.0, 2.5), 0.01, 500
    t = dt * n
    s = run(Params(A, A, C), State(w0, from_angles(Angles(0.3, -0.4, 1.0))), Torque(), dt, n)
    pace = (C - A) / A * w0.z
    assert worst(s.w, (0.7 * math.cos(pace * t), 0.7 * math.sin(pace * t), 2.5)) < 1e-8
    # turns about the fixed momentum at |L| / A, and about its own axis at w_z (1 - C / A)
    q0 = from_angles(Angles(0.3, -0.4, 1.0))
    L = rotated(q0, (A * 0.7, 0.0, C * 2.5))
    exact = product(product(about(L, math.hypot(*L) / A * t), q0), about((0.0, 0.0, 1.0), 2.5 * (1.0 - C / A) * t))
    assert turn(product(conjugate(exact), s.q)) < 1e-8


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_constant_torque_about_a_principal_axis_accelerates_uniformly(axis: int) -> None:
    p, dt, n, tau = Params(50.0, 40.0, 60.0), 0.02, 100, 6.0
    s = run(p, State(), Torque(*(tau if i == axis else 0.0 for i in range(3))), dt, n)
    a, t = tau / (p.Ixx, p.Iyy, p.Izz)[axis], dt * n
    assert s.w[axis] == pytest.approx(a * t, rel=1e-13)
    assert worst(s.w, tuple(a * t if i == axis else 0.0 for i in range(3))) < 1e-13
    assert worst(s.q, about(tuple(float(i == axis) for i in range(3)), 0.5 * a * t * t)) < 1e-11


def test_agrees_with_euler_s_equations_integrated_plainly() -> None:
    p, tau = Params(1.2, 2.3, 3.1, 0.2, -0.3, 0.15), Torque(0.9, -0.4, 0.6)
    J = inverse(p)

    def derivative(y: list[float]) -> list[float]:
        wx, wy, wz, a, b, c, d = y
        L = momentum(p, Rate(wx, wy, wz))
        m = (tau.x - (wy * L.z - wz * L.y), tau.y - (wz * L.x - wx * L.z), tau.z - (wx * L.y - wy * L.x))
        return [
            J.xx * m[0] + J.xy * m[1] + J.xz * m[2],
            J.xy * m[0] + J.yy * m[1] + J.yz * m[2],
            J.xz * m[0] + J.yz * m[1] + J.zz * m[2],
            0.5 * (-wx * b - wy * c - wz * d),
            0.5 * (wx * a + wz * c - wy * d),
            0.5 * (wy * a - wz * b + wx * d),
            0.5 * (wz * a + wy * b - wx * c),
        ]

    y, h = [0.8, -1.1, 0.5, 1.0, 0.0, 0.0, 0.0], 0.001
    for _ in range(1000):
        k1 = derivative(y)
        k2 = derivative([v + h / 2 * k for v, k in zip(y, k1, strict=True)])
        k3 = derivative([v + h / 2 * k for v, k in zip(y, k2, strict=True)])
        k4 = derivative([v + h * k for v, k in zip(y, k3, strict=True)])
        y = [v + h / 6 * (a + 2 * b + 2 * c + d) for v, a, b, c, d in zip(y, k1, k2, k3, k4, strict=True)]
    s = run(p, State(Rate(0.8, -1.1, 0.5)), tau, 0.05, 20)
    assert worst((*s.w, *s.q), tuple(y)) < 2e-9


# laws


@settings(max_examples=examples(30))
@given(solids, rates, angles, st.floats(1e-3, 0.1))
def test_without_torque_momentum_and_energy_stay(p: Params, w: Rate, a: Angles, dt: float) -> None:
    assume(math.hypot(*w) > 0.1)
    s = State(w, from_angles(a))
    e = run(p, s, Torque(), dt, 10)
    before, after = rotated(s.q, momentum(p, s.w)), rotated(e.q, momentum(p, e.w))
    assert worst(before, after) <= 1e-11 * math.hypot(*before)
    assert math.hypot(*e.q) == pytest.approx(1.0, abs=1e-15)
    assert energy(p, e.w) == pytest.approx(energy(p, s.w), rel=1e-6)


@settings(max_examples=examples(30))
@given(tensors, rates, torques, angles, angles)
def test_the_inertial_frame_is_nobody_s_business(p: Params, w: Rate, tau: Torque, a: Angles, b: Angles) -> None:
    """The same start at another attitude is the same motion seen from elsewhere."""
    one = run(p, State(w, from_angles(a)), tau, 0.02, 5)
    two = run(p, State(w, product(from_angles(b), from_angles(a))), tau, 0.02, 5)
    assert one.w == two.w
    assert turn(product(conjugate(product(from_angles(b), one.q)), two.q)) < 1e-7


@settings(max_examples=examples(30))
@given(moments, moments, moments, angles, rates, torques)
def test_a_full_tensor_is_a_diagonal_one_in_other_axes(a: float, b: float, c: float, turned: Angles, w: Rate, tau: Torque) -> None:
    q = from_angles(turned)
    diagonal = run(solid(a, b, c, Angles()), State(w), tau, 0.01, 10)
    full = run(solid(a, b, c, turned), State(Rate(*rotated(q, w))), Torque(*rotated(q, tau)), 0.01, 10)
    assert worst(rotated(conjugate(q), full.w), diagonal.w) < 1e-7 * (1.0 + math.hypot(*diagonal.w))


@settings(max_examples=examples(50))
@given(
    st.tuples(*[st.sampled_from([1e-6, 1.0, 1e9])] * 3),
    st.tuples(*[st.sampled_from([-1e6, 0.0, 1e-3, 1e6])] * 3),
    st.tuples(*[st.sampled_from([-1e3, 0.0, 1.0, 1e6])] * 3),
    st.sampled_from([1e-9, 1e-3, 0.1]),
)
def test_finite_at_the_edges_of_every_range(principal: tuple[float, ...], tau: tuple[float, ...], w: tuple[float, ...], dt: float) -> None:
    s = run(Params(*principal), State(Rate(*w)), Torque(*tau), dt, 5)
    assert all(map(math.isfinite, (*s.w, *s.q)))
    assert math.hypot(*s.q) == pytest.approx(1.0)


def test_the_attitude_never_jumps_to_the_other_sign_of_the_same_turn() -> None:
    """A log of q, or a filter on it, sees no jump, however often the body has turned round."""
    s = State(Rate(3.0, -1.0, 5.0), from_angles(Angles(0.1, 0.2, 0.3)))
    for _ in range(300):
        after, _ = step(Params(1.1, 2.3, 3.7, 0.1, 0.2, 0.3), s, Torque(1.0, -2.0, 0.5), 0.02)
        assert sum(a * b for a, b in zip(s.q, after.q, strict=True)) > 0.99
        s = after


def test_nothing_happens_in_no_time() -> None:
    s = State(Rate(0.1, 0.7, -0.3), from_angles(Angles(0.1, 0.2, 0.3)))
    after, out = step(Params(1.1, 2.3, 3.7, 0.1, 0.2, 0.3), s, Torque(1.0, 2.0, 3.0), 0.0)
    assert after == s
    assert out == rigid_body.Out(s.w, s.q)


# accuracy


def test_the_integration_is_of_fourth_order() -> None:
    p = Params(1.0, 2.0, 2.8, 0.1, -0.2, 0.05)
    J, tau = inverse(p), Torque(0.5, -1.0, 0.7)

    def final(n: int) -> tuple[float, ...]:
        m = Motion(momentum(p, Rate(1.0, -2.0, 1.5)), Quaternion())
        for _ in range(n):
            m = runge_kutta(J, m, tau, 1.0 / n)
        return (*m.L, *m.d)

    exact = final(1280)
    errors = [worst(final(n), exact) for n in (20, 40, 80)]
    assert [math.log2(a / b) for a, b in itertools.pairwise(errors)] == pytest.approx([4.0, 4.0], abs=0.25)


@pytest.mark.parametrize(("w", "dt"), [(0.5, 0.1), (3.0, 0.1), (10.0, 0.05), (30.0, 0.02)])
def test_a_coarse_tick_is_as_good_as_a_fine_one(w: float, dt: float) -> None:
    p, s, tau = Params(1.0, 2.0, 2.5), State(Rate(0.6 * w, 0.64 * w, -0.48 * w)), Torque(0.5, -0.7, 1.0)
    n = round(1.0 / dt)
    coarse, fine = run(p, s, tau, dt, n), run(p, s, tau, dt / 20, 20 * n)
    assert turn(product(conjugate(fine.q), coarse.q)) < 1e-9 * (1.0 + w)


# parameters


@pytest.mark.parametrize(
    ("params", "named"),
    [
        (Params(Ixx=0.0), "Ixx"),
        (Params(Izz=math.nan), "Izz"),
        (Params(1.0, 1.0, 1.0, Ixy=1.0), "Ixy"),
        (Params(1.0, 1.0, 1.0, Ixy=-1.5), "Ixy"),
        (Params(1.0, 1.0, 1.0, Ixz=0.8, Iyz=0.8), "Izz"),
        (Params(1.0, 1.0, 2.1), "Izz: principal moments of inertia 1, 1 and 2.1 kg.m2"),
        (Params(5.0, 1.0, 2.0), "Ixx"),
        (Params(1.0, 1.5, 1.5, Iyz=0.9), "Iyy"),
        (Params(-1.0, 1.0, 1.0), "Ixx"),
    ],
)
def test_an_impossible_tensor_is_refused(params: Params, named: str) -> None:
    with pytest.raises(ParameterError, match=named):
        check(params)


def test_a_flat_plate_is_a_body() -> None:
    """Its moment about the normal is the sum of the other two."""
    assert list(problems(Params(1.0, 2.0, 3.0))) == []
    assert list(problems(Params(0.012, 0.012, 0.024))) == []


@given(st.tuples(moments, moments, moments), angles)
def test_the_principal_moments_are_those_of_the_body_before_it_was_turned(principal: tuple[float, float, float], turned: Angles) -> None:
    assert principal_moments(tensor(principal, from_angles(turned))) == pytest.approx(sorted(principal), abs=1e-6 * max(principal))


@settings(max_examples=examples(30))
@given(solids)
def test_every_possible_tensor_is_taken(p: Params) -> None:
    assert list(problems(p)) == []
    J = inverse(p)
    for w in (Rate(1.0, 0.0, 0.0), Rate(0.0, 1.0, 0.0), Rate(0.0, 0.0, 1.0)):
        assert worst(rigid_body.rate(J, momentum(p, w), Quaternion()), w) < 1e-9


def test_a_tensor_that_slipped_through_does_not_turn() -> None:
    s, _ = step(Params(1.0, 1.0, 1.0, Ixy=2.0), State(Rate(1.0, 0.0, 0.0)), Torque(1.0, 1.0, 1.0), 0.01)
    assert s.w == Rate(0.0, 0.0, 0.0)


# attitude


@settings(max_examples=examples(50))
@given(angles)
def test_angles_to_quaternion_and_back(a: Angles) -> None:
    b = to_angles(from_angles(a))
    assert abs(a.pitch - b.pitch) < 1e-12
    for x, y in ((a.roll, b.roll), (a.yaw, b.yaw)):
        assert abs(math.remainder(x - y, 2.0 * math.pi)) < 1e-12


@pytest.mark.parametrize(
    ("q", "v"),
    [
        (from_angles(Angles(yaw=math.pi / 2)), (0.0, 1.0, 0.0)),
        (from_angles(Angles(pitch=math.pi / 2)), (0.0, 0.0, -1.0)),
        (from_angles(Angles(roll=1.0)), (1.0, 0.0, 0.0)),
        (from_angles(Angles(math.pi / 2, 0.0, math.pi / 2)), (0.0, 1.0, 0.0)),
    ],
)
def test_where_the_nose_points(q: Quaternion, v: tuple[float, float, float]) -> None:
    assert worst(rotated(q, (1.0, 0.0, 0.0)), v) < 1e-15


def test_pitch_straight_up_has_an_answer() -> None:
    a = to_angles(from_angles(Angles(0.2, math.pi / 2, 0.0)))
    assert a.pitch == pytest.approx(math.pi / 2, abs=1e-7)


def test_a_quaternion_without_length_is_no_turn() -> None:
    assert unit(Quaternion(0.0, 0.0, 0.0, 0.0)) == Quaternion()
    assert turn(Quaternion(-1.0, 0.0, 0.0, 0.0)) == 0.0


@pytest.mark.parametrize(
    "function", [f for module in (rigid_body, attitude) for _, f in inspect.getmembers(module, is_pure)], ids=lambda f: f.__qualname__
)
def test_is_pure(function: Callable[..., object]) -> None:
    assert offences(function) == []


def test_the_table_of_plants_goes_by_their_names() -> None:
    assert PLANTS["rigid_body"] is rigid_body.RIGID_BODY
    assert all(name == plant.name for name, plant in PLANTS.items())
    assert Momentum() == momentum(Params(), Rate())


def test_energy_and_angle_of_a_turn_by_hand() -> None:
    p = Params(2.0, 3.0, 4.0, 0.1, 0.2, 0.3)
    assert energy(p, Rate(1.0, -2.0, 3.0)) == pytest.approx(0.5 * (2.0 + 3.0 * 4.0 + 4.0 * 9.0) + 0.1 * -2.0 + 0.2 * 3.0 + 0.3 * -6.0)
    for angle in (0.0, 0.3, 3.0, -1.2):
        assert turn(from_angles(Angles(0.0, 0.0, angle))) == pytest.approx(abs(angle), abs=1e-12)
        assert turn(from_angles(Angles(angle, 0.0, 0.0))) == pytest.approx(abs(angle), abs=1e-12)


rates = st.builds(Rate, *[st.floats(-30.0, 30.0)] * 3)


@given(rates, st.builds(Torque, *[st.floats(-500.0, 500.0)] * 3), st.floats(1e-4, 0.03))
def test_a_tick_is_cut_by_how_fast_the_body_turns_and_how_fast_that_changes(w: Rate, tau: Torque, dt: float) -> None:
    """Each part turns by TURN_MAX at most, reckoned from the speed and the angular acceleration of Euler's equations at its start."""
    A, B, C = 2.0, 3.0, 5.0
    p = Params(A, B, C)
    a = (
        (tau.x - (C - B) * w.y * w.z) / A,
        (tau.y - (A - C) * w.z * w.x) / B,
        (tau.z - (B - A) * w.x * w.y) / C,
    )
    pace = math.dist(w, (0.0, 0.0, 0.0)) + math.sqrt(math.dist(a, (0.0, 0.0, 0.0)))
    n = rigid_body.substeps(inverse(p), w, momentum(p, w), tau, dt)
    parts = pace * dt / rigid_body.TURN_MAX
    assert min(parts, rigid_body.SUBSTEPS_MAX - 1.0) - 1e-6 <= n <= min(parts, rigid_body.SUBSTEPS_MAX - 1.0) + 1.0 + 1e-6


def test_a_body_beyond_all_measure_is_cut_into_so_many_parts_and_no_more() -> None:
    p = Params(2.0, 3.0, 5.0)
    w = Rate(1e6, 0.0, 0.0)
    assert rigid_body.substeps(inverse(p), w, momentum(p, w), Torque(), 1.0) == rigid_body.SUBSTEPS_MAX
