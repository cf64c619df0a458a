"""The shapes data in a robot file can have, each with how it is read and how its JSON Schema says it.

What cannot be read becomes WRONG, with its problem noted; what is around it is read all the same, so that everything wrong is told at once.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from pushrod.config.quantity_schema import WITH_UNIT, Schema
from pushrod.config.structure import WRONG, named, number_of, unknown_keys
from pushrod.config.unit import bracketed
from pushrod.config.yaml_file import Document, Keys
from pushrod.robot.parameter import ParameterRef

REFERENCE: Schema = {
    "type": "object",
    "properties": {"parameter": {"type": "string", "description": "path of a declared parameter"}},
    "required": ["parameter"],
    "additionalProperties": False,
}


class Place(NamedTuple):
    """Where a value stands: the file, the path in it, and what the words for units mean there ("position" is rad on a revolute joint)."""

    document: Document
    at: Keys
    units: Mapping[str, str]
    why: str = ""

    def inner(self, key: str | int) -> "Place":
        return self._replace(at=(*self.at, key))

    def wrong(self, what: str) -> Any:
        self.document.add(self.at, what)
        return WRONG


class Shape(Protocol):
    def read(self, value: Any, place: Place) -> Any: ...
    def schema(self) -> Schema: ...


@dataclass(frozen=True)
class Text:
    about: str

    def read(self, value: Any, place: Place) -> Any:
        return value if isinstance(value, str) else place.wrong(f"must be text, got {named(value)}")

    def schema(self) -> Schema:
        return {"type": "string", "description": self.about}


@dataclass(frozen=True)
class OneOf:
    names: tuple[str, ...]
    about: str

    def read(self, value: Any, place: Place) -> Any:
        return value if value in self.names else place.wrong(f"must be one of {', '.join(self.names)}, got {named(value)}")

    def schema(self) -> Schema:
        return {"enum": list(self.names), "description": self.about}


@dataclass(frozen=True)
class Switch:
    about: str
    by_parameter: bool = False

    def read(self, value: Any, place: Place) -> Any:
        if self.by_parameter and isinstance(value, dict):
            return reference(value, place)
        return value if isinstance(value, bool) else place.wrong(f"must be true or false, got {named(value)}")

    def schema(self) -> Schema:
        made = {"type": "boolean", "description": self.about}
        return {"anyOf": [made, REFERENCE]} if self.by_parameter else made


@dataclass(frozen=True)
class Whole:
    about: str

    def read(self, value: Any, place: Place) -> Any:
        sound = isinstance(value, int) and not isinstance(value, bool)
        return value if sound else place.wrong(f"must be a whole number, got {named(value)}")

    def schema(self) -> Schema:
        return {"type": "integer", "description": self.about}


@dataclass(frozen=True)
class Number:
    """A number in SI or text with a unit. `unit` is one, or a word such as "velocity" whose unit the joint decides."""

    unit: str
    about: str
    by_parameter: bool = False

    def read(self, value: Any, place: Place) -> Any:
        if self.by_parameter and isinstance(value, dict):
            return reference(value, place)
        before = len(place.document.problems)
        number = number_of(place.units.get(self.unit, self.unit), value, place.at, place.document)
        if place.why and isinstance(value, str) and self.unit in place.units:
            problems = place.document.problems
            problems[before:] = [(line, text + place.why) for line, text in problems[before:]]
        return number

    def schema(self) -> Schema:
        from pushrod.robot.joint import ANGULAR, LINEAR

        unit = f"{ANGULAR[self.unit]} or {LINEAR[self.unit]}" if self.unit in ANGULAR else self.unit
        made = {"type": ["number", "string"], "unit": unit, "description": f"{self.about} [{unit}]", "pattern": WITH_UNIT}
        return {"anyOf": [made, REFERENCE]} if self.by_parameter else made


@dataclass(frozen=True)
class Numbers:
    n: int
    unit: str
    about: str

    def read(self, value: Any, place: Place) -> Any:
        if not isinstance(value, list) or len(value) != self.n:
            return place.wrong(
                f"must be a list of {self.n} numbers{bracketed(self.unit)}, got {len(value) if isinstance(value, list) else named(value)}"
            )
        return tuple(Number(self.unit, "").read(x, place.inner(i)) for i, x in enumerate(value))

    def schema(self) -> Schema:
        items = Number(self.unit, "").schema()
        return {"type": "array", "items": items, "minItems": self.n, "maxItems": self.n, "description": f"{self.about} [{self.unit}]"}


@dataclass(frozen=True)
class Options:
    """Whatever a driver wants; a mapping {parameter: path}, however deep, stands for the value of that parameter."""

    about: str

    def read(self, value: Any, place: Place) -> Any:
        if not isinstance(value, dict):
            return place.wrong(f"must be a mapping of option names to values, got {named(value)}")
        return {key: with_references(part) for key, part in value.items()}

    def schema(self) -> Schema:
        return {"type": "object", "description": self.about}


def same_place(value: dict[str, Any], place: Place) -> Place:
    return place


@dataclass(frozen=True)
class Record:
    """A mapping whose keys are the fields of a class. `where(value, place)` may say what the words for units mean inside."""

    make: Callable[..., Any]
    about: str
    fields: Mapping[str, Shape]
    required: tuple[str, ...] = ()
    where: Callable[[dict[str, Any], Place], Place] = same_place

    def read(self, value: Any, place: Place, *first: Any) -> Any:
        if not isinstance(value, dict):
            place.wrong(f"must be a mapping, got {named(value)}")
            return self.make(*first, **dict.fromkeys(self.required, WRONG)) if first else WRONG
        unknown_keys(self.fields, value, place.at, place.document)
        inside = self.where(value, place)
        found = {key: shape.read(value[key], inside.inner(key)) for key, shape in self.fields.items() if value.get(key) is not None}
        for key in self.required:
            if key not in found:
                found[key] = place.wrong(f"{key} is missing")
        return self.make(*first, **found)

    def schema(self) -> Schema:
        return {
            "type": "object",
            "description": self.about,
            "properties": {key: shape.schema() for key, shape in self.fields.items()},
            "required": list(self.required),
            "additionalProperties": False,
        }


@dataclass(frozen=True)
class Named:
    """A mapping of names to records; the name is the first field of the record."""

    record: Record
    bare: bool = False  # a list of names will do

    def read(self, value: Any, place: Place) -> Any:
        if self.bare and isinstance(value, list):
            for i, name in enumerate(value):  # mistakes found later are told by name
                place.document.lines[(*place.at, str(name))] = place.document.line((*place.at, i))
            return tuple(self.record.make(Text("").read(name, place.inner(i))) for i, name in enumerate(value))
        if not isinstance(value, dict):
            return place.wrong(f"must be a mapping of names{', or a list of names' if self.bare else ''}, got {named(value)}")
        return tuple(self.record.read({} if part is None and self.bare else part, place.inner(name), name) for name, part in value.items())

    def schema(self) -> Schema:
        made = {"type": "object", "additionalProperties": self.record.schema(), "description": f"by name: {self.record.about}"}
        if not self.bare:
            return made
        made["additionalProperties"] = {"anyOf": [self.record.schema(), {"type": "null"}]}
        return {"anyOf": [made, {"type": "array", "items": {"type": "string"}}]}


@dataclass(frozen=True)
class ListOf:
    record: Record

    def read(self, value: Any, place: Place) -> Any:
        if not isinstance(value, list):
            place.wrong(f"must be a list, got {named(value)}")
            return ()
        return tuple(self.record.read(part, place.inner(i)) for i, part in enumerate(value))

    def schema(self) -> Schema:
        return {"type": "array", "items": self.record.schema()}


@dataclass(frozen=True)
class Variant:
    """A mapping of one key, which says what it is."""

    records: Mapping[str, Record]

    def read(self, value: Any, place: Place) -> Any:
        if not isinstance(value, dict) or len(value) != 1 or next(iter(value)) not in self.records:
            return place.wrong(f"must be a mapping of one of {', '.join(self.records)}, got {named(value)}")
        name, part = next(iter(value.items()))
        return self.records[name].read(part, place.inner(name))

    def schema(self) -> Schema:
        return {"anyOf": [_one_key(name, record.schema()) for name, record in self.records.items()]}


def _one_key(name: str, schema: Schema) -> Schema:
    return {"type": "object", "properties": {name: schema}, "required": [name], "additionalProperties": False}


def reference(value: dict[str, Any], place: Place) -> Any:
    """{parameter: path} as a ParameterRef."""
    path = value.get("parameter")
    if len(value) != 1 or not isinstance(path, str):
        return place.wrong(f"must be a number or {{parameter: PATH}}, got {named(value)}")
    return ParameterRef(path)


def with_references(value: Any) -> Any:
    """Plain data with every {parameter: path} in it, however deep, as a ParameterRef."""
    if isinstance(value, dict):
        path = value.get("parameter")
        return ParameterRef(path) if len(value) == 1 and isinstance(path, str) else {key: with_references(part) for key, part in value.items()}
    return [with_references(part) for part in value] if isinstance(value, list) else value
