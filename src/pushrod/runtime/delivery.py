"""Three ways to deliver, each with the same six verbs and the same typed answer.

direct    in process, inline, no queue, no await: for control loops
sync      awaits the acknowledgement, with a time limit
publish   delivers, then puts one message on the topic: the command and what became of it
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, Generic, Literal, TypeVar

from pushrod.core.errors import InputError, PushrodError
from pushrod.robot.parameter import real
from pushrod.runtime.gate import Gate
from pushrod.runtime.message import FOREVER, Command
from pushrod.runtime.payload import Effort, Hold, Position, Stop, Trajectory, Velocity, Waypoint
from pushrod.runtime.result import Accepted, Result
from pushrod.runtime.slot import Slot

A = TypeVar("A")
TIMEOUT = 5.0  # [s]
WAITING = Accepted("waiting for the driver; the outcome comes on the topic")


class CommandTimeout(PushrodError, TimeoutError):  # noqa: N818
    """The driver is still in the call: whether the command acts is not known."""


class Verbs(ABC, Generic[A]):
    """The six verbs, wherever the actuator is. On the envelope go `validity` [s] and the `origin` it counts from (a time of the runtime's clock;
    now, if it is not said), `sequence`, `priority` and `id`."""

    @abstractmethod
    def send(
        self, payload: Any, *, validity: float = FOREVER, origin: float | None = None, sequence: int = 0, priority: int = 0, id: str | None = None
    ) -> A:
        """Any payload the driver declares."""

    def set_position(self, position: float, velocity: float | None = None, duration: float | None = None, **envelope: Any) -> A:
        return self.send(Position(position, velocity, duration), **envelope)

    def set_velocity(self, velocity: float, duration: float | None = None, **envelope: Any) -> A:
        return self.send(Velocity(velocity, duration), **envelope)

    def set_effort(self, effort: float, duration: float | None = None, **envelope: Any) -> A:
        return self.send(Effort(effort, duration), **envelope)

    def follow_trajectory(self, waypoints: Iterable[Waypoint | Mapping[str, float]], repeat: int | Literal["forever"] = 1, **envelope: Any) -> A:
        points = tuple(_waypoint(point) for point in waypoints) if isinstance(waypoints, Iterable) else waypoints
        return self.send(Trajectory(points, repeat), **envelope)

    def hold(self, **envelope: Any) -> A:
        return self.send(Hold(), **envelope)

    def stop(self, mode: Literal["immediate", "decelerate"] = "immediate", **envelope: Any) -> A:
        return self.send(Stop(mode), **envelope)


class Delivery(Verbs[A]):
    """In this process. `source` says who asks."""

    def __init__(self, gate: Gate, slot: Slot | None, source: str) -> None:
        self.gate = gate
        self.slot = slot
        self.source = source


class Direct(Delivery[Result]):
    def send(
        self, payload: Any, *, validity: float = FOREVER, origin: float | None = None, sequence: int = 0, priority: int = 0, id: str | None = None
    ) -> Result:
        gate = self.gate
        command = Command(payload, self.source, gate.now() if origin is None else origin, validity, sequence, priority, 0, id)
        return gate.deliver(gate.permit, gate.prepare(command)) if self.slot is None else gate.refuse("blocking", command)


class Publish(Delivery[Result]):
    def __init__(self, gate: Gate, slot: Slot | None, source: str, announce: Callable[[Command, Result], None]) -> None:
        super().__init__(gate, slot, source)
        self.announce = announce

    def send(
        self, payload: Any, *, validity: float = FOREVER, origin: float | None = None, sequence: int = 0, priority: int = 0, id: str | None = None
    ) -> Result:
        gate = self.gate
        command = Command(payload, self.source, gate.now() if origin is None else origin, validity, sequence, priority, gate.epoch, id)
        permit = gate.permit
        prepared = gate.prepare(command)
        if self.slot is not None:
            answers: list[Result] = []

            def answer(result: Result) -> None:
                answers.append(result)
                self.announce(prepared.command, result)

            self.slot.put(permit, prepared, answer)
            return answers[0] if answers else WAITING
        result = gate.deliver(permit, prepared)
        self.announce(prepared.command, result)
        return result


class Sync(Delivery[Awaitable[Result]]):
    async def send(
        self,
        payload: Any,
        *,
        validity: float = FOREVER,
        origin: float | None = None,
        sequence: int = 0,
        priority: int = 0,
        id: str | None = None,
        timeout: float = TIMEOUT,
    ) -> Result:
        gate = self.gate
        permit = gate.permit
        command = Command(payload, self.source, gate.now() if origin is None else origin, validity, sequence, priority, permit.epoch, id)
        timeout = real(timeout)
        if type(timeout) is not float or not timeout >= 0.0:
            raise InputError(f"timeout must be a number of seconds, not negative, got {timeout!r}")
        if self.slot is None:
            return gate.deliver(permit, gate.prepare(command))  # a plain driver never blocks: the answer is already here
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Result] = loop.create_future()

        def answer(result: Result) -> None:
            with suppress(RuntimeError):  # its loop has ended: nobody waits any more
                loop.call_soon_threadsafe(_settle, future, result)

        entry = self.slot.put(permit, gate.prepare(command), answer)
        if entry is None:
            return await future  # settled at the door
        try:
            async with asyncio.timeout(timeout):
                return await future
        except (TimeoutError, asyncio.CancelledError) as error:
            withdrawn = self.slot.withdraw(entry)
            if isinstance(error, asyncio.CancelledError):
                raise
            if withdrawn:
                return gate.refuse("withdrawn", command, f"not started within {timeout:g} s")
            what = f"{gate.name} has not come back from {type(payload).__name__} within {timeout:g} s"
            raise CommandTimeout(f"{what}: the outcome is unknown; look at the actuator, or disarm") from None


def _waypoint(point: Any) -> Any:
    """A waypoint, also from a mapping with its fields; what is none stays, for the gate to refuse."""
    if isinstance(point, Mapping):
        try:
            return Waypoint(**point)
        except TypeError:
            return point
    return point


def _settle(future: "asyncio.Future[Result]", result: Result) -> None:
    if not future.done():
        future.set_result(result)
