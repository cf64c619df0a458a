"""The Saltelli design: rows that differ in one factor, noise that does not, and total indices of functions that are known."""

from pathlib import Path

import numpy as np
import pytest
from known_models import MODELS, Model, drawn_by

from pushrod.core.errors import ConfigError
from pushrod.sweep import parts
from pushrod.sweep.chunk import run_chunk, run_samples
from pushrod.sweep.design import replicates
from pushrod.sweep.draw import draw
from pushrod.sweep.figure import figures
from pushrod.sweep.findings import find
from pushrod.sweep.one import one, row
from pushrod.sweep.page import page
from pushrod.sweep.results import results
from pushrod.sweep.run import run
from pushrod.sweep.total import totals
from small_study import STUDY, small

ROWS = 6  # A, B and one for each of four factors
FACTORS = [("bus.delay", "lag.T"), ("body.J",), ("noise",), ("initial.drive.body.w",)]
GROUP = """  drive:
    correlated:
      mean: {bus.delay: 7 ms, lag.T: nominal}
      sd: {bus.delay: 4 ms, lag.T: 10 %}
      correlation: [[1, 0.9], [0.9, 1]]
"""
TEXT = (
    (STUDY[: STUDY.index("  bus.delay")] + GROUP + STUDY[STUDY.index("  body.J") :])
    .replace("design: lhs", "design: saltelli")
    .replace("runs: 200", f"runs: {64 * ROWS}")
    .replace("below: 0.25 N.m", "below: 0.22 N.m")
)


def by_base(column: np.ndarray) -> np.ndarray:
    return np.asarray(column).reshape(-1, ROWS)


def test_a_mixed_row_is_the_first_with_one_factor_of_the_second(tmp_path: Path) -> None:
    """Also of a group that is drawn together, of which some samples are drawn again."""
    study = small(tmp_path, TEXT)
    drawn = draw(study, 0, study.runs)
    for f, paths in enumerate(FACTORS):
        for path in paths:
            x = by_base(drawn[path])
            assert (x[:, 0] != x[:, 1]).all()
            for mixed in range(4):
                assert np.array_equal(x[:, 2 + mixed], x[:, 1 if mixed == f else 0])
    assert np.corrcoef(by_base(drawn["body.J"])[:, :2].T)[0, 1] == pytest.approx(0.0, abs=0.4)
    for first, last in ((0, 1), (5, 13), (383, 384)):
        assert all(np.array_equal(values, drawn[path][first:last]) for path, values in draw(study, first, last).items())


def test_rows_of_a_base_point_share_their_noise_but_for_the_second(tmp_path: Path) -> None:
    """The rms of the request follows the noise and its size alone: other factors leave it as it is, to the last bit."""
    study = small(tmp_path, TEXT)
    rms = by_base(run_samples(study, 0, study.runs).columns["rms"])
    for f in (0, 1, 3):
        assert np.array_equal(rms[:, 2 + f], rms[:, 0])
    assert (rms[:, 4] != rms[:, 0]).all()
    noise = by_base(draw(study, 0, study.runs)["noise"])
    assert abs(np.corrcoef(rms[:, 4] - rms[:, 0], noise[:, 4] - noise[:, 0])[0, 1]) > 0.5
    assert len(np.unique(rms[:, (0, 1, 4)])) == 3 * 64


def test_any_row_alone_gives_the_same_bits(tmp_path: Path) -> None:
    study = small(tmp_path, TEXT)
    whole = run_samples(study, 0, study.runs).columns
    cut = study.cut(50)
    for name, column in whole.items():
        assert np.array_equal(np.concatenate([run_chunk(cut, k, threads=1).columns[name] for k in range(cut.chunks)]), column), name
    for index in (0, 1, 2, 5, 50, 383):
        assert row(study, index)["peak"] == whole["peak"][index]
        assert one(study, index).simulate().columns["w"].max() == whole["peak"][index]


@pytest.mark.parametrize(("runs", "use"), [(385, "384 or 390"), (10, "384"), (383, "384")])
def test_a_number_of_runs_that_is_none_of_the_design_is_refused(tmp_path: Path, runs: int, use: str) -> None:
    with pytest.raises(ConfigError, match=f"6 rows for each of at least 64 base points .*, got {runs}; use {use}$"):
        small(tmp_path, TEXT, runs=runs)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_total_indices_of_known_functions(model: Model) -> None:
    points = 2048
    y = model.y(drawn_by("saltelli", 5 * points, 3).u)
    found = totals(np.arange(5 * points), [y], 5, replicates(points))
    for (ST, error), true in zip(found, model.ST, strict=True):
        assert pytest.approx(true, abs=0.03) == ST
        assert abs(ST - true) < 1.6 * error
    twice = totals(np.arange(5 * points), [y, y + 100.0], 5, replicates(points))
    assert np.array(twice) == pytest.approx(np.array(found), rel=1e-9)


def test_base_points_that_are_not_whole_are_left_out() -> None:
    rng = np.random.default_rng(1)
    sample = np.arange(500)
    y = rng.normal(size=500)
    short = totals(sample[:-3], [y[:-3]], 5, 16)
    assert np.isfinite(np.array(short)).all()
    y[7] = np.inf
    assert np.isfinite(np.array(totals(sample, [y], 5, 16))).all()
    assert np.isnan(np.array(totals(sample, [np.zeros(500)], 5, 16))).all()


def test_a_study_reports_total_indices(tmp_path: Path) -> None:
    run(small(tmp_path, TEXT), tmp_path / "out")
    found = find(results(tmp_path / "out"))
    told = figures(found)["influence"]
    assert told["rms"]["noise"]["ST"] > 0.05
    for path in ("bus.delay", "lag.T", "body.J", "initial.drive.body.w"):
        assert told["rms"][path]["ST"] == 0.0  # it has no part in it, and noise is the same
    assert told["peak"]["bus.delay"]["ST"] == told["peak"]["lag.T"]["ST"] > 0.0  # of the group
    assert told["peak"]["body.J"]["ST"] + told["peak"]["body.J"]["ST_error"] > told["peak"]["body.J"]["S"] - told["peak"]["body.J"]["S_error"]
    assert "Total Sobol indices" in page(found)
    assert found.share is not None
    assert found.share.lo < found.share.value < found.share.hi
    for file in sorted((tmp_path / "out").glob("part*"))[-1:]:
        file.unlink()
    partial = find(results(tmp_path / "out"))
    assert partial.samples < 384
    assert np.isfinite(partial.influence["peak"]["body.J"].ST)
    assert len(parts.read(tmp_path / "out")) == partial.found
