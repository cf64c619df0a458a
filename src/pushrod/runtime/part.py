"""One supervised part of a robot: an actuator's driver, a sensor or a controller, from its options to its end.

Calls into a part are made one at a time, by its `Turns`: under its lock in the thread of the caller, or on the one thread of a driver that blocks.
What it raises goes to the supervisor, which decides what becomes of it. A driver may die and be started again; its part stays.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, NamedTuple

import msgspec

from pushrod.core.errors import InputError, PushrodError
from pushrod.core.plain_function import is_deferred
from pushrod.robot.options import plain
from pushrod.robot.reference import references, with_values
from pushrod.runtime.asked import is_question, requested
from pushrod.runtime.bus import Bus
from pushrod.runtime.clock import Clock
from pushrod.runtime.door import Door
from pushrod.runtime.driver import (
    Context,
    Hooks,
    Skip,
    Stopped,
    always,
    checked_options,
    hooks,
    knows_no_actuator,
    new_driver,
    says_nothing,
)
from pushrod.runtime.mailbox import Mailbox
from pushrod.runtime.message import Command, Message, Requested
from pushrod.runtime.stop import encodable, error_text, reason_text
from pushrod.runtime.time_limit import time_limit
from pushrod.runtime.turns import BusyError, LockTurns, Turns

log = logging.getLogger("pushrod.runtime")
NODE = ("init",)
ACTUATOR = ("init", "handle_command", "disarm")
UNSTARTED = "it has not been started"
SETTING_UP = "it is still being set up"
AGAIN = 0.01  # [s] after which new options are offered again to a part that was busy


class DriverError(PushrodError, RuntimeError):
    """A driver could not be started; says which and why."""


class Surroundings(NamedTuple):
    """What a part reaches of the runtime around it."""

    actuator: Callable[[str], Any]
    send: Callable[..., Any]
    report_error: Callable[[str], None]


class Source(NamedTuple):
    """Where the driver of a part comes from, and its options, which may name parameters. The first one is made before they have values."""

    name: str
    make: Any
    options: Mapping[str, Any]
    needs: tuple[str, ...]
    first: Hooks

    @staticmethod
    def of(name: str, make: Any, options: Mapping[str, Any], needs: tuple[str, ...]) -> "Source":
        return Source(name, make, options, needs, hooks(new_driver(make, name), needs, name))

    def again(self) -> Hooks:
        return hooks(new_driver(self.make, self.name), self.needs, self.name)

    def flaws(self, values: Mapping[str, Any]) -> list[str]:
        """What the driver would have against its options with these values of the parameters."""
        if references(self.options) - values.keys():
            return []  # told where a value is missed
        try:
            checked_options(plain(with_values(self.options, values)), self.first.options, self.name)
        except InputError as error:
            return [str(error)]
        return []


class Part:
    """`resolve` puts parameters in place; `failed(part, error)` is told when the driver raised."""

    def __init__(
        self,
        name: str,
        path: tuple[str, ...],
        source: Source,
        resolve: Callable[[Any], Any],
        robot: str,
        clock: Clock,
        bus: Bus,
    ) -> None:
        self.name = name
        self.path = path
        self.clock = clock
        self.skipped = ""  # why its driver asked to be left out
        self.on_stopped: Callable[[str], None] = lambda why: None
        self.on_requested: Callable[[Requested], None] = lambda told: None
        self.stopped = UNSTARTED
        self.restarts = 0
        self.turns: Turns = LockTurns(name, Door())
        self.slowly: Callable[[Callable[[], None]], Any] = lambda call: clock.aside(call, name)
        self.context: Context | None = None
        self.failed: Callable[[Part, BaseException], None] = lambda part, error: None
        self.surroundings = Surroundings(knows_no_actuator, knows_no_actuator, says_nothing)
        self._source = source
        self._resolve = resolve
        self._ticking = False
        self._untold = False  # its driver has not seen the newest options
        self.is_armed: Callable[[], bool] = always
        self.arming: Callable[[], int] = lambda: 0  # the epoch of the arming in force, or 0
        self._seen_arming = 0  # the one that its driver was notified of last
        self._notifies_soon = False  # of the newest arming
        self.mail = Mailbox(name, robot, bus, clock, self._deliver)
        self.driver = source.first
        self.plain_options = self._plain()
        self.options = checked_options(self.plain_options, self.driver.options, name)

    @property
    def stopped(self) -> str:
        """Why it is not running; "" where it is."""
        return self._stopped

    @stopped.setter
    def stopped(self, why: str) -> None:
        self._stopped = why
        self.on_stopped(why)

    def start(self, context: Context) -> "Future[Any]":
        """Set the driver up; the future holds what it raised, unless it asked to be left out."""
        self.context = context
        return self.turns.ask(self._init)

    def renew(self) -> None:
        """A new driver in the place of one that died, which is told so."""
        self.restarts += 1
        self.mail.close()
        old, why = self.driver, self.stopped
        self.turns.ask(lambda: self._end(old, why))  # on its own thread, before the new one is set up there
        self.driver = self._source.again()
        self._untold = False
        self._seen_arming = 0

    def refresh(self, context: Context) -> None:
        """A parameter has changed; the options have been checked before."""
        self.context = context
        self.plain_options = self._plain()
        self.options = checked_options(self.plain_options, self.driver.options, self.name)
        self._untold = True

    def notify_of_options(self) -> None:
        """Once for all changes so far. One that is being set up is notified afterwards; one that is busy, perhaps with what changes them, soon."""
        if self.stopped or not self._untold:
            return

        def told(future: "Future[Any]") -> None:
            if isinstance(future.exception(), BusyError):
                self.clock.call_later(AGAIN, self.notify_of_options)

        self._guarded(self._hand_options).add_done_callback(told)

    def _hand_options(self) -> None:
        if self._untold and not self.stopped and self.context is not None:
            self._untold = False
            self.driver.handle_options(self.context, self.options)

    def later(self, delay: float, function: Callable[[], object]) -> Callable[[], None]:
        """For the driver that runs now: what it raises is supervised, and nothing comes after it has failed or was replaced."""
        driver = self.driver

        def call() -> None:
            if self.driver is driver and self.stopped in ("", SETTING_UP, UNSTARTED):
                try:
                    function()
                except KeyboardInterrupt:
                    raise
                except BaseException as error:  # SystemExit too: a driver does not end the timers
                    self.fail(error)

        return self._soon(delay, call)

    def _soon(self, delay: float, call: Callable[[], None]) -> Callable[[], None]:
        """Make a call into the driver like any other, one at a time; where the driver is busy, a moment later, so that the others' timers go on."""
        cancel: list[Callable[[], None]] = [lambda: None]

        def attempt() -> None:
            if not self.turns.attempt(call):
                cancel[0] = self.clock.call_later(AGAIN, attempt)

        cancel[0] = self.clock.call_later(delay, attempt)
        return lambda: cancel[0]()

    def arming_changed(self) -> None:
        """Notify the driver that its actuator was armed or disarmed; soon, and of the newest state. One notice at most is pending."""
        if self.driver.handle_arming is not None and not self._notifies_soon:
            self._notifies_soon = True
            self._soon(0.0, self._notify_of_arming)

    def _notify_of_arming(self) -> None:
        self._notifies_soon = False
        try:
            self._hand_arming(self.arming())
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            self.fail(error)

    def _hand_arming(self, arming: int) -> None:
        """Hand over what the driver has not seen: the end of an earlier arming, however short it was, then the arming in force."""
        handle = self.driver.handle_arming
        if handle is None or self.stopped or arming == self._seen_arming:
            return
        if self._seen_arming:
            self._seen_arming = 0
            handle(False)
        if arming:
            self._seen_arming = arming
            handle(True)

    @property
    def handle_command(self) -> Callable[[Any, Command], Any]:
        """The driver's `handle_command`; a driver with `handle_arming` first sees the arming that the command comes under."""
        return self._under_arming(self.driver.handle_command)

    @property
    def check_command(self) -> Callable[[Any, Command], Any] | None:
        """The driver's `check_command`, as `handle_command`."""
        return None if self.driver.check_command is None else self._under_arming(self.driver.check_command)

    def _under_arming(self, call: Callable[[Any, Command], Any]) -> Callable[[Any, Command], Any]:
        if self.driver.handle_arming is None:
            return call

        def notified(payload: Any, command: Command) -> Any:
            self._catch_up()
            return call(payload, command)

        return notified

    def _catch_up(self) -> None:
        """Hand over an arming in force that the driver has not seen, before it acts under it. A stop is handed over after its disarm function."""
        arming = self.arming()
        if arming and arming != self._seen_arming:
            self._hand_arming(arming)

    @property
    def whole_options(self) -> dict[str, Any]:
        """The options as plain data, with the defaults of what was not said."""
        return self.plain_options if self.options is None else msgspec.to_builtins(self.options)

    @property
    def parameters(self) -> frozenset[str]:
        """The parameters its options name."""
        return references(self._source.options)

    def request(self, request: Any, source: str = "") -> "Future[Any]":
        """A call that is not a command. What it raises is the caller's, unless it says that it stops.

        Observers are told what `source` asked for and what became of it; nothing where nobody is named, or of a question.
        """

        def call() -> Any:
            if self.stopped:
                raise DriverError(f"{self.name} is not running: {self.stopped}")
            try:
                return self.driver.handle_request(request)
            except Stopped as error:
                self.fail(error)
                raise
            except SystemExit as error:  # a driver does not end the program of its caller
                self.fail(error)
                raise DriverError(f"{self.name} failed: {reason_text(error)}") from error

        answer = self.turns.ask(call)
        if source and not is_question(request):
            answer.add_done_callback(lambda answer: None if answer.cancelled() else self.on_requested(requested(request, source, answer)))
        return answer

    def tick(self, _: int) -> None:
        if self.stopped or self._ticking:
            return  # one that is still at its last tick misses this one
        self._ticking = True
        self._guarded(self._read_and_tick).add_done_callback(self._ticked)

    def _read_and_tick(self) -> None:
        """With the part's lock held, so that a stop waits for a tick that is under way, and none begins after it."""
        if self.driver.read is not None:
            self.driver.read(self.clock.now())
        if self.driver.tick is not None and self.is_armed():
            if self.driver.handle_arming is not None:
                self._catch_up()
            self.driver.tick(self.clock.now())

    def _ticked(self, _: "Future[Any]") -> None:
        self._ticking = False

    def close(self, reason: str) -> None:
        self.mail.close()
        was, self.stopped = self.stopped, reason
        if not self.skipped and was != UNSTARTED:
            self.turns.ask(lambda: self._end(self.driver, reason))

    def _init(self) -> None:
        assert self.context is not None
        try:
            go_on = self.driver.init(self.context, self.options)
            if go_on is not None and (not callable(go_on) or is_deferred(go_on)):
                raise InputError(f"init gave back {go_on!r}; it gives back None, or a plain function that goes on with slow set-up")
        except Skip as reason:
            self.skipped = self.stopped = str(reason) or "its driver asked to be left out"
            log.warning("%s is left out: %s", self.name, self.skipped)
            return
        except BaseException as error:
            self.stopped = f"{type(error).__name__}: {error}"
            raise
        self.stopped = SETTING_UP if go_on is not None else ""
        if go_on is not None:
            self.slowly(lambda: self._go_on(go_on))

    def _go_on(self, more: Callable[[], None]) -> None:
        """Slow set-up, outside the lock: while it lasts nothing else is called."""
        try:
            more()
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            self.fail(error)
        else:
            if self.stopped == SETTING_UP:
                self.stopped = ""
                self.notify_of_options()

    def _deliver(self, message: Message) -> "Future[Any] | None":
        if self.stopped:
            return None
        return self._guarded(lambda: self.driver.handle_message(message.topic, message))

    def _guarded(self, call: Callable[[], Any]) -> "Future[Any]":
        """Whatever it raises stops the part, before anything else can reach it."""

        driver = self.driver

        def guarded() -> None:
            if self.stopped or self.driver is not driver:
                return  # it has failed while this waited in line
            try:
                call()
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # SystemExit too: a driver does not end the program
                self.fail(error)

        return self.turns.ask(guarded)

    def fail(self, error: BaseException) -> None:
        """Close the gate and have the part made safe; only then ask the error for its own text, which may be foreign code."""
        self.stopped = plain = _failure(error)
        self.failed(self, error)
        with suppress(Exception):
            text = encodable(str(error)) if isinstance(error, Stopped) else error_text(error)
            if self.stopped == plain != text:
                self.stopped = text

    def _end(self, driver: Hooks, reason: str) -> None:
        try:
            driver.terminate(reason)
        except Exception:  # it is going anyway
            log.exception("%s: terminate(%r) raised", self.name, reason)

    def _plain(self) -> dict[str, Any]:
        return plain(self._resolve(self._source.options))  # type: ignore[no-any-return]


def _failure(error: BaseException) -> str:
    return reason_text(error.args[0]) if type(error) is Stopped and error.args else reason_text(error)


async def answered(part: Part, request: Any, timeout: float | None, source: str) -> Any:
    """The answer of a part to a request, awaited."""
    advice = "its driver is still at it, or at another call: give it more time, or let a driver that waits for hardware say blocking = True"
    async with time_limit(timeout, f"{part.name} has not answered the request {request!r:.60}", advice):
        return await asyncio.wrap_future(part.request(request, source))
