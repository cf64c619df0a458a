"""Autoware's simple planning simulator: a vehicle, or a steering by itself, as its parameter YAML.

The vehicles have the simulator's own names, so most of it is written as it is: numbers as doubles, flags as booleans, the sampling time as whole
milliseconds, maps as CSV files beside it. The wheelbase belongs into the vehicle_info file. A steering goes under the names it has there.
"""

from collections.abc import Callable, Iterator
from typing import Any

from pushrod.core.errors import InputError
from pushrod.core.quantity import Choice
from pushrod.core.record import get, is_record, numbers
from pushrod.identify.export.exported import Exported, Wanted
from pushrod.identify.export.ros2_control import real
from pushrod.vehicles import VEHICLES

OURS = ("reference", "wheelbase", "stop_deceleration", "sampling_time", "convert_steer_cmd")  # not of the simulator, or otherwise there
MAPS = {"accel_map": "accel_map_path", "brake_map": "brake_map_path", "steer_map": "steer_map_path", "acceleration_map": "acceleration_map_path"}
Values = dict[str, Any]


def vehicle(p: Any, name: str) -> tuple[Values, dict[str, str]]:
    """Parameters by the simulator's names, and the texts of the maps."""
    record: Any = type(p)
    found: Values = {"timer_sampling_time_ms": round(1000.0 * p.sampling_time)} if hasattr(p, "sampling_time") else {}
    files: dict[str, str] = {}
    for leaf in numbers(record):
        if leaf.path in OURS or leaf.path.split(".")[0] in MAPS:
            continue
        value = float(get(p, leaf.path))
        group, dot, last = leaf.path.rpartition(".")
        into = found.setdefault(group, {}) if dot else found
        into[last] = bool(value) if isinstance(leaf.meta, Choice) else value
    for field, path in MAPS.items():
        if hasattr(p, field) and is_record(type(getattr(p, field))):
            file = f"{name}_{field}.csv"
            found[path] = file
            files[file] = sheet(getattr(p, field))
    return found, files


def sheet(m: Any) -> str:
    """A map as the CSV that the simulator reads."""
    width = len(m.col)
    rows = [["default", *map(repr, m.col)]]
    rows += [[repr(r), *map(repr, m.z[i * width : (i + 1) * width])] for i, r in enumerate(m.row)]
    return "".join(",".join(row) + "\n" for row in rows)


def lag(p: Any) -> Values:
    steer = p.lag
    return {
        "vehicle_model_type": "DELAY_STEER_ACC_GEARED",
        "steer_time_delay": p.bus.delay,
        "steer_time_constant": steer.T_0 * (steer.k_0 / steer.k) ** steer.n,
        "steer_rate_lim": steer.rate,
        "steer_dead_band": steer.band,
        "debug_steer_scaling_factor": steer.K_0 / (1.0 + steer.a * steer.k_0 / steer.k),
    }


def mechanical(p: Any) -> Values:
    parts = {leaf.path: float(get(p.wheel, leaf.path)) for leaf in numbers(type(p.wheel))}
    return {"vehicle_model_type": "ACTUATION_CMD_MECHANICAL", "steer_time_delay": p.bus.delay, "mechanical_params": parts}


STEERINGS: dict[str, Callable[[Any], Values]] = {"lag": lag, "mechanical_steering": mechanical}
CARS = {"car": "ACTUATION_CMD_MECHANICAL"}  # worlds with a vehicle inside, and which it is


def export(asked: Wanted) -> Exported:
    world, p = str(asked.machine.document.data["world"]), asked.machine.params
    files: dict[str, str] = {}
    left: list[str] = []
    if world in STEERINGS:
        values = STEERINGS[world](p)
        left += ["all but the steering: these lines go over those of a whole file"]
        if world == "lag" and p.lag.bias != 0.0:
            left += [f"the bias of {p.lag.bias:g} rad: steer_bias of the simulator shifts what is measured, not where the tyre goes"]
    elif world in VEHICLES or world in CARS:
        kind = CARS.get(world, world)
        car = p.vehicle if world in CARS else p
        values, files = vehicle(car, asked.name)
        values = {"vehicle_model_type": kind, **values}
        left += [f"wheelbase {car.wheelbase:g} m: it belongs into the vehicle_info file"]
        if world in CARS:
            for field, channel in (("accel", "accel_time_delay"), ("brake", "brake_time_delay"), ("steer", "steer_time_delay")):
                values[channel] += getattr(p.dead_time, field)
        if not car.reference:
            left += ["that `reference` is off here: the simulator has the oddities that the docs of the vehicles list"]
    else:
        known = ", ".join((*STEERINGS, *CARS, *VEHICLES))
        raise InputError(f"{asked.machine.name} is a {world}, which Autoware's simulator does not have; these can be exported: {known}")
    lines = [f"# {asked.name}, exported by pushrod", *(f"# left out: {words}" for words in left), "/**:", "  ros__parameters:"]
    return Exported({f"{asked.name}.param.yaml": "\n".join([*lines, *_lines(values, 4)]) + "\n", **files}, tuple(left))


def _lines(values: Values, indent: int) -> Iterator[str]:
    for key, value in values.items():
        if isinstance(value, dict):
            yield f"{' ' * indent}{key}:"
            yield from _lines(value, indent + 2)
        else:
            yield f"{' ' * indent}{key}: {_scalar(value)}"


def _scalar(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return real(value, 17) if isinstance(value, float) else str(value) if isinstance(value, int) else f'"{value}"'
