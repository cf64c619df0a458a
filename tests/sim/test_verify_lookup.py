"""Replaying reference look-ups: all of them pass, and a wrong one does not."""

import gzip
import json
import shutil
from pathlib import Path

import pytest

from pushrod.core.errors import VerifyError
from pushrod.sim.verify.lookup import claims, replay

LOOKUPS = Path(__file__).resolve().parents[1] / "golden" / "vehicle" / "lookups"
NAMES = [
    "map_acc_to_pedal",
    "map_pedal_to_acc",
    "map_steer_actuation_to_rate_sim",
    "map_steer_rate_to_output",
    "steer_pid",
    "steer_pid_no_integral",
    "vgr",
]


@pytest.mark.parametrize("name", NAMES)
def test_reference_look_ups_within_tolerance(name: str) -> None:
    file = LOOKUPS / f"{name}.json"
    assert claims(file)
    verdict = replay(file)
    assert verdict.passed, verdict
    assert verdict.rows == json.loads(file.read_text())["rows"]
    assert verdict.worst_error <= 1e-12
    assert verdict.note == ""


def test_only_look_ups_are_claimed(golden: Path, tmp_path: Path) -> None:
    claimed = {path for path in golden.rglob("*") if path.is_file() and claims(path)}
    assert claimed == {LOOKUPS / f"{name}.json" for name in NAMES}
    for name, text in (("a.json", "{"), ("b.json", "[1]"), ("c.tsv", "x\ty\n"), ("d.json", '{"data": "x", "columns": ["k", {}]}')):
        (tmp_path / name).write_text(text)
        assert not claims(tmp_path / name)
    assert not claims(tmp_path / "absent.json")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A folder of look-ups that a test may spoil."""
    shutil.copytree(LOOKUPS.parent / "maps", tmp_path / "maps")
    shutil.copytree(LOOKUPS, tmp_path / "lookups")
    for path in (tmp_path, *tmp_path.rglob("*")):
        path.chmod(0o755)
    return tmp_path / "lookups"


def spoil(file: Path, row: int, column: str, cell: str) -> None:
    lines = gzip.decompress(file.read_bytes()).decode().splitlines()
    cells = lines[row + 1].split(",")
    cells[lines[0].split(",").index(column)] = cell
    lines[row + 1] = ",".join(cells)
    file.write_bytes(gzip.compress("\n".join(lines).encode()))


@pytest.mark.parametrize(
    ("name", "column", "cell"),
    [
        ("map_acc_to_pedal", "brake", "0.5000001"),
        ("map_acc_to_pedal", "throttle_found", "1"),
        ("map_pedal_to_acc", "sim_acc_from_brake", "9"),
        ("map_steer_rate_to_output", "output", "-9.99"),
        ("vgr", "gear_ratio", "1.1e-5"),
        ("steer_pid", "err_int", "0"),
    ],
)
def test_one_wrong_value_fails_and_is_named(copy: Path, name: str, column: str, cell: str) -> None:
    spoil(copy / f"{name}.csv.gz", 0, column, cell)
    verdict = replay(copy / f"{name}.json")
    assert not verdict.passed
    assert verdict.worst_column == column
    assert "row 0" in verdict.note


def test_the_mirrored_brake_report_does_not_bind(copy: Path) -> None:
    spoil(copy / "map_acc_to_pedal.csv.gz", 3, "sim_brake_report", "12")
    assert replay(copy / "map_acc_to_pedal.json").passed


def test_a_table_that_cannot_be_understood_says_why(copy: Path) -> None:
    (copy.parent / "maps" / "accel_map.csv").unlink()
    with pytest.raises(VerifyError, match="cannot be opened"):
        replay(copy / "map_acc_to_pedal.json")
    (copy / "vgr.csv.gz").write_bytes((copy / "vgr.csv.gz").read_bytes()[:-300])
    with pytest.raises(VerifyError, match="cut short"):
        replay(copy / "vgr.json")
    (copy / "LOOKUP_odd.csv").write_text("a,b\n1,2\n")
    with pytest.raises(VerifyError, match="no look-up has the columns a, b"):
        replay(copy / "LOOKUP_odd.csv")
    about = json.loads((copy / "steer_pid.json").read_text())
    del about["parameters"]["decay"]
    (copy / "steer_pid.json").write_text(json.dumps(about))
    with pytest.raises(VerifyError, match="decay"):
        replay(copy / "steer_pid.json")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"tolerance": 1e-12}, "tolerance must be an object"),
        ({"tolerance": {"absolute": -1}}, "tolerance.absolute must be a finite number of at least 0"),
        ({"parameters": {"vgr_coef_a": 16.0, "vgr_coef_b": {"value": 0.04, "unit": "h^2/km^2"}, "vgr_coef_c": 0.05}}, "parameters.vgr_coef_b"),
        ({"columns": ["vel", "steer_wheel", "steer_tire", "gear_ratio", "lights"]}, "lacks lights"),
    ],
)
def test_a_description_that_would_let_anything_pass_is_refused(copy: Path, change: dict[str, object], says: str) -> None:
    about = json.loads((copy / "vgr.json").read_text())
    (copy / "vgr.json").write_text(json.dumps(about | change))
    with pytest.raises(VerifyError, match=says):
        replay(copy / "vgr.json")


def test_a_table_with_nothing_to_compare_is_refused(copy: Path) -> None:
    (copy / "LOOKUP_vgr.csv").write_text("# a=16 b=0.04 c=0.05\nvel,steer_wheel,steer_tire\n1,2,0.1\n")
    with pytest.raises(VerifyError, match="no column to compare"):
        replay(copy / "LOOKUP_vgr.csv")
    (copy / "none.tsv").write_text("file\tkind\tvalidation\tresult\tstderr\n")
    with pytest.raises(VerifyError, match="no rows"):
        replay(copy / "none.tsv")
    (copy / "facts.json").write_text('{"source": "", "acc_from_brake_vel": []}')
    shutil.copy(copy.parent / "maps" / "brake_map.csv", copy / "test_brake_map.csv")
    with pytest.raises(VerifyError, match="acc_from_brake_vel: holds nothing"):
        replay(copy / "facts.json")


def test_the_rows_of_a_controller_are_counted(copy: Path) -> None:
    spoil(copy / "steer_pid.csv.gz", 5, "k", "7")
    with pytest.raises(VerifyError, match="k = 7 in row 5"):
        replay(copy / "steer_pid.json")


def test_a_table_that_stands_alone(copy: Path) -> None:
    """The same values in the other spelling: parameters in a remark, maps by the name of the set."""
    root = copy.parent
    text = gzip.decompress((copy / "vgr.csv.gz").read_bytes()).decode().replace("\n", "\n# a=16 b=0.04 c=0.05\n", 1)
    (root / "LOOKUP_vgr.csv.gz").write_bytes(gzip.compress(text.encode()))
    shutil.copy(copy / "map_acc_to_pedal.csv.gz", root / "LOOKUP_mine_acc_to_pedal.csv.gz")
    (root / "data").mkdir()
    (root / "maps").rename(root / "data" / "mine_maps")
    for name in ("vgr", "mine_acc_to_pedal"):
        file = root / f"LOOKUP_{name}.csv.gz"
        assert claims(file)
        assert replay(file).passed


MAPS = {
    "good.csv": "default,0,5\n0,1,2\n0.5,2,3\n",
    "falling.csv": "default,0,5\n0,1,2\n0.5,2,1\n",
    "prefix.csv": "default,0,5\n0,1.0x,2\n0.5,2,3\n",
    "ragged.csv": "default,0,5\n0,1\n0.5,2,3\n",
}


@pytest.mark.parametrize(
    ("rows", "passed", "note"),
    [
        (["good.csv\taccel\t1\ttrue\t", "good.csv\tsim_accel\t0\ttrue\t", "nowhere.csv\tsteer\t0\tfalse\tCannot open|"], True, ""),
        (["falling.csv\taccel\t1\tfalse\tindex around (i,j) is invalid ( 1, 1 )|", "falling.csv\taccel\t0\ttrue\t"], True, ""),
        (["falling.csv\taccel\t1\tfalse\tindex around (i,j) is invalid ( 1, 0 )|"], False, "worst at row 0"),
        (["prefix.csv\tsteer\t1\ttrue\t", "ragged.csv\tbrake\t0\tfalse\t"], True, "refused on purpose: prefix.csv"),
        (["good.csv\taccel\t1\tfalse\t"], False, "worst at row 0 (good.csv)"),
        (["ragged.csv\taccel\t1\ttrue\t"], False, "worst at row 0 (ragged.csv)"),
        (["falling.csv\tbrake\t1\ttrue\t"], False, "worst at row 0"),
        (["ragged.csv\taccel\t1\texception:stod\t"], True, ""),
    ],
)
def test_verdicts_on_map_files(tmp_path: Path, rows: list[str], passed: bool, note: str) -> None:
    for name, text in MAPS.items():
        (tmp_path / name).write_text(text)
    table = tmp_path / "MAP_validation.tsv"
    table.write_text("\n".join(["file\tkind\tvalidation\tresult\tstderr", *rows, ""]))
    assert claims(table)
    verdict = replay(table)
    assert verdict.passed is passed
    assert note in verdict.note
    assert verdict.rows == len(rows)


@pytest.mark.parametrize(
    ("row", "passed"),
    [
        ("good.csv\tgetThrottle(acc=1.5,vel=0)\t0.25", True),
        ("good.csv\tgetThrottle(acc=1.5,vel=0)\t0.26", False),
        ("good.csv\tgetAcceleration(0.25,5)\t2.5", True),
        ("good.csv\tgetAcceleration(0.25,5)\texception:unsorted", False),
        ("falling.csv\tgetThrottle(acc=1.5,vel=0)\texception:unsorted", True),
        ("prefix.csv\tgetAcceleration(0.25,5)\t2.5", True),
        ("ragged.csv\tgetAcceleration(0.25,5)\t2.5", False),
    ],
)
def test_look_ups_in_doubtful_maps(tmp_path: Path, row: str, passed: bool) -> None:
    for name, text in MAPS.items():
        (tmp_path / name).write_text(text)
    table = tmp_path / "MAP_lookup_errors.tsv"
    table.write_text(f"file\tquery\tresult\n{row}\n")
    assert claims(table)
    assert replay(table).passed is passed


def test_further_reference_data_where_it_is_at_hand(shared: Path) -> None:
    root = shared / "golden" / "vehicle_upstream_maps"
    files = [path for path in sorted(root.iterdir()) if path.is_file() and claims(path)]
    assert {"MAP_validation.tsv", "MAP_lookup_errors.tsv", "CONVERTER_gtest_facts.json", "LOOKUP_vgr.csv.gz"} < {path.name for path in files}
    assert len(files) == 13
    for path in files:
        verdict = replay(path)
        assert verdict.passed, verdict
        assert verdict.rows > 0


def test_wrong_facts_of_the_converter_fail(shared: Path, tmp_path: Path) -> None:
    root = shared / "golden" / "vehicle_upstream_maps"
    shutil.copytree(root / "data", tmp_path / "data", copy_function=shutil.copyfile)
    facts = json.loads((root / "CONVERTER_gtest_facts.json").read_text())
    for name, change in (
        ("throttle_from_acc_vel", [[2.0, 0.0, 0.76]]),
        ("brake_from_acc_vel", [[-2.25, 5.0, 0.7]]),
        ("pid", None),
        ("map_load", None),
    ):
        spoiled = json.loads(json.dumps(facts))
        if name == "pid":
            spoiled["pid"]["i"][0] = 0.226
        elif name == "map_load":
            spoiled["map_load"][0]["expect"] = False
        else:
            spoiled[name] = change
        file = tmp_path / "facts.json"
        file.write_text(json.dumps(spoiled))
        assert claims(file)
        assert not replay(file).passed, name
