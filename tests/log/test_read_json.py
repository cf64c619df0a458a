"""Measurements in JSON: as records and as columns, what stands beside them, and what is wrong with a file that has none."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pushrod import log
from pushrod.core.errors import LogError


def written(tmp_path: Path, data: Any) -> Path:
    file = tmp_path / "a.json"
    file.write_text(data if isinstance(data, str) else json.dumps(data))
    return file


ROWS = [{"timestamp": 0.1, "q": 1.0, "on": True}, {"timestamp": 0.2, "q": None, "on": False}, {"timestamp": 0.4, "q": 2, "on": True, "note": "x"}]


@pytest.mark.parametrize("data", [ROWS, {"kp": 100, "motor": "a", "entries": ROWS}])
def test_records(tmp_path: Path, data: Any) -> None:
    table = log.read(written(tmp_path, data))
    assert set(table.channels) == {"q", "on"}
    assert table["q"].t.tolist() == [0.1, 0.4]
    assert table["q"].values.tolist() == [1.0, 2.0]
    assert table["on"].values.tolist() == [1.0, 0.0, 1.0]
    if isinstance(data, dict):
        assert table.metadata["file"] == {"kp": "100", "motor": "a"}


def test_columns(tmp_path: Path) -> None:
    table = log.read(written(tmp_path, {"mass": 0.5, "t": [0, 1, 2], "q": [3.0, None, 5.0], "other": [1, 2]}))
    assert set(table.channels) == {"q"}
    assert np.array_equal(table["q"].values, [3.0, 5.0])
    assert table.metadata["file"]["mass"] == "0.5"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("{", "no JSON that can be read"),
        ([1, 2], "no measurements with times"),
        ({"entries": [{"q": 1.0}]}, "no measurements with times"),
        ([{"t": 0.0, "q": 1.0}, {"q": 2.0}], "t must be a number in every record"),
        ([{"t": 0.0, "name": "a"}], "nothing but times"),
        ("[" * 100000, "no JSON that can be read"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, data: Any, words: str) -> None:
    with pytest.raises(LogError, match=words):
        log.read(written(tmp_path, data))


def test_names_may_end_in_a_unit(tmp_path: Path) -> None:
    table = log.read(written(tmp_path, {"time [ms]": [0, 100, 200], "q [deg]": [3.0, 4.0, 5.0], "joint[0]": [1, 2, 3]}))
    assert set(table.channels) == {"q", "joint[0]"}
    assert (table["q"].unit, table["joint[0]"].unit) == ("deg", "")
    assert table["q"].t.tolist() == pytest.approx([0.0, 0.1, 0.2])
    with pytest.raises(LogError, match="its unit is none of time"):
        log.read(written(tmp_path, {"t [m]": [0, 1, 2], "q": [3.0, 4.0, 5.0]}))
