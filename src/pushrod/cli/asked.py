"""What was written on the command line, as the payload that is sent: numbers in SI or with a unit, as in files."""

import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pushrod.core.errors import InputError
from pushrod.core.names import find

if TYPE_CHECKING:
    from pushrod.runtime.payload import Payload

# verb: what its values are, and which options go with it
TAKES = {
    "set_position": ("one position", ("velocity", "duration")),
    "set_velocity": ("one velocity", ("duration",)),
    "set_effort": ("one effort", ("duration",)),
    "trajectory": ("one file", ("repeat",)),
    "hold": ("nothing", ()),
    "stop": ("nothing, immediate or decelerate", ()),
    "send": ("a kind of payload, and its fields as NAME=VALUE", ()),
    "clear_watchdog": ("nothing", ()),
}
COUNTS = {"one": (1, 1), "nothing": (0, 0), "nothing,": (0, 1), "a": (1, 1000)}  # by the first word of the above
STOPS = ("immediate", "decelerate")
ENDLESS = ("hold", "stop", "send", "clear_watchdog")  # no motion that ends begins
ANSWER = 5.0  # [s]


@dataclass
class Asked:
    verb: str
    values: list[str]
    hints: dict[str, str]
    id: str | None
    validity: str
    take_over: int | None
    wait: bool
    timeout: str | None

    def check(self) -> None:
        """What can be said before the robot is known. InputError says what is wrong."""
        what, options = find(TAKES, self.verb, "verb of pushrod cmd")
        for value in self.values:
            if value.startswith("--"):
                raise InputError(f"unknown option {value}; see pushrod cmd --help")
        least, most = COUNTS[what.split()[0]]
        if not least <= len(self.values) <= most:
            raise InputError(
                f"{self.verb} takes {what}, got {' '.join(map(repr, self.values)) or 'nothing'}; put a number with a unit in quotes: '90 deg'"
            )
        if self.verb == "stop" and self.values and self.values[0] not in STOPS:
            raise InputError(f"stop: unknown mode {self.values[0]!r}; allowed: {', '.join(STOPS)}. Without a mode it is {STOPS[0]}")
        for name in self.hints:
            if name not in options:
                raise InputError(f"--{name} does not apply to {self.verb}; its options: {', '.join(f'--{o}' for o in options) or 'none'}")
        if self.wait and self.verb in ENDLESS:
            raise InputError(f"--wait does not apply to {self.verb}: it starts no motion that ends by itself")
        if self.wait and self.id is None:
            self.id = f"cmd-{secrets.token_hex(4)}"
        self.valid = _number("validity", self.validity, "s")
        limit = None if self.timeout is None else _number("timeout", self.timeout, "s")
        if self.valid < 0.0 or (limit is not None and limit <= 0.0):
            raise InputError(f"--validity {self.validity}, --timeout {self.timeout or 'not given'}; allowed: 0 s or more, and above 0 s")
        self.patience = ANSWER if limit is None else limit
        self.motion_limit = limit
        if self.verb == "trajectory" and not Path(self.values[0]).is_file():
            raise InputError(f"trajectory: no file {self.values[0]!r} found. It contains `trajectory: [{{time: 1 s, position: 10 deg}}, ...]`")

    def payload(self, kind: str) -> "Payload":
        """For an actuator on a joint of this kind, which decides the units."""
        from pushrod.robot.joint import units
        from pushrod.runtime.payload import Effort, Hold, Position, Stop, Velocity

        si: dict[str, str] = {**units(kind), "duration": "s"} if kind else {"duration": "s"}
        hints: dict[str, Any] = {name: _number(name, text, si.get(name, "")) for name, text in self.hints.items() if name != "repeat"}
        if self.verb == "set_position":
            return Position(_number("position", self.values[0], si.get("position", "")), **hints)
        if self.verb == "set_velocity":
            return Velocity(_number("velocity", self.values[0], si.get("velocity", "")), **hints)
        if self.verb == "set_effort":
            return Effort(_number("effort", self.values[0], si.get("effort", "")), **hints)
        if self.verb == "trajectory":
            return self._trajectory(units(kind) if kind else None)
        if self.verb == "stop":
            return Stop(*self.values)  # type: ignore[arg-type]
        return Hold() if self.verb == "hold" else _own(self.values[0], self.values[1:])

    def _trajectory(self, si: dict[str, str] | None) -> "Payload":
        from pushrod.config import yaml_file
        from pushrod.config.structure import unknown_keys
        from pushrod.runtime.payload import Trajectory, Waypoint
        from pushrod.sim.command import repeat_of, waypoints

        document = yaml_file.load(Path(self.values[0]))
        unknown_keys(("trajectory", "repeat"), document.data, (), document)
        if "repeat" in self.hints:
            document.override(("repeat",), _repeat(self.hints["repeat"]), f"--repeat {self.hints['repeat']}")
        points = document.data.get("trajectory")
        if not isinstance(points, list) or not points:
            document.add(("trajectory",), "give a list of points, [{time: 1 s, position: 10 deg}, ...]")
        found = waypoints(points, si, ("trajectory",), document)
        repeat = document.data.get("repeat", 1)
        if repeat != "forever" and (isinstance(repeat, bool) or not isinstance(repeat, int)):
            document.add(("repeat",), f"must be a whole number above 0 or forever, got {repeat!r}")
        repeat = repeat_of(repeat, (), document)
        document.raise_problems()
        return Trajectory(tuple(Waypoint(**point) for point in found), repeat)


def _repeat(text: str) -> int | str:
    try:
        return int(text)
    except ValueError:
        return text


def _number(name: str, text: str, unit: str) -> float:
    from pushrod.config.unit import to_si

    try:
        return to_si(text, unit)
    except ValueError as error:
        raise InputError(f"{name}: {error}") from None


def _own(kind: str, fields: list[str]) -> "Payload":
    """A payload that only its driver knows: told by name, checked where it arrives."""
    import msgspec

    from pushrod.runtime.payload import BUILT_IN

    if not kind.isidentifier():
        raise InputError(f"send: {kind!r} is not the name of a payload; write a name, such as Actuation, then NAME=VALUE ...")
    given: dict[str, Any] = {}
    for field in fields:
        name, equals, text = field.partition("=")
        if not equals or not name.isidentifier():
            raise InputError(f"send: {field!r} is not a field; write NAME=VALUE, such as accel=0.5")
        given[name] = _value(text)
    if kind in (built_in.__name__ for built_in in BUILT_IN):
        raise InputError(f"send: {kind} has a verb of its own; send is for payloads of drivers")
    made: Any = msgspec.defstruct(
        kind, [(name, Any) for name in given], frozen=True, tag=True, gc=False
    )  # no Payload: none that is known by its name
    return made(**given)  # type: ignore[no-any-return]


def _value(text: str) -> Any:
    """A number in SI, true or false, or text."""
    from pushrod.config.unit import to_si

    try:
        return to_si(text, "")
    except ValueError:
        return {"true": True, "false": False}.get(text, text)
