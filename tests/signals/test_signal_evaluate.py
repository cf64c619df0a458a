"""Which interval counts at a time, and what finding it costs."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushrod.signals import Track, parse, value

RAMP = {"at": 1, "for": 2, "linear": [5, 6]}


def at(data, *ts):
    y = parse("x", data)
    return [value(y, t) for t in ts]


def test_before_all_is_zero_and_after_all_holds_the_end():
    assert at(RAMP, 0.0, math.nextafter(1.0, 0.0), 1.0, 3.0, math.nextafter(3.0, 4.0), 1e9, math.inf, -math.inf) == [0, 0, 5, 6, 6, 6, 6, 0]


def test_a_gap_holds_the_end_value_before_it():
    assert at([RAMP, {"at": 4, "for": 1, "linear": [9, 8]}], 3.5, 4.0, 5.0, 6.0) == [6, 9, 8, 8]
    assert at([{"at": 0, "for": 1, "constant": 3}, {"at": 2, "constant": 4}], 1.5, 2.5) == [3, 4]


def test_the_earlier_interval_wins_a_shared_point():
    both = [{"at": 0, "for": 2, "linear": [0, 2]}, {"for": 2, "linear": [10, 12]}]
    assert at(both, 2.0, math.nextafter(2.0, 3.0)) == [2, pytest.approx(10)]
    assert at([{"at": 2, "for": 0, "constant": 1}, {"at": 2, "constant": 7}], 1.9, 2.0, 2.1) == [0, 1, 7]


def test_an_open_interval_lasts_until_the_next_one():
    data = [{"at": 0, "constant": 1}, {"at": 2, "linear": [1, 3]}, {"at": 4, "sine": [1, 0.25]}]
    assert at(data, 0.0, 1.0, 3.0, 4.5, 5.0) == pytest.approx([1, 1, 2, math.sin(math.pi / 4), 1])


def test_order_of_listing_does_not_matter():
    data = [{"at": k, "for": 0.5, "constant": k} for k in (3, 1, 4, 2)]
    assert parse("x", data) == parse("x", sorted(data, key=lambda item: item["at"]))


@given(st.lists(st.integers(0, 60), min_size=2, max_size=20, unique=True), st.integers(-5, 130))
def test_the_binary_search_finds_what_a_scan_finds(edges, half):
    edges = sorted(edges)
    pairs = list(zip(edges[::2], edges[1::2], strict=False))
    t = 0.5 * half
    wanted = 0.0
    for k, (a, b) in enumerate(pairs):
        if a <= t <= b:
            wanted = k + (t - a) / (b - a)
            break
        if b < t:
            wanted = k + 1.0
    assert at([{"at": a, "until": b, "linear": [k, k + 1]} for k, (a, b) in enumerate(pairs)], t) == [pytest.approx(wanted, abs=1e-12)]


class Counted(tuple):
    """A table that counts how often it is read."""

    reads = 0

    def __getitem__(self, i):
        Counted.reads += 1
        return super().__getitem__(i)


def worst_reads(y, n):
    counted = Track(*map(Counted, y))
    worst = 0
    for k in range(101):
        Counted.reads = 0
        value(counted, 0.01 * k * n)
        worst = max(worst, Counted.reads)
    return worst


@pytest.mark.parametrize("kind", ["intervals", "points"])
def test_a_look_up_costs_the_logarithm_of_the_number_of_intervals(kind):
    def channel(n):
        if kind == "points":
            return parse("x", {"recorded": {"t": range(n), "y": range(n)}})
        return parse("x", [{"at": k, "for": 1, "constant": k} for k in range(n)])

    reads = [worst_reads(channel(n), n) for n in (16, 256, 4096, 65536)]
    steps = [b - a for a, b in itertools.pairwise(reads)]
    assert max(steps) <= 5  # four doublings, one comparison each
    assert reads[-1] < 50
