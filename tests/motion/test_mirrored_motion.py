"""A motion the other way is the mirror image, one from elsewhere is the same motion moved: whatever the kind of profile, and so are its peaks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushrod.motion import announce, make_limits, move, ramp_to, sample
from pushrod.motion.limits import Limits
from pushrod.motion.profile import Profile, peak_acceleration, peak_velocity

KINDS = [make_limits(1.0), make_limits(a=2.0), make_limits(1.0, 2.0), make_limits(j=10.0), make_limits(1.0, 2.0, 10.0), make_limits(3.0, 0.9, 0.7)]
kinds = st.sampled_from(KINDS)
rates = st.sampled_from([0.0, 0.0, 0.4, -0.4, 1.7, -1.7])
durations = st.sampled_from([None, 2.5, 20.0])


def check_mirrored(p: Profile, q: Profile, *, about: float = 0.0) -> None:
    """q is p seen in a mirror at `about`."""
    assert pytest.approx(p.T, rel=1e-12) == q.T
    for k in range(33):
        s, m = sample(p, p.T * k / 31.0), sample(q, p.T * k / 31.0)
        assert (m.x - about, m.v) == (pytest.approx(about - s.x, abs=1e-9), pytest.approx(-s.v, abs=1e-9))


@given(kinds, st.integers(-192, 192), rates, rates, durations)
def test_moves(limits: Limits, n: int, v0: float, a0: float, duration: float | None) -> None:
    x1 = n / 64.0  # which has an exact mirror image
    p = move(0.25, x1, limits, v0=v0, a0=a0, duration=duration)
    q = move(0.75, 1.0 - x1, limits, v0=-v0, a0=-a0, duration=duration)
    check_mirrored(p, q, about=0.5)
    assert announce(0.75, q) == (0.75, 1.0 - x1, *announce(0.25, p)[2:])


@given(kinds, rates, rates, rates)
def test_ramps(limits: Limits, v0: float, a0: float, v1: float) -> None:
    p, q = ramp_to(2.0, v0, a0, v1, limits), ramp_to(-2.0, -v0, -a0, -v1, limits)
    check_mirrored(p, q)
    assert (peak_velocity(p), peak_acceleration(p)) == (peak_velocity(q), peak_acceleration(q))


@pytest.mark.parametrize("limits", KINDS)
@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(
    ("v0", "a0", "x1"), [(0.0, 0.0, 4.0), (0.0, 0.0, 0.01), (0.9, -1.5, 0.3), (-0.8, 1.9, 0.5), (2.0, 1.0, 0.1), (0.5, -3.0, -0.2)]
)
def test_peaks_are_the_greatest_of_the_way(limits: Limits, sign: float, v0: float, a0: float, x1: float) -> None:
    p = move(-1.0, -1.0 + sign * x1, limits, v0=sign * v0, a0=sign * a0)
    way = [sample(p, p.T * (k + 0.5) / 4000.0) for k in range(4000)]
    # a sample falls within half a step of the peak
    assert peak_velocity(p) == pytest.approx(max(abs(s.v) for s in way), abs=3.0 * p.T / 4000.0)
    assert peak_acceleration(p) == pytest.approx(max(abs(s.a) for s in way), abs=10.0 * p.T / 4000.0)


def test_a_ramp_ends_at_its_peak() -> None:
    for sign in (1.0, -1.0):
        p = ramp_to(0.0, sign * 0.5, 0.0, sign * 2.0, make_limits(a=1.0))
        assert (peak_velocity(p), peak_acceleration(p)) == (2.0, 1.0)
        braked = ramp_to(0.0, sign * 2.0, 0.0, sign * 0.5, make_limits(a=1.0, j=4.0))
        assert (peak_velocity(braked), peak_acceleration(braked)) == (2.0, 1.0)
        # speeding up already: it goes on to 1 + 2^2 / (2 * 4) while the acceleration is let go
        late = ramp_to(0.0, sign, sign * 2.0, sign * 0.5, make_limits(a=2.0, j=4.0))
        assert peak_velocity(late) == pytest.approx(1.5)
        assert peak_velocity(ramp_to(0.0, 0.0, 0.0, sign * 2.0, make_limits())) == 2.0  # at once, and ever after


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_rectangle_from_anywhere(sign: float) -> None:
    p = move(sign * 2.0, sign * 5.0, make_limits(1.5))
    assert p.T == 2.0
    assert sample(p, 0.5) == (sign * 2.75, sign * 1.5, 0.0)
    assert sample(move(sign * 2.0, sign * 5.0, make_limits(1.5), duration=6.0), 2.0) == (sign * 3.0, sign * 0.5, 0.0)
