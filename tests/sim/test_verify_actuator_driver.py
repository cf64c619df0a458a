"""Reference runs of the delayed torque driver come out as recorded, and a run that differs is noticed."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from pushrod.core.errors import VerifyError
from pushrod.sim.verify.actuator_driver import claims, replay

FOLDER = Path(__file__).resolve().parents[1] / "golden" / "actuator_driver"
RUNS = sorted(FOLDER.glob("*.json"))
BINDING = [path for path in RUNS if path.name.startswith(("event_", "retain_", "ideal_"))]


def test_all_runs_are_there() -> None:
    assert len(RUNS) == 65
    assert len(BINDING) == 35


@pytest.mark.parametrize("path", BINDING, ids=lambda path: path.stem)
def test_reproduced(path: Path) -> None:
    assert claims(path)
    verdict = replay(path)
    assert verdict.passed, verdict
    assert verdict.binds
    assert verdict.rows > 0
    assert verdict.worst_error < (1e-9 if path.name.startswith("ideal_") else 1e-7)


@pytest.mark.parametrize("path", [path for path in RUNS if path not in BINDING], ids=lambda path: path.stem)
def test_the_later_version_is_read_too_and_does_not_bind(path: Path) -> None:
    assert claims(path)
    verdict = replay(path)
    assert verdict.passed
    assert not verdict.binds
    assert verdict.note == "does not bind"
    assert verdict.worst_error < 1e-6


def copied(name: str, to: Path, row: int = 0, column: str = "", by: float = 0.0, **changes: Any) -> Path:
    """A run with one number of one row moved, or other fields in the JSON."""
    run = json.loads((FOLDER / f"{name}.json").read_text()) | changes
    with (FOLDER / f"{name}.csv").open() as file:
        rows = list(csv.DictReader(file))
    if column:
        rows[row][column] = f"{float(rows[row][column]) + by:.12g}"
    with (to / "run.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    (to / "run.json").write_text(json.dumps(run))
    return to / "run.json"


@pytest.mark.parametrize(
    ("name", "column", "by"),
    [
        ("event_burst_sends", "th_y", 3e-7),
        ("event_burst_sends", "queued", 1),
        ("event_saturation", "sat", 1),
        ("event_wrap", "last_body_dt", -1e-6),
        ("retain_grow_delay", "wx", 3e-7),
        ("retain_grow_delay", "clock", 3e-7),
        ("ideal_d137", "qz", 2e-6),
        ("ideal_d137", "tx", 1e-3),
    ],
)
def test_a_difference_is_noticed_and_named(tmp_path: Path, name: str, column: str, by: float) -> None:
    verdict = replay(copied(name, tmp_path, row=-2, column=column, by=by))
    assert not verdict.passed
    assert verdict.worst_column == column
    assert "worst at" in verdict.note


def test_fixed_due_times_are_not_recomputed_ones(tmp_path: Path) -> None:
    assert not replay(copied("event_shrink_delay", tmp_path, variant="retain")).passed


@pytest.mark.parametrize("name", ["zoh_burst_sends", "closedloop_best_att"])
def test_what_does_not_bind_never_fails_but_says_that_it_is_off(tmp_path: Path, name: str) -> None:
    verdict = replay(copied(name, tmp_path, row=3, column="wx", by=1.0))
    assert not verdict.binds
    assert not verdict.failed
    assert not verdict.passed
    assert verdict.note.startswith("does not bind; worst at")


def made(to: Path, ops: list[list[Any]], rows: list[dict[str, Any]]) -> Path:
    (to / "made.json").write_text(json.dumps({"variant": "event", "ops": ops}))
    with (to / "made.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]) if rows else ["op_index"])
        writer.writeheader()
        writer.writerows(rows)
    return to / "made.json"


def test_every_kind_of_operation_is_understood(tmp_path: Path) -> None:
    start: list[list[Any]] = [["inertia", 2, 4, 8], ["omega", 0, 0, 0], ["rpy", 0.5, 0, 0], ["delay", 0.125], ["capaxis", 1, 9, 9], ["capmag", 8]]
    ops = [*start, ["send", 4, 0, 0], ["satcheck", 0.5], ["setdelay", 0], ["step", 0.25], ["rbstep", 0.5], ["rbtorque", 0.25, 0, 4, 0], ["reset"]]
    row = {"queued": 0, "sat": -1, "th_x": 0.5, "th_y": 0, "th_z": 0, "wx": 0, "wy": 0, "wz": 0, "last_body_dt": 0, "clock": 0}
    rows = [
        row | {"op_index": 7, "queued": 1, "sat": 1},
        row | {"op_index": 9, "clock": 0.25, "wx": 0.125, "th_x": 0.53125, "last_body_dt": 0.25},
        row | {"op_index": 10, "clock": 0.25, "wx": 0.375, "th_x": 0.71875, "last_body_dt": 0.5},
        row | {"op_index": 12, "wx": 0.375, "wy": 0.25, "th_x": 0.8125, "th_y": 0.0625, "last_body_dt": 0.25},
    ]
    verdict = replay(made(tmp_path, ops, rows))
    assert verdict.passed, verdict
    assert verdict.rows == 4


@pytest.mark.parametrize(
    ("ops", "rows"),
    [
        ([["jump", 1.0]], [{"op_index": 0}]),
        ([["delay", -1.0]], [{"op_index": 0}]),
        ([["delay", 0.1]], [{"op_index": 0, "queued": 0}]),
        ([["delay", 0.1]], [{"op_index": 5, "queued": 0}]),
        ([["delay"]], [{"op_index": 0}]),
        ([["delay", 0.1]], []),
        (
            [["satcheck", 0.5]],
            [{"op_index": 0, "queued": 0, "clock": 0} | dict.fromkeys(["th_x", "th_y", "th_z", "wx", "wy", "wz", "last_body_dt"], 0)],
        ),
    ],
)
def test_what_cannot_be_understood_is_an_error_that_names_the_file(tmp_path: Path, ops: list[list[Any]], rows: list[dict[str, Any]]) -> None:
    with pytest.raises(VerifyError, match="made"):
        replay(made(tmp_path, ops, rows))


def test_a_run_without_its_table_is_an_error(tmp_path: Path) -> None:
    path = copied("ideal_d0", tmp_path)
    path.with_suffix(".csv").unlink()
    with pytest.raises(VerifyError, match="csv"):
        replay(path)


def test_other_files_are_left_to_others(tmp_path: Path, golden: Path) -> None:
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "list.json").write_text("[]")
    others = [FOLDER / "ideal_d0.csv", tmp_path / "broken.json", tmp_path / "list.json", tmp_path / "none.json", *(golden / "signals").glob("*.json")]
    others += sorted((golden / "vehicle").rglob("*.json"))[:3]
    assert [path.name for path in others if claims(path)] == []


def test_a_setpoint_beyond_all_turns_does_not_turn_for_ever(tmp_path: Path) -> None:
    path = copied("closedloop_normal_att", tmp_path)
    run = json.loads(path.read_text())
    run["setpoints_t_roll_pitch_yaw"][0][1] = 1e30
    path.write_text(json.dumps(run))
    with pytest.raises(VerifyError, match="finite"):
        replay(path)
