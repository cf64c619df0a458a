"""What is found in results whose making is known."""

import numpy as np
import pytest
from found_results import made_up

from pushrod.sweep.figure import figures
from pushrod.sweep.findings import find
from pushrod.sweep.page_panel import share_panel
from pushrod.sweep.worst import Bound


def test_the_yield_counts_samples_that_pass_everywhere() -> None:
    results = made_up()
    found = find(results)
    assert found.share is not None
    passed = results.column("passed").reshape(-1, 2)
    assert (found.samples, found.share.of) == (4000, 4000)
    assert found.share.passed == passed.all(axis=1).sum()
    assert found.share.lo < 0.5 < found.share.hi + 0.03  # a below a half: 4 a + 1 <= 3
    assert [one.passed for _, one in found.by_scenario] == passed.sum(axis=0).tolist()


def test_parameters_are_in_the_order_of_what_they_decide() -> None:
    found = find(made_up())
    assert found.parameters[0].column.name == "a"
    assert [one.column.name for one in found.constants] == ["only"]
    assert pytest.approx((16 / 12) / (16 / 12 + 0.01), abs=0.01) == found.influence["y"]["a"].S
    assert found.influence["y"]["a"].rho > 0.85
    assert not found.influence["y"]["b"].is_seen
    assert pytest.approx(1.0, abs=0.05) == found.influence["z"]["b"].S


def test_where_all_pass_the_margin_puts_them_in_order() -> None:
    results = made_up()
    found = find(made_up(bounds=(Bound("y", -np.inf, 50.0),), column=lambda name: np.ones(8000, bool) if name == "passed" else results.column(name)))
    assert found.share is not None
    assert found.share.passed == 4000
    assert found.parameters[0].column.name == "a"
    assert found.maps == ()
    assert all(one.margin > 0.0 for one in found.worst)


def test_without_criteria_nothing_is_judged() -> None:
    found = find(made_up(bounds=()))
    assert found.share is None
    assert (found.missed, found.worst, found.by_scenario) == ((), (), ())
    assert "" not in found.influence


def test_a_criterion_of_one_scenario_is_missed_there_alone() -> None:
    results = made_up(bounds=(Bound("y", -np.inf, 3.0, 1), Bound("y", -np.inf, 4.5)))
    y, scenario = results.column("y"), results.column("scenario")
    one, other = find(results).missed
    assert one.runs == ((y > 3.0) & (scenario == 1)).sum()
    assert other.runs == (y > 4.5).sum()
    assert one.alone == ((y > 3.0) & (scenario == 1) & (y <= 4.5)).sum()


def test_the_worst_are_those_that_are_furthest_off() -> None:
    results = made_up()
    found = find(results)
    order = np.argsort(-np.asarray(results.column("y")))[:10]
    assert [one.run for one in found.worst] == order.tolist()
    assert {one.scenario for one in found.worst} == {"shifted"}
    assert found.worst[0].drawn["a"] == results.column("a")[order[0]]


def test_the_map_counts_every_sample_once() -> None:
    one = find(made_up()).maps[0]
    assert one.x.column.name == "a"
    assert one.runs.sum() == 4000
    seen = one.runs > 0
    assert np.nansum(np.where(seen, one.mean * one.runs, 0.0)) == pytest.approx(made_up().column("passed").reshape(-1, 2).all(axis=1).sum())


@pytest.mark.parametrize("design", ["random", "lhs"])
def test_where_it_passes_counts_samples_that_pass_in_every_scenario(design: str) -> None:
    """Two scenarios are two runs of one machine: counted as samples, intervals would be too narrow by the square root of 2."""
    results = made_up(design=design)
    found = find(results)
    passed = results.column("passed").reshape(-1, 2).all(axis=1)
    a = next(one for one in found.parameters if one.column.name == "a")
    assert a.runs.sum() == 4000
    assert a.passed.sum() == passed.sum() == found.share.passed
    panel = share_panel(a)
    assert sum(panel["count"]) == 4000
    x = results.values("a")[::2]
    at = a.bins.of(x)
    assert a.runs.sum(axis=0).tolist() == np.bincount(at, minlength=a.bins.n).tolist()
    assert a.passed.sum(axis=0).tolist() == np.bincount(at[passed], minlength=a.bins.n).tolist()


def test_what_decides_over_passing_decides_over_samples() -> None:
    """y = 4 a + scenario: a sample passes where 4 a <= 2, whatever the first scenario says of it alone."""
    found = find(made_up())
    S = found.influence[""]["a"].S
    assert pytest.approx(1.0, abs=0.06) == S


def test_all_figures_are_plain_data() -> None:
    import msgspec

    told = msgspec.json.decode(msgspec.json.encode(figures(find(made_up()))))
    assert told["pass"]["of"] == 4000
    assert told["metrics"]["z"]["never"] == int(np.isinf(made_up().column("z")).sum())
    assert told["influence"]["pass"]["a"]["S"] > 0.5
    assert told["worst"][0]["criterion"] == {"metric": "y", "low": None, "high": 3.0}
