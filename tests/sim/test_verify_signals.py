"""Reference signals replayed: they pass, and a wrong reference does not."""

import csv
import json
import shutil

import pytest

from pushrod.core.errors import VerifyError
from pushrod.sim.verify.signals import claims, replay


@pytest.fixture
def copy(golden, tmp_path):
    for name in ("cases.json", "expected.csv"):
        shutil.copy(golden / "signals" / name, tmp_path / name)
    return tmp_path / "cases.json"


def edit_case(path, name, **changes):
    data = json.loads(path.read_text())
    case = next(case for case in data["cases"] if case["name"] == name)
    case.update(changes)
    path.write_text(json.dumps(data))


def edit_row(path, region, column, text):
    file = path.parent / "expected.csv"
    lines = list(csv.DictReader(file.open()))
    next(line for line in lines if line["region"] == region)[column] = text
    with file.open("w", newline="") as out:
        writer = csv.DictWriter(out, lines[0])
        writer.writeheader()
        writer.writerows(lines)


def test_the_reference_is_met(golden):
    path = golden / "signals" / "cases.json"
    assert claims(path)
    verdict = replay(path)
    assert verdict.passed, verdict
    assert verdict.worst_error < 1e-13
    assert verdict.rows == 1178
    assert "302 of 302 rows that record a choice agree" in verdict.note


def test_other_files_are_not_claimed(golden, tmp_path):
    assert not claims(golden / "signals" / "expected.csv")
    assert not claims(next((golden / "actuator_driver").glob("*.json")))
    assert not claims(tmp_path / "is_not_there.json")
    (tmp_path / "broken.json").write_text("{")
    assert not claims(tmp_path / "broken.json")


def test_a_table_of_nothing_is_refused(copy):
    file = copy.parent / "expected.csv"
    file.write_text(file.read_text().splitlines()[0] + "\n")
    with pytest.raises(VerifyError, match="no rows to compare with"):
        replay(copy)


@pytest.mark.parametrize("region", ["inside", "boundary", "before", "no_object", "empty"])
def test_a_wrong_value_fails_where_it_binds(copy, region):
    edit_row(copy, region, "value", "123.0")
    verdict = replay(copy)
    assert not verdict.passed
    assert verdict.worst_column == "value"
    assert region in verdict.note


@pytest.mark.parametrize("region", ["gap", "shared_boundary", "after"])  # the first row after an interval follows a constant
def test_a_row_that_records_a_choice_is_reported_and_does_not_fail(copy, region):
    edit_row(copy, region, "value", "123.0")
    verdict = replay(copy)
    assert verdict.passed
    assert "301 of 302" in verdict.note
    assert region in verdict.note


@pytest.mark.parametrize(
    ("name", "changes", "column"),
    [
        ("doc_example", {"error": "overlap"}, "error"),
        ("overlap_partial", {"error": None}, "error"),
        ("overlap_partial", {"error": "degenerate"}, "error"),
        ("doc_example", {"error": "some_other_kind"}, "error"),
        ("doc_example", {"warnings": ["a: num_intervals>2 truncated"]}, "warnings"),
        ("unknown_type", {"warnings": []}, "warnings"),
    ],
)
def test_errors_and_warnings_bind_by_kind(copy, name, changes, column):
    edit_case(copy, name, **changes)
    verdict = replay(copy)
    assert not verdict.passed
    assert verdict.worst_column == column
    assert name in verdict.note


def test_an_error_of_a_kind_not_seen_before_asks_for_an_error(copy):
    edit_case(copy, "reversed", error="malformed_config")
    assert replay(copy).passed


def test_the_stated_tolerance_counts(copy):
    data = json.loads(copy.read_text())
    copy.write_text(json.dumps(data | {"tolerance": "abs 0.5"}))
    edit_row(copy, "empty", "value", "0.4")
    assert replay(copy).passed


@pytest.mark.parametrize(
    ("column", "text", "words"),
    [("t", "soon", "column t: 'soon'"), ("value", "", "column value"), ("case", "nobody", "'nobody'")],
)
def test_a_damaged_table_is_named_by_row(copy, column, text, words):
    edit_row(copy, "empty", column, text)
    with pytest.raises(VerifyError, match="row .*" + words):
        replay(copy)


def test_missing_expected_values_are_pointed_out(copy):
    (copy.parent / "expected.csv").unlink()
    with pytest.raises(VerifyError, match="expected values cannot be read"):
        replay(copy)
    (copy.parent / "expected.csv").write_text("case,t\n")
    with pytest.raises(VerifyError, match="lacks the columns object, region, value"):
        replay(copy)
