"""One supervised actuator: its driver, its gate, and the three ways to reach it.

The gate stays for the life of the runtime; the driver behind it may die and be started again.
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from pushrod.robot.description import Actuator, Joint, Limits
from pushrod.robot.motor_profile import MotorProfile
from pushrod.robot.transmission import Transmission
from pushrod.runtime.asked import TOPIC
from pushrod.runtime.bus import Bus, QueueStatistics
from pushrod.runtime.clock import Clock, SteppedClock
from pushrod.runtime.delivery import Direct, Publish, Sync
from pushrod.runtime.door import enter, is_inside, leave
from pushrod.runtime.driver import Context
from pushrod.runtime.gate import PATIENCE, Gate
from pushrod.runtime.joint_space import report_in_joint_space
from pushrod.runtime.leasing import Taken, taken
from pushrod.runtime.message import BeginMotion, Command, EndMotion, JointState, LeaseChanged, Message, Outcome
from pushrod.runtime.motions import Motions
from pushrod.runtime.part import Part, Source
from pushrod.runtime.result import Result
from pushrod.runtime.slot import InlineSlot, Slot, SlotStatistics, ThreadSlot
from pushrod.runtime.turns import LockTurns, SlotTurns
from pushrod.safety.lease import Lease

OPEN = Limits()
INF = float("inf")
EARLY = 1e-6  # [s] a timer may fire early


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
        self.motions = Motions(clock.now, clock.later, self.emit, self._position)
        self._resolve = resolve
        self._noting = threading.RLock()  # on the stepped clock a signal handler may emit while this thread has it
        self._lease_timer = INF  # [s] when the timer of leases fires
        self._cancel_lease_timer: Callable[[], object] = lambda: None
        self.part = part = Part(self.name, path, source, resolve, robot, clock, bus)
        limits, transmission = self._limits()
        payloads = part.driver.command_payloads(part.options)
        self.gate = gate = Gate(
            self.name,
            part.handle_command,
            payloads,
            limits,
            transmission,
            clock.now,
            check=part.check_command,
            reject=actuator.limit_policy == "reject",
            failed=self._command_failed,
        )
        gate.motions = self.motions
        gate.stopped = part.stopped
        part.on_stopped = self._stop_gate
        part.on_requested = lambda told: self.emit(told, told.source, TOPIC)
        part.is_armed = lambda: bool(gate.epoch) and not gate.fuse[0]
        part.arming = lambda: 0 if gate.fuse[0] else gate.epoch
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
        self.gate.handle, self.gate.check = self.part.handle_command, self.part.check_command
        self.gate.payloads = frozenset(self.part.driver.command_payloads(self.part.options))
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
        self._time_lease(wish)
        return answer

    def seize_lease(self, lease: Lease) -> LeaseChanged:
        """Replace whatever lease there is, without waiting for commands; return the message for observers."""
        with self._noting:
            old, self.gate.lease = self.gate.lease, lease
        return LeaseChanged(None if old is None else old.owner, lease.owner, lease.priority, lease.until)

    def release_lease(self, owner: str) -> bool:
        with self._between_commands(), self._noting:
            old = self.gate.lease
            if old is None or old.owner != owner:
                return False
            self.gate.lease = None
        self.emit(LeaseChanged(owner, None), owner)
        return True

    def _time_lease(self, lease: Lease) -> None:
        """Look again when the lease ends. One timer serves all renewals: it is set anew only for a lease that ends sooner than it fires."""
        with self._noting:
            if lease.until >= self._lease_timer:
                return
            self._cancel_lease_timer()
            self._lease_timer = lease.until
            self._cancel_lease_timer = self.clock.later(max(lease.until - self.clock.now(), 0.0), self._lease_timed)

    def _lease_timed(self) -> None:
        """End a lease whose time is over; the gate has admitted others since then. A renewed lease is looked at again at its end."""
        with self._noting:
            self._lease_timer = INF
            lease = self.gate.lease
            over = lease is not None and lease.until <= self.clock.now() + EARLY
            if over:
                self.gate.lease = None
        if lease is None:
            return
        if over:
            self.emit(LeaseChanged(lease.owner, None), lease.owner)
        else:
            self._time_lease(lease)

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
        self.motions.end_all("cancelled", "terminated", reason)

    @property
    def ended(self) -> Mapping[str, EndMotion]:
        """Ends by command id, of those ids whose newest motion has ended."""
        return self.motions.ended

    def end_motions(self, why: str) -> None:
        """End all open motions of a driver that has failed."""
        self.motions.end_all("fault", "driver_failed", why)

    def _position(self) -> float | None:
        state = self.joint_state
        return state.positions[0] if state is not None and state.positions else None

    @contextmanager
    def _between_commands(self) -> Iterator[None]:
        """While no command acts; but one that takes too long, or blocks by nature, or asks for this itself, is not waited for."""
        if self.slot is not None or is_inside(self.gate):
            yield
            return
        try:
            enter(self.gate, PATIENCE)
            yield
        finally:
            leave(self.gate)

    def _stop_gate(self, why: str) -> None:
        self.gate.stopped = why
        if why:
            self.gate.close(why)

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
            elif (type(seen) is EndMotion or type(seen) is BeginMotion) and not self.motions.note(seen):
                return
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
            armed=part.is_armed,
        )
