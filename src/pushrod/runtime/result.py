"""The answer to a command: one of three, for every command and every delivery.

Accepted   it acts, and every number of it is within the limits; what its driver does otherwise than asked, `info` says
Clamped    it acts, but not as asked: what was asked, what is done
Refused    it does not act: why, and what to do
"""

from typing import Any

from msgspec import Struct

ADVICE = {
    "unsupported": "send one of the payloads this driver declares",
    "malformed": "send it as this kind of payload is declared: see the detail",
    "stale": "it is older than its validity, or dated ahead of the clock: send it sooner, let it be valid longer, or leave origin out",
    "sequence": "a duplicate, or out of order: give it a higher sequence number",
    "lease": "another commander holds this actuator: wait, or take it over explicitly",
    "watchdog": "no command came in time and its watchdog has tripped: find out why, then clear it",
    "not_armed": "arm the robot first",
    "epoch": "it was sent before a disarm: send it again",
    "limits": "stay within the limits of the joint, or choose the policy clamp",
    "declined": "its driver does not do this command now: see the detail",
    "driver_error": "the driver raised and the actuator was made safe: see the detail, repair, arm again",
    "busy": "the driver has not come back from its last call",
    "superseded": "a newer command took its place before it started",
    "withdrawn": "it had not started when its time was up: it will not act",
    "blocking": "this driver blocks, so neither direct delivery nor a batch can wait for it: use sync or publish",
    "stopped": "the driver is not running: see why it stopped",
    "access": "this operator may not command here: the host's access list says who may",
    "gone": "its host is not there: see whether it runs and the network is up",
    "remote": "a network lies between, which direct delivery does not cross: use sync or publish",
    "batch": "another command of the same batch was refused: see the detail, then send the whole batch again",
}


class Declined(Exception):  # noqa: N818 (an answer, not a mistake)
    """Raised by `check_command` or `handle_command`: this command is not done, for this reason; nothing has changed and the actuator goes on.

    In a batch only `check_command` comes before the other commands have acted.
    """

    reason = "declined"


class BeyondLimits(Declined):
    """The same, because it cannot be done as asked within the limits, and whoever described the actuator wants that refused."""

    reason = "limits"


class Accepted(Struct, frozen=True, gc=False, tag=True):
    """It acts, and the gate has changed nothing. `info` is what the driver had to say, above all where it does less than was asked: a trajectory
    whose points are within the limits, but not the way between them, is slowed down, {'slower': 1.5}."""

    info: Any = None

    @property
    def ok(self) -> bool:
        return True

    def __str__(self) -> str:
        return "accepted" if self.info is None else f"accepted: {self.info}"


class Clamped(Struct, frozen=True, gc=False, tag=True):
    """It acts within the limits: `asked` and `done` are payloads in joint space."""

    asked: Any
    done: Any
    info: Any = None

    @property
    def ok(self) -> bool:
        return True

    def __str__(self) -> str:
        return f"clamped: asked {said(self.asked)}, done {said(self.done)}" + ("" if self.info is None else f": {self.info}")


class Refused(Struct, frozen=True, gc=False, tag=True):
    """It does not act. `reason` is a key of ADVICE; `actuator` the path, `command` the kind of payload."""

    reason: str
    actuator: str
    command: str
    advice: str
    detail: str = ""

    @property
    def ok(self) -> bool:
        return False

    def __str__(self) -> str:
        detail = f" ({self.detail})" if self.detail else ""
        return f"{self.actuator} refused {self.command}: {self.reason.replace('_', ' ')}{detail}; {self.advice}"


Result = Accepted | Clamped | Refused
ACCEPTED = Accepted()


def said(payload: Any) -> str:
    """A payload without what was left out of it: Position(position=1.5)."""
    given = {name: getattr(payload, name) for name in payload.__struct_fields__}
    return f"{type(payload).__name__}({', '.join(f'{name}={value!r}' for name, value in given.items() if value is not None)})"


def refused(reason: str, actuator: str, command: str, detail: str = "") -> Refused:
    return Refused(reason, actuator, command, ADVICE[reason], detail)
