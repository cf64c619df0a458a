"""Every reference trajectory is followed, and a wrong number in a file is noticed."""

import gzip
import json
import shutil
from pathlib import Path

import pytest

from pushrod.core.errors import VerifyError
from pushrod.sim.verify.vehicle import claims, replay

ROOT = Path(__file__).resolve().parents[2]
OWN = sorted((ROOT / "tests" / "golden" / "vehicle" / "scenarios").glob("*.json"))
FURTHER = [path for path in sorted((ROOT.parent / "shared" / "golden" / "vehicle_upstream_maps").glob("*.json")) if claims(path)]


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.stem)
def test_own_maps(path: Path) -> None:
    verdict = replay(path)
    assert verdict.passed, verdict
    assert verdict.worst_error < 1e-11
    assert verdict.rows >= 300


@pytest.mark.skipif(not FURTHER, reason="the folder `shared` with trajectories on publicly shipped maps is not beside this checkout")
@pytest.mark.parametrize("path", FURTHER or [None], ids=lambda path: path.stem if path else "none")
def test_publicly_shipped_maps(path: Path) -> None:
    verdict = replay(path)
    assert verdict.passed, verdict
    assert verdict.worst_error < 1e-11


def test_all_twelve_are_covered() -> None:
    assert len({path.stem.partition("__")[0] for path in OWN}) == 12


def test_claims_only_trajectories() -> None:
    assert all(claims(path) for path in OWN)
    assert not claims(OWN[0].with_suffix("").with_suffix(".csv.gz"))
    assert not claims(Path("lookups/vgr.json"))
    assert not claims(Path("CONVERTER_gtest_facts.json"))


@pytest.fixture
def copy(tmp_path: Path):
    """A copy of a scenario with its maps, its JSON changed by a function."""

    def make(name: str, change=None) -> Path:
        source = ROOT / "tests" / "golden" / "vehicle"
        shutil.copytree(source / "maps", tmp_path / "maps", dirs_exist_ok=True)
        folder = tmp_path / "scenarios"
        folder.mkdir(exist_ok=True)
        for suffix in (".json", ".csv.gz"):
            shutil.copy(source / "scenarios" / (name + suffix), folder)
        path = folder / (name + ".json")
        if change is not None:
            spec = json.loads(path.read_text())
            change(spec)
            path.write_text(json.dumps(spec))
        return path

    return make


WRONG = [
    ("ACTUATION_CMD__chirp_bias_dt33", "steer_bias", 0.021),
    ("ACTUATION_CMD__drive_coast_brake", "accel_time_constant", 0.21),
    ("ACTUATION_CMD__drive_coast_brake", "accel_time_delay", 0.2),
    ("ACTUATION_CMD__drive_coast_brake", "convert_brake_cmd", False),
    ("ACTUATION_CMD__limits_dt25", "vel_rate_lim", 1.6),
    ("ACTUATION_CMD_STEER_MAP__parking_speed", "steer_time_constant", 0.6),
    ("ACTUATION_CMD_VGR__gears_slope", "vgr_coef_c", 0.051),
    ("ACTUATION_CMD_MECHANICAL__limits_dt25", "mechanical_params.torque_delay_time", 0.125),
    ("ACTUATION_CMD_MECHANICAL__dead_zone", "mechanical_params.dead_zone_threshold", 0.0),
    ("ACTUATION_CMD_MECHANICAL__drive_coast_brake", "mechanical_params.friction", 0.0),
    ("DELAY_STEER_ACC__limits_dt33", "debug_acc_scaling_factor", 1.3),
    ("DELAY_STEER_VEL__limits_dt25", "steer_dead_band", 0.02),
    ("DELAY_STEER_ACC_GEARED_WO_FALL_GUARD__limits_dt33", "acc_time_delay", 0.2),
    ("DELAY_STEER_MAP_ACC_GEARED__limits_dt25", "steer_rate_lim", 0.2),
    ("IDEAL_STEER_VEL__mixed", "wheelbase", 2.8001),
]


@pytest.mark.parametrize(("name", "parameter", "value"), WRONG, ids=[f"{n}-{p}" for n, p, _ in WRONG])
def test_a_wrong_parameter_is_noticed(copy, name: str, parameter: str, value: float) -> None:
    def change(spec: dict) -> None:
        assert spec["parameters"][parameter]["value"] != value
        spec["parameters"][parameter]["value"] = value

    verdict = replay(copy(name, change))
    assert not verdict.passed
    assert "worst at row" in verdict.note


def test_a_parameter_left_out_has_the_reference_default(copy) -> None:
    def change(spec: dict) -> None:
        del spec["parameters"]["vel_lim"]

    assert replay(copy("ACTUATION_CMD__drive_coast_brake", change)).passed  # 50 instead of 25 m/s, never reached


def test_plain_numbers_and_events_are_understood(copy) -> None:
    def change(spec: dict) -> None:
        spec["parameters"] = {name: entry["value"] for name, entry in spec["parameters"].items()}
        spec["dt_constructor"] = spec.pop("dt")["value"]
        start = {name: entry["value"] for name, entry in spec["initial_state"].items()}
        spec["initial_state"] = dict.fromkeys(start, 99.0)
        spec["event"] = {"before_step": 0, "call": "setState", "state": list(start.values())}
        del spec["tolerance"]

    assert replay(copy("ACTUATION_CMD_MECHANICAL__dead_zone", change)).passed


def test_what_is_published_does_not_matter(copy) -> None:
    assert replay(copy("ACTUATION_CMD_VGR__gears_slope", lambda spec: spec["parameters"].update(enable_pub_steer=False))).passed


def test_a_map_that_is_not_there_converts_nothing(copy) -> None:
    def change(spec: dict) -> None:
        spec["parameters"]["brake_map_path"]["value"] = "maps/none.csv"

    verdict = replay(copy("ACTUATION_CMD__drive_coast_brake", change))
    assert not verdict.passed
    assert "brake map cannot be read" in verdict.note


def strip(key):
    return lambda spec: spec.pop(key)


def put(where, value):
    def change(spec):
        for key in where[:-1]:
            spec = spec[key]
        spec[where[-1]] = value

    return change


BAD = [
    (strip("model"), "model"),
    (put(["model"], "ACTUATION_CMT"), "ACTUATION_CMD"),
    (strip("parameters"), "parameters"),
    (strip("initial_state"), "initial_state"),
    (strip("dt"), "dt_constructor"),
    (put(["dt", "value"], "fast"), "dt must be a finite number"),
    (put(["parameters", "vel_lim", "value"], "fast"), "vel_lim"),
    (put(["parameters", "vel_limm"], 3.0), "vel_lim"),
    (put(["initial_state", "z"], 3.0), "'z'"),
    (put(["steps"], 3), "steps"),
    (put(["event"], {"before_step": 1, "call": "jump"}), "event"),
    (put(["event"], {"before_step": 1, "call": "setState", "state": [1.0]}), "state"),
    (put(["data"], "nothing.csv.gz"), "nothing.csv.gz"),
    (put(["tolerance"], 1e-9), "tolerance must be an object"),
    (put(["tolerance"], "1e-9"), "tolerance must be an object"),
    (put(["tolerance"], [1e-9, 1e-9]), "tolerance must be an object"),
    (put(["tolerance", "absolute"], -1), "tolerance.absolute must be a finite number of at least 0, got -1"),
    (put(["tolerance", "relative"], "1e-9"), "tolerance.relative"),
    (put(["tolerance", "relative"], True), "tolerance.relative"),
    (put(["parameters", "wheelbase", "unit"], "km"), "parameters.wheelbase is given in the unit 'km'; it is read in 'm'"),
    (put(["parameters", "convert_accel_cmd", "unit"], "m"), "parameters.convert_accel_cmd"),
    (put(["initial_state", "yaw", "unit"], "deg"), "initial_state.yaw"),
    (put(["dt", "unit"], "ms"), "dt is given in the unit 'ms'"),
    (put(["columns", 6], {"name": "u_steer_des", "unit": "deg at the tyre"}), "columns.u_steer_des"),
    (put(["columns", 6], {"name": "u_lights", "unit": "-"}), "lacks the column u_lights"),
]


@pytest.mark.parametrize(("change", "says"), BAD)
def test_a_malformed_file_is_named_with_what_is_wrong(copy, change, says: str) -> None:
    path = copy("ACTUATION_CMD__limits_dt25", change)
    with pytest.raises(VerifyError) as caught:
        replay(path)
    assert str(path.parent) in str(caught.value)
    assert says in str(caught.value)


def data(path: Path, change) -> Path:
    file = path.with_suffix(".csv.gz")
    lines = gzip.decompress(file.read_bytes()).decode().split("\n")
    file.write_bytes(gzip.compress("\n".join(change(lines)).encode()))
    return path


def without(lines: list[str], *columns: str) -> list[str]:
    places = [lines[0].split(",").index(column) for column in columns]
    return [",".join(cell for j, cell in enumerate(line.split(",")) if j not in places) for line in lines]


BAD_DATA = [
    (lambda lines: [], "header"),
    (lambda lines: [lines[0].replace("u_steer_des", "u_wheel"), *lines[1:]], "u_steer_des"),
    (lambda lines: [lines[0].replace("state_x", "state_w"), *lines[1:]], "state_w"),
    (lambda lines: [lines[0].replace("dt", "step"), *lines[1:]], "no column dt"),
    (lambda lines: [*lines[:3], lines[3] + ",1.0", *lines[4:]], "line 4"),
    (lambda lines: [*lines[:3], lines[3].replace(",0.", ",zero.", 1), *lines[4:]], "line 4"),
    (lambda lines: [*lines[:3], lines[3].replace("0.025", "0", 1), *lines[4:]], "line 4"),
    (lambda lines: lines[:100], "steps"),
    (lambda lines: [*lines[:3], lines[3].replace("0.025,2,", "0.025,22,", 1), *lines[4:]], "one gear"),
    (lambda lines: without(lines, "state_x"), "lacks the column state_x"),
    (lambda lines: without(lines, "out_wz", "status_accel"), "lacks 2 columns: out_wz, status_accel"),
    (lambda lines: without(lines, "k"), "lacks the column k"),
    (lambda lines: [*lines[:3], "7" + lines[3][1:], *lines[4:]], "line 4 of the data: k = 7 where 2 must follow"),
]


@pytest.mark.parametrize(("change", "says"), BAD_DATA)
def test_malformed_data_is_named_with_what_is_wrong(copy, change, says: str) -> None:
    path = data(copy("ACTUATION_CMD__limits_dt25"), change)
    with pytest.raises(VerifyError) as caught:
        replay(path)
    assert says in str(caught.value)


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.stem)
def test_no_binding_column_can_be_left_out(copy, path: Path) -> None:
    """Nor if the JSON says nothing of it."""
    name = path.stem
    columns = [column["name"] for column in json.loads(path.read_text())["columns"]]
    bound = [column for column in columns if column.startswith(("state_", "out_", "mech_", "status_valid", "status_accel"))]
    assert len(bound) >= 7
    for column in bound:
        reduced = copy(name, lambda spec: [spec.pop(key, None) for key in ("columns", "state_names")])
        with pytest.raises(VerifyError, match=f"lacks the column {column},"):
            replay(data(reduced, lambda lines, column=column: without(lines, column)))


def test_what_is_no_json_or_no_gzip_is_an_error(copy) -> None:
    path = copy("ACTUATION_CMD__limits_dt25")
    path.with_suffix(".csv.gz").write_bytes(b"plain text")
    with pytest.raises(VerifyError, match=r"csv\.gz"):
        replay(path)
    path.write_text("{")
    with pytest.raises(VerifyError, match="JSON"):
        replay(path)
