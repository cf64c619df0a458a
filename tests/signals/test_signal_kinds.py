"""Each kind against its equation."""

import itertools
import math

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from counts import examples
from pushrod.core.check import check, problems
from pushrod.core.purity import offences
from pushrod.signals import KINDS, Track, evaluate, linear, parse, points, prbs, quadratic, ramp_hold, recorded, sine, steps, table, track, value
from pushrod.signals import chirp as chirp_file

REALS = st.floats(-1e6, 1e6)
TIMES = st.floats(-1e3, 1e3)


@pytest.mark.parametrize("module", [chirp_file, evaluate, linear, points, prbs, quadratic, ramp_hold, recorded, sine, steps, table, track])
def test_every_pure_function_obeys_the_rules(module):
    marked = [f for f in vars(module).values() if getattr(f, "pure", False) is True]
    assert marked
    assert [text for f in marked for text in offences(f)] == []


def test_the_key_of_a_kind_is_its_name():
    assert [kind.name for kind in KINDS.values()] == list(KINDS)


def test_an_interval_fills_eleven_columns():
    assert len(track.Interval._fields) == 11
    assert value(Track(), 3.0) == 0.0


def test_a_number_is_that_number_at_all_times():
    y = parse("x", 0.3)
    assert [value(y, t) for t in (-1e9, 0.0, 1e9)] == [0.3, 0.3, 0.3]


@given(TIMES, st.floats(1e-3, 1e3), REALS, REALS, st.floats(0.0, 1.0))
def test_linear_meets_its_ends_and_stays_between_them(t0, length, y0, y1, f):
    y = parse("x", {"at": t0, "for": length, "linear": [y0, y1]})
    assert value(y, t0) == y0
    assert value(y, t0 + length) == y1
    t = min(t0 + f * length, t0 + length)
    assert min(y0, y1) <= value(y, t) <= max(y0, y1)
    assert value(y, t) == pytest.approx(y0 + (y1 - y0) * (t - t0) / (t0 + length - t0), rel=1e-9, abs=1e-6)


@given(REALS)
def test_a_line_between_equal_values_is_constant_to_the_last_bit(y0):
    y = parse("x", {"at": 0.1, "for": 0.7, "linear": [y0, y0]})
    assert {value(y, 0.1 + 0.007 * k) for k in range(100)} == {y0}


@given(REALS, REALS)
def test_a_line_is_the_same_to_the_last_bit_whichever_end_it_is_told_from(y0, y1):
    there, back = parse("x", {"for": 1.0, "linear": [y0, y1]}), parse("x", {"for": 1.0, "linear": [y1, y0]})
    for k in range(32):
        assert value(there, k / 64.0) == value(back, 1.0 - k / 64.0)


@given(TIMES, st.floats(1e-2, 1e3), st.floats(-2.0, 3.0), REALS, REALS, REALS)
def test_quadratic_passes_through_its_three_points(t0, length, where, y0, ym, y1):
    t1 = t0 + length
    tm = t0 + where * length
    assume(min(abs(tm - t0), abs(tm - t1)) > 1e-11 * length)
    data = {"type": "quadratic", "t_start": t0, "t_end": t1, "t_mid": tm, "y_start": y0, "y_mid": ym, "y_end": y1}
    y = parse("x", [data])
    assert value(y, t0) == y0
    assert value(y, t1) == y1
    if t0 <= tm <= t1:
        assert value(y, tm) == ym


def test_times_that_fall_together_in_float32_give_the_end_and_no_division_by_zero():
    assert linear.linear(1.0, 1.0, 1.0, 2.0, 3.0) == 3.0
    for t0, tm, t1 in ((1.0, 1.0, 2.0), (1.0, 2.0, 2.0), (1.0, 0.5, 1.0)):
        assert quadratic.quadratic(1.0, t0, t1, tm, 2.0, 5.0, 3.0) == 3.0


def test_quadratic_reproduces_a_parabola():
    def parabola(t):
        return 2.0 - 3.0 * t + 0.5 * t * t

    y = parse("x", {"at": 1.0, "until": 5.0, "quadratic": {"y_start": parabola(1.0), "y_mid": parabola(2.5), "t_mid": 2.5, "y_end": parabola(5.0)}})
    half_way = parse("x", {"at": 1.0, "until": 5.0, "quadratic": [parabola(1.0), parabola(3.0), parabola(5.0)]})
    for k in range(81):
        t = 1.0 + 0.05 * k
        assert value(y, t) == pytest.approx(parabola(t), abs=1e-13)
        assert value(half_way, t) == pytest.approx(parabola(t), abs=1e-13)


def test_sine_has_its_amplitude_frequency_phase_and_offset():
    y = parse("x", {"at": 2.0, "sine": {"amplitude": 3.0, "frequency": 0.25, "phase": math.pi / 2, "offset": 1.0}})
    assert [value(y, t) for t in (2.0, 3.0, 4.0, 5.0, 6.0)] == pytest.approx([4.0, 1.0, -2.0, 1.0, 4.0])
    assert parse("x", {"at": 2.0, "sine": [3.0, 0.25, math.pi / 2, 1.0]}) == y


@pytest.mark.parametrize(("sweep", "half_way"), [("linear", 4.5), ("logarithmic", 2.0 * math.sqrt(3.5))])
def test_chirp_shows_its_frequency_at_every_time(sweep, half_way):
    f0, f1, length = 2.0, 7.0, 20.0
    y = parse("x", {"for": length, "chirp": {"amplitude": 1.0, "f_start": f0, "f_end": f1, "sweep": sweep}})
    quarter = parse("x", {"for": length, "chirp": {"amplitude": 1.0, "f_start": f0, "f_end": f1, "sweep": sweep, "phase": math.pi / 2}})

    def frequency(t):
        """The turn of the phase over a short time, from the sine and the cosine of it."""
        h = 1e-4
        before = math.atan2(value(y, t - h), value(quarter, t - h))
        after = math.atan2(value(y, t + h), value(quarter, t + h))
        return math.remainder(after - before, 2.0 * math.pi) / (2.0 * h) / (2.0 * math.pi)

    assert frequency(0.001) == pytest.approx(f0, rel=1e-3)
    assert frequency(0.5 * length) == pytest.approx(half_way, rel=1e-6)
    assert frequency(length - 0.001) == pytest.approx(f1, rel=1e-3)


def test_a_logarithmic_chirp_that_hardly_sweeps_is_a_sine():
    y = parse("x", {"for": 100.0, "chirp": {"amplitude": 1.0, "f_start": 3.0, "f_end": 3.0 * (1.0 + 1e-13), "sweep": "logarithmic"}})
    same = parse("x", {"for": 100.0, "sine": [1.0, 3.0]})
    for k in range(100):
        assert value(y, 0.97 * k) == pytest.approx(value(same, 0.97 * k), abs=1e-9)


@given(st.floats(-50.0, 50.0).filter(lambda x: x != 0.0))
def test_growth_is_accurate_on_both_sides_of_its_series(x):
    assert chirp_file.growth(x) == pytest.approx(math.expm1(x) / x, rel=1e-13)


def test_steps_take_effect_at_their_times():
    y = parse("x", {"at": 1.0, "steps": {"t": [0.5, 2.0], "y": [3.0, -1.0], "initial": 0.25}})
    assert [value(y, t) for t in (0.9, 1.0, 1.49, 1.5, 2.99, 3.0, 99.0)] == [0.0, 0.25, 0.25, 3.0, 3.0, -1.0, -1.0]
    assert parse("x", {"at": 1.0, "steps": [[0.5, 3.0], [2.0, -1.0]]}) == parse("x", {"at": 1.0, "steps": {"t": [0.5, 2.0], "y": [3.0, -1.0]}})


@pytest.mark.parametrize("order", list(prbs.TAPS))
def test_prbs_is_of_maximal_length_and_balanced(order):
    """All windows of `order` bits but all-zero occur once in a period: no shorter period, one more high than low."""
    bits = prbs.bits(order, 1)
    n = 2**order - 1
    assert len(bits) == n
    assert sum(bits) == 2 ** (order - 1)
    twice = bits + bits
    windows = {int("".join(map(str, twice[k : k + order])), 2) for k in range(n)}
    assert windows == set(range(1, n + 1))


def test_prbs_repeats_after_its_period_and_has_the_spectrum_of_noise():
    n, dwell = 31, 0.1
    y = parse("x", {"prbs": {"dwell": dwell, "order": 5, "low": -2.0, "high": 2.0}})
    once = [value(y, (k + 0.5) * dwell) for k in range(n)]
    assert [value(y, (k + 0.5) * dwell) for k in range(n, 4 * n)] == once * 3
    for shift in range(1, n):
        assert sum(a * b for a, b in zip(once, once[shift:] + once[:shift], strict=True)) == pytest.approx(-4.0)


def test_prbs_changes_on_the_tick_it_belongs_to():
    y = parse("x", {"prbs": {"dwell": 0.1, "order": 7}})
    levels = [value(y, (k + 0.5) * 0.1) for k in range(500)]
    assert [value(y, float(k) * 0.01) for k in range(5000)] == [levels[k // 10] for k in range(5000)]


def test_prbs_seed_moves_the_start():
    starts = {tuple(prbs.bits(6, seed)) for seed in range(1, 64)}
    assert len(starts) == 63
    assert prbs.bits(6, 0) == prbs.bits(6, 63)
    assert prbs.bits(6, 64) == prbs.bits(6, 1)


def test_ramp_hold_climbs_stairs():
    y = parse("x", {"at": 10.0, "ramp_hold": {"levels": [0.0, 1.0, -1.0], "ramp": 2.0, "hold": 3.0}})
    at = {10.0: 0.0, 11.0: 0.5, 12.0: 1.0, 14.9: 1.0, 15.0: 1.0, 16.0: 0.0, 17.0: -1.0, 20.0: -1.0, 1e6: -1.0}
    for t, wanted in at.items():
        assert value(y, t) == pytest.approx(wanted, abs=1e-12), t


@settings(max_examples=examples(50))
@given(
    st.lists(st.tuples(st.integers(-1000, 1000), REALS), min_size=1, max_size=30, unique_by=lambda p: p[0]),
    st.sampled_from(["linear", "held"]),
    st.floats(-10.0, 10.0),
)
def test_recorded_hits_its_points_and_holds_its_ends(pairs, between, at):
    pairs = sorted((0.01 * k, y) for k, y in pairs)
    ts, ys = [t for t, _ in pairs], [y for _, y in pairs]
    y = parse(
        "x",
        [{"at": -100.0, "until": -50.0, "constant": 7.0}, {"at": at - 20.0, "recorded": {"t": [20.0 + t for t in ts], "y": ys, "between": between}}],
    )
    first = at - 20.0
    assert [value(y, first + (20.0 + t)) for t in ts] == ys
    assert value(y, first) == ys[0]
    assert value(y, first + 20.0 + ts[-1] + 1.0) == ys[-1]
    for (t0, y0), (t1, y1) in itertools.pairwise(pairs):
        middle = value(y, first + 20.0 + 0.5 * (t0 + t1))
        assert middle == (y0 if between == "held" else pytest.approx(0.5 * (y0 + y1), rel=1e-6, abs=1e-3))


def test_two_recordings_keep_apart():
    y = parse("x", [{"for": 2.0, "recorded": [[0.0, 1.0], [1.0, 3.0]]}, {"at": 2.0, "recorded": [[0.0, -1.0], [1.0, -5.0], [2.0, -7.0]]}])
    assert [value(y, t) for t in (0.0, 0.5, 1.0, 1.5)] == [1.0, 2.0, 3.0, 3.0]
    assert [value(y, t) for t in (2.5, 3.0, 3.5, 9.0)] == [-3.0, -5.0, -6.0, -7.0]


def test_recorded_from_a_file_equals_recorded_in_place(tmp_path):
    (tmp_path / "run.csv").write_text("time, speed,steer\n0.0,1,0.1\n0.5,2,0.2\n\n1.5,3,-0.1\n")
    y = parse("x", {"recorded": {"file": "run.csv", "y_column": "steer"}}, folder=tmp_path)
    assert y == parse("x", {"recorded": [[0.0, 0.1], [0.5, 0.2], [1.5, -0.1]]})
    assert parse("x", {"recorded": {"file": "run.csv"}}, folder=tmp_path) == parse("x", {"recorded": {"t": [0.0, 0.5, 1.5], "y": [1, 2, 3]}})


EXAMPLES = {
    "constant": 1.5,
    "linear": [0, 1],
    "quadratic": [0, 1, 0],
    "sine": [1, 2],
    "chirp": [1, 0.1, 5],
    "steps": [[0, 1], [1, 2]],
    "prbs": 0.1,
    "ramp_hold": {"levels": [0, 1], "ramp": 0.5},
    "recorded": [[0, 1], [1, 2]],
}


@pytest.mark.parametrize("name", list(KINDS))
def test_every_kind_is_its_own_and_makes_a_sound_track(name):
    """Each kind in the table has its line in the evaluator: a missing one would give column a, a constant."""
    y = parse("x", {"at": 1.0, "for": 2.0, name: EXAMPLES[name]})
    check(y)
    seen = {value(y, 1.0 + 0.01 * k) for k in range(201)}
    assert all(map(math.isfinite, seen))
    assert (len(seen) == 1) == (name == "constant")
    held = value(y, 3.0)
    assert value(y, 50.0) == held
    assert value(y, 0.99) == 0.0


@settings(max_examples=examples(60))
@given(st.lists(st.sampled_from([{name: data} for name, data in EXAMPLES.items()]), min_size=1, max_size=5), st.floats(-1.0, 20.0))
def test_a_sum_is_the_sum(parts, t):
    parts = [{"at": 0.3 * k, "for": 2.0, **part} for k, part in enumerate(parts)]
    total = 0.0
    for part in parts:
        total = total + value(parse("x", part), t)
    assert value(parse("x", {"sum": [*parts, 0.0]}), t) == total


def test_a_track_that_points_nowhere_is_refused():
    assert list(problems(Track(terms=(0.0, 2.0))))
    assert list(problems(Track(terms=())))
    lost = Track(intervals=tuple(track.Interval(first=1.0, n=5.0)))
    assert any("points 1 to 6" in text for text in problems(lost))
