"""What is found wrong while a description is looked through: all of it, each with the path of the value it is about."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from pushrod.config.structure import WRONG, named
from pushrod.config.unit import bracketed, parse
from pushrod.config.yaml_file import Keys, dotted
from pushrod.core.errors import ConfigError
from pushrod.core.names import unknown
from pushrod.robot.parameter import Parameter, ParameterRef, real

Flaw = tuple[Keys, str]


class DescriptionError(ConfigError):
    """A description is wrong; `flaws` lists every (path, what), `problems` the same as text."""

    def __init__(self, flaws: Iterable[Flaw]) -> None:
        self.flaws = tuple(flaws)
        super().__init__([f"{dotted(at)}: {what}" if at else what for at, what in self.flaws])


class Findings:
    """Collects flaws. A value that could not be read (WRONG) is not spoken of again.

    `values` are the values of the parameters, for what names one instead of giving a number.
    """

    def __init__(self, parameters: Mapping[str, Parameter], values: Mapping[str, Any]) -> None:
        self.parameters = parameters
        self.values = values
        self.found: list[Flaw] = []

    def add(self, at: Keys, what: str) -> None:
        self.found.append((at, what))

    def is_a(self, at: Keys, value: Any, kind: type) -> bool:
        """Whether the value is of that class; if not, that is noted."""
        if value is not WRONG and not isinstance(value, kind):
            self.add(at, f"must be a {kind.__name__}, got {named(value)}")
        return isinstance(value, kind)

    def known(self, at: Keys, name: Any, table: Mapping[str, Any], what: str) -> bool:
        """Whether there is one of that name; if not, that is noted."""
        if name is not WRONG and not (isinstance(name, str) and name in table):
            readable = {key: key for key in table if isinstance(key, str)}
            self.add(at, unknown(readable, name, what) if isinstance(name, str) else f"must be the name of a {what}, got {named(name)}")
        return isinstance(name, str) and name in table

    def text(self, at: Keys, value: Any) -> None:
        if value is not WRONG and not (isinstance(value, str) and all(c.isprintable() for c in value)):
            self.add(at, f"must be one line of text, got {named(value)}")

    def choice(self, at: Keys, value: Any, allowed: Iterable[Any]) -> None:
        allowed = list(allowed)
        if value is not WRONG and value not in allowed:
            self.add(at, f"must be one of {', '.join(map(str, allowed))}, got {named(value)}")

    def switch(self, at: Keys, value: Any) -> None:
        if isinstance(value, ParameterRef):
            self._referred(at, value, "bool", None)
        elif value is not WRONG and not isinstance(value, bool):
            self.add(at, f"must be true or false, got {named(value)}")

    def number(self, at: Keys, x: Any, unit: str, lo: float = -math.inf, above: float = -math.inf) -> float | None:
        """The number, where there is a sound one."""
        if x is WRONG:
            return None
        by = ""
        if isinstance(x, ParameterRef):
            by = f" (parameter {x.path})"
            x = self._referred(at, x, "float", unit)
            if x is None:
                return None
        x = real(x)
        if isinstance(x, int) and not isinstance(x, bool):
            self.add(at, f"a whole number of {len(str(x))} digits is too large{bracketed(unit)}{by}")
        elif not isinstance(x, float):
            self.add(at, f"must be a number{bracketed(unit)}, got {named(x)}{'; only files take text with a unit' if isinstance(x, str) else ''}")
        elif not math.isfinite(x):
            self.add(at, f"{x!r} is not a finite number{bracketed(unit)}{by}")
        elif not x >= lo:
            self.add(at, f"must be at least {f'{lo:g} {unit}'.removesuffix(' -')}, got {x:g}{by}")
        elif not x > above:
            self.add(at, f"must be above {f'{above:g} {unit}'.removesuffix(' -')}, got {x:g}{by}")
        else:
            return x
        return None

    def vector(self, at: Keys, v: Any, n: int, unit: str, lo: float = -math.inf) -> tuple[float, ...] | None:
        """n numbers, where they are sound."""
        if v is WRONG:
            return None
        if not isinstance(v, tuple) or len(v) != n:
            self.add(at, f"must be {n} numbers{bracketed(unit)}, got {f'{len(v)}' if isinstance(v, tuple) else named(v)}")
            return None
        numbers = [self.number((*at, i), x, unit, lo) for i, x in enumerate(v)]
        return None if None in numbers else tuple(x for x in numbers if x is not None)

    def reference(self, at: Keys, ref: ParameterRef) -> None:
        """That the parameter exists."""
        if ref.path not in self.parameters:
            self.add(at, unknown(self.parameters, ref.path, "parameter"))

    def _referred(self, at: Keys, ref: ParameterRef, kind: str, unit: str | None) -> Any:
        """The value of the parameter, where it exists, fits and has one."""
        self.reference(at, ref)
        if ref.path not in self.parameters:
            return None
        parameter = self.parameters[ref.path]
        if parameter.type is WRONG or parameter.unit is WRONG:
            return None
        if parameter.type != kind and (parameter.type, kind) != ("int", "float"):
            self.add(at, f"parameter {ref.path} is of type {parameter.type}; wanted is {kind}")
            return None
        if unit is not None and not _fits(parameter.unit, unit):
            self.add(at, f"parameter {ref.path} is in {parameter.unit}; wanted is {unit}")
            return None
        return self.values.get(ref.path)


def _fits(given: Any, wanted: str) -> bool:
    try:
        return parse(given).dimension == parse(wanted).dimension
    except (ValueError, TypeError):
        return True  # a unit that is none is noted where the parameter is declared
