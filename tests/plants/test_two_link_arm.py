"""The two-link arm: energy, pendulum, statics, an independent Lagrangian, and dry friction that holds and never drives."""

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counts import examples
from pushrod.plants.two_link_arm import In, Joint, Link, Params, State, acceleration, effort, inertia, step, turning, weight

FREE = Joint(b=0.0, c=0.0)
FRICTIONLESS = Params(shoulder=FREE, elbow=FREE)
angles = st.floats(-3.0, 3.0)
rates = st.floats(-4.0, 4.0)
torques = st.floats(-20.0, 20.0)
states = st.builds(State, angles, angles, rates, rates)


def run(p: Params, s: State, u: In, seconds: float, n: int) -> State:
    for _ in range(n):
        s, _ = step(p, s, u, seconds / n)
    return s


def places(p: Params, q1: float, q2: float) -> list[tuple[float, float, float]]:
    """Mass and place (x, z) of the two centres of mass and the payload."""

    def along(a: float, b: float) -> tuple[float, float]:
        return a * math.sin(q1) + b * math.sin(q1 + q2), -a * math.cos(q1) - b * math.cos(q1 + q2)

    return [
        (p.upper.mass, *along(p.upper.com, 0.0)),
        (p.fore.mass, *along(p.upper.length, p.fore.com)),
        (p.payload, *along(p.upper.length, p.fore.length)),
    ]


def lagrangian(p: Params, q1: float, q2: float, w1: float, w2: float) -> float:
    """T - V from the velocities of the masses, which are differences of their places: nothing of the plant's own matrices."""
    h = 1e-5
    ahead, behind = places(p, q1 + h * w1, q2 + h * w2), places(p, q1 - h * w1, q2 - h * w2)
    T = sum(0.5 * m * ((xa - xb) ** 2 + (za - zb) ** 2) / (2.0 * h) ** 2 for (m, xa, za), (_, xb, zb) in zip(ahead, behind, strict=True))
    T += 0.5 * p.upper.I * w1**2 + 0.5 * p.fore.I * (w1 + w2) ** 2
    T += 0.5 * p.shoulder.J * (p.shoulder.N * w1) ** 2 + 0.5 * p.elbow.J * (p.elbow.N * w2) ** 2
    return T - sum(m * p.g * z for m, _, z in places(p, q1, q2))


def energy(p: Params, s: State) -> float:
    return lagrangian(p, *s) + 2.0 * sum(m * p.g * z for m, _, z in places(p, s.q1, s.q2))


def euler_lagrange(p: Params, s: State, a: tuple[float, float], i: int) -> float:
    """d/dt dL/dw_i - dL/dq_i along a motion with these accelerations: the torque it takes, by central differences."""
    h = 1e-3

    def dL(field: int, at: State) -> float:
        up, down = list(at), list(at)
        up[field] += h
        down[field] -= h
        return (lagrangian(p, *up) - lagrangian(p, *down)) / (2.0 * h)

    def moved(t: float) -> State:
        return State(s.q1 + t * s.w1, s.q2 + t * s.w2, s.w1 + t * a[0], s.w2 + t * a[1])

    return (dL(2 + i, moved(h)) - dL(2 + i, moved(-h))) / (2.0 * h) - dL(i, s)


@given(states, torques, torques)
@settings(max_examples=examples(40))
def test_the_equations_are_those_of_the_lagrangian(s: State, tau1: float, tau2: float) -> None:
    a = acceleration(FRICTIONLESS, s, In(tau1, tau2), turning(FRICTIONLESS, s, In(tau1, tau2)))
    assert euler_lagrange(FRICTIONLESS, s, (a.a, a.b), 0) == pytest.approx(tau1, abs=2e-2)
    assert euler_lagrange(FRICTIONLESS, s, (a.a, a.b), 1) == pytest.approx(tau2, abs=2e-2)


def test_without_friction_energy_stays() -> None:
    s = State(2.0, 0.5)
    start, least = energy(FRICTIONLESS, s), energy(FRICTIONLESS, State())
    for _ in range(10_000):
        s, _ = step(FRICTIONLESS, s, In(), 1e-3)
        assert abs(energy(FRICTIONLESS, s) - start) < 1e-8 * (start - least)  # of which the differences above are the larger part


def test_a_stretched_arm_with_a_heavy_elbow_swings_as_the_pendulum_it_is() -> None:
    """Small swings: T = 2 pi sqrt(M11 / (g sum m r)). The elbow is held by friction it cannot overcome."""
    p = FRICTIONLESS._replace(elbow=Joint(b=0.0, c=1e3))
    stiffness = p.g * sum(-m * z for m, _, z in places(p, 0.0, 0.0))
    period = 2.0 * math.pi * math.sqrt(inertia(p, 0.0).m11 / stiffness)
    s = run(p, State(0.01), In(), period, 2000)
    assert s.q1 == pytest.approx(0.01, rel=2e-5)
    assert s.w1 == pytest.approx(0.0, abs=1e-5)
    assert (s.q2, s.w2) == (0.0, 0.0)


def test_without_gravity_and_elbow_a_torque_accelerates_the_shoulder_evenly() -> None:
    p = FRICTIONLESS._replace(g=0.0, elbow=Joint(b=0.0, c=1e3))
    s = run(p, State(0.0, 0.7), In(1.3, 0.0), 0.5, 50)
    assert s.w1 == pytest.approx(1.3 / inertia(p, 0.7).m11 * 0.5, rel=1e-12)


@given(angles, angles)
def test_the_torque_of_gravity_is_the_slope_of_its_energy_and_holds(q1: float, q2: float) -> None:
    G = weight(FRICTIONLESS, q1, q2)
    h = 1e-6

    def V(a: float, b: float) -> float:
        return sum(m * FRICTIONLESS.g * z for m, _, z in places(FRICTIONLESS, a, b))

    assert G.a == pytest.approx((V(q1 + h, q2) - V(q1 - h, q2)) / (2.0 * h), abs=1e-7)
    assert G.b == pytest.approx((V(q1, q2 + h) - V(q1, q2 - h)) / (2.0 * h), abs=1e-7)
    s = run(Params(), State(q1, q2), In(G.a, G.b), 0.1, 10)
    assert s == State(q1, q2), "held, with the friction to spare"


@given(states, torques, torques)
@settings(max_examples=examples(40))
def test_step_halving(s: State, tau1: float, tau2: float) -> None:
    """Fourth order between stops; each stop is found to the second."""
    p, u = Params(), In(tau1, tau2)
    fine = run(p, s, u, 0.1, 1600)
    assert run(p, s, u, 0.1, 100) == pytest.approx(fine, abs=2e-3)


def test_fourth_order_while_nothing_stops() -> None:
    s, u = State(0.4, -0.3, 3.0, 2.0), In(5.0, 1.0)
    fine = run(Params(), s, u, 0.2, 3200)
    errors = [max(abs(a - b) for a, b in zip(run(Params(), s, u, 0.2, n), fine, strict=True)) for n in (10, 20, 40)]
    assert errors[0] / errors[1] == pytest.approx(16.0, rel=0.4)
    assert errors[1] / errors[2] == pytest.approx(16.0, rel=0.4)


@given(states)
@settings(max_examples=examples(40))
def test_friction_only_takes_energy(s: State) -> None:
    p, before = Params(), energy(Params(), s)
    for _ in range(50):
        s, _ = step(p, s, In(), 2e-3)
        now = energy(p, s)
        assert now <= before + 1e-6
        before = now


def test_left_alone_it_comes_to_rest_and_stays_to_the_last_bit() -> None:
    s = run(Params(), State(1.5, 0.5), In(), 20.0, 20_000)
    assert (s.w1, s.w2) == (0.0, 0.0)
    assert run(Params(), s, In(), 5.0, 100) == s


starts = st.builds(State, st.floats(-1.0, 1.0), st.floats(-1.0, 1.0), st.sampled_from([-2.0, 0.0, 0.5]), st.sampled_from([-0.5, 0.0, 2.0]))
loads = st.builds(In, st.floats(-5.0, 5.0), st.floats(-5.0, 5.0))
frictions = st.tuples(st.floats(0.01, 2.0), st.floats(0.01, 2.0))


@given(starts, loads, frictions)
@settings(max_examples=examples(200))
def test_friction_opposes_what_turns_and_can_hold_what_does_not(s: State, u: In, c: tuple[float, float]) -> None:
    """The conditions of Coulomb, whichever joints turn, from rest or while the other turns."""
    p = Params(shoulder=Joint(b=0.0, c=c[0]), elbow=Joint(b=0.0, c=c[1]))
    d = turning(p, s, u)
    a = acceleration(p, s, u, d)
    m, r = inertia(p, s.q2), effort(p, s, u)
    f = (m.m11 * a.a + m.m12 * a.b - r.a, m.m12 * a.a + m.m22 * a.b - r.b)
    for turn, speed, rate, friction, most in zip(d, (s.w1, s.w2), a, f, c, strict=True):
        if turn == 0.0:
            assert speed == 0.0
            assert abs(friction) <= most + 1e-9
        else:
            assert friction == pytest.approx(-turn * most, abs=1e-9)
            assert turn * speed > 0.0 or (speed == 0.0 and rate * turn >= -1e-9)


def test_a_longer_heavier_arm_falls_its_own_way_and_the_tip_is_where_the_links_end() -> None:
    p = Params(upper=Link(1.0, 0.5, 3.0, 0.1), fore=Link(0.5, 0.2, 1.0, 0.05), payload=0.0)
    s, y = step(p, State(math.pi / 2.0, 0.0), In(), 1e-3)
    assert s.w1 < 0.0
    assert (y.x, y.z) == (pytest.approx(1.5, abs=1e-4), pytest.approx(0.0, abs=1e-4))
    _, y = step(p, State(0.0, math.pi / 2.0), In(*weight(p, 0.0, math.pi / 2.0)), 1e-3)
    assert (y.x, y.z) == (pytest.approx(0.5), pytest.approx(-1.0))


@given(angles, angles)
def test_the_tip_is_where_the_payload_is(q1: float, q2: float) -> None:
    p = Params(upper=Link(length=0.8), fore=Link(length=0.5))
    _, y = step(p, State(q1, q2), In(), 0.0)
    assert (y.x, y.z) == pytest.approx(places(p, q1, q2)[2][1:], abs=1e-12)


def test_a_joint_without_dry_friction_is_never_held() -> None:
    p: Any = Params(shoulder=Joint(b=0.0, c=0.0), elbow=Joint(b=0.0, c=1e3))
    s = run(p, State(0.0), In(1e-9, 0.0), 0.1, 10)
    assert s.w1 > 0.0
