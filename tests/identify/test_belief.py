"""What a fit says of itself: trade-offs, what the data do not tell, edges, colour, seeds."""

from typing import Annotated as A
from typing import NamedTuple

import numpy as np
import pytest
from fit_rig import names, recorded, rich

from pushrod import identify
from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.quantity import Q
from pushrod.identify.belief import Belief, believe
from pushrod.identify.whiteness import whiteness
from pushrod.models import first_order
from pushrod.models.first_order import FIRST_ORDER
from pushrod.models.second_order import SECOND_ORDER
from pushrod.models.servo import SERVO

DT = 0.002
U = rich(600, DT)


def told_of(world: object, true: object, free: object, u: np.ndarray = U, spoil: object = None, **how: object) -> Belief:
    channel = "goal" if world is SERVO else "u"
    output = "q" if world is SERVO else "y"
    data = recorded(world, true, {channel: u}, DT, (output,))
    if spoil is not None:
        data[output] = data[output] + spoil
    one = identify.trial(world, data, **names(world, {channel: u}, (output,)))
    return believe(identify.fit(identify.Problem(world, [one], free, **how), seeds=2, generations=25))


def test_a_good_fit_has_no_doubts_and_white_residuals() -> None:
    told = told_of(FIRST_ORDER, FIRST_ORDER.Params(0.08, 1.7), ["T", "K"])
    assert told.doubts == ()
    assert not told.coloured
    assert told.condition < 10.0
    assert told.remainders[0].explained > 0.99
    assert all(one.spread < one.sd for one in told.estimates)


def test_parameters_that_trade_off_are_named() -> None:
    """Of a motor whose current nobody measured, only the torque over the inertia is told."""
    told = told_of(SERVO, SERVO.Params(), {"J": (1e-4, 1.0), "motor.R": (1.0, 50.0), "drag.c": (0.0, 1.0)})
    assert any("J and motor.R trade off" in doubt and "fix one" in doubt for doubt in told.doubts), told.doubts
    assert abs(told.correlation[0, 1]) > 0.98


def test_a_parameter_that_changes_nothing_is_said_not_to_be_told() -> None:
    """The rate limit is far above what the signal asks for."""
    told = told_of(
        SECOND_ORDER,
        SECOND_ORDER.Params(24.0, 0.5, 1e6, -9.0, 9.0),
        {"w": None, "rate": (1e4, 1e7)},
        params=SECOND_ORDER.Params(30.0, 0.5, 1e6, -9.0, 9.0),
    )
    rate = told.estimates[1]
    assert not rate.informed
    assert rate.value == pytest.approx(1e6, rel=1e-9), "its guess, and no chance value"
    assert (rate.lo, rate.hi) == (1e4, 1e7)
    assert rate.sd > 0.5 * rate.value, "a study has to try others"
    assert any("rate is not informed by this data" in doubt and "kept at 1e+06" in doubt for doubt in told.doubts)
    assert told.estimates[0].lo < 24.0 < told.estimates[0].hi


def test_a_limit_that_was_never_reached_is_as_near_to_its_guess_as_fits() -> None:
    """Its guess would limit, which the data contradict; beyond some value they say nothing, and where a search ends there is chance."""
    data = recorded(FIRST_ORDER, FIRST_ORDER.Params(0.08, 1.0), {"u": U}, DT, ("y",))
    one = identify.trial(SECOND_ORDER, data, **names(SECOND_ORDER, {"u": U}, ("y",)))
    free = {"w": (1.0, 200.0), "z": (0.1, 10.0), "rate": (1.0, 1e7)}
    told = believe(identify.fit(identify.Problem(SECOND_ORDER, [one], free, params=SECOND_ORDER.Params(30.0, 0.5, 2.0, -9.0, 9.0)), seeds=2))
    rate = told.estimates[2]
    assert not rate.informed
    assert 2.0 < rate.value < 1e3, "not somewhere in seven decades"
    assert any("as near to its guess (2) as fits with the others" in doubt for doubt in told.doubts), told.doubts


def test_an_interval_has_all_that_fits_as_well() -> None:
    """At 14 1/s the limit bends the steepest slope along with the noise; a limit that is far away fits as well, which no curvature there tells."""
    true = SECOND_ORDER.Params(24.0, 0.5, 1e6, -9.0, 9.0)
    told = told_of(SECOND_ORDER, true, {"w": None, "rate": (1.0, 1e7)}, params=SECOND_ORDER.Params(30.0, 0.5, 2.0, -9.0, 9.0))
    assert told.estimates[0].lo < 24.0 < told.estimates[0].hi
    rate = told.estimates[1]
    assert rate.value < 20.0
    assert rate.hi > 100.0
    assert any("rate differs by" in doubt and "there are several answers" in doubt for doubt in told.doubts), told.doubts


def test_an_estimate_at_the_end_of_its_range_is_said_to_lie_there() -> None:
    told = told_of(FIRST_ORDER, FIRST_ORDER.Params(0.08, 1.7), {"T": (0.001, 0.05), "K": None})
    assert told.estimates[0].edge == "upper"
    assert any("T lies at the upper end of its range (0.05 s)" in doubt for doubt in told.doubts)


def test_a_model_that_lacks_something_leaves_coloured_residuals_and_wider_intervals() -> None:
    drift = 0.1 * np.sin(np.arange(601) * 0.05)
    clean, spoilt = (told_of(FIRST_ORDER, FIRST_ORDER.Params(0.08, 1.7), ["T", "K"], spoil=spoil) for spoil in (None, drift))
    assert spoilt.coloured
    said = next(doubt for doubt in spoilt.doubts if "autocorrelated" in doubt)
    assert "(HAC) cover chance alone" in said, "no interval covers the error of a wrong model"
    widths = [[one.hi - one.lo for one in told.estimates] for told in (clean, spoilt)]
    assert widths[1][0] > 1.5 * widths[0][0]


def test_coverage_where_noise_is_coloured() -> None:
    """Noise of first order, alike by 0.9 from sample to sample: intervals that took it for white would hold the truth in half of the cases."""
    from scipy.signal import lfilter

    hits = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        data = recorded(FIRST_ORDER, FIRST_ORDER.Params(0.08, 1.7), {"u": U}, DT, ("y",), noise=0.0)
        data["y"] = data["y"] + lfilter([0.02], [1.0, -0.9], rng.standard_normal(601))
        one = identify.trial(FIRST_ORDER, data, **names(FIRST_ORDER, {"u": U}, ("y",)))
        told = believe(identify.fit(identify.Problem(FIRST_ORDER, [one], ["T", "K"]), seeds=1, generations=15))
        hits += sum(e.lo <= true <= e.hi for e, true in zip(told.estimates, (0.08, 1.7), strict=True))
    assert hits >= 19  # of 24


def test_white_noise_is_white_and_a_walk_is_not() -> None:
    rng = np.random.default_rng(0)
    e = rng.standard_normal(2000)
    assert whiteness(e).white
    assert np.max(np.abs(whiteness(e).r[1:])) < 0.1
    assert not whiteness(np.cumsum(e)).white
    assert not whiteness(e[1:] + 0.3 * e[:-1]).white


def test_whiteness_is_the_test_of_ljung_and_box() -> None:
    """Worked out by hand for a short sequence."""
    e = np.array([1.0, -1.0, 2.0, 0.5, -0.5, 1.5, -2.0, 0.0])
    d = e - e.mean()
    r = [float(d[k:] @ d[:-k] / (d @ d)) for k in range(1, 7)]
    q = 8.0 * 10.0 * sum(x * x / (8 - k) for k, x in enumerate(r, 1))
    from scipy.stats import chi2

    assert whiteness(e).p == pytest.approx(chi2.sf(q, 6))


@pure
def rough(p: first_order.Params, s: first_order.State, u: float, dt: float) -> tuple[first_order.State, float]:
    """A lag by Euler's implicit rule, as somebody may write it: as if T were longer by half a tick."""
    y = s.y + dt / (p.T + dt) * (p.K * u - s.y)
    return first_order.State(y), y


ROUGH = Model("rough", FIRST_ORDER.Params, FIRST_ORDER.State, FIRST_ORDER.In, FIRST_ORDER.Out, rough)


def test_a_parameter_that_makes_up_for_long_ticks_is_told() -> None:
    """What makes up for coarse equations is outside its interval, and the interval does not know."""
    data = recorded(FIRST_ORDER, FIRST_ORDER.Params(0.08, 1.7), {"u": U}, DT, ("y",))
    told = []
    for dt in (DT, DT / 20.0):
        one = identify.trial(ROUGH, data, **names(ROUGH, {"u": U}, ("y",)), dt=dt)
        told.append(believe(identify.fit(identify.Problem(ROUGH, [one], ["T", "K"]), seeds=1, search=False)))
    T = told[0].estimates[0]
    assert not T.lo < 0.08 < T.hi
    doubt = next(doubt for doubt in told[0].doubts if "depend on the tick of 0.002 s" in doubt)
    assert f"T ({T.value:.4g} s, about 0.080" in doubt
    assert "K (" not in doubt
    assert "fit with a shorter one (--tick 0.0005)" in doubt
    assert told[1].doubts == ()
    assert told[1].estimates[0].lo < 0.08 < told[1].estimates[0].hi


class Spring(NamedTuple):
    k: A[float, Q("1/s2", 0.0, 1e5)] = 900.0
    b: A[float, Q("1/s", 0.0, 100.0)] = 12.0
    g: A[float, Q("-", 0.0, 10.0)] = 1.0
    h: A[float, Q("-", -1.0, 1.0)] = 0.0


class Swinging(NamedTuple):
    q: A[float, Q("-")] = 0.0
    v: A[float, Q("-")] = 0.0


@pure
def explicit(p: Spring, s: Swinging, u: float, dt: float) -> tuple[Swinging, float]:
    """By Euler's explicit rule, which takes k dt from the damping."""
    q = s.q + dt * s.v
    return Swinging(q, s.v + dt * (p.g * p.k * u - p.k * s.q - p.b * s.v)), q + p.h


EXPLICIT = Model("explicit", Spring, Swinging, FIRST_ORDER.In, FIRST_ORDER.Out, explicit)


def test_the_parameters_that_depend_on_the_tick_are_those_that_a_fit_with_a_shorter_one_moves() -> None:
    data = recorded(EXPLICIT, Spring(), {"u": np.repeat(U, 50)}, DT / 50.0, ("y",), noise=0.0)
    every = {name: values[::50] for name, values in data.items()}
    every["y"] = every["y"] + 0.01 * np.random.default_rng(3).standard_normal(len(every["y"]))
    fits = []
    for dt in (DT, DT / 4.0):
        one = identify.trial(EXPLICIT, every, **names(EXPLICIT, {"u": U}, ("y",)), dt=dt)
        free = {"k": (100.0, 3000.0), "b": (1.0, 50.0), "g": (0.5, 2.0), "h": (-0.5, 0.5)}
        fits.append(believe(identify.fit(identify.Problem(EXPLICIT, [one], free), seeds=1, search=False)))
    coarse, fine = (told.estimates for told in fits)
    moved = {a.free.path for a, b in zip(coarse, fine, strict=True) if abs(a.value - b.value) > max(a.sd, 2e-3 * abs(b.value))}
    assert "b" in moved
    assert "h" not in moved
    said = next(doubt for doubt in fits[0].doubts if "depend on the tick" in doubt)
    assert {path for path in ("k", "b", "g", "h") if f" {path} (" in said} == moved
    assert said.index(" b (") == min(said.index(f" {path} (") for path in moved), "the one that moves most comes first"
    then = float(said.partition(" b (")[2].partition("about ")[2].split()[0])
    assert then == pytest.approx(fine[1].value, rel=0.02)


def test_a_robust_fit_is_judged_by_its_own_loss() -> None:
    """A tenth of outliers, far beyond the signal: squares would say that nothing is explained."""
    spoil = np.zeros(601)
    spoil[np.random.default_rng(1).choice(601, 60, replace=False)] = 8.0
    plain, robust = (told_of(FIRST_ORDER, FIRST_ORDER.Params(0.08, 1.7), ["T", "K"], spoil=spoil, loss=loss) for loss in ("linear", "huber"))
    assert plain.remainders[0].explained < 0.5
    assert robust.remainders[0].explained > 0.8
    assert [one.value for one in robust.estimates] == pytest.approx([0.08, 1.7], rel=0.03)
    assert all(one.spread < one.sd for one in robust.estimates), "seeds are compared with the noise that was learnt, not with that of the outliers"
    assert not any("seeds" in doubt for doubt in robust.doubts)


def test_a_robust_fit_of_a_wrong_model_explains_nothing_either() -> None:
    told = told_of(FIRST_ORDER, FIRST_ORDER.Params(0.08, 1.7), {"T": (2.0, 3.0)}, loss="huber")
    assert told.remainders[0].explained < 0.5
