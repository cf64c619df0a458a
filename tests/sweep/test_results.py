"""Results as they lie in a folder: told as they are, incomplete, damaged, or not there."""

from pathlib import Path

import numpy as np
import pytest

from pushrod.core.errors import ConfigError, StudyError
from pushrod.sweep import parts
from pushrod.sweep.findings import find
from pushrod.sweep.results import drawn_as, results
from pushrod.sweep.run import run
from pushrod.sweep.study import load, shipped
from small_study import STUDY, small


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("results")
    run(small(made), made / "out")
    return made / "out"


def test_what_is_found_is_what_lies_there(folder: Path) -> None:
    found, frame = find(results(folder)), parts.read(folder)
    assert found.share is not None
    assert (found.share.passed, found.share.of) == (int(frame["passed"].sum()), 200)
    peak = next(one for one in found.metrics if one.column.name == "peak")
    assert peak.spread.most == frame["peak"].max()
    assert peak.column.unit == "rad/s"
    told = {one.name: one.about for one in found.results.parameters}
    assert told["bus.delay"] == "uniform, 2 ms … 12 ms"
    assert told["lag.T"] == "normal, mean nominal, sd 20 %"
    assert dict(found.results.facts)["Design"] == "Latin hypercube, seed 7"
    assert dict(found.results.facts)["Computed on"] == "cpu, float64"


def test_a_study_that_is_not_done_is_told_as_far_as_it_is(folder: Path, tmp_path: Path) -> None:
    import shutil

    part = shutil.copytree(folder, tmp_path / "part")
    (part / "part-000001.parquet").unlink()
    found = find(results(part))
    assert (found.found, found.samples, found.results.runs) == (136, 136, 200)
    for file in part.glob("part-*.parquet"):
        file.unlink()
    with pytest.raises(StudyError, match="no run of the study small is there yet"):
        results(part)


def test_a_damaged_part_is_not_reported(folder: Path, tmp_path: Path) -> None:
    import shutil

    part = shutil.copytree(folder, tmp_path / "part")
    file = part / "part-000002.parquet"
    data = bytearray(file.read_bytes())
    data[len(data) // 3] ^= 0xFF
    file.write_bytes(data)
    with pytest.raises(StudyError, match="part-000002.parquet: is damaged"):
        results(part)


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"log_uniform": ["50 %", "200 %"]}, "log-uniform, 50 % … 200 %"),
        ({"triangular": ["80 %", "nominal", "150 %"]}, "triangular, 80 % … nominal … 150 %"),
        ({"discrete": [True, False], "weights": [19, 1]}, "one of true, false, weighed 19, 1"),
        ({"discrete": ["loss"]}, "loss"),
        ({"weights": [1, 2], "discrete": [0, 1]}, "one of 0, 1, weighed 1, 2"),
        ({"fit": "fit.yaml", "scale": 2}, "by the errors of fit.yaml, 2 times as large"),
        ({"levels": 5, "uniform": [1, 2]}, "uniform, 1 … 2"),
    ],
)
def test_distributions_are_told_in_words(entry: dict[str, object], words: str) -> None:
    assert drawn_as(entry) == words


def test_sets_are_drawn_of_the_runs_of_the_study(tmp_path: Path) -> None:
    """Of a servo that goes round nothing: what counts is that each pair of values has its own run."""
    text = STUDY.replace("noise: {uniform: [0.1, 0.5]}", "noise: {discrete: [0.1, 0.5]}").replace(
        "bus.delay: {uniform: [2 ms, 12 ms]}", "bus.delay: {discrete: [2 ms, 5 ms, 12 ms]}"
    )
    study = small(tmp_path, text + "attained: {across: w, up: torque_ach, from: 50 ms, columns: bus.delay, rows: noise}\n", runs=60)
    run(study, tmp_path / "out")
    made = results(tmp_path / "out").sets
    assert made is not None
    assert (made.columns.tolist(), made.rows.tolist()) == ([0.002, 0.005, 0.012], [0.1, 0.5])
    assert made.wanted.units == ("rad/s", "N.m")
    ends = [cell.x[-1] for line in made.cells for cell in line if cell is not None]
    assert len(set(ends)) == 6
    assert all(len(cell.x) == 51 for line in made.cells for cell in line if cell is not None)  # every tick from 50 ms on
    assert np.max([cell.share for line in made.cells for cell in line if cell is not None]) == 1.0


def test_sets_of_what_is_not_there_are_refused_by_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        small(tmp_path, STUDY + "attained: {across: v, up: torque_ach, from: 1 s, columns: lag.T, rows: rate.limit}\n")
    said = str(caught.value)
    assert "attained.across: there is no signal named 'v'" in said
    assert "attained.rows: there is no parameter that varies in this study named 'rate.limit'" in said
    assert "attained.from: from 1 s is not before the end of the run at 0.1 s" in said


@pytest.mark.parametrize("name", sorted(shipped()))
def test_every_shipped_study_can_be_read(name: str) -> None:
    study = load(name)
    assert study.name == name
    assert study.about
    assert study.metrics
