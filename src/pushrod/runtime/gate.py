"""The one gate in front of a driver. Every command, whichever way it came, passes here, last hop before the driver:

    declared payload -> well formed -> fresh, in order -> allowed sender -> armed -> within limits -> motor space -> driver

What the gate admits acts before its lock is free, so "epoch = 0, take the lock, give it back" is a fence: nothing acts after it.
The gate waits at most 50 ms for its lock; a driver that commands itself is refused at once. Stop needs no freshness, no sequence and no lease.
"""

import logging
import threading
from collections.abc import Callable, Sequence, Set
from threading import get_ident
from typing import Any

from pushrod.core.errors import InputError
from pushrod.robot.description import Limits
from pushrod.robot.transmission import Transmission
from pushrod.runtime.message import Command
from pushrod.runtime.payload import Payload, Stop
from pushrod.runtime.result import ACCEPTED, Accepted, Clamped, Declined, Refused, Result, refused
from pushrod.safety.lease import WATCHDOG, Lease, holds

INF = float("inf")
PATIENCE = 0.05  # [s]
QUIET = 1.0  # [s] between two lines in the log about refusals of one kind: a control loop that is refused must not drown in them
UNLOGGED = frozenset({"superseded", "batch"})  # everyday life of a slow driver; and the one that was to blame has its own line
log = logging.getLogger("pushrod.runtime")
Admitted = tuple[Any, Any]
WHOLE = b"\0"
Observer = Callable[[Command, Result, float], None]


class Gate:
    """Arming is one integer: epoch 0 is not armed, each arming gives a new number."""

    def __init__(
        self,
        name: str,
        handle: Callable[[Any, Command], Any],
        payloads: Sequence[type],
        limits: Limits,
        transmission: Transmission,
        now: Callable[[], float],
        *,
        reject: bool = False,
        failed: Callable[[BaseException], None] = lambda error: None,
    ) -> None:
        strangers = [str(getattr(kind, "__name__", kind)) for kind in payloads if not (isinstance(kind, type) and issubclass(kind, Payload))]
        if strangers:
            raise InputError(f"{name}: its driver accepts {', '.join(strangers)}, which must subclass Payload to pass the gate")
        self.name = name
        self.handle = handle
        self.payloads = frozenset(payloads)
        self.limits = limits
        self.transmission = transmission
        self.now = now
        self.reject = reject
        self.failed = failed
        self.lock = threading.Lock()
        self.holder = 0  # the thread inside, so that a driver commanding itself is seen
        self.epoch = 0
        self.out = ""  # why it is not armed, where there is more to say than that nobody has armed it
        self.lease: Lease | None = None
        self.seen: dict[str, int] = {}  # source -> sequence of its last command that acted
        self.stopped = ""  # why the driver is not running
        self.last_acted = float("-inf")
        self.commander = ""  # the source of what acted last
        self.acted = 0
        self.acted_before = 0  # it was armed, or its watchdog cleared: silence counts from the first command after that
        self.actor = 0  # the thread whose command acted last
        self.fuse: Sequence[int] = WHOLE  # not 0 once the guard process has disarmed: seen even by the first command of a process that was stopped
        self.observer: Observer | None = None  # told of every command that came here, what became of it and when; it must never wait
        self.refusals: dict[str, int] = {}
        self._logged: dict[str, tuple[float, int]] = {}  # reason -> when, and how many there were by then

    def __call__(self, command: Command) -> Result:
        if not self.enter():
            return self.refuse("busy", command)
        try:
            verdict = self.admit(command)
            return self.act(command, verdict) if isinstance(verdict, tuple) else verdict
        finally:
            self.holder = 0
            self.lock.release()

    def enter(self) -> bool:
        """Take the lock. It is nearly always free: asked without a time limit first, which is quicker."""
        me = get_ident()
        if not self.lock.acquire(False) and (self.holder == me or not self.lock.acquire(True, PATIENCE)):
            return False
        self.holder = me
        return True

    def admit(self, command: Command) -> Refused | Admitted:
        """Refused, or the payload that may act now, in joint space (the same object where nothing was clamped) and in motor space."""
        payload = command.payload
        if type(payload) not in self.payloads:
            allowed = ", ".join(sorted(kind.__name__ for kind in self.payloads))
            return self.refuse("unsupported", command, f"it accepts {allowed}")
        try:
            problem = payload.problem()
        except Exception as error:  # a payload of a driver's own
            problem = f"its check raised {type(error).__name__}: {error}"
        if command.validity or command.sequence or command.priority or command.id is not None:
            problem = problem or envelope_problem(command)
        if problem:
            return self.refuse("malformed", command, problem)
        if type(payload) is not Stop:
            if command.validity and (age := self.now() - command.origin) > command.validity:
                return self.refuse("stale", command, f"{age:.3f} s old, valid for {command.validity:g} s")
            if command.sequence and command.sequence <= (last := self.seen.get(command.source, 0)):
                return self.refuse("sequence", command, f"got {command.sequence} after {last}")
            lease = self.lease
            if lease is not None and not holds(lease, command.source, self.now()):
                return self.refuse("watchdog" if lease.owner == WATCHDOG else "lease", command, f"held by {lease.owner}")
        if self.stopped:
            return self.refuse("stopped", command, self.stopped)
        if not self.epoch:
            return self.refuse("not_armed", command, self.out)
        if self.fuse[0]:
            self.epoch = 0
            self.out = "the guard has disarmed it"
            return self.refuse("not_armed", command, self.out)
        if command.epoch and command.epoch != self.epoch:
            return self.refuse("epoch", command)
        try:
            done = payload.within(self.limits)
            if done is not payload and self.reject:
                return self.refuse("limits", command, f"asked {payload}, allowed {done}")
            motor = done.to_motor(self.transmission)
            problem = None if motor is done else motor.motor_problem()
        except Exception as error:
            problem = f"raised {type(error).__name__}: {error}"
        if problem:  # finite for the joint, but geared up past all numbers
            return self.refuse("malformed", command, f"in motor space: {problem}")
        return done, motor

    def act(self, command: Command, admitted: Admitted) -> Result:
        """Hand an admitted payload to the driver. Only what acts counts as seen."""
        done, motor = admitted
        if command.sequence and command.sequence > self.seen.get(command.source, 0):  # a late Stop acts, and lets nothing late in after it
            self.seen[command.source] = command.sequence
        try:
            info = self.handle(motor, command)
        except Declined as why:
            return self.refuse(why.reason, command, str(why))
        except BaseException as error:
            self.epoch = 0  # out at once; safety makes it safe
            self.failed(error)
            if not isinstance(error, Exception):
                raise  # the program is to end
            return self.refuse("driver_error", command, f"{type(error).__name__}: {error}")
        self.acted += 1
        self.actor = self.holder
        self.last_acted = now = self.now()
        self.commander = command.source
        result: Result = ACCEPTED if info is None else Accepted(info)
        if done is not command.payload:
            result = Clamped(command.payload, done, info)
        if self.observer is not None:
            self.observer(command, result, now)
        return result

    def count(self, reason: str) -> int:
        """One more was refused, here or on its way."""
        count = self.refusals[reason] = self.refusals.get(reason, 0) + 1
        return count

    def refuse(self, reason: str, command: Command, detail: str = "") -> Refused:
        count = self.count(reason)
        answer = refused(reason, self.name, type(command.payload).__name__, detail)
        then, before = self._logged.get(reason, (float("-inf"), 0))
        if reason not in UNLOGGED and (now := self.now()) >= then + QUIET:
            self._logged[reason] = now, count
            more = f" ({count - before} times since the last such line)" if count - before > 1 else ""
            log.info("%s%s", answer, more)
        if self.observer is not None:
            self.observer(command, answer, self.now())
        return answer


def envelope_problem(command: Command) -> str | None:
    """What is wrong with what a sender wrote on the envelope, or None."""
    validity, origin = command.validity, command.origin
    if isinstance(validity, bool) or not isinstance(validity, (int, float)) or not 0.0 <= validity < INF:
        return f"validity must be a number of seconds, finite and not negative, got {validity!r}"
    if isinstance(origin, bool) or not isinstance(origin, (int, float)) or not -INF < origin < INF:
        return f"origin must be a time of the runtime's clock in seconds, got {origin!r}"
    for name in ("sequence", "priority"):
        n = getattr(command, name)
        if isinstance(n, bool) or not isinstance(n, int):
            return f"{name} must be a whole number, got {n!r}"
    return None if command.id is None or isinstance(command.id, str) else f"id must be a text, got {command.id!r}"


def send(pairs: Sequence[tuple[Gate, Command]], blocking: Set[Gate] = frozenset()) -> list[Result]:
    """Several commands as one: all are admitted, then all act; or none does. Locks are taken in the order of names, each with a time limit.

    A driver that blocks cannot act in the same moment as others: it is refused.
    """
    if blocking:
        return _none(pairs, {i: gate.refuse("blocking", command) for i, (gate, command) in enumerate(pairs) if gate in blocking})
    order = sorted(range(len(pairs)), key=lambda i: pairs[i][0].name)
    taken: list[Gate] = []
    try:
        for i in order:
            gate = pairs[i][0]
            if gate in taken:
                continue
            if not gate.enter():
                return _none(pairs, {i: gate.refuse("busy", pairs[i][1])})
            taken.append(gate)
        verdicts = [gate.admit(command) for gate, command in pairs]
        refusals = {i: verdict for i, verdict in enumerate(verdicts) if type(verdict) is Refused}
        if refusals:
            return _none(pairs, refusals)
        return [_act(gate, command, verdict) for (gate, command), verdict in zip(pairs, verdicts, strict=True) if isinstance(verdict, tuple)]
    finally:
        for gate in reversed(taken):
            gate.holder = 0
            gate.lock.release()


def _act(gate: Gate, command: Command, admitted: Admitted) -> Result:
    """Unless what acted before it has disarmed, or has crashed this very driver."""
    return gate.act(command, admitted) if gate.epoch else gate.refuse("not_armed", command, "disarmed by another command of the same batch")


def _none(pairs: Sequence[tuple[Gate, Command]], refusals: dict[int, Refused]) -> list[Result]:
    """Nothing acts: the refused ones say why, the others that they would have."""
    culprit = next(iter(refusals.values())).actuator
    return [refusals.get(i) or gate.refuse("batch", command, f"{culprit} was refused") for i, (gate, command) in enumerate(pairs)]
