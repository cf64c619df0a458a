"""Drivers of machines that take one command for everything: a car, a spacecraft, a multirotor. What they were told last holds.

    CarPort          Actuation, Stop;  stopped or disarmed it takes its foot off and brakes with `brake`, the wheel as it was
    SpacecraftPort   Attitude, Torque, Stop;  stopped or disarmed no torque is asked for
    MultirotorPort   Flight, Hold, Stop;  told to hold it levels out at the height and heading it was told last;  stopped or
                     disarmed, and before it is commanded, its pipeline is disarmed: the rotors come to rest within act.slew.neutral_time,
                     wherever it is
Requests: "state" gives every output of the world. Outputs is published `feedback_hz` times a second.
"""

from abc import abstractmethod
from typing import Any, ClassVar

import msgspec

from pushrod.core.errors import InputError
from pushrod.live.payload import Actuation, Attitude, Flight, Torque
from pushrod.live.publishing import Publishing
from pushrod.runtime.driver import Context
from pushrod.runtime.message import Command
from pushrod.runtime.payload import Hold, Payload, Stop
from pushrod.runtime.simulated.reach import Reach

_ports: "Reach[CommandPort]" = Reach()


class Outputs(msgspec.Struct, frozen=True, tag=True):
    """Every output of a world, by name, in SI."""

    values: dict[str, float]


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """feedback_hz: 0 for none. brake: the pedal when stopped or disarmed, 0 to 1; of a car alone."""

    feedback_hz: float = 50.0
    brake: float = 0.5


class CommandPort(Publishing):
    """What all have in common. `values` says what a payload means for the channels."""

    disarm: ClassVar[str] = "pushrod.live.command_port:disarm"
    options: ClassVar[type] = Options
    channels: ClassVar[tuple[str, ...]]
    reads: ClassVar[tuple[str, ...]] = ()
    command_payloads: ClassVar[tuple[type[Payload], ...]]

    def __init__(self, place: Any) -> None:
        self.place = place

    @abstractmethod
    def values(self, payload: Any) -> tuple[float, ...]: ...

    @classmethod
    @abstractmethod
    def payload(cls, values: dict[str, float]) -> Payload:
        """The command that tells the channels these values."""

    def init(self, context: Context, options: Options | None = None) -> None:
        self._told: tuple[float, ...] = ()
        self.begin(context, options or Options())
        _ports.add(self)

    def handle_options(self, context: Context, options: Options) -> None:
        if not 0.0 <= options.brake <= 1.0:
            raise InputError(f"brake = {options.brake!r}: allowed are 0 to 1")
        super().handle_options(context, options)

    def handle_command(self, payload: Any, command: Command) -> None:
        self._tell(self.values(payload))

    def handle_request(self, request: Any) -> Any:
        if request == "state":
            return self.place.all()
        raise LookupError(f"a simulated {type(self).__name__} answers 'state', got {request!r}")

    def make_safe(self) -> None:
        self._tell(self.values(Stop()))

    def _tell(self, values: tuple[float, ...]) -> None:
        """Without a lock, which a stop would have to wait for: after a call that is under way then, the runtime calls `disarm` again."""
        self._told = values
        self.place.write(values)

    def _publish(self, _: int) -> None:
        self.context.publish(Outputs(self.place.all()))


class CarPort(CommandPort):
    channels = ("accel", "brake", "wheel", "gear")
    command_payloads = (Actuation, Stop)

    def values(self, payload: Any) -> tuple[float, ...]:
        if type(payload) is Actuation:
            return (payload.accel, payload.brake, payload.steer, payload.gear)
        wheel, gear = self._told[2:] if self._told else self.place.defaults[2:]
        return (0.0, self.settings.brake, wheel, gear)

    @classmethod
    def payload(cls, values: dict[str, float]) -> Payload:
        return Actuation(values["accel"], values["brake"], values["wheel"], values["gear"])


class SpacecraftPort(CommandPort):
    channels = ("roll_req", "pitch_req", "yaw_req", "by_torque", "torque_x", "torque_y", "torque_z")
    command_payloads = (Attitude, Torque, Stop)

    def values(self, payload: Any) -> tuple[float, ...]:
        roll, pitch, yaw = self._told[:3] if self._told else (0.0, 0.0, 0.0)
        if type(payload) is Attitude:
            return (payload.roll, payload.pitch, payload.yaw, 0.0, 0.0, 0.0, 0.0)
        if type(payload) is Torque:
            return (roll, pitch, yaw, 1.0, payload.x, payload.y, payload.z)
        return (roll, pitch, yaw, 1.0, 0.0, 0.0, 0.0)

    @classmethod
    def payload(cls, values: dict[str, float]) -> Payload:
        if values["by_torque"] != 0.0:
            return Torque(values["torque_x"], values["torque_y"], values["torque_z"])
        return Attitude(values["roll_req"], values["pitch_req"], values["yaw_req"])


class MultirotorPort(CommandPort):
    channels = ("armed", "z_req", "roll_req", "pitch_req", "yaw_req")
    command_payloads = (Flight, Hold, Stop)

    def init(self, context: Context, options: Options | None = None) -> None:
        super().init(context, options)
        self.make_safe()

    def values(self, payload: Any) -> tuple[float, ...]:
        if type(payload) is Flight:
            return (1.0, payload.z, payload.roll, payload.pitch, payload.yaw)
        armed, z, roll, pitch, yaw = self._told or self.place.defaults
        return (armed, z, 0.0, 0.0, yaw) if type(payload) is Hold else (0.0, z, roll, pitch, yaw)

    @classmethod
    def payload(cls, values: dict[str, float]) -> Payload:
        armed, *to = (values[name] for name in cls.channels)
        return Flight(*to) if armed != 0.0 else Stop()


def disarm(options: dict[str, Any]) -> None:
    """Stop every simulated car, spacecraft or multirotor of this process that the options mean, by robot and path."""
    _ports.make_safe(options)
