"""The envelope of a command: its numbers as plain Python numbers, and what is wrong with it."""

from typing import Any

from pushrod.robot.parameter import real, whole
from pushrod.runtime.message import Command
from pushrod.runtime.well_formed import text

INF = float("inf")
AHEAD = 1e-3  # [s] that an origin may lie ahead of the runtime's clock: readings of one clock on two cores, and times that were rounded


def plain_envelope(command: Command) -> tuple[Command, str | None]:
    """Return the command with plain numbers on its envelope, the same object where nothing changes, and what is wrong with the envelope."""
    c, v, t = command, command.validity, command.origin
    if (  # the usual case, without a call
        type(v) is float
        and 0.0 <= v < INF
        and type(t) is float
        and -INF < t < INF
        and type(c.sequence) is int
        and type(c.priority) is int
        and type(c.epoch) is int
        and type(c.source) is str
        and c.source.isascii()
        and (c.id is None or (type(c.id) is str and c.id.isascii()))
    ):
        return command, None
    old = c.origin, c.validity, c.sequence, c.priority, c.epoch
    new = real(c.origin), real(c.validity), whole(c.sequence), whole(c.priority), whole(c.epoch)
    source, id = plain_text(c.source), plain_text(c.id)
    if source is not c.source or id is not c.id or any(a is not b for a, b in zip(old, new, strict=True)):
        command = Command(c.payload, source, *new, id)
    return command, envelope_problem(command)


def plain_text(x: Any) -> Any:
    """Return a text of a subclass as a plain one: its own methods are foreign code. All else stays."""
    return str.__str__(x) if type(x) is not str and issubclass(type(x), str) else x


def envelope_problem(command: Command) -> str | None:
    """Return the first problem of an envelope with plain numbers, or None."""
    validity, origin = command.validity, command.origin
    if type(validity) is not float or not 0.0 <= validity < INF:
        return f"validity must be a number of seconds, finite and not negative, got {_short(validity)}"
    if type(origin) is not float or not -INF < origin < INF:
        return f"origin must be a time of the runtime's clock in seconds, got {_short(origin)}"
    for name in ("sequence", "priority", "epoch"):
        if type(n := getattr(command, name)) is not int:
            return f"{name} must be a whole number, got {_short(n)}"
    return text("source", command.source) or (None if command.id is None else text("id", command.id))


def _short(x: Any) -> str:
    try:
        return f"{x!r:.80}"
    except ValueError:  # a whole number of thousands of digits
        return type(x).__name__
