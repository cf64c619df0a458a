"""Faults of a scenario, put into the fault records of a world: `faults: [{channel: steer, kind: stuck, at: 10 s, until: 12 s}]`.

A world that can break has a field `faults` in its Params: a record with one `models.fault.Params` per channel. An entry names
the channel and sets the fields of that record.
"""

import re
from typing import Any

from pushrod.config.structure import WRONG, number_of
from pushrod.config.unit import NUMBER
from pushrod.config.yaml_file import Document
from pushrod.core.model import World
from pushrod.core.names import unknown
from pushrod.core.record import fields, is_record, numbers
from pushrod.sim.record_file import check_ranges, record
from pushrod.sim.record_schema import record_schema

REQUIRED = ("channel", "kind", "at")


def fault_records(world: World) -> dict[str, Any]:
    """The record class of each channel that can break, by channel."""
    found = next((f.type for f in fields(world.Params) if f.name == "faults" and is_record(f.type)), None)
    return {} if found is None else {f.name: f.type for f in fields(found)}


def apply_faults(world: World, params: Any, data: Any, document: Document) -> tuple[Any, dict[str, int]]:
    """The parameters with the faults put in, and which entry broke which channel; problems are noted in the document."""
    records = fault_records(world)
    given: dict[str, int] = {}
    for i, entry in enumerate(data if isinstance(data, list) else ()):
        at = ("faults", i)
        if not isinstance(entry, dict):
            continue  # noted where the file as a whole was read
        missing = [key for key in REQUIRED if key not in entry]
        if missing:
            document.add(at, f"{' and '.join(missing)} missing; a fault names {', '.join(REQUIRED)}")
        channel = entry.get("channel")
        if not isinstance(channel, str) or channel not in records:
            if "channel" in entry:
                what = unknown(records, str(channel), "channel that can break") if records else f"nothing can break in the world {world.name}"
                document.add((*at, "channel"), what)
            continue
        if channel in given:
            document.add((*at, "channel"), f"{channel} breaks already in faults[{given[channel]}]; one fault per channel")
            continue
        given[channel] = i
        before = len(document.problems)
        made = _entry(world, records[channel], {key: value for key, value in entry.items() if key != "channel"}, channel, at, document)
        if len(document.problems) == before:
            params = params._replace(faults=params.faults._replace(**{channel: made}))
    return params, given


def _entry(world: World, kind: Any, data: dict[str, Any], channel: str, at: tuple[str | int, ...], document: Document) -> Any:
    if isinstance(data.get("bias"), str):  # the fault block knows no unit; what is added is in that of the channel
        data = data | {"bias": _bias(unit_of(world, channel), data["bias"], (*at, "bias"), document)}
    made = record(kind, data, kind(), at, document)
    check_ranges(made, None, at, document)
    return made


def _bias(unit: str | None, text: str, at: tuple[str | int, ...], document: Document) -> float:
    if unit is None and not re.fullmatch(rf"\s*{NUMBER}\s*", text):
        document.add(at, f"got {text!r}, but the unit of this channel is not known; write a plain number, in SI")
        return 0.0
    number = number_of(unit or "-", text, at, document)
    return 0.0 if number is WRONG else float(number)


def unit_of(world: World, channel: str) -> str | None:
    """The unit of a channel that can break: of the input of that name, or of the output `steer_cmd` or `torque_ach_x`."""
    units = {leaf.path: str(leaf.meta.unit) for leaf in numbers(world.In)}  # type: ignore[union-attr]
    for suffix in ("_cmd", "_ach"):
        for leaf in numbers(world.Out):
            units.setdefault(leaf.path.replace(suffix, ""), str(leaf.meta.unit))  # type: ignore[union-attr]
    return units.get(channel)


def fault_schema(world: World | None) -> dict[str, Any]:
    """The JSON Schema of one entry; exact where the world is known."""
    if world is None:
        return {"type": "object", "required": list(REQUIRED)}
    records = fault_records(world)
    if not records:
        return {"not": {}}
    made = record_schema(next(iter(records.values())), next(iter(records.values()))())
    made["properties"]["channel"] = {"enum": list(records), "description": "what breaks"}
    return made | {"required": list(REQUIRED)}
