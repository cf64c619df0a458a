"""Replays of reference vehicle trajectories: MODEL__name.json (model, parameters, dt, initial state) beside MODEL__name.csv.gz (a row per step).

Row k holds the inputs of step k and all values after it. Numbers in the JSON are plain or {"value": .., "unit": ..}. `dt` or `dt_constructor` sizes
the queues; the dt of every step is a column. A parameter that is not given has the reference's own default, one of another vehicle is ignored. A
pedal map that cannot be read converts nothing, as in the reference. `status_brake` and `status_steer` do not bind: the reference mirrors the one
and never fills the other."""

import csv
import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pushrod.core import input_file
from pushrod.core.errors import MapError, VerifyError
from pushrod.core.model import Model
from pushrod.core.names import unknown
from pushrod.core.record import is_record, numbers, put
from pushrod.sim.verify import tolerance, vehicle_form
from pushrod.sim.verify.verdict import Tally, Verdict
from pushrod.vehicles import STATUS, VEHICLES, make
from pushrod.vehicles.map_file import load_accel_map, load_acceleration_map, load_brake_map, load_steer_map
from pushrod.vehicles.pedal_map import AccelerationMap
from pushrod.vehicles.queues import slots_for
from pushrod.vehicles.set_state import set_state

NOT_BINDING = {"status_brake", "status_steer"}
EXACT = {"status_valid", "mech_dead_zone", "mech_buf_len"}
GIVEN = {"k", "dt", "gear"}
Row = dict[str, float]


class Event(NamedTuple):
    before_step: int
    state: Row


class Scenario(NamedTuple):
    model: Model
    params: Any
    initial: Row
    events: tuple[Event, ...]
    absolute: float
    relative: float
    note: str


def claims(path: Path) -> bool:
    """Is this the JSON of a vehicle trajectory?"""
    name, split, _ = path.stem.partition("__")
    return path.suffix == ".json" and bool(split) and name.replace("_", "").isalnum() and name.upper() == name


def replay(path: Path) -> Verdict:
    """Step the model through the file and compare every binding column of every row."""
    spec = _spec(path)
    rows = _rows(_data_path(path, spec))
    scenario = _scenario(path, spec, rows)
    model, p = scenario.model, scenario.params
    s = set_state(model.State(), scenario.initial)
    names = [leaf.path for leaf in numbers(model.In)]
    columns = _columns(path, scenario, rows[0])
    vehicle_form.check(path, spec, model, rows[0])
    _check_count(path, rows)
    tally = Tally(scenario.absolute, scenario.relative)
    for k, row in enumerate(rows):
        for event in scenario.events:
            if event.before_step == k:
                s = set_state(s, event.state)
        s, y = model.step(p, s, model.In(*(_input(path, row, name, k) for name in names)), row["dt"])
        for column, read in columns:
            compare = tally.equal if column in EXACT else tally.compare
            compare(column, read(p, s, y), row[column], f"row {k}")
        tally.rows += 1
    return tally.verdict(str(path), scenario.note)


def _spec(path: Path) -> dict[str, Any]:
    try:
        spec = json.loads(input_file.read_text(path))
    except (OSError, ValueError) as error:
        raise VerifyError(f"{path}: cannot be read as JSON: {error}") from None
    if not isinstance(spec, dict):
        raise VerifyError(f"{path}: must hold an object with model, parameters and initial_state, got {type(spec).__name__}")
    for key, kind in (("model", str), ("parameters", dict), ("initial_state", dict)):
        if not isinstance(spec.get(key), kind):
            raise VerifyError(f"{path}: {key} is missing or no {'text' if kind is str else 'object'}")
    if spec["model"] not in VEHICLES:
        raise VerifyError(f"{path}: model: {unknown(VEHICLES, spec['model'], 'vehicle')}")
    return spec


def _data_path(path: Path, spec: dict[str, Any]) -> Path:
    name = spec.get("data", path.stem + ".csv.gz")
    if not isinstance(name, str):
        raise VerifyError(f"{path}: data must be the name of the CSV file beside it, got {name!r}")
    return path.parent / name


def _rows(path: Path) -> list[Row]:
    try:
        text = input_file.read_unpacked(path)
        lines = list(csv.reader(text.decode("utf-8").splitlines()))
    except (OSError, EOFError, ValueError, csv.Error) as error:
        raise VerifyError(f"{path}: cannot be read: {error}") from None
    if len(lines) < 2:
        raise VerifyError(f"{path}: needs a header line and at least one row, got {len(lines)} lines")
    head = lines[0]
    rows = []
    for n, line in enumerate(lines[1:], start=2):
        if len(line) != len(head):
            raise VerifyError(f"{path}: line {n} has {len(line)} cells where the header has {len(head)}")
        try:
            rows.append({name: float(cell) for name, cell in zip(head, line, strict=True)})
        except ValueError as error:
            raise VerifyError(f"{path}: line {n}: {error}") from None
    if "dt" not in head:
        raise VerifyError(f"{path}: has no column dt")
    for k, row in enumerate(rows):
        if not (row["dt"] > 0.0 and math.isfinite(row["dt"])):
            raise VerifyError(f"{path}: line {k + 2}: dt = {row['dt']:g} s; a step must be longer than 0")
    return rows


def _check_count(path: Path, rows: list[Row]) -> None:
    for k, row in enumerate(rows):
        if row["k"] != k:
            raise VerifyError(f"{path}: line {k + 2} of the data: k = {row['k']:g} where {k} must follow; rows count 0, 1, 2, ...")


def _scenario(path: Path, spec: dict[str, Any], rows: list[Row]) -> Scenario:
    given = {name: _plain(entry) for name, entry in spec["parameters"].items()}
    dt = _number(path, spec, "dt" if "dt" in spec else "dt_constructor")
    if not dt > 0.0:
        raise VerifyError(f"{path}: dt = {dt:g} s; the queues need a sampling time above 0")
    if spec.get("steps", len(rows)) != len(rows):
        raise VerifyError(f"{path}: steps says {spec['steps']}, the data has {len(rows)} rows")
    shortest = min(dt, *(row["dt"] for row in rows))
    p = make(spec["model"], 1).Params()
    p = _with_numbers(path, p, given)
    # the reference's own getters know nothing of what is published
    p = p._replace(**{name: x for name, x in (("sampling_time", dt), ("enable_pub_steer", 1.0)) if name in p._fields})
    p, notes = _with_maps(path, p, given)
    delays = [getattr(p, name) for name in p._fields if name.endswith("_delay")]
    slots = max([slots_for(delay, dt) for delay in delays], default=1)
    if "mechanical_params" in p._fields:
        slots = max(slots, slots_for(p.mechanical_params.torque_delay_time, shortest) + 2)
    model = make(spec["model"], slots)
    absolute, relative = tolerance.read(path, spec.get("tolerance"), 1e-9)
    state_names = list(spec.get("state_names", spec["initial_state"]))
    return Scenario(
        model,
        model.Params(*p),
        _state(path, "initial_state", {name: _plain(x) for name, x in spec["initial_state"].items()}, model),
        tuple(_events(path, spec, state_names, model)),
        absolute,
        relative,
        "; ".join(notes),
    )


def _plain(entry: Any) -> Any:
    return entry["value"] if isinstance(entry, dict) and "value" in entry else entry


def _number(path: Path, entries: dict[str, Any], name: str) -> float:
    value = _plain(entries.get(name))
    if isinstance(value, bool):
        return float(value)
    if not isinstance(value, (int, float)) or not math.isfinite(value):
        raise VerifyError(f"{path}: {name} must be a finite number, got {value!r}")
    return float(value)


def _with_numbers(path: Path, p: Any, given: dict[str, Any]) -> Any:
    own = {leaf.path for leaf in numbers(type(p))}
    anyone = {leaf.path for vehicle in VEHICLES for leaf in numbers(make(vehicle, 1).Params)}
    for name in given:
        if name in own:
            p = put(p, name, _number(path, given, name))
        elif name not in anyone and not name.endswith("_map_path"):
            raise VerifyError(f"{path}: parameters: {unknown(dict.fromkeys(own), name, 'parameter of this vehicle')}")
    return p


def _with_maps(path: Path, p: Any, given: dict[str, Any]) -> tuple[Any, list[str]]:
    """The parameters with their maps read; a pedal map that cannot be read switches its conversion off."""
    notes = []
    for pedal, load in (("accel", load_accel_map), ("brake", load_brake_map)):
        if f"{pedal}_map" in p._fields and getattr(p, f"convert_{pedal}_cmd") != 0.0:
            found = _map(path, given, f"{pedal}_map_path", load)
            if found is None:
                notes.append(f"{pedal} map cannot be read: not converted")
                p = p._replace(**{f"convert_{pedal}_cmd": 0.0})
            else:
                p = p._replace(**{f"{pedal}_map": found})
    if "steer_map" in p._fields:
        found = _map(path, given, "steer_map_path", load_steer_map)
        if found is None:
            raise VerifyError(f"{path}: steer_map_path: {given.get('steer_map_path')!r} cannot be read, and this vehicle cannot do without")
        p = p._replace(steer_map=found)
    if "acceleration_map" in p._fields:
        a = p.vel_rate_lim
        found = _map(path, given, "acceleration_map_path", lambda source, _: load_acceleration_map(source))
        if found is None:
            notes.append("acceleration map cannot be read: not converted")
        p = p._replace(acceleration_map=AccelerationMap((-a, a), (0.0, 1.0), (-a, -a, a, a)) if found is None else found)
    return p, notes


def _map(path: Path, given: dict[str, Any], name: str, load: Callable[[Path, bool], Any]) -> Any:
    """The map of a file named relative to the JSON's folder or the one above, None where the reference would find none."""
    value = given.get(name)
    if not isinstance(value, str):
        return None
    for folder in (path.parent, path.parent.parent):
        if (folder / value).is_file():
            try:
                return load(folder / value, False)
            except MapError as error:
                if error.kind in ("file", "shape"):
                    return None
                raise VerifyError(f"{path}: {name}: {error}") from None
    return None


def _state(path: Path, where: str, values: dict[str, Any], model: Model) -> Row:
    state: Any = model.State()
    for name in values:
        if not hasattr(state, name) or is_record(type(getattr(state, name))):
            raise VerifyError(f"{path}: {where}: {name!r} is no state of {model.name}")
    return {name: _number(path, values, name) for name in values}


def _events(path: Path, spec: dict[str, Any], names: list[str], model: Model) -> Iterator[Event]:
    given = spec.get("event") or []
    for event in given if isinstance(given, list) else [given]:
        if not isinstance(event, dict) or event.get("call") != "setState" or not isinstance(event.get("before_step"), int):
            raise VerifyError(f"{path}: event must be a setState with before_step and state, got {event!r}")
        values = event.get("state")
        if isinstance(values, list) and len(values) == len(names):
            values = dict(zip(names, values, strict=True))
        if not isinstance(values, dict):
            raise VerifyError(f"{path}: event: state must hold {len(names)} values ({', '.join(names)}), got {values!r}")
        yield Event(event["before_step"], _state(path, "event", {name: _plain(x) for name, x in values.items()}, model))


def _input(path: Path, row: Row, name: str, k: int) -> float:
    """Models whose input vector has no gear are told it beside; where both are there they must agree, for a car has one gear."""
    value = row.get(f"u_{name}", row.get(name)) if name == "gear" else row.get(f"u_{name}")
    if value is None:
        raise VerifyError(f"{path}: the data has no column {'gear' if name == 'gear' else f'u_{name}'}")
    if name == "gear" and row.get("gear", value) != value:
        raise VerifyError(f"{path}: row {k}: gear is {row['gear']:g} and u_gear {value:g}; a car has one gear")
    return value


Read = Callable[[Any, Any, Any], float]


def _columns(path: Path, scenario: Scenario, row: Row) -> list[tuple[str, Read]]:
    """The binding columns and how to read each from (params, state, out)."""
    found = []
    for column in row:
        kind, _, name = column.partition("_")
        if column in GIVEN or column in NOT_BINDING or kind == "u":
            continue
        read = _reader(scenario.model, kind, name)
        if read is None:
            raise VerifyError(f"{path}: column {column} is not known for {scenario.model.name}")
        found.append((column, read))
    if not found:
        raise VerifyError(f"{path}: the data has no column to compare: state_*, out_*, status_* or mech_*")
    return found


def _reader(model: Model, kind: str, name: str) -> Read | None:
    state: Any = model.State()
    if kind == "state" and name in state._fields:
        return lambda _p, s, _y: getattr(s, name)
    if kind == "out" and name in model.Out._fields:
        return lambda _p, _s, y: getattr(y, name)
    if kind == "mech" and hasattr(state, "mechanical") and name in state.mechanical._fields:
        return lambda _p, s, _y: getattr(s.mechanical, name)
    if kind == "status" and model.name in STATUS and name in ("valid", "accel"):
        status = STATUS[model.name]
        return lambda p, s, _y: getattr(status(p, s), name)
    return None
