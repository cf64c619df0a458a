"""The friction of a loaded gear: each term of its budget on its own, and `friction` where it has no more than that."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushrod.models import friction
from pushrod.models.gear_friction import In, Params, State, dry, step

NONE = Params(c=0.0, b=0.0)


def held_by(p: Params, m: float, e: float) -> bool:
    return step(p, State(), In(m=m, e=e), 0.01)[1].stuck != 0.0


@given(st.floats(-2.0, 2.0), st.floats(-2.0, 2.0), st.floats(-5.0, 5.0), st.floats(1e-3, 0.1))
def test_it_is_friction_where_it_has_no_more_terms(m: float, e: float, w: float, dt: float) -> None:
    _, y = step(Params(c=0.3, b=0.1, s=0.2, w_s=0.7, mu=0.2), State(), In(m, e, w, 0.05), dt)
    _, z = friction.step(friction.Params(c=0.3, s=0.5, w_s=0.7, b=0.1, mu=0.2), friction.State(), friction.In(m + e, w, 0.05, 0.5 * (m - e)), dt)
    assert y.w == pytest.approx(z.w, rel=1e-9, abs=1e-12)
    assert y.stuck == z.stuck


@pytest.mark.parametrize(
    ("p", "m", "e", "level"),
    [
        (NONE._replace(c=0.2), 0.0, 0.0, 0.2),
        (NONE._replace(s=0.1), 0.0, 0.0, 0.1),
        (NONE._replace(mu=0.5), 0.6, -0.2, 0.5 * 0.4),
        (NONE._replace(mu_s=0.5), 0.6, -0.2, 0.5 * 0.4),
        (NONE._replace(mu_q=2.0), 0.6, -0.2, 2.0 * 0.4 * 0.4),
        (NONE._replace(mu_m=0.5), 0.6, -0.2, 0.5 * 0.6),
        (NONE._replace(mu_e=0.5), 0.6, -0.2, 0.5 * 0.2),
    ],
)
def test_each_term_at_rest(p: Params, m: float, e: float, level: float) -> None:
    assert dry(p, 0.0, 1.0, m, e) == pytest.approx(level)


def test_what_break_away_takes_has_gone_at_speed() -> None:
    p = NONE._replace(c=0.1, s=0.2, mu=0.1, mu_s=0.3, w_s=0.5)
    assert dry(p, 5.0, 1.0, 1.0, -1.0) == pytest.approx(0.1 + 0.1)
    assert dry(p, 0.5, 1.0, 1.0, -1.0) == pytest.approx(0.2 + 0.5 * math.exp(-1.0))


def test_one_direction_holds_more_than_the_other() -> None:
    p = NONE._replace(c=0.2, skew_c=0.5)
    assert held_by(p, 0.29, 0.0)
    assert not held_by(p, 0.31, 0.0)
    assert held_by(p, -0.09, 0.0)
    assert not held_by(p, -0.11, 0.0)


def test_terminal_speed_is_another_in_each_direction() -> None:
    p = Params(c=0.1, b=0.2, skew_c=0.5, skew_b=-0.25)
    for side, speed in ((1.0, (1.0 - 0.15) / 0.15), (-1.0, -(1.0 - 0.05) / 0.25)):
        w = 0.0
        for _ in range(200):
            w = step(p, State(), In(m=side, w=w, J=0.05), 0.05)[1].w
        assert w == pytest.approx(speed, rel=1e-6)


def test_a_weight_that_the_motor_could_not_lift_is_held_by_the_gear() -> None:
    """A gear whose friction grows with the load holds much more than it lifts: |m + e| <= mu |m - e| / 2."""
    p = NONE._replace(mu=0.8)
    assert held_by(p, 0.5, -1.0)  # 0.5 missing, 0.6 of friction
    assert not held_by(p, 1.0, -0.3)


@given(st.floats(-3.0, 3.0), st.floats(-3.0, 3.0), st.floats(-5.0, 5.0))
def test_friction_never_drives(m: float, e: float, w: float) -> None:
    p = Params(c=0.1, b=0.05, s=0.1, mu=0.1, mu_s=0.1, mu_q=0.1, mu_m=0.1, mu_e=0.1, skew_c=0.4, skew_b=0.4)
    _, y = step(p, State(), In(m, e, w, 0.02), 0.01)
    assert abs(y.w) <= abs(w) + abs(m + e) * 0.01 / 0.02 + 1e-12
    if w == 0.0 or w * y.w > 0.0:  # where it comes to rest or turns, what holds it then may outweigh what braked it
        assert y.f * (w + y.w) <= 1e-9
