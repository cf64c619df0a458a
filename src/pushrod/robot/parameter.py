"""A parameter: a number, a word or a switch that may be changed while the robot runs, with its type, bounds, unit and one line about it."""

import numbers
from dataclasses import dataclass
from typing import Any, Literal

TypeName = Literal["float", "int", "bool", "str"]
AnyType = TypeName | type[float] | type[int] | type[bool] | type[str]

set_field = object.__setattr__  # how a frozen record fills its own fields while it is made


def real(x: Any) -> Any:
    """Return any real number as a plain float; a value that is none, or that no float can hold, as it is."""
    if x is None or type(x) is float or isinstance(x, bool) or not isinstance(x, numbers.Real):
        return x
    try:
        return float(x)
    except (OverflowError, TypeError, ValueError):  # too large; or a duration of NumPy, which claims to be a number
        return x


def whole(x: Any) -> Any:
    """Return any whole number as a plain int, and every other value as it is."""
    if type(x) is int or isinstance(x, bool) or not isinstance(x, numbers.Integral):
        return x
    try:
        return int(x)
    except (TypeError, ValueError):
        return x


@dataclass(frozen=True, slots=True)
class ParameterRef:
    """Stands for the value of a parameter, in options, limits, dynamics and transmissions."""

    path: str


@dataclass(frozen=True, slots=True, init=False)
class Parameter:
    """`path` is dotted ("motion.max_effort"), values are SI, bounds closed. Without a default there is no value until one is set."""

    path: str
    type: TypeName
    default: Any
    lo: float | None
    hi: float | None
    unit: str
    doc: str

    def __init__(
        self,
        path: str,
        type: AnyType = "float",
        default: Any = None,
        lo: float | None = None,
        hi: float | None = None,
        unit: str = "-",
        doc: str = "",
    ) -> None:
        name = getattr(type, "__name__", type)
        set_field(self, "path", path)
        set_field(self, "type", name)
        for field, value in (("default", default), ("lo", lo), ("hi", hi)):
            set_field(self, field, real(value) if name == "float" else whole(value) if name == "int" else value)
        set_field(self, "unit", unit)
        set_field(self, "doc", doc)
