"""One supervised actuator: its driver, its gate, and the three ways to reach it.

The gate stays for the life of the runtime; the driver behind it may die and be started again.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from pushrod.robot.description import Actuator, Joint, Limits
from pushrod.robot.motor_profile import MotorProfile
from pushrod.robot.transmission import Transmission
from pushrod.runtime.asked import TOPIC
from pushrod.runtime.bus import Bus, QueueStatistics
from pushrod.runtime.clock import Clock, SteppedClock
from pushrod.runtime.delivery import Direct, Publish, Sync
from pushrod.runtime.driver import Context
from pushrod.runtime.gate import PATIENCE, Gate
from pushrod.runtime.joint_space import report_in_joint_space
from pushrod.runtime.leasing import Taken, taken
from pushrod.runtime.message import BeginMotion, Command, EndMotion, JointState, LeaseChanged, Message, Outcome
from pushrod.runtime.part import LockTurns, Part, SlotTurns, Source
from pushrod.runtime.result import Result
from pushrod.runtime.slot import InlineSlot, Slot, SlotStatistics, ThreadSlot
from pushrod.safety.lease import Lease

OPEN = Limits()
INF = float("inf")
REMEMBERED = 256  # motions whose end can still be asked for


class HostStatistics(NamedTuple):
    acted: int
    refused: dict[str, int]
    restarts: int
    slot: SlotStatistics | None
    mail: tuple[QueueStatistics, ...]


class Host:
    def __init__(
        self,
        robot: str,
        path: tuple[str, ...],
        actuator: Actuator,
        joint: Joint,
        source: Source,
        resolve: Callable[[Any], Any],
        clock: Clock,
        bus: Bus,
    ) -> None:
        self.robot = robot
        self.path = path
        self.name = "/".join(path)
        self.topic = ("actuator", *path)
        self.actuator = actuator
        self.joint = joint
        self.moves_with = (joint.limits, actuator.transmission)  # may name parameters
        self.clock = clock
        self.bus = bus
        self.joint_state: JointState | None = None  # what its driver reported last, in joint space
        self.ended: dict[str, EndMotion] = {}  # by command id, the latest last
        self._under_way: dict[str, BeginMotion] = {}
        self._resolve = resolve
        self._noting = threading.Lock()
        self.part = part = Part(self.name, path, source, resolve, robot, clock, bus)
        limits, transmission = self._limits()
        payloads = part.driver.command_payloads(part.options)
        self.gate = gate = Gate(
            self.name,
            part.driver.handle_command,
            payloads,
            limits,
            transmission,
            clock.now,
            reject=actuator.limit_policy == "reject",
            failed=self._command_failed,
        )
        gate.stopped = part.stopped
        part.on_stopped = self._stop_gate
        part.on_requested = lambda told: self.emit(told, told.source, TOPIC)
        part.turns = locked = LockTurns(self.name, gate)
        self.slot: Slot | None = None
        if part.driver.blocking:
            self.slot = slot = InlineSlot(gate) if isinstance(clock, SteppedClock) else ThreadSlot(gate)
            part.turns = SlotTurns(slot, locked)
            part.slowly = slot.ask

    def start(self) -> Any:
        if self.slot is not None:
            self.slot.open()
        return self.part.start(self._context())

    def restart(self) -> Any:
        """A new driver in the place of one that died; the gate knows it before it is set up."""
        self.part.renew()
        driver = self.part.driver
        self.gate.handle = driver.handle_command
        self.gate.payloads = frozenset(driver.command_payloads(self.part.options))
        return self.start()

    def refresh(self) -> None:
        """A parameter has changed, and all was checked: options, limits and transmission are resolved again."""
        limits, transmission = self._limits()
        with self._between_commands():
            self.gate.limits, self.gate.transmission = limits, transmission
        self.part.refresh(self._context())

    def take_lease(self, wish: Lease) -> Taken:
        with self._between_commands(), self._noting:
            old = self.gate.lease
            answer = taken(old, wish, self.clock.now())
            if not answer.ok:
                return answer
            self.gate.lease = wish
        self.emit(LeaseChanged(None if old is None else old.owner, wish.owner, wish.priority, wish.until), wish.owner)
        if wish.until < INF:
            self.clock.later(max(wish.until - self.clock.now(), 0.0), lambda: self._lease_over(wish))
        return answer

    def release_lease(self, owner: str) -> bool:
        with self._between_commands(), self._noting:
            old = self.gate.lease
            if old is None or old.owner != owner:
                return False
            self.gate.lease = None
        self.emit(LeaseChanged(owner, None), owner)
        return True

    def _lease_over(self, lease: Lease) -> None:
        """Unless it was renewed or taken over meanwhile. The gate has let others in since its last moment."""
        with self._noting:
            if self.gate.lease is not lease:
                return
            self.gate.lease = None
        self.emit(LeaseChanged(lease.owner, None), lease.owner)

    def direct(self, source: str) -> Direct:
        return Direct(self.gate, self.slot, source)

    def sync(self, source: str) -> Sync:
        return Sync(self.gate, self.slot, source)

    def publish(self, source: str) -> Publish:
        return Publish(self.gate, self.slot, source, self.announce)

    def announce(self, command: Command, result: Result) -> None:
        self.emit(Outcome(command, result), command.source)

    def emit(self, payload: Any, source: str = "", *below: str) -> None:
        """One message on the actuator's topic, or below."""
        topic = (*self.topic, *below)
        self.bus.publish(Message(payload, topic, self.clock.now(), self.clock.wall(), self.robot, source or self.name, self.actuator.name))

    def statistics(self) -> HostStatistics:
        slot = self.slot.statistics() if self.slot else None
        return HostStatistics(self.gate.acted, dict(self.gate.refusals), self.part.restarts, slot, self.part.mail.statistics())

    def close(self, reason: str, patience: float = 1.0) -> None:
        self.part.close(reason)
        if self.slot is not None:
            self.slot.close(patience)

    def _note_motion(self, motion: BeginMotion | EndMotion) -> None:
        """An id that is used again begins anew."""
        if motion.command_id is None:
            return
        with self._noting:
            self.ended.pop(motion.command_id, None)
            self._under_way.pop(motion.command_id, None)
            if type(motion) is EndMotion:
                _keep(self.ended, motion.command_id, motion)
            else:
                _keep(self._under_way, motion.command_id, motion)

    def end_motions(self, why: str) -> None:
        """The driver has failed: what it had begun and not ended has ended, for whoever waits for it."""
        with self._noting:
            left = list(self._under_way.items())
        x = self.joint_state.positions[:1] if self.joint_state is not None else ()
        for command_id, begun in left:
            end = EndMotion(x[0] if x else begun.initial_position, "fault", "driver_failed", why, command_id)
            self._note_motion(end)
            self.emit(end)

    @contextmanager
    def _between_commands(self) -> Iterator[None]:
        """While no command acts; but one that takes too long, or blocks by nature, or asks for this itself, is not waited for."""
        held = self.slot is None and self.gate.holder != threading.get_ident() and self.gate.lock.acquire(timeout=PATIENCE)
        try:
            yield
        finally:
            if held:
                self.gate.lock.release()

    def _stop_gate(self, why: str) -> None:
        self.gate.stopped = why
        if why:
            self.gate.epoch = 0

    def _command_failed(self, error: BaseException) -> None:
        self.part.fail(error)

    def _limits(self) -> tuple[Limits, Transmission]:
        return self._resolve(self.joint.limits or OPEN), self._resolve(self.actuator.transmission)

    def _context(self) -> Context:
        gate, own = self.gate, (self.joint.name,)

        def report(payload: Any) -> None:
            seen = report_in_joint_space(payload, gate.transmission, own)
            if type(seen) is JointState:
                self.joint_state = seen
            elif type(seen) is EndMotion or type(seen) is BeginMotion:
                self._note_motion(seen)
            self.emit(seen)

        motor = MotorProfile.of(gate.limits, gate.transmission)
        part = self.part
        return Context(
            self.robot,
            self.path,
            self.actuator.joint,
            motor,
            self.clock.now,
            report,
            part.later,
            part.mail.listen,
            *part.surroundings,
            limit_policy=self.actuator.limit_policy,
        )


def _keep(motions: dict[str, Any], command_id: str, motion: Any) -> None:
    motions[command_id] = motion
    if len(motions) > REMEMBERED:
        del motions[next(iter(motions))]
