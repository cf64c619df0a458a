"""The JSON Schema of study files, with what may be varied where the machine is known."""

from typing import Any

from pushrod.config.quantity_schema import WITH_UNIT, Schema, words
from pushrod.core.model import World
from pushrod.core.record import Leaf, numbers
from pushrod.sim.json_schema import struct_schema
from pushrod.sim.tracked import signals_of
from pushrod.sweep.case import INITIAL
from pushrod.sweep.study_file import AttainedEntry, MetricEntry, PassEntry, StudyFile

VALUE: Schema = {"type": ["number", "string", "boolean"], "pattern": rf"{WITH_UNIT}|^nominal$|^\w+$"}
NUMBER: Schema = {"type": "number", "minimum": 0}


def study_schema(world: World | None = None) -> Schema:
    """With the parameters, states and signals of one world where it is given."""
    made = struct_schema(StudyFile, (MetricEntry, PassEntry, AttainedEntry))
    made["$defs"]["drawn"] = drawn_schema()
    drawn: dict[str, Any] = {"$ref": "#/$defs/drawn"}
    vary = made["properties"]["vary"]
    vary["additionalProperties"] = drawn
    if world is not None:
        leaves = {leaf.path: leaf for leaf in numbers(world.Params)} | {INITIAL + leaf.path: leaf for leaf in numbers(world.State)}
        vary["properties"] = {path: drawn | {"description": _about(leaf)} for path, leaf in leaves.items()}
        entry = made["$defs"]["MetricEntry"]["properties"]
        entry["signal"] |= {"enum": list(signals_of(world))}
    return made


def _about(leaf: Leaf) -> str:
    return words(leaf.meta)


def drawn_schema() -> Schema:
    """How one parameter, or a group of them, is drawn."""

    def values(n: int) -> Schema:
        return {"type": "array", "items": VALUE, "minItems": n, "maxItems": n}

    by_path = {"type": "object", "additionalProperties": VALUE}
    matrix = {"type": "array", "items": {"type": "array", "items": {"type": "number", "minimum": -1, "maximum": 1}}}
    properties: Schema = {
        "uniform": values(2) | {"description": "lowest and highest value"},
        "log_uniform": values(2) | {"description": "lowest and highest value, by factors"},
        "triangular": values(3) | {"description": "lowest, most likely and highest value"},
        "normal": {
            "type": "object",
            "description": "cut off where the parameter is not legal",
            "properties": {
                "mean": VALUE | {"description": "a value, or `nominal`: the one the machine has"},
                "sd": VALUE | {"description": "standard deviation; in % of the nominal value"},
                "low": VALUE | {"description": "cut off below"},
                "high": VALUE | {"description": "cut off above"},
            },
            "required": ["mean", "sd"],
            "additionalProperties": False,
        },
        "discrete": {"type": "array", "items": VALUE, "minItems": 1, "description": "values, or cases of a choice"},
        "weights": {"type": "array", "items": NUMBER, "description": "of discrete values; all alike if left out"},
        "levels": {"type": "integer", "minimum": 1, "description": "in a grid"},
        "fit": {
            "type": "string",
            "description": "a file that `pushrod fit` wrote: its values, with errors that go together; for a group of any name",
        },
        "scale": {"type": "number", "exclusiveMinimum": 0, "description": "so many times the errors of the fit"},
        "at": {"type": "string", "description": "the part of the machine that was fitted, where the fit is of a model by itself"},
        "correlated": {
            "type": "object",
            "description": "parameters that vary together, for a group of any name",
            "properties": {
                "mean": by_path | {"description": "by path of a parameter"},
                "sd": by_path | {"description": "of the same parameters, in the same order"},
                "correlation": matrix | {"description": "in that order, a list for each"},
            },
            "required": ["mean", "sd"],
            "additionalProperties": False,
        },
    }
    return {"type": "object", "description": "how it is drawn: one distribution", "properties": properties, "additionalProperties": False}
