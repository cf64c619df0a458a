"""The one gate in front of a driver. Every command, whichever way it came, passes here, last hop before the driver:

    declared payload -> plain numbers -> well formed -> fresh, in order -> allowed sender -> armed -> within limits -> motor space -> driver

A permit is the right to act under one arming. A stop revokes it by one store, without a lock, and a revoked permit is never valid again. A command
belongs to the permit it came under: the gate checks that immediately before the driver is called, with its lock held. So "revoke, take the lock,
give it back" is a fence: nothing acts after it. What depends on the payload alone is worked out before the lock is taken, so that a long
trajectory delays no stop.

The gate waits at most 50 ms for its lock; a driver that commands itself is refused at once. Stop needs no freshness, no sequence and no lease.
"""

import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from threading import get_ident
from typing import Any

from msgspec import Struct

from pushrod.core.errors import InputError
from pushrod.robot.description import Limits
from pushrod.robot.transmission import Transmission
from pushrod.runtime.envelope import AHEAD, plain_envelope
from pushrod.runtime.message import FOREVER, NONE, Command
from pushrod.runtime.motions import Motions
from pushrod.runtime.payload import Payload, Stop
from pushrod.runtime.result import ACCEPTED, ADVICE, Accepted, Clamped, Declined, Refused, Result, refused
from pushrod.runtime.stop import error_text, reason_text
from pushrod.safety.lease import WATCHDOG, Lease, holds

PATIENCE = 0.05  # [s]
QUIET = 1.0  # [s] between two log lines about refusals for one reason: a loop that is refused at 1 kHz must not flood the log
UNLOGGED = frozenset({"superseded", "batch"})  # usual for a slow driver; and the refusal that ended the batch has its own line
SOURCES = 1024  # whose sequence numbers are remembered; beyond that the source that acted longest ago is forgotten
LONGEST = 500  # characters of a problem: a payload may hold a text of any length
log = logging.getLogger("pushrod.runtime")
INTACT = b"\0"
Observer = Callable[[Command, Result, float], None]
Refusal = tuple[str, str]  # the reason, a key of result.ADVICE, and the detail
BUSY: Refusal = "busy", ""


class Permit:
    """The right to act under one arming: its epoch, or 0 once it is revoked."""

    __slots__ = ("epoch",)

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch


class Prepared(Struct, frozen=True, gc=False):
    """What follows from the command alone: the command with plain numbers, what is wrong with it, or its payload within limits, in joint space and in
    motor space."""

    command: Command
    problem: str | None
    done: Any
    motor: Any
    limits: Limits
    transmission: Transmission


class Gate:
    """A gate is armed while its permit has an epoch; every arming has another."""

    __slots__ = (
        "_logged",
        "acted",
        "acted_before",
        "actor",
        "check",
        "closed_by",
        "commander",
        "failed",
        "fuse",
        "handle",
        "holder",
        "last_acted",
        "lease",
        "left",
        "limits",
        "lock",
        "motions",
        "name",
        "now",
        "observer",
        "offered",
        "out",
        "payloads",
        "permit",
        "refusals",
        "reject",
        "seen",
        "stopped",
        "transmission",
    )  # thirty attributes: more than an instance dictionary keeps quick

    def __init__(
        self,
        name: str,
        handle: Callable[[Any, Command], Any],
        payloads: Sequence[type],
        limits: Limits,
        transmission: Transmission,
        now: Callable[[], float],
        *,
        check: Callable[[Any, Command], object] | None = None,
        reject: bool = False,
        failed: Callable[[BaseException], None] = lambda error: None,
    ) -> None:
        strangers = [str(getattr(kind, "__name__", kind)) for kind in payloads if not (isinstance(kind, type) and issubclass(kind, Payload))]
        if strangers:
            raise InputError(f"{name}: its driver accepts {', '.join(strangers)}, which must subclass Payload to pass the gate")
        self.name = name
        self.handle = handle
        self.check = check  # raises Declined before anything changes
        self.payloads = frozenset(payloads)
        self.limits = limits
        self.transmission = transmission
        self.now = now
        self.reject = reject
        self.failed = failed
        self.lock = threading.RLock()  # see door.py
        self.holder = 0  # the thread inside, so that a driver commanding itself is detected
        self.left: Callable[[], None] | None = None  # runs after the thread inside has left
        self.permit = Permit(0)
        self.offered = self.permit  # the permit of an arming that is under way: a stop revokes this one, too
        self.closed_by: object = None  # the latest stop
        self.out = ""  # why it is not armed, where there is more to report than that
        self.lease: Lease | None = None
        self.seen: dict[str, int] = {}  # source -> sequence of its last command that acted; the latest last
        self.motions = Motions()
        self.stopped = ""  # why the driver is not running
        self.last_acted = float("-inf")
        self.commander = ""  # the source of what acted last
        self.acted = 0
        self.acted_before = 0  # when it was armed, or its watchdog cleared: silence counts from the first command after that
        self.actor = 0  # the thread whose command acted last
        self.fuse: Sequence[int] = INTACT  # not 0 once the guard process has disarmed: a process that was stopped reads it with its first command
        self.observer: Observer | None = None  # receives every command that came here, its result and the time; it must never wait
        self.refusals: dict[str, int] = {}
        self._logged: dict[str, tuple[float, int]] = {}  # reason -> when, and how many there were by then

    @property
    def epoch(self) -> int:
        """The arming in force, or 0."""
        return self.permit.epoch

    def close(self, stop: object) -> None:
        """Admit nothing from here on. Takes no lock: for signal handlers, and for threads inside this gate."""
        close_all((self,), stop)

    def open(self, epoch: int, since: object) -> bool:
        """Admit commands under a new epoch, unless a stop has come since `closed_by` was `since`.

        The permit is offered before the last look at `closed_by`, and a stop marks the gate before it revokes what is offered. So either this call
        sees the stop, or the stop revokes this permit: no order of the two leaves the gate open.
        """
        permit = self.offered = Permit(epoch)  # point: permit offered
        if self.closed_by is not since:
            permit.epoch = 0
            return False
        self.out = ""
        self.seen.clear()  # a sender that starts anew may count anew
        self.acted_before = self.acted
        self.permit = permit  # point: permit granted
        return True

    def __call__(self, command: Command) -> Result:
        permit = self.permit
        return self.deliver(permit, self.prepare(command))

    def deliver(self, permit: Permit, prepared: Prepared) -> Result:
        """Act on a command that came under a permit, or refuse it."""
        me = get_ident()
        if self.holder == me:
            return self.refuse("busy", prepared.command)
        lock = self.lock
        try:  # as in door.py, without calls
            if lock.acquire(False) or lock.acquire(True, PATIENCE):  # nearly always free, and quicker asked without a time limit
                self.holder = me
                answer = self.admit(permit, prepared) or self.act(permit, prepared)
            else:
                answer = BUSY
        finally:
            if self.holder == me:
                self.holder = 0
            try:  # noqa: SIM105 (a context manager takes a tenth of the time of a command)
                lock.release()
            except RuntimeError:
                pass  # it was not taken
        if self.left is not None:
            self.left()
        if type(answer) is tuple:
            return self.refuse(answer[0], prepared.command, answer[1])  # without the lock: a log may block
        return answer  # type: ignore[return-value]

    def prepare(self, command: Command) -> Prepared:
        """Convert numbers, check, bring within limits and into motor space; without the lock, as it may take long."""
        payload, limits, transmission = command.payload, self.limits, self.transmission
        if type(payload) not in self.payloads:
            return Prepared(command, "", None, None, limits, transmission)
        c, problem = command, None
        if (
            c.validity is not FOREVER
            or c.sequence is not NONE
            or c.priority is not NONE
            or c.id is not None
            or c.source is not self.commander
            or type(t := c.origin) is not float
            or t - t != 0.0
        ):  # the envelope differs from the defaults, of which there is one object each
            command, problem = plain_envelope(command)
        try:
            plain = payload.plain()
            problem = problem or plain.problem()
            if plain is not payload:
                payload, c = plain, command
                command = Command(plain, c.source, c.origin, c.validity, c.sequence, c.priority, c.epoch, c.id)
        except Exception as error:  # a payload of a driver's own
            problem = f"its check raised {type(error).__name__}: {error}"
        if problem:
            return Prepared(command, problem[:LONGEST], None, None, limits, transmission)
        try:
            done = payload.within(limits)
            motor = done.to_motor(transmission)
            problem = None if motor is done else motor.motor_problem()
        except Exception as error:
            problem, done, motor = f"raised {type(error).__name__}: {error}", payload, None
        if problem:  # finite for the joint, but beyond all numbers behind the gearbox
            return Prepared(command, f"in motor space: {problem}"[:LONGEST], done, None, limits, transmission)
        return Prepared(command, None, done, motor, limits, transmission)

    def admit(self, permit: Permit, prepared: Prepared) -> Refusal | None:
        """None where it may act now, else why not."""
        command = prepared.command
        payload = command.payload
        if prepared.done is None:
            if type(payload) not in self.payloads:
                return "unsupported", f"it accepts {', '.join(sorted(kind.__name__ for kind in self.payloads))}"
            return "malformed", prepared.problem or ""
        if type(payload) is not Stop:
            if command.validity:
                age = self.now() - command.origin
                if age > command.validity:
                    return "stale", f"{age:.3f} s old, valid for {command.validity:g} s"
                if age < -AHEAD:  # its validity would begin in the future
                    return "stale", f"dated {-age:.3f} s ahead of the runtime's clock, allowed {AHEAD:g} s"
            if command.sequence and command.sequence <= (last := self.seen.get(command.source, 0)):
                return "sequence", f"got {command.sequence} after {last}"
            lease = self.lease
            if lease is not None and not holds(lease, command.source, self.now()):
                return "watchdog" if lease.owner == WATCHDOG else "lease", f"leased by {lease.owner}"
        if self.stopped:
            return "stopped", self.stopped
        if not self.permit.epoch:
            return "not_armed", self.out
        if permit is not self.permit or (command.epoch and command.epoch != permit.epoch):
            return "epoch", ""
        if prepared.done is not payload and self.reject:
            return "limits", f"asked {payload}, allowed {prepared.done}"
        return ("malformed", prepared.problem) if prepared.problem else None

    def checked(self, prepared: Prepared) -> Refusal | None:
        """Ask the driver whether it declines an admitted command; it changes nothing yet."""
        if self.check is None:
            return None
        try:
            self.check(prepared.motor, prepared.command)
        except Declined as why:
            return _declined(why)
        except BaseException as error:
            return self._crashed(error)
        return None

    def act(self, permit: Permit, prepared: Prepared, asked: bool = False) -> Result | Refusal:
        """Hand an admitted payload to the driver, unless a stop has revoked its permit meanwhile. Only what acts counts as seen.

        `asked`: the driver was asked already whether it declines.
        """
        command = prepared.command
        if prepared.limits is not self.limits or prepared.transmission is not self.transmission:  # a parameter has changed meanwhile
            prepared, asked = self.prepare(command), False
            if refusal := self.admit(permit, prepared):
                return refusal
        if self.check is not None and not asked and (refusal := self.checked(prepared)):
            return refusal
        try:
            if command.id is not None:
                self.motions.accept(command)
            if not permit.epoch or self.fuse[0]:  # point: before the driver
                self.motions.decline(command)
                if self.fuse[0]:
                    self.close(self.fuse)
                    self.out = "the guard has disarmed it"
                return "not_armed", self.out
            info = self.handle(prepared.motor, command)
        except Declined as why:
            if command.id is not None:
                self.motions.decline(command)
            return _declined(why)
        except BaseException as error:
            return self._crashed(error)
        if command.sequence and command.sequence > self.seen.get(command.source, 0):  # a late Stop acts, and lets nothing late in after it
            self.seen.pop(command.source, None)
            self.seen[command.source] = command.sequence
            if len(self.seen) > SOURCES:
                del self.seen[next(iter(self.seen))]
        if self.motions.open:
            self.motions.acted(command)
        self.acted += 1
        self.actor = self.holder
        self.last_acted = now = self.now()
        self.commander = command.source
        result: Result = ACCEPTED if info is None else Accepted(info)
        if prepared.done is not command.payload:
            result = Clamped(command.payload, prepared.done, info)
        if self.observer is not None:
            self._observe(command, result, now)
        return result

    def _crashed(self, error: BaseException) -> Refusal:
        """Out at once; the supervisor makes it safe."""
        self.close(error)
        self.failed(error)
        if not isinstance(error, Exception):
            raise error  # the program is to end
        return "driver_error", error_text(error)

    def count(self, reason: str) -> int:
        """Count a refusal, here or on the way here."""
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
            self._observe(command, answer, self.now())
        return answer

    def _observe(self, command: Command, result: Result, now: float) -> None:
        try:
            self.observer(command, result, now)  # type: ignore[misc]
        except Exception as error:  # an observer's error is not the sender's
            log.error("%s: an observer raised %s: %s", self.name, type(error).__name__, error)


def revoke_all(gates: Iterable[Gate]) -> None:
    """Revoke every permit: the first thing that a stop does, before it allocates anything. `close_all` follows."""
    for gate in gates:
        gate.permit.epoch = 0


def close_all(gates: Iterable[Gate], stop: object) -> None:
    """Close gates for a stop, so that no arming that has begun before opens them."""
    for gate in gates:
        gate.closed_by = stop  # point: stop marked
        gate.offered.epoch = 0  # point: offer revoked
        gate.permit.epoch = 0  # point: permit revoked


def _declined(why: Declined) -> Refusal:
    """Return the driver's reason and text; both may be anything."""
    reason = why.reason
    try:
        detail = str.__str__(str(why))
    except Exception:
        detail = reason_text(why)
    return (reason if type(reason) is str and reason in ADVICE else Declined.reason), detail
