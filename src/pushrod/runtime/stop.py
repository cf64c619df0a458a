"""A stop on its way through the runtime, and its reason as text."""

import math
import sys
import threading
from collections.abc import Callable
from typing import Any

from pushrod.safety.state import Event

LIMIT = 5.0  # [s] for each disarm function
LONGEST = 500  # characters of a reason
ARGUMENTS = 8  # of an exception that are part of its text
LARGE = 10**18


class Latch:
    """An event that is set once; one lock, because a stop makes three of them before it starts the disarm functions."""

    __slots__ = ("_lock", "is_set")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lock.acquire()
        self.is_set = False

    def set(self) -> None:
        if not self.is_set:
            self.is_set = True
            self._lock.release()

    def wait(self, timeout: float) -> bool:
        if self._lock.acquire(timeout=timeout):
            self._lock.release()
        return self.is_set


class Stop:
    """One stop.

    event     the transition it asks for; None where it only makes actuators safe
    names     the actuators it makes safe
    fault     whether it follows from a driver that failed, and has returned; one that cannot be made safe then disarms all
    then      runs on the safety thread, when all is done: no foreign code
    caller    the thread it came from, which may be inside the call of a driver
    """

    __slots__ = (
        "answers",
        "awaiting",
        "begun",
        "called",
        "caller",
        "done",
        "ends",
        "event",
        "failures",
        "fault",
        "left",
        "limit",
        "names",
        "number",
        "numbers",
        "posted",
        "reported",
        "served",
        "then",
        "why",
        "woken",
    )

    def __init__(
        self, event: Event | None, why: str, names: tuple[str, ...], limit: float = LIMIT, fault: bool = False, then: Callable[[], None] | None = None
    ) -> None:
        self.event = event
        self.why = why
        self.names = names
        self.limit = limit
        self.fault = fault
        self.then = then
        self.caller = threading.get_ident()
        self.number = 0  # in the order in which stops and calls of disarm functions begin
        self.numbers: dict[str, int] = {}  # of the calls that answered
        self.begun = False  # every gate is closed, every disarm function on its way
        self.woken = False  # the actuators' own threads as well
        self.posted = False  # the safety thread knows of it
        self.left = dict.fromkeys(names)  # those whose answer has not been counted, in the order of the robot
        self.answers: dict[str, str | None] = {}  # as they come in
        self.served: set[str] = set()  # those whose disarm function has been called for it
        self.awaiting: set[str] = set()  # those whose disarm function has been called once, and is called again when a call in flight has returned
        self.failures: dict[str, str] = {}
        self.ends = math.inf  # [s, monotonic] its time limit
        self.called = Latch()  # every disarm function has been called, and the state has changed
        self.done = Latch()
        self.reported = Latch()


def reason_text(reason: Any) -> str:
    """Return any reason as text that can be encoded, without running foreign code: a `__str__` that hangs or raises must not delay a stop."""
    kind = type(reason)
    if reason is None or (kind is str and not reason):
        return "no reason given"
    if issubclass(kind, BaseException):
        arguments = [_plain_text(x) for x in BaseException.args.__get__(reason)[:ARGUMENTS]]  # type: ignore[attr-defined]
        return ": ".join(filter(None, (_name(kind), ", ".join(filter(None, arguments)))))[:LONGEST]
    return _plain_text(reason) or _name(kind)


def error_text(error: BaseException) -> str:
    """Return an error as text, by its own `__str__` where that works: for what was made safe already."""
    try:
        return encodable(f"{type(error).__name__}: {error}"[:LONGEST])
    except BaseException:  # SystemExit too: an answer must follow
        return reason_text(error)


def encodable(text: str) -> str:
    """Return a text that UTF-8 can encode: a lone surrogate can be neither sent nor recorded."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def _plain_text(x: Any) -> str:
    """Return a value of an exact built-in type as text; nothing for all others."""
    kind = type(x)
    if issubclass(kind, str):
        return encodable(str.__str__(x)[:LONGEST])
    if kind is bytes:
        return repr(x[:LONGEST])[:LONGEST]
    if kind is int:
        return repr(x) if -LARGE < x < LARGE else "a number beyond 1e18"
    return repr(x) if kind is float or kind is bool else ""


def _name(kind: type) -> str:
    return encodable(str(type.__dict__["__name__"].__get__(kind)))  # whatever its metaclass defines


def time_limit_of(limit: Any) -> float:
    """Return a time limit [s]; the usual one where this is none: a stop is carried out whatever its arguments are."""
    if not _is_number(type(limit)):
        return LIMIT
    seconds = limit if type(limit) is int else float(limit)  # a whole number may be too large for a float
    return float(seconds) if 0.0 <= seconds <= threading.TIMEOUT_MAX / 2 else LIMIT


def _is_number(kind: type) -> bool:
    """Whether it is a numeric type of Python or NumPy; by identity, because a comparison of foreign types may run foreign code."""
    numpy = sys.modules.get("numpy")
    numpy_kinds = () if numpy is None else (numpy.float64, numpy.float32, numpy.float16, numpy.int64, numpy.int32, numpy.int16, numpy.int8)
    return any(kind is number for number in (float, int, *numpy_kinds))
