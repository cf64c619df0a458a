"""What is wrong with the declaration of a parameter, and with a value for one."""

import math
import re
from collections.abc import Iterable
from typing import Any

from pushrod.config.structure import WRONG, named
from pushrod.config.unit import bracketed, parse, to_si
from pushrod.config.yaml_file import Keys
from pushrod.robot.findings import Findings
from pushrod.robot.parameter import Parameter, real, whole

WORDS = {"float": "a number", "int": "a whole number", "bool": "true or false", "str": "text"}
CLASSES: dict[str, type] = {"float": float, "int": int, "bool": bool, "str": str}
PATH = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


def accepted(parameter: Parameter, value: Any) -> Any:
    """The value as the parameter holds it: SI, of its type, within its bounds. ValueError says what is wrong."""
    value = readable(parameter, value)
    why = outside(parameter, value)
    if why:
        raise ValueError(why)
    return value


def readable(parameter: Parameter, value: Any) -> Any:
    """The value in SI and of the parameter's type, within its bounds or not. ValueError says what is wrong."""
    if parameter.type == "float":
        value = to_si(value, parameter.unit) if isinstance(value, str) else real(value)
    elif parameter.type == "int":
        value = whole(value)
    if isinstance(value, bool) != (parameter.type == "bool") or not isinstance(value, CLASSES[parameter.type]):
        raise ValueError(f"must be {_wanted(parameter)}, got {named(value)}{_other_type(parameter, value)}")
    if isinstance(value, str) and any("\ud800" <= c <= "\udfff" for c in value):
        raise ValueError(f"must be text without half characters, got {value!r}")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"must be a finite number{bracketed(parameter.unit)}, got {value!r}")
    return value


def outside(parameter: Parameter, value: Any) -> str:
    """What to say of a value that is not within the bounds; empty where it is."""
    unit = f" {parameter.unit}".removesuffix(" -")
    if parameter.lo is not None and value < parameter.lo:
        return f"must be at least {parameter.lo}{unit}, got {value}"
    if parameter.hi is not None and value > parameter.hi:
        return f"must be at most {parameter.hi}{unit}, got {value}"
    return ""


def _other_type(parameter: Parameter, value: Any) -> str:
    """What to do where the default shows that another type was meant."""
    meant = {bool: "bool", str: "str"}.get(type(value), "")
    return f"; for {WORDS[meant]} give type={meant!r}" if meant and parameter.type == "float" and parameter.default is value else ""


def _wanted(parameter: Parameter) -> str:
    number = parameter.type in ("float", "int") and parameter.unit != "-"
    return f"{WORDS[parameter.type]} [{parameter.unit}]" if number else WORDS[parameter.type]


def defaults(parameters: Iterable[Parameter]) -> dict[str, Any]:
    """The defaults that are sound, by path."""
    found = {}
    for parameter in parameters:
        try:
            found[parameter.path] = accepted(parameter, parameter.default)
        except (ValueError, TypeError, KeyError):  # none, or a declaration that is noted elsewhere
            continue
    return found


def parameter_flaws(parameters: Iterable[Parameter], f: Findings) -> None:
    seen: list[str] = []
    for i, parameter in enumerate(parameters):
        path = parameter.path
        at: Keys = ("parameters", path if isinstance(path, str) and path else i)
        if not isinstance(path, str) or not PATH.fullmatch(path):
            f.add(at, f"{path!r} is not the path of a parameter: write words joined by dots, such as motion.max_effort")
        elif path in seen:
            f.add(at, "this parameter is declared twice")
        else:
            for other in seen:
                if other.startswith(f"{path}.") or path.startswith(f"{other}."):
                    f.add(at, f"a parameter cannot be a group as well, as {min(path, other, key=len)!r} would be")
            seen.append(path)
        _declaration(at, parameter, f)


def _declaration(at: Keys, p: Parameter, f: Findings) -> None:
    f.text((*at, "unit"), p.unit)
    f.is_a((*at, "doc"), p.doc, str)
    f.choice((*at, "type"), p.type, CLASSES)
    if p.type not in CLASSES or not isinstance(p.unit, str):
        return
    is_number = p.type in ("float", "int")
    sound = True
    if p.unit != "-":
        if not is_number:
            f.add((*at, "unit"), f"a parameter of type {p.type} has no unit")
        else:
            sound = _unit((*at, "unit"), p.unit, f)
    for end in ("lo", "hi"):
        bound = getattr(p, end)
        if bound is None:
            continue
        if not is_number:
            f.add((*at, end), f"a parameter of type {p.type} has no bounds")
        elif f.number((*at, end), bound, p.unit) is None:
            sound = False
        elif p.type == "int" and not isinstance(bound, int):
            f.add((*at, end), f"the bound of a whole number is a whole number, got {named(bound)}")
            sound = False
    if sound and is_number and p.lo is not None and p.hi is not None and p.lo > p.hi:
        f.add((*at, "lo"), f"lo {p.lo} exceeds hi {p.hi}")
        sound = False
    if p.type == "float" and isinstance(p.default, str):
        f.add((*at, "default"), f"must be {_wanted(p)}, got {named(p.default)}{_other_type(p, p.default)}; only files take text with a unit")
    elif sound and p.default is not None and p.default is not WRONG:
        try:
            accepted(p, p.default)
        except ValueError as e:
            f.add((*at, "default"), str(e))


def _unit(at: Keys, unit: str, f: Findings) -> bool:
    try:
        factor = parse(unit).factor
    except ValueError as e:
        f.add(at, str(e))
        return False
    if factor != 1:
        f.add(at, f"{unit!r} is not an SI unit: values are kept in SI, and may be given in {unit} as text")
        return False
    return True
