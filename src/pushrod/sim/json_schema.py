"""JSON Schemas of machine and scenario files, made from the Structs that read them and from the records of the worlds.

Units and ranges stand in every quantity: `unit`, `minimum`, `maximum`, and in words in `description`.
"""

from collections.abc import Mapping
from typing import Annotated, Any, get_args, get_origin

import msgspec

from pushrod.config.quantity_schema import DIALECT, WITH_UNIT, Schema, quantity, words
from pushrod.core.model import World
from pushrod.core.quantity import Choice, Q
from pushrod.core.record import numbers
from pushrod.signals import schema as signal_schema
from pushrod.sim.command import CommandEntry, WaypointEntry
from pushrod.sim.comparison import ComparisonEntry
from pushrod.sim.expectation import ExpectationEntry
from pushrod.sim.fault import fault_schema
from pushrod.sim.machine import MachineFile
from pushrod.sim.record_schema import record_schema
from pushrod.sim.scenario import ScenarioFile
from pushrod.sim.tracked import Pair, signals_of


def machine_schema(worlds: Mapping[str, World]) -> Schema:
    """Of a machine file. What `parameters` may hold follows from `world`."""
    made = struct_schema(MachineFile, (Pair,))
    made["properties"]["world"] |= {"anyOf": [{"enum": list(worlds)}, {"pattern": r"\.py:\w+$|^(model|plant):\w+$"}]}
    made["$defs"] |= {f"{name}_parameters": record_schema(world.Params, world.Params(), includes=True) for name, world in worlds.items()}
    made["allOf"] = [
        {
            "if": {"properties": {"world": {"const": name}}, "required": ["world"]},
            "then": {"properties": {"parameters": {"$ref": f"#/$defs/{name}_parameters"}}},
        }
        for name in worlds
    ]
    return made


def scenario_schema(world: World | None = None, actuators: Mapping[str, Q] | None = None) -> Schema:
    """Of a scenario file; with the channels, states and signals of one world where it is given, and the actuators of its machine's robot."""
    made = struct_schema(ScenarioFile, (ExpectationEntry, CommandEntry, WaypointEntry, ComparisonEntry))
    signal = {"$ref": "#/$defs/signal"}
    made["$defs"]["signal"] = _with_units(signal_schema("#/$defs/signal"), () if world is not None else (r"[A-Za-z_]\w*",))
    made["properties"]["signals"] = {"type": "object", "description": "one signal per input channel", "additionalProperties": signal}
    made["properties"]["faults"]["items"] = fault_schema(world)
    if world is not None:
        channels = {leaf.path: signal | {"description": words(leaf.meta)} for leaf in numbers(world.In)}
        for leaf in numbers(world.In):
            if isinstance(leaf.meta, Choice):
                made["$defs"][f"{leaf.path}_signal"] = _with_units(signal_schema(f"#/$defs/{leaf.path}_signal"), leaf.meta.names)
                channels[leaf.path] |= {"$ref": f"#/$defs/{leaf.path}_signal"}
        channels |= {name: signal | {"description": f"positions sent to it every tick [{q.unit}]"} for name, q in (actuators or {}).items()}
        if actuators:
            made["$defs"]["CommandEntry"]["properties"]["to"] |= {"enum": list(actuators)}
        made["properties"]["signals"] |= {"properties": channels, "additionalProperties": False}
        made["properties"]["initial"] = record_schema(world.State, world.State())
        entry = made["$defs"]["ExpectationEntry"]["properties"]
        entry["signal"] |= {"enum": list(signals_of(world))}
        entry = made["$defs"]["ComparisonEntry"]["properties"]
        entry["signal"] |= {"enum": list(signals_of(world))}
        entry["parameter"] |= {"enum": [leaf.path for leaf in numbers(world.Params)]}
    return made


def struct_schema(kind: Any, nested: tuple[Any, ...]) -> Schema:
    """What msgspec makes of a Struct, with its quantities put in by us."""
    _, defs = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    for struct in (kind, *nested):
        for f in msgspec.structs.fields(struct):
            q = next((e for e in get_args(f.type)[1:] if isinstance(e, Q)), None) if get_origin(f.type) is Annotated else None
            if q is not None:
                old = defs[struct.__name__]["properties"][f.encode_name]
                defs[struct.__name__]["properties"][f.encode_name] = quantity(q) | (
                    {"default": old["default"]} if old.get("default") is not None else {}
                )
    top = defs.pop(kind.__name__)
    return {"$schema": DIALECT, **top, "$defs": defs}


def _with_units(schema: Any, cases: tuple[str, ...] = ()) -> Any:
    """The same schema with texts such as "10 deg" allowed wherever a number is, and with the names of cases."""
    if isinstance(schema, list):
        return [_with_units(part, cases) for part in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: _with_units(part, cases) for key, part in schema.items()}
    if schema.get("type") == "number":
        made |= {"type": ["number", "string"], "pattern": "|".join((WITH_UNIT, *(f"^{name}$" for name in cases)))}
    return made
