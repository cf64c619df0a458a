"""Replays look-up tables of the command converter: pedal and steering maps both ways, variable gear ratio, steering PID.

Two spellings of the same thing. `NAME.json` says columns, maps and parameters of the `NAME.csv.gz` beside it. `LOOKUP_<set>_<kind>.csv.gz`
stands alone: `<set>` is a folder of maps under `data/`, parameters are in a line that starts with `#`. Which kind of table it is, its columns
say. The verdicts on whole map files (`map_load`) and the converter's own test values (`converter_facts`) are replayed through here as well.

`sim_brake_report`, the mirrored brake report of the reference, does not bind; every other column does. `sim_*` columns are the simulator's own
look-up in the same maps. A column that is neither an input nor something we compute is listed in the note.
"""

import csv
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pushrod.core import input_file
from pushrod.core.errors import MapError, VerifyError
from pushrod.core.table import lookup_grid
from pushrod.sim.verify import converter_facts, map_load, tolerance
from pushrod.sim.verify.unit import same
from pushrod.sim.verify.verdict import Tally, Verdict
from pushrod.vehicles import steer_pid, vgr
from pushrod.vehicles.map_file import load_accel_map, load_brake_map, load_steer_map
from pushrod.vehicles.pedal_map import AccelMap, BrakeMap, accel_to_brake, accel_to_throttle
from pushrod.vehicles.steer_map import SteerMap, rate_to_steer

TOLERANCE = 1e-12
UNBOUND = {"sim_brake_report"}
FLAGS = {"throttle_found", "sim_throttle_found"}
MAP_FOLDERS = {"default": "converter_default_maps", "testmap": "converter_test_maps"}
SIMULATOR_FOLDERS = {"default": "simulator_maps"}
PID_UNITS = {"kp": "output/rad", "ki": "output/(rad.s)", "kd": "output.s/rad", "decay": "-"}
PID_UNITS |= {f"{side}{part}": "output" for side in ("max", "min") for part in ("", "_p", "_i", "_d")}
UNITS = PID_UNITS | {"vgr_coef_a": "-", "vgr_coef_b": "s2/m2", "vgr_coef_c": "1/rad"}

Row = dict[str, float]


class Source(NamedTuple):
    """One table of reference values and what it was made with."""

    file: Path
    rows: list[Row]
    numbers: dict[str, float]
    map_path: Callable[[str], Path]
    absolute: float = TOLERANCE
    relative: float = TOLERANCE


def claims(path: Path) -> bool:
    """Whether this module can replay the file."""
    if map_load.claims(path) or converter_facts.claims(path):
        return True
    if path.name.startswith("LOOKUP_") and path.name.endswith((".csv.gz", ".csv")):
        return True
    if path.suffix != ".json":
        return False
    try:
        about = json.loads(input_file.read_text(path))
    except (OSError, ValueError):
        return False
    return isinstance(about, dict) and "data" in about and _kind(about.get("columns")) is not None


def replay(path: Path) -> Verdict:
    """Compare every value of the table with ours."""
    if map_load.claims(path):
        return map_load.replay(path)
    if converter_facts.claims(path):
        return converter_facts.replay(path)
    source = _described(path) if path.suffix == ".json" else _alone(path)
    kind = _kind(source.rows[0] if source.rows else None)
    if kind is None:
        raise VerifyError(f"{path}: no look-up has the columns {', '.join(source.rows[0]) if source.rows else '(no rows)'}")
    tally = Tally(source.absolute, source.relative)
    seen: set[str] = set(kind.inputs)
    try:
        for k, (row, ours) in enumerate(zip(source.rows, kind.answers(source), strict=True)):
            tally.rows += 1
            for column, value in ours.items():
                if column not in row:
                    continue
                seen.add(column)
                if column in FLAGS:
                    tally.equal(column, value, row[column], f"row {k}")
                else:
                    tally.compare(column, value, row[column], f"row {k}")
    except MapError as error:
        raise VerifyError(f"{path}: {error}") from error
    if not seen - set(kind.inputs):
        raise VerifyError(f"{path}: the table has inputs ({', '.join(kind.inputs)}) and no column to compare")
    missing = [column for column in source.rows[0] if column not in seen | UNBOUND]
    return tally.verdict(str(path), f"not compared: {', '.join(missing)}" if missing else "")


def _acc_to_pedal(source: Source) -> Iterator[Row]:
    accel, brake = _accel(source), _brake(source)
    for row in source.rows:
        t = accel_to_throttle(accel, row["acc"], row["vel"])
        b = accel_to_brake(brake, row["acc"], row["vel"])
        yield {"throttle_found": t.found, "throttle": t.pedal, "brake": b, "sim_throttle_found": t.found, "sim_throttle": t.pedal}


def _pedal_to_acc(source: Source) -> Iterator[Row]:
    accel, brake = _accel(source), _brake(source)
    for row in source.rows:
        a = lookup_grid(accel, row["pedal"], row["vel"])
        b = lookup_grid(brake, row["pedal"], row["vel"])
        yield {"acc_from_throttle": a, "acc_from_brake": b, "sim_acc_from_throttle": a, "sim_acc_from_brake": b}


def _steer_to_rate(source: Source) -> Iterator[Row]:
    steer = _steer(source)
    for row in source.rows:
        yield {"rate": lookup_grid(steer, row["actuation"], row["state_axis_value"])}


def _rate_to_steer(source: Source) -> Iterator[Row]:
    steer = _steer(source)
    for row in source.rows:
        yield {"output": rate_to_steer(steer, row["steer_rate"], row["steer"])}


def _vgr(source: Source) -> Iterator[Row]:
    p = vgr.Vgr(*(_number(source, f"vgr_coef_{x}", x) for x in "abc"))
    for row in source.rows:
        v, wheel, tire = row["vel"], row["steer_wheel"], row["steer_tire"]
        yield {
            "gear_ratio": vgr.ratio(p, v, wheel),
            "tire_from_wheel": vgr.tire_from_wheel(p, v, wheel),
            "sim_wheel_from_tire": vgr.wheel_from_tire(p, v, tire),
            "sim_tire_cmd_from_wheel_des": vgr.tire_command(p, v, tire, wheel),
        }


def _pid(source: Source) -> Iterator[Row]:
    p = pid_params(source.numbers, source.file)
    s = steer_pid.State()
    for k, row in enumerate(source.rows):
        if row["k"] != k:
            raise VerifyError(f"{source.file}: k = {row['k']:g} in row {k}; rows count 0, 1, 2, ..., each going on from the one before")
        if row.get("reset_before", 0.0) != 0.0:
            s = steer_pid.State()
        s, y = steer_pid.step(p, s, steer_pid.In(row["target"], row["current"], row["vel"]), row["dt"])
        yield {"fb": y.u, "p": y.p, "i": y.i, "d": y.d, "err": y.e, "err_int": s.E, "err_diff": y.e_rate}


class Kind(NamedTuple):
    inputs: tuple[str, ...]
    answers: Callable[[Source], Iterator[Row]]


KINDS = (
    Kind(("acc", "vel"), _acc_to_pedal),
    Kind(("pedal", "vel"), _pedal_to_acc),
    Kind(("actuation", "state_axis_value"), _steer_to_rate),
    Kind(("steer_rate", "steer"), _rate_to_steer),
    Kind(("vel", "steer_wheel", "steer_tire"), _vgr),
    Kind(("k", "reset_before", "target", "dt", "vel", "current"), _pid),
)


def pid_params(numbers: dict[str, float], file: Path) -> steer_pid.Params:
    known = {"decay" if name == "invalid_integration_decay" else name: value for name, value in numbers.items()}
    try:
        return steer_pid.Params(**{name: known[name] for name in steer_pid.Params._fields})
    except KeyError as error:
        raise VerifyError(f"{file}: the PID parameter {error} is not given") from None


def _kind(columns: Any) -> Kind | None:
    names = set(columns) if isinstance(columns, (list, dict)) and all(isinstance(name, str) for name in columns) else set()
    return next((kind for kind in KINDS if names.issuperset(kind.inputs)), None)


def _accel(source: Source) -> AccelMap:
    return load_accel_map(source.map_path("accel"), validate=False)


def _brake(source: Source) -> BrakeMap:
    return load_brake_map(source.map_path("brake"), validate=False)


def _steer(source: Source) -> SteerMap:
    return load_steer_map(source.map_path("steer"), validate=False)


def _number(source: Source, *names: str) -> float:
    for name in names:
        if name in source.numbers:
            return source.numbers[name]
    raise VerifyError(f"{source.file}: the parameter {names[0]} is not given")


def _described(path: Path) -> Source:
    """A table with a JSON beside it."""
    try:
        about = json.loads(input_file.read_text(path))
        rows, _ = _table(path.parent / about["data"])
        given = about.get("parameters", {})
        numbers = {name: float(value["value"] if isinstance(value, dict) else value) for name, value in given.items()}
        names = [str(name) for name in about.get("maps", [])]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise VerifyError(f"{path}: not a look-up description ({type(error).__name__}: {error})") from error
    if about.get("rows", len(rows)) != len(rows):
        raise VerifyError(f"{path}: says {about['rows']} rows, {about['data']} has {len(rows)}")
    lost = [column for column in about["columns"] if rows and column not in rows[0]]
    if lost:
        raise VerifyError(f"{path}: {about['data']} lacks {', '.join(lost)}, listed under columns")
    for name, value in given.items():
        if isinstance(value, dict) and "unit" in value and name in UNITS and not same(value["unit"], UNITS[name]):
            raise VerifyError(f"{path}: parameters.{name} is given in the unit {value['unit']!r}; it is read in {UNITS[name]!r}")
    absolute, relative = tolerance.read(path, about.get("tolerance"), TOLERANCE)

    def map_path(role: str) -> Path:
        if not names:
            raise VerifyError(f"{path}: names no maps, and this look-up needs the {role} map")
        position = {"accel": 0, "brake": 1, "steer": 0}[role]
        name = next((name for name in names if role in Path(name).name), names[min(position, len(names) - 1)])
        folders = (path.parent.parent, path.parent, *path.parents[2:4])
        return next((folder / name for folder in folders if (folder / name).is_file()), folders[0] / name)

    return Source(path, rows, numbers, map_path, absolute, relative)


def _alone(path: Path) -> Source:
    """A table whose maps follow from its name."""
    try:
        rows, remark = _table(path)
    except (OSError, ValueError, TypeError) as error:
        raise VerifyError(f"{path}: cannot be read ({type(error).__name__}: {error})") from error
    numbers = {name: float(value) for name, value in re.findall(r"(\w+)=([-+0-9.eE]+)", remark)}
    stem = path.name.split(".")[0]
    name = stem.split("_")[1]

    def map_path(role: str) -> Path:
        of_simulator = SIMULATOR_FOLDERS.get(name) if stem.endswith("_sim") else None
        folder = of_simulator or MAP_FOLDERS.get(name) or f"{name}_maps"
        options = [path.parent / "data" / folder / f"{prefix}{role}_map.csv" for prefix in ("", "test_")]
        return next((option for option in options if option.is_file()), options[0])

    return Source(path, rows, numbers, map_path)


def _table(path: Path) -> tuple[list[Row], str]:
    """The rows of a CSV file, packed or not, and its remark lines."""
    lines = input_file.read_unpacked(path).decode("utf-8").splitlines()
    table = csv.DictReader(line for line in lines if line and not line.startswith("#"))
    rows = [{column: float(cell) for column, cell in row.items()} for row in table]
    return rows, " ".join(line for line in lines if line.startswith("#"))
