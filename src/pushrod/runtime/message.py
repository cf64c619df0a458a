"""What travels: commands with their envelope, what became of them, and what actuators, sensors, parameters and safety report."""

from typing import Any, ClassVar, Literal

from msgspec import Struct

from pushrod.runtime.payload import number
from pushrod.runtime.result import Result

MOTIONS = ("position", "velocity", "effort", "trajectory")
ENDS = ("completed", "cancelled", "limit_reached", "fault")
FOREVER = 0.0  # [s] the validity of a command that does not go stale
NONE = 0  # the sequence number of a command without one, and the priority of one that asks for none


class Command(Struct, frozen=True, gc=False):
    """A payload and where it comes from. Times in seconds; validity 0 means for ever; sequence 0 means none given.

    `epoch` is the arming it was sent under (0: it is delivered at once, so the gate's own counts).
    """

    payload: Any
    source: str
    origin: float
    validity: float = FOREVER
    sequence: int = NONE
    priority: int = NONE
    epoch: int = 0
    id: str | None = None


class Outcome(Struct, frozen=True, gc=False):
    """What observers of an actuator's topic see: the command, and what became of it."""

    command: Command
    result: Result


class Message(Struct, frozen=True, gc=False):
    """A payload on its way to observers: when (monotonic and wall clock, s), from which robot, about what, in which frame."""

    payload: Any
    topic: tuple[str, ...]
    time: float
    wall_time: float
    robot: str
    source: str = ""
    frame: str = ""


class BeginMotion(Struct, frozen=True, gc=False, tag=True):
    """A motion has begun: from, to [rad or m], and when it should arrive [s of the runtime's clock]; peaks are magnitudes.

    The velocity at its start is given where it is known and not 0: a motion may begin while another is under way.
    """

    initial_position: float
    target_position: float
    expected_arrival: float
    command_id: str | None = None
    command_type: Literal["position", "velocity", "effort", "trajectory"] | None = None
    acceleration: float | None = None
    peak_velocity: float | None = None
    initial_velocity: float | None = None
    newest: ClassVar[bool] = True  # says all, to whoever only looks on

    def problem(self) -> str | None:
        """The element that is wrong and why, or None."""
        for name in ("initial_position", "target_position", "expected_arrival", "acceleration", "peak_velocity", "initial_velocity"):
            x = getattr(self, name)
            if x is None and name in ("acceleration", "peak_velocity", "initial_velocity"):
                continue
            found = number(name, x)
            if found is None and x < 0.0 and name in ("acceleration", "peak_velocity"):
                found = f"{name} is a magnitude and must not be negative, got {x}"
            if found:
                return found
        known = self.command_type is None or self.command_type in MOTIONS
        return None if known else f"command_type must be one of {', '.join(MOTIONS)}, got {self.command_type!r}"


class EndMotion(Struct, frozen=True, gc=False, tag=True):
    """A motion has ended, where and why."""

    position: float
    reason: Literal["completed", "cancelled", "limit_reached", "fault"]
    detail: str | None = None
    message: str | None = None
    command_id: str | None = None

    def problem(self) -> str | None:
        """The element that is wrong and why, or None."""
        found = number("position", self.position)
        return found or (None if self.reason in ENDS else f"reason must be one of {', '.join(ENDS)}, got {self.reason!r}")


class JointState(Struct, frozen=True, gc=False, tag=True):
    """Measured joints; lists that are given are as long as `names`."""

    names: tuple[str, ...]
    positions: tuple[float, ...] = ()
    velocities: tuple[float, ...] = ()
    efforts: tuple[float, ...] = ()
    newest: ClassVar[bool] = True

    def problem(self) -> str | None:
        """The element that is wrong and why, or None."""
        for name in ("positions", "velocities", "efforts"):
            values = getattr(self, name)
            if len(values) not in (0, len(self.names)):
                return f"{name} holds {len(values)} values for {len(self.names)} names"
            for i, x in enumerate(values):
                if found := number(f"{name}, element {i}", x):
                    return found
        return None


class LeaseChanged(Struct, frozen=True, gc=False, tag=True):
    """An actuator has another owner (None: nobody's), until a time of the runtime's clock [s]."""

    old: str | None
    new: str | None
    priority: int = 0
    until: float = float("inf")


class HardwareError(Struct, frozen=True, gc=False, tag=True):
    path: tuple[str, ...]
    error: str


class Transition(Struct, frozen=True, gc=False, tag=True, rename={"from_": "from"}):
    """The safety state changed."""

    from_: str
    to: str
    why: str = ""


class OperatorVanished(Struct, frozen=True, gc=False, tag=True):
    """Who commanded from elsewhere is gone without a goodbye: actuators whose leases ended or whose watchdogs act, controllers that rest."""

    operator: str
    freed: tuple[str, ...] = ()
    bitten: tuple[str, ...] = ()
    rested: tuple[str, ...] = ()

    @property
    def told(self) -> str:
        parts = (("its leases end:", self.freed), ("watchdogs act on", self.bitten), ("taken to rest:", self.rested))
        then = "; ".join(f"{words} {', '.join(names)}" for words, names in parts if names)
        return f"{self.operator} has vanished{f'; {then}' if then else ''}"

    def __str__(self) -> str:
        return f"operator {self.told}"


class Requested(Struct, frozen=True, gc=False, tag=True):
    """Somebody asked a part for something that is no command (a course, a mode), and what became of it: accepted, or refused for a reason."""

    kind: str
    payload: Any
    source: str
    result: Literal["accepted", "refused"]
    reason: str = ""


class ParameterChanged(Struct, frozen=True, gc=False, tag=True):
    """source: local, remote, init, persisted or startup, or a word of whoever set it."""

    path: str
    old: Any
    new: Any
    source: str = "local"
