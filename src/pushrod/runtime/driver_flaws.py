"""What is wrong with a driver class before it runs: all of it at once, for whoever wrote it."""

from collections.abc import Callable
from typing import Any

from pushrod.core.errors import InputError
from pushrod.core.plain_function import is_deferred
from pushrod.runtime.making_safe import find_disarm
from pushrod.runtime.well_formed import number

METHODS = (
    "init",
    "handle_command",
    "check_command",
    "handle_options",
    "handle_request",
    "handle_message",
    "handle_arming",
    "read",
    "tick",
    "terminate",
)
FEEDBACK = ("position_feedback", "velocity_feedback", "effort_feedback")
FASTEST = 1e6  # [Hz] of a tick
PLAIN = "write a plain function: nothing awaits it. What takes long goes into the function that init returns, or into a driver with blocking = True"


def driver_flaws(driver: Any, needs: tuple[str, ...]) -> list[str]:
    """Of a driver or its class: what it lacks of what it `needs`, and what of it cannot be used."""
    missing = [need for need in needs if not hasattr(driver, need)]
    if missing:
        what = "a driver needs init, handle_command and disarm = 'module:function'" if "disarm" in needs else "it needs init(context, options)"
        return [f"it has no {', '.join(missing)}; {what}"]
    found = [_method(name, getattr(driver, name, None)) for name in METHODS]
    if "disarm" in needs:
        found.append(_disarm(driver.disarm))
    found += [check(getattr(driver, name)) for name, check in ATTRIBUTES.items() if hasattr(driver, name)]
    return [text for text in found if text]


def rate_flaw(hz: Any) -> str:
    """Of how often `tick` is called; None and 0: never."""
    if hz is None or (number("tick_hz", hz) is None and 0.0 <= float(hz) <= FASTEST):
        return ""
    return f"tick_hz must be a number of calls a second, up to {FASTEST:g}, None for no ticks, or a method that gives it for the options; got {hz!r}"


def _method(name: str, function: Any) -> str:
    if function is None:
        return ""
    if is_deferred(function):
        return f"{name} is async or has a yield in it, so that calling it runs nothing; {PLAIN}"
    return "" if callable(function) else f"{name} must be a function, got {function!r}"


def _disarm(path: Any) -> str:
    if callable(path):
        return "disarm is a function; it must be named by its import path, 'package.module:function', so that it is found without the driver"
    if not isinstance(path, str):
        return f"disarm must be the import path of a plain function, 'package.module:function', got {path!r}"
    try:
        found = find_disarm(path)
    except InputError as error:
        return str(error)
    if not is_deferred(found):
        return ""
    return f"disarm = {path!r} is async or has a yield in it; write a plain function: it is called from any thread, also without an event loop"


def _yes_or_no(name: str) -> Callable[[Any], str]:
    return lambda value: "" if isinstance(value, bool) else f"{name} must be True or False, got {value!r}"


def _tick_hz(value: Any) -> str:
    return "" if callable(value) else rate_flaw(value)


def _capabilities(value: Any) -> str:
    if callable(value) or (isinstance(value, (tuple, list, set, frozenset)) and all(word in FEEDBACK for word in value)):
        return ""
    return f"capabilities must be a tuple of {', '.join(FEEDBACK)}, or a method that gives them for the options; got {value!r}"


def _payloads(value: Any) -> str:
    if isinstance(value, (tuple, list, set, frozenset)) or (callable(value) and not isinstance(value, type)):
        return ""  # what is in it is the gate's business
    return f"command_payloads must be a tuple of classes that subclass Payload, or a method that gives them for the options; got {value!r}"


def _options(value: Any) -> str:
    return "" if value is None or isinstance(value, type) else f"options must be a msgspec Struct class, got {value!r}"


ATTRIBUTES: dict[str, Callable[[Any], str]] = {
    "options": _options,
    "blocking": _yes_or_no("blocking"),
    "in_process": _yes_or_no("in_process"),
    "tick_hz": _tick_hz,
    "capabilities": _capabilities,
    "command_payloads": _payloads,
}
