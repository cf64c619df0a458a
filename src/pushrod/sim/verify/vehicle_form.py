"""What a vehicle trajectory must hold, so that a file cannot pass by leaving out what it would fail on: its columns, and units as we read them.

    k, dt, state_* of the reference's own state, out_*; status_valid and status_accel of the ACTUATION_CMD models; mech_* of the mechanical steering;
    and all that the JSON itself lists under `columns` and `state_names`

A unit in the JSON is checked where it is given.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pushrod.core.errors import VerifyError
from pushrod.core.model import Model
from pushrod.core.record import numbers
from pushrod.sim.verify.unit import same
from pushrod.vehicles import STATUS

# the reference's own state vectors; ours hold more in some models
STATES = ("x", "y", "yaw", "vx", "steer", "accx")
OTHER_STATES = {
    "IDEAL_STEER_VEL": ("x", "y", "yaw"),
    "IDEAL_STEER_ACC": ("x", "y", "yaw", "vx"),
    "IDEAL_STEER_ACC_GEARED": ("x", "y", "yaw", "vx"),
    "DELAY_STEER_VEL": ("x", "y", "yaw", "vx", "steer"),
    "DELAY_STEER_ACC_GEARED_WO_FALL_GUARD": (*STATES, "pedal_accx"),
}
OUTPUTS = ("vx", "ax", "wz", "steer")
MECHANICAL = ("pos", "vel", "dead_zone", "pid_integral", "pid_error", "prev_tire_des", "buf_len")

# the model takes these eight as plain numbers; what they are follows from the torque they make
POLYNOMIAL = {
    "mechanical_params.poly_a": "1/torque2",
    "mechanical_params.poly_b": "1/torque",
    "mechanical_params.poly_c": "-",
    "mechanical_params.poly_d": "torque.s3/m3",
    "mechanical_params.poly_e": "torque.s2/m2",
    "mechanical_params.poly_f": "torque.s/m",
    "mechanical_params.poly_g": "s/m",
    "mechanical_params.poly_h": "torque",
}


def check(path: Path, spec: dict[str, Any], model: Model, header: Iterable[str]) -> None:
    """VerifyError where the data lacks a column or the JSON gives a number in another unit."""
    present = set(header)
    missing = [name for name in dict.fromkeys(_required(spec, model)) if name not in present]
    if missing:
        raise VerifyError(f"{path}: the data lacks {_count(missing)} {', '.join(missing)}, which a trajectory of {model.name} must have")
    expected = _units(model)
    for where, name, entry in _with_unit(spec):
        unit = entry["unit"]
        if (where, name) in expected and not same(unit, expected[where, name]):
            place = f"{where}.{name}" if where else name
            raise VerifyError(f"{path}: {place} is given in the unit {unit!r}; it is read in {expected[where, name]!r}")


def _count(names: list[str]) -> str:
    return "the column" if len(names) == 1 else f"{len(names)} columns:"


def _required(spec: dict[str, Any], model: Model) -> Iterator[str]:
    yield from ("k", "dt")
    yield from (f"state_{name}" for name in OTHER_STATES.get(model.name, STATES))
    yield from (f"state_{name}" for name in spec.get("state_names") or ())
    yield from (f"out_{name}" for name in OUTPUTS)
    if model.name in STATUS:
        yield from ("status_valid", "status_accel")
    if hasattr(model.State(), "mechanical"):
        yield from (f"mech_{name}" for name in MECHANICAL)
    for column in spec.get("columns") or ():
        yield column["name"] if isinstance(column, dict) and "name" in column else str(column)


def _units(model: Model) -> dict[tuple[str, str], str]:
    """The unit of each number by where it stands in the JSON and its name there."""
    params = {leaf.path: leaf.meta.unit for leaf in numbers(model.Params)}  # type: ignore[union-attr]
    state = {leaf.path: leaf.meta.unit for leaf in numbers(model.State)}  # type: ignore[union-attr]
    columns = {"k": "-", "dt": "s", "gear": "-", "status_valid": "-", "status_accel": "-"}
    columns |= {f"u_{leaf.path}": leaf.meta.unit for leaf in numbers(model.In)}  # type: ignore[union-attr]
    columns |= {f"out_{leaf.path}": leaf.meta.unit for leaf in numbers(model.Out)}  # type: ignore[union-attr]
    columns |= {f"state_{name}": unit for name, unit in state.items()}
    columns |= {f"mech_{name}": state[f"mechanical.{name}"] for name in MECHANICAL if f"mechanical.{name}" in state}
    found = {("", "dt"): "s", ("", "dt_constructor"): "s"}
    found |= {("parameters", name): unit for name, unit in (params | {name: POLYNOMIAL[name] for name in params if name in POLYNOMIAL}).items()}
    found |= {("initial_state", name): unit for name, unit in state.items()}
    found |= {("columns", name): unit for name, unit in columns.items()}
    return found


def _with_unit(spec: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for name in ("dt", "dt_constructor"):
        if isinstance(spec.get(name), dict) and "unit" in spec[name]:
            yield "", name, spec[name]
    for where in ("parameters", "initial_state"):
        for name, entry in spec[where].items():
            if isinstance(entry, dict) and "unit" in entry:
                yield where, name, entry
    for column in spec.get("columns") or ():
        if isinstance(column, dict) and "unit" in column:
            yield "columns", column.get("name", ""), column
