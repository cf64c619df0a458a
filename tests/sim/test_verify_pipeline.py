"""Replaying the reference cases of the command pipeline: all pass, a wrong value does not, and a malformed file is told what is wrong."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pushrod.core.errors import VerifyError
from pushrod.sim.verify import allocation, pipeline
from pushrod.sim.verify.table import find, replay

FOLDER = Path(__file__).resolve().parents[1] / "golden" / "pipeline"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A folder of cases that a test may spoil."""
    for file in FOLDER.iterdir():
        shutil.copyfile(file, tmp_path / file.name)
    return tmp_path


def change(file: Path, row: int, column: str, cell: str) -> None:
    lines = [line.split(",") for line in file.read_text().splitlines()]
    lines[row][lines[0].index(column)] = cell
    file.write_text("\n".join(map(",".join, lines)))


def edit(file: Path, how: Callable[[list[dict[str, Any]]], object]) -> None:
    sets = json.loads(file.read_text())
    how(sets)
    file.write_text(json.dumps(sets))


def test_the_reference_cases_are_within_tolerance() -> None:
    references = find([FOLDER])
    assert [(r.file.name, r.format) for r in references] == [("alloc_cases.csv", "allocation"), ("pipeline_params.json", "pipeline")]
    verdicts = [replay(reference) for reference in references]
    assert [verdict.rows for verdict in verdicts] == [160, 1000]
    for verdict in verdicts:
        assert verdict.passed
        assert verdict.worst_error <= 1e-12


def test_a_file_of_ticks_stands_for_its_parameters() -> None:
    assert find([FOLDER / "pipeline_cases.csv"]) == find([FOLDER / "pipeline_params.json"])


@pytest.mark.parametrize("column", [name for name in pipeline.COLUMNS if name not in pipeline.GIVEN])
def test_every_column_of_the_pipeline_binds(copy: Path, column: str) -> None:
    file = copy / "pipeline_cases.csv"
    header, *lines = file.read_text().splitlines()
    was = lines[30].split(",")[header.split(",").index(column)]
    change(file, 31, column, str(1 - int(was)) if column.startswith("sat") else str(float(was) + 3e-9))
    verdict = pipeline.replay(copy / "pipeline_params.json")
    assert not verdict.passed
    assert verdict.worst_column == column
    assert "id 1 k 5" in verdict.note


@pytest.mark.parametrize("column", allocation.ANSWERS)
def test_every_column_of_the_allocations_binds(copy: Path, column: str) -> None:
    file = copy / "alloc_cases.csv"
    header, *lines = file.read_text().splitlines()
    was = lines[7].split(",")[header.split(",").index(column)]
    change(file, 8, column, str(1 - int(was)) if column.endswith("sat") else str(float(was) - 3e-9))
    verdict = allocation.replay(file)
    assert (verdict.passed, verdict.worst_column) == (False, column)


def test_the_trim_is_put_back_before_residuals_are_compared(copy: Path) -> None:
    """Without it the residual of an unsaturated tick with a trim would be 0, and the file would say otherwise."""
    file = copy / "pipeline_cases.csv"
    header, *lines = file.read_text().splitlines()
    names = header.split(",")
    rows = [dict(zip(names, line.split(","), strict=True)) for line in lines]
    calm = [row for row in rows if int(row["id"]) % 2 and row["sat_any"] == "0" and abs(float(row["aw_s"])) > 1e-3]
    assert calm
    assert pipeline.replay(copy / "pipeline_params.json").passed


@pytest.mark.parametrize(
    ("row", "column", "cell", "says"),
    [
        (3, "u_L", "x", "row 4, column u_L: 'x' is not a finite number"),
        (3, "u_L", "nan", "row 4, column u_L: 'nan' is not a finite number"),
        (3, "sat_L", "2", "row 4, column sat_L: '2' is a flag"),
        (3, "src", "PILOT", "src = 'PILOT'; it must be one of AUTOPILOT, MANUAL, TEST"),
        (3, "id", "99", "id '99', for which there is no parameter set"),
        (3, "k", "7", "is at k = 7; the next tick is 2"),
        (3, "dt", "0", "dt = 0 s; a tick must be longer than 0"),
        (0, "u_R", "u_r", "lacks the columns u_R"),
    ],
)
def test_a_malformed_tick_is_told_by_row_and_column(copy: Path, row: int, column: str, cell: str, says: str) -> None:
    change(copy / "pipeline_cases.csv", row, column, cell)
    with pytest.raises(VerifyError) as caught:
        replay(find([copy / "pipeline_params.json"])[0])
    assert says in str(caught.value)
    assert "pipeline_cases.csv" in str(caught.value)


@pytest.mark.parametrize(
    ("how", "says"),
    [
        (lambda sets: sets[2]["params"].update({"act.sw.u_LR_max": 1.5}), "id 2: act.sw.u_LR_max = 1.5 lies above act.hw.u_LR_max"),
        (lambda sets: sets[2]["params"].pop("slew.up"), "id 2: act.slew.up is missing"),
        (lambda sets: sets[2]["params"].update({"act.sw.u_s_maxx": 1.0}), "did you mean 'act.sw.u_s_max'"),
        (lambda sets: sets[2]["params"].update({"act.alloc.policy": "ALLOC_LUCK"}), "act.alloc.policy = 'ALLOC_LUCK' is not one of ALLOC_SPEED"),
        (lambda sets: sets[2]["params"].update({"slew.up": "fast"}), "slew.up = 'fast' is not a number"),
        (lambda sets: sets[2]["params"].update({"act.slew.up": 1.0}), "given twice"),
        (lambda sets: sets[2].update(id=1), "the id 1 is there twice"),
        (lambda sets: sets[2].pop("id"), "entry 2 must have an id and params"),
        (lambda sets: sets.append({"id": 77, "params": sets[0]["params"]}), "holds no ticks for the parameter set 77"),
    ],
)
def test_a_malformed_parameter_set_is_told_with_every_reason(copy: Path, how: Callable[[list[dict[str, Any]]], object], says: str) -> None:
    edit(copy / "pipeline_params.json", how)
    with pytest.raises(VerifyError) as caught:
        replay(find([copy / "pipeline_params.json"])[0])
    assert says in str(caught.value).replace("lies above hw", "lies above act.hw")


def test_several_mistakes_are_told_at_once(copy: Path) -> None:
    edit(
        copy / "pipeline_params.json",
        lambda sets: sets[0]["params"].update({"act.sw.u_LR_max": 1.5, "act.shp.ap.u_s_scale": -1.0, "trim.gain_L": 0.0}),
    )
    with pytest.raises(VerifyError) as caught:
        pipeline.replay(copy / "pipeline_params.json")
    assert len(str(caught.value).splitlines()) == 3


def test_no_mistake_hides_another_in_whatever_set(copy: Path) -> None:
    def spoil(sets: list[dict[str, Any]]) -> None:
        sets[0]["params"].update({"act.sw.u_LR_max": 20.0, "act.sw.u_s_min": 3.0, "act.sw.u_sp": 1.0, "trim.gain_L": "x"})
        sets[1]["params"].pop("act.hw.u_LR_max")
        sets[1]["params"].update({"act.sw.u_s_min": 3.0})
        sets.append({"id": 90})

    edit(copy / "pipeline_params.json", spoil)
    with pytest.raises(VerifyError) as caught:
        pipeline.replay(copy / "pipeline_params.json")
    told = [line.partition(": ")[2] for line in str(caught.value).splitlines()]
    for says in (
        "id 0: act.sw.u_LR_max = 20 - is outside",
        "id 0: act.sw.u_LR_max = 20 lies above hw.u_LR_max",
        "id 0: act.sw.u_s_min = 3 lies above",
        "id 0: there is no parameter named 'act.sw.u_sp'",
        "id 0: trim.gain_L = 'x' is not a number",
        "id 1: act.hw.u_LR_max is missing",
        "id 1: act.sw.u_s_min = 3 lies above",
        "entry 40 must have an id and params",
    ):
        assert len([line for line in told if line.startswith(says)]) == 1, (says, told)
    assert len(told) == 8


@pytest.mark.parametrize("gone", ["pipeline_params.json", "pipeline_cases.csv"])
def test_half_of_a_pair_is_not_passed_over(copy: Path, gone: str) -> None:
    (copy / gone).unlink()
    references = [reference for reference in find([copy]) if reference.format == "pipeline"]
    assert len(references) == 1
    with pytest.raises(VerifyError, match=f"{gone} beside it, which is not there"):
        replay(references[0])


@pytest.mark.parametrize(
    ("row", "column", "cell", "says"),
    [
        (5, "w_s", "0", "w_s = 0 - is outside its legal range"),
        (5, "sw_max", "-2", "the limits leave nothing"),
        (5, "id", "3", "the id '3' was there before"),
        (0, "wt_sat", "wt_full", "lacks the columns wt_sat"),
        (5, "u_s_cmd", "inf", "'inf' is not a finite number"),
    ],
)
def test_a_malformed_allocation_is_told(copy: Path, row: int, column: str, cell: str, says: str) -> None:
    change(copy / "alloc_cases.csv", row, column, cell)
    with pytest.raises(VerifyError) as caught:
        replay(find([copy / "alloc_cases.csv"])[0])
    assert says in str(caught.value)
