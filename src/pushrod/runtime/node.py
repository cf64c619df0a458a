"""A supervised sensor or controller: a part that takes no commands, publishes on a topic of its own, and hears what it listens to."""

from collections.abc import Callable
from typing import Any

from pushrod.robot.description import DIRECT, Controller, Limits, Sensor
from pushrod.robot.motor_profile import MotorProfile
from pushrod.robot.transmission import Transmission
from pushrod.runtime.asked import TOPIC
from pushrod.runtime.bus import Bus
from pushrod.runtime.clock import Clock
from pushrod.runtime.driver import Context
from pushrod.runtime.joint_space import report_in_joint_space
from pushrod.runtime.message import Message, Requested
from pushrod.runtime.part import Part, Source


class StandIn:
    """What a controller is replaced by where a simulation asks for it: it does nothing and finds every request well."""

    def init(self, context: Context, options: Any) -> None:
        return None

    def handle_request(self, request: Any) -> None:
        return None


class Node:
    """`limits` are those of the joint a sensor sits on; what it publishes of a joint is turned into joint space.

    `joints`: of which it may tell: the one it sits on, or all of the robot.
    """

    def __init__(
        self,
        robot: str,
        path: tuple[str, ...],
        what: Sensor | Controller,
        limits: Limits | None,
        joints: tuple[str, ...],
        source: Source,
        resolve: Callable[[Any], Any],
        clock: Clock,
        bus: Bus,
    ) -> None:
        self.robot = robot
        self.path = path
        self.name = "/".join(path)
        self.topic = ("sensor" if isinstance(what, Sensor) else "controller", *path)
        self.what = what
        self.clock = clock
        self.bus = bus
        self.moves_with = (limits, what.transmission if isinstance(what, Sensor) else DIRECT)  # may name parameters
        self._joints = joints
        self._resolve = resolve
        self._transmission: Transmission = resolve(self.moves_with[1])
        self.part = Part(self.name, path, source, resolve, robot, clock, bus)
        self.part.on_requested = self._tell_request

    def _tell_request(self, told: Requested) -> None:
        self.bus.publish(Message(told, (*self.topic, TOPIC), self.clock.now(), self.clock.wall(), self.robot, told.source, self.what.name))

    def start(self) -> Any:
        return self.part.start(self._context())

    def restart(self) -> Any:
        self.part.renew()
        return self.start()

    def refresh(self) -> None:
        """A parameter has changed, and all was checked: options, limits and transmission are resolved again."""
        self._transmission = self._resolve(self.moves_with[1])
        self.part.refresh(self._context())

    def close(self, reason: str) -> None:
        self.part.close(reason)

    def _context(self) -> Context:
        sensor = self.what if isinstance(self.what, Sensor) else None
        joint = sensor.joint if sensor is not None else None
        frame = (sensor.link or sensor.joint if sensor is not None else None) or self.what.name

        def report(payload: Any, *below: str) -> None:
            seen = report_in_joint_space(payload, self._transmission, self._joints)  # as it is now, whenever the driver got its context
            self.bus.publish(Message(seen, (*self.topic, *below), self.clock.now(), self.clock.wall(), self.robot, self.name, frame))

        motor = MotorProfile.of(self._resolve(self.moves_with[0]), self._transmission)
        part = self.part
        return Context(self.robot, self.path, joint, motor, self.clock.now, report, part.later, part.mail.listen, *part.surroundings)
