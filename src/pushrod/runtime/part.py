"""One supervised part of a robot: an actuator's driver, a sensor or a controller, from its options to its end.

Calls into a part are made one at a time, by its `Turns`: under its lock in the thread of the caller, or on the one thread of a driver that blocks.
What it raises goes to the supervisor, which decides what becomes of it. A driver may die and be started again; its part stays.
"""

import asyncio
import logging
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any, NamedTuple

import msgspec

from pushrod.core.errors import InputError, PushrodError
from pushrod.robot.options import plain
from pushrod.robot.reference import references, with_values
from pushrod.runtime.asked import is_question, requested
from pushrod.runtime.bus import Bus
from pushrod.runtime.clock import Clock
from pushrod.runtime.driver import Context, Hooks, Skip, Stopped, checked_options, hooks, knows_no_actuator, new_driver, says_nothing
from pushrod.runtime.driver_flaws import is_async
from pushrod.runtime.gate import Gate
from pushrod.runtime.mailbox import Mailbox
from pushrod.runtime.message import Message, Requested
from pushrod.runtime.slot import Slot, settle
from pushrod.runtime.time_limit import time_limit

log = logging.getLogger("pushrod.runtime")
NODE = ("init",)
ACTUATOR = ("init", "handle_command", "disarm")
UNSTARTED = "it has not been started"
SETTING_UP = "it is still being set up"
BUSY = 5.0  # [s] a call that is not a command waits for one that is under way
AGAIN = 0.01  # [s] after which new options are offered again to a part that was busy


class DriverError(PushrodError, RuntimeError):
    """A driver could not be started; says which and why."""


class BusyError(PushrodError, TimeoutError):
    """A part did not come back from another call."""


class Door:
    """A lock and who is inside."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.holder = 0


class Turns(ABC):
    @abstractmethod
    def ask(self, call: Callable[[], Any]) -> "Future[Any]": ...


class LockTurns(Turns):
    """In the thread of whoever calls. A part that calls itself is told so at once."""

    def __init__(self, name: str, door: Door | Gate) -> None:
        self._name = name
        self._door = door

    def ask(self, call: Callable[[], Any]) -> "Future[Any]":
        future: Future[Any] = Future()
        door, me = self._door, threading.get_ident()
        if door.holder == me or not door.lock.acquire(timeout=BUSY):
            future.set_exception(BusyError(f"{self._name} is busy with another call"))
            return future
        door.holder = me
        try:
            settle(future, call)
        finally:
            door.holder = 0
            door.lock.release()
        return future


class SlotTurns(Turns):
    """On the thread of a driver that blocks, with the gate's lock held, so that disarming knows of it."""

    def __init__(self, slot: Slot, locked: LockTurns) -> None:
        self._slot = slot
        self._locked = locked

    def ask(self, call: Callable[[], Any]) -> "Future[Any]":
        return self._slot.ask(lambda: self._locked.ask(call).result())


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

    def refresh(self, context: Context) -> None:
        """A parameter has changed; the options have been checked before."""
        self.context = context
        self.plain_options = self._plain()
        self.options = checked_options(self.plain_options, self.driver.options, self.name)
        self._untold = True
        self._tell_options()

    def _tell_options(self) -> None:
        """Once for all changes so far. One that is being set up is told afterwards; one that is busy, perhaps with what changes them, soon."""
        if self.stopped or not self._untold:
            return

        def told(future: "Future[Any]") -> None:
            if isinstance(future.exception(), BusyError):
                self.clock.later(AGAIN, self._tell_options)

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
                except Exception as error:
                    self.fail(error)

        return self.clock.later(delay, call)

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

        answer = self.turns.ask(call)
        if source and not is_question(request):
            answer.add_done_callback(lambda answer: None if answer.cancelled() else self.on_requested(requested(request, source, answer)))
        return answer

    def tick(self, _: int) -> None:
        if self.stopped or self._ticking or self.driver.tick is None:
            return  # one that is still at its last tick misses this one
        self._ticking = True
        tick = self.driver.tick
        self._guarded(lambda: tick(self.clock.now())).add_done_callback(self._ticked)

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
            if go_on is not None and (not callable(go_on) or is_async(go_on)):
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
                self._tell_options()

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
        self.stopped = str(error) if isinstance(error, Stopped) else f"{type(error).__name__}: {error}"
        self.failed(self, error)

    def _end(self, driver: Hooks, reason: str) -> None:
        try:
            driver.terminate(reason)
        except Exception:  # it is going anyway
            log.exception("%s: terminate(%r) raised", self.name, reason)

    def _plain(self) -> dict[str, Any]:
        return plain(self._resolve(self._source.options))  # type: ignore[no-any-return]


async def answered(part: Part, request: Any, timeout: float | None, source: str) -> Any:
    """The answer of a part to a request, awaited."""
    advice = "its driver is still at it, or at another call: give it more time, or let a driver that waits for hardware say blocking = True"
    async with time_limit(timeout, f"{part.name} has not answered the request {request!r:.60}", advice):
        return await asyncio.wrap_future(part.request(request, source))
