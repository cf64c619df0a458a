"""The vessel: what it comes to under a held force, where the current takes it, which way it turns, and what becomes of its energy."""

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counts import examples
from pushrod.plants.surface_vessel import Current, Drag, In, Params, State, TurnDrag, drag, energy, runge_kutta, step, substeps, through_water

FREE = Params(surge=Drag(0.0, 0.0), sway=Drag(0.0, 0.0), yaw=TurnDrag(0.0, 0.0), a=0.0)


def sail(p: Params, f: In, seconds: float, dt: float = 0.02, s: State | None = None) -> State:
    s = State() if s is None else s
    for _ in range(round(seconds / dt)):
        s, _ = step(p, s, f, dt)
    return s


def test_a_held_force_comes_to_the_speed_whose_drag_it_is() -> None:
    p = Params()
    l, q, X = p.surge.l, p.surge.q, 100.0  # noqa: E741
    s = sail(p, In(X=X), 60.0)
    assert s.u == pytest.approx((-l + math.sqrt(l * l + 4.0 * q * X)) / (2.0 * q), rel=1e-12)
    assert (s.y, s.psi, s.v, s.r) == (0.0, 0.0, 0.0, 0.0)


def test_with_quadratic_drag_alone_it_speeds_up_as_a_hyperbolic_tangent() -> None:
    p = Params(surge=Drag(0.0, 22.0))
    m_u, U = p.m + p.added_u, math.sqrt(100.0 / 22.0)
    for t in (0.1, 0.5, 1.0, 3.0):
        s = sail(p, In(X=100.0), t, 0.01)
        assert s.u == pytest.approx(U * math.tanh(100.0 * t / (m_u * U)), rel=1e-8)
        assert s.x == pytest.approx(m_u / 22.0 * math.log(math.cosh(100.0 * t / (m_u * U))), rel=1e-7)


def test_with_linear_drag_alone_it_turns_on_the_spot_and_coasts_out_exponentially() -> None:
    p = Params(yaw=TurnDrag(8.0, 0.0), a=0.0)
    I_r = p.I + p.added_r
    s = sail(p, In(N=4.0), 1.0, 0.01)
    assert s.r == pytest.approx(0.5 * (1.0 - math.exp(-8.0 / I_r)), rel=1e-9)
    out = sail(p, In(), 2.0, 0.01, s)
    assert out.r == pytest.approx(s.r * math.exp(-16.0 / I_r), rel=1e-8)
    assert (out.x, out.y) == (0.0, 0.0)


@pytest.mark.parametrize("N", [5.0, -5.0])
def test_a_steady_turn_is_a_circle_of_the_radius_speed_over_rate(N: float) -> None:
    p = Params()
    f = In(X=40.0, N=N)
    s = sail(p, f, 60.0)
    # steady: the forces balance on every axis
    m_u, m_v = p.m + p.added_u, p.m + p.added_v
    assert f.X + m_v * s.v * s.r == pytest.approx(drag(p.surge.l, p.surge.q, s.u), abs=1e-9)
    side = drag(p.sway.l, p.sway.q, s.v - p.a * s.r)
    assert -m_u * s.u * s.r == pytest.approx(side, abs=1e-9)
    assert f.N - (m_v - m_u) * s.u * s.v + p.a * side == pytest.approx(drag(p.yaw.l, p.yaw.q, s.r), abs=1e-9)
    assert s.v * s.r < 0.0, "it slides out of the turn"
    radius = math.hypot(s.u, s.v) / abs(s.r)
    course = s.psi + math.atan2(s.v, s.u) + math.copysign(math.pi / 2.0, N)
    centre = (s.x + radius * math.cos(course), s.y + radius * math.sin(course))
    for _ in range(200):
        s, _ = step(p, s, f, 0.02)
        assert math.hypot(s.x - centre[0], s.y - centre[1]) == pytest.approx(radius, rel=1e-8)


def test_a_moment_to_port_turns_it_to_port_and_ahead_then_leads_north() -> None:
    s = sail(Params(), In(X=50.0, N=5.0), 1.0)
    assert s.psi > 0.0
    assert s.r > 0.0
    assert s.y > 0.0
    north = sail(Params(), In(X=50.0), 5.0, s=State(psi=math.pi / 2.0))
    assert north.x == pytest.approx(0.0, abs=1e-12)
    assert north.y > 1.0


def test_a_skeg_keeps_it_on_its_course_and_a_hull_without_one_turns_away() -> None:
    slender = Params(added_v=60.0, sway=Drag(40.0, 0.0), yaw=TurnDrag(2.0, 6.0))
    tipped = State(u=1.5, r=1e-3)
    left, kept = (sail(slender._replace(a=a), In(X=60.0), 4.0, s=tipped) for a in (0.0, 1.0))
    assert abs(left.r) > 0.1
    assert abs(kept.r) < 1e-3


def test_left_to_itself_it_drifts_with_the_current_whatever_its_heading() -> None:
    for psi in (0.0, 1.0, -2.5):
        s = sail(Params(), In(current=Current(0.3, -0.4)), 120.0, 0.05, State(psi=psi))
        c, n = math.cos(s.psi), math.sin(s.psi)
        assert c * s.u - n * s.v == pytest.approx(0.3, abs=1e-6)
        assert n * s.u + c * s.v == pytest.approx(-0.4, abs=1e-6)


def test_a_current_adds_to_the_way_through_the_water() -> None:
    """The same forces, seen from the water, give the same motion."""
    f, c = In(X=40.0, Y=3.0, N=2.0), Current(0.5, 0.2)
    still = sail(Params(), f, 10.0)
    start = State(u=0.5, v=0.2)  # at rest in the water
    moved = sail(Params(), f._replace(current=c), 10.0, s=start)
    assert moved.x == pytest.approx(still.x + 5.0, abs=1e-9)
    assert moved.y == pytest.approx(still.y + 2.0, abs=1e-9)
    assert moved.psi == pytest.approx(still.psi, abs=1e-12)


def test_a_current_that_sets_in_does_not_make_the_vessel_jump() -> None:
    s, y = step(Params(), State(u=1.0), In(current=Current(-0.5, 0.0)), 1e-6)
    assert s.u == pytest.approx(1.0, abs=1e-4)
    assert y.u_water == pytest.approx(1.5, abs=1e-4)


@given(u=st.floats(-3.0, 3.0), v=st.floats(-2.0, 2.0), r=st.floats(-2.0, 2.0))
@settings(max_examples=examples(40))
def test_without_drag_and_force_energy_and_momentum_are_kept(u: float, v: float, r: float) -> None:
    s = sail(FREE, In(), 2.0, 0.01, State(u=u, v=v, r=r))
    assert energy(FREE, s) == pytest.approx(energy(FREE, State(u=u, v=v, r=r)), rel=1e-6, abs=1e-9)
    m_u, m_v = FREE.m + FREE.added_u, FREE.m + FREE.added_v
    c, n = math.cos(s.psi), math.sin(s.psi)
    assert c * m_u * s.u - n * m_v * s.v == pytest.approx(m_u * u, abs=1e-3)
    assert n * m_u * s.u + c * m_v * s.v == pytest.approx(m_v * v, abs=1e-3)


@given(u=st.floats(-3.0, 3.0), v=st.floats(-2.0, 2.0), r=st.floats(-2.0, 2.0), cx=st.floats(-1.0, 1.0), cy=st.floats(-1.0, 1.0))
@settings(max_examples=examples(40))
def test_drag_alone_only_takes_energy(u: float, v: float, r: float, cx: float, cy: float) -> None:
    p, f = Params(), In(current=Current(cx, cy))
    s = State(u=u, v=v, r=r)
    before = energy(p, through_water(s, f.current))
    for _ in range(50):
        s, _ = step(p, s, f, 0.05)
        now = energy(p, through_water(s, f.current))
        assert now <= before * (1.0 + 1e-9) + 1e-12
        before = now


def test_the_work_of_the_forces_is_what_speeds_it_up_and_what_drag_takes() -> None:
    p, f, dt = Params(), In(X=60.0, Y=-5.0, N=4.0), 1e-3
    s, work = State(), 0.0

    def power(a: State) -> float:
        w = a.v - p.a * a.r
        taken = drag(p.surge.l, p.surge.q, a.u) * a.u + drag(p.sway.l, p.sway.q, w) * w + drag(p.yaw.l, p.yaw.q, a.r) * a.r
        return f.X * a.u + f.Y * a.v + f.N * a.r - taken

    for _ in range(3000):
        before = power(s)
        s, _ = step(p, s, f, dt)
        work += 0.5 * (before + power(s)) * dt
    assert energy(p, s) == pytest.approx(work, rel=1e-5)


def test_the_order_of_the_method_is_the_fourth() -> None:
    f = In(X=60.0, Y=-5.0, N=10.0)

    def end(n: int) -> State:
        s = State()
        for _ in range(n):
            s = runge_kutta(Params(), s, f, 1.0 / n)
        return s

    finest = end(2000)
    errors = [max(abs(a - b) for a, b in zip(end(n), finest, strict=True)) for n in (50, 100, 200)]
    assert errors[0] / errors[1] > 12.0
    assert errors[1] / errors[2] > 12.0


@pytest.mark.parametrize(
    ("change", "s", "f", "pace"),
    [
        ({"surge": Drag(660.0, 0.0)}, State(), In(), 20.0),  # m_u is 33 kg
        ({"surge": Drag(0.0, 330.0)}, State(u=-2.0), In(), 40.0),
        ({"surge": Drag(0.0, 330.0)}, State(), In(X=-330.0), 20.0),  # 10 m/s2 for 0.1 s
        ({"sway": Drag(900.0, 0.0)}, State(), In(), 20.0),  # m_v is 45 kg
        ({"sway": Drag(0.0, 450.0)}, State(v=1.0), In(Y=-450.0), 40.0),
        ({"sway": Drag(450.0, 0.0), "a": -1.0}, State(), In(), 10.0 + 450.0 / 6.5),
        ({"sway": Drag(0.0, 450.0), "a": -1.0}, State(r=0.5), In(), 10.0 + 450.0 / 6.5 + 0.5),
        ({"yaw": TurnDrag(130.0, 0.0)}, State(), In(), 20.0),  # I_r is 6.5 kg.m2
        ({"yaw": TurnDrag(0.0, 65.0)}, State(r=-1.0), In(N=-65.0), 40.0 + 2.0),
        ({}, State(r=-20.0), In(), 20.0),
    ],
)
def test_sub_steps_are_short_against_the_quickest_that_goes_on(change: dict[str, Any], s: State, f: In, pace: float) -> None:
    """Nothing but what is given resists; the pace is known by heart, and a sub-step takes a quarter of it at most."""
    assert substeps(FREE._replace(**change), s, f, 0.1) == 1 + int(pace * 0.1 / 0.25 + 1e-9)
    mirrored = State(u=-s.u, v=-s.v, r=-s.r), In(-f.X, -f.Y, -f.N)
    assert substeps(FREE._replace(**change), *mirrored, 0.1) == substeps(FREE._replace(**change), s, f, 0.1)
    assert substeps(FREE._replace(**change), s, f, 1e-9) == 1
    assert substeps(FREE._replace(surge=Drag(1e7, 0.0)), s, f, 0.1) == 64
