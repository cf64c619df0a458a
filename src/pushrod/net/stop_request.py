"""Read a request for a disarm or an e-stop. Whatever its body holds, the stop is carried out: what cannot be used is replaced by its default, and the
answer lists it.

Types are compared by identity and numbers converted by the methods of their built-in types, so that no code of an argument's class runs.
"""

import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from pushrod.net.wire import Ask, decode, encode
from pushrod.runtime.stop import LIMIT, encodable, reason_text

STOPS = ("disarm", "estop")
LONGEST = 60.0  # [s] that each disarm function may be given
TEXT = 500  # characters of a reason
MOST = 20  # unknown arguments that an answer lists
SENT = 100  # arguments that a request holds
ENCODABLE = 2**63  # whole numbers below it can be encoded
REASON = "requested"


class StopRequest(NamedTuple):
    """`ignored` describes every part of the request that was replaced by its default."""

    session: str
    arguments: dict[str, Any]
    ignored: tuple[str, ...]


def usable_limit(limit: Any) -> float | None:
    """Return a time limit [s] as a plain float; None where it cannot be used."""
    number = _plain_number(limit)
    return float(number) if number is not None and 0.0 < number <= LONGEST else None  # a NaN fails every comparison


def usable_text(text: Any) -> str | None:
    return encodable(text[:TEXT]) if type(text) is str and text.strip() else None


# by request and argument: its default, the usable form of a value, and what is allowed
ARGUMENTS: dict[str, dict[str, tuple[Any, Callable[[Any], Any], str]]] = {
    "disarm": {"why": (REASON, usable_text, "a text"), "limit": (LIMIT, usable_limit, f"a time above 0 s, up to {LONGEST:g} s")},
    "estop": {"cause": (REASON, usable_text, "a text")},
}


def stop_body(session: str, arguments: Mapping[str, Any]) -> bytes:
    """Return the body of a request, small whatever the arguments are; without arguments where they cannot be encoded."""
    try:
        plain = {encodable(name[:TEXT]): _plain_value(value) for name, value in list(arguments.items())[:SENT] if type(name) is str}
        return encode(Ask(session, 0, 0.0, 0.0, plain))
    except Exception:  # a mapping of another program may raise anything
        return encode(Ask(session, 0, 0.0, 0.0))


def read_stop(what: str, body: bytes, problem: str = "") -> StopRequest:
    """Return the request in a body; `problem` is why its body was not read."""
    session, given, ignored = _read(body) if not problem else ("", {}, [f"the request is malformed: {problem}"])
    arguments, unused = select_arguments(what, given)
    return StopRequest(session, arguments, (*ignored, *unused))


def select_arguments(what: str, given: Mapping[Any, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the arguments of a stop, and a line for each that was replaced by its default or is unknown."""
    known = ARGUMENTS[what]
    arguments: dict[str, Any] = {}
    ignored: list[str] = []
    for name, (default, usable, allowed) in known.items():
        value = given.get(name)
        plain = usable(value)
        if value is not None and plain is None:
            ignored.append(f"{name} = {_shown(value)}: allowed is {allowed}; {default!r} was used")
        arguments[name] = default if plain is None else plain
    ignored += [f"{_shown(name)}: no argument of {what}" for name in list(given)[:MOST] if name not in known]
    return arguments, ignored


def _read(body: bytes) -> tuple[str, dict[Any, Any], list[str]]:
    """Return the session, the arguments, and what could not be read."""
    try:
        ask: Ask = decode(body, Ask)
        return ask.session, ask.arguments, []
    except Exception as error:
        ignored = [f"the request is malformed: {error!s:.200}; only the arguments that could be read were used"]
    try:
        plain = decode(body, Any)
    except Exception:
        return "", {}, ignored
    parts = plain if type(plain) is list else [plain]
    session = next((part for part in parts[:1] if type(part) is str), "")
    return session, next((part for part in parts if type(part) is dict), {}), ignored


def _plain_number(x: Any) -> int | float | None:
    """Return a real number, also that of NumPy, as an int or a float; None for all else, bool included."""
    kind = type(x)
    if kind is float or kind is int:
        return x  # type: ignore[no-any-return]
    if kind is bool:
        return None
    if issubclass(kind, float):
        return float.__float__(x)
    if issubclass(kind, int):
        return int.__int__(x)
    numpy = sys.modules.get("numpy")
    if numpy is not None and (issubclass(kind, numpy.integer) or issubclass(kind, numpy.floating)):
        item = numpy.generic.item(x)
        return item if type(item) is int else float(item)  # an extended float has no item of a built-in type
    return None


def _plain_value(x: Any) -> Any:
    """Return an argument as a value that can be encoded."""
    if x is None or type(x) is bool:
        return x
    if type(x) is str:
        return encodable(x[:TEXT])
    number = _plain_number(x)
    if number is None or (type(number) is int and not -ENCODABLE <= number < ENCODABLE):
        return reason_text(x)
    return number


def _shown(value: Any) -> str:
    """Return a value for the list of what was ignored. Nested deeply enough, it can be decoded but has no text."""
    try:
        return f"{value!r:.60}"
    except Exception:
        return reason_text(value)
