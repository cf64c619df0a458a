"""One supervised actuator: its driver, its gate, its guard, and the three ways to reach it.

The gate and the guard stay for the life of the runtime; the driver behind them may die and be started again.
"""

import importlib
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from pushrod.core.errors import InputError
from pushrod.robot.description import Actuator, Joint, Limits
from pushrod.robot.motor_profile import MotorProfile
from pushrod.robot.options import plain
from pushrod.robot.transmission import Transmission
from pushrod.runtime.bus import Bus
from pushrod.runtime.clock import Clock
from pushrod.runtime.delivery import Direct, Publish, Sync
from pushrod.runtime.driver import Context, Hooks, Skip, Stopped, hooks
from pushrod.runtime.gate import Gate
from pushrod.runtime.joint_space import to_joint_space
from pushrod.runtime.message import Command, Message, Outcome
from pushrod.runtime.result import Result
from pushrod.runtime.slot import Slot, SlotStatistics
from pushrod.safety.lease import Lease, may_take
from pushrod.safety.watchdog import Watch, look

OPEN = Limits()


class HostStatistics(NamedTuple):
    acted: int
    refused: dict[str, int]
    restarts: int
    slot: SlotStatistics | None


class Host:
    """`failed(host, error)` is told when the driver raised; the supervisor decides what becomes of it."""

    def __init__(
        self,
        robot: str,
        path: tuple[str, ...],
        actuator: Actuator,
        joint: Joint | None,
        driver: Any,
        resolve: Callable[[Any], Any],
        clock: Clock,
        bus: Bus,
        failed: Callable[["Host", BaseException], None],
    ) -> None:
        self.robot = robot
        self.path = path
        self.name = "/".join(path)
        self.topic = ("actuator", *path)
        self.actuator = actuator
        self.joint = joint
        self.clock = clock
        self.bus = bus
        self._make = driver
        self._resolve = resolve
        self._failed = failed
        self.restarts = 0
        self.watch: Watch | None = None
        self.skipped = ""
        self.driver: Hooks = hooks(self._new())
        limits, transmission = self._limits()
        self.gate = Gate(
            self.name,
            self.driver.handle_command,
            self.driver.command_payloads,
            limits,
            transmission,
            clock.now,
            reject=actuator.limit_policy == "reject",
            failed=lambda error: failed(self, error),
        )
        self.gate.stopped = "it has not been started"
        self.slot = Slot(self.gate) if self.driver.blocking else None
        self.options = self.resolved_options()

    def start(self) -> None:
        """Set the driver up. Whatever it raises but Skip stops it, with the reason kept."""
        try:
            go_on = self.driver.init(self._context(), self.options)
            if go_on is not None:
                go_on()
        except Skip as reason:
            self.skipped = self.gate.stopped = str(reason) or "its driver asked to be left out"
            return
        except BaseException as error:
            self.gate.stopped = f"{type(error).__name__}: {error}"
            raise
        self.gate.stopped = ""

    def restart(self) -> None:
        """A new driver in the place of one that died."""
        self.restarts += 1
        self.driver = hooks(self._new())
        self.gate.handle = self.driver.handle_command
        self.start()

    def resolved_options(self) -> Any:
        """The options with every parameter in place, checked against the driver's own struct."""
        data = plain(self._resolve(self.actuator.options))
        kind = self.driver.options
        if kind is None:
            if data:
                raise InputError(f"{self.name}: its driver takes no options, got {', '.join(sorted(data))}")
            return None
        try:
            return msgspec.convert(data, kind, str_keys=True)
        except msgspec.ValidationError as error:
            raise InputError(f"{self.name}: options: {error}") from error

    def refresh(self) -> None:
        """A parameter has changed: options, limits and transmission are resolved again; a bad set leaves the old one in place."""
        options = self.resolved_options()
        limits, transmission = self._limits()
        with self.gate.lock:
            self.gate.limits, self.gate.transmission = limits, transmission
        if options != self.options:
            self.options = options
            self._guarded(lambda: self.driver.handle_options(options))

    def request(self, request: Any) -> Any:
        """A call that is not a command."""
        return self.driver.handle_request(request)

    def take_lease(self, wish: Lease) -> bool:
        with self.gate.lock:
            if not may_take(self.gate.lease, wish, self.clock.now()):
                return False
            self.gate.lease = wish
            return True

    def release_lease(self, owner: str) -> bool:
        with self.gate.lock:
            if self.gate.lease is None or self.gate.lease.owner != owner:
                return False
            self.gate.lease = None
            return True

    def look_at_watchdog(self) -> bool:
        """True at the moment the watchdog bites."""
        dog = self.actuator.watchdog
        if dog is None or not self.gate.epoch:
            self.watch = None
            return False
        now = self.clock.now()
        old = self.watch or Watch(now)
        self.watch = look(dog, Watch(max(old.fed, self.gate.last_acted), old.bitten), now)
        return self.watch.bitten and not old.bitten

    def direct(self, source: str) -> Direct:
        return Direct(self.gate, self.slot, source)

    def sync(self, source: str) -> Sync:
        return Sync(self.gate, self.slot, source)

    def publish(self, source: str) -> Publish:
        return Publish(self.gate, self.slot, source, self.announce)

    def announce(self, command: Command, result: Result) -> None:
        self.emit(Outcome(command, result), command.source)

    def emit(self, payload: Any, source: str = "") -> None:
        """One message on the actuator's topic."""
        self.bus.publish(Message(payload, self.topic, self.clock.now(), self.clock.wall(), self.robot, source or self.name, self.actuator.name))

    def statistics(self) -> HostStatistics:
        return HostStatistics(self.gate.acted, dict(self.gate.refusals), self.restarts, self.slot.statistics() if self.slot else None)

    def close(self, reason: str, patience: float = 1.0) -> None:
        self.gate.stopped = reason
        if not self.skipped:
            self._guarded(lambda: self.driver.terminate(reason))
        if self.slot is not None:
            self.slot.close(patience)

    def _guarded(self, call: Callable[[], None]) -> None:
        try:
            call()
        except (Stopped, Exception) as error:
            self.gate.epoch = 0
            self._failed(self, error)

    def _limits(self) -> tuple[Limits, Transmission]:
        limits = self.joint.limits if self.joint is not None and self.joint.limits is not None else OPEN
        return self._resolve(limits), self._resolve(self.actuator.transmission)

    def _context(self) -> Context:
        gate = self.gate

        def report(payload: Any) -> None:
            self.emit(to_joint_space(payload, gate.transmission))

        motor = MotorProfile.of(gate.limits, gate.transmission)
        return Context(self.robot, self.path, self.actuator.joint, motor, self.clock.now, report, self.clock.later)

    def _new(self) -> Any:
        make = self._make
        if isinstance(make, str):
            module, _, name = make.partition(":")
            try:
                make = getattr(importlib.import_module(module), name)
            except (ImportError, AttributeError) as error:
                raise InputError(f"{self.name}: driver {self._make!r} cannot be imported: {error}; write 'package.module:Class'") from error
        return make() if isinstance(make, type) or callable(make) else make
