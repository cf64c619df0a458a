"""Call a disarm function for one actuator, whatever its driver is doing.

The gate has been closed before, so nothing new is admitted. Taking the gate's lock is the fence: after it, nothing admitted earlier is still on its
way. The disarm function is called in any case; if a call was in flight, the function is called once more when that call has returned, so it must be
idempotent. A call that does not return in time is reported; when it does return, however late, the function is called again, because the call may
have undone it.

On the wall clock one thread enters all disarm functions one after the other, which takes microseconds where each returns at once. Each actuator also
has a thread of its own from the start of the runtime: it serves the actuator where a call is in flight, and where another function keeps the common
thread. So disarming starts nothing and needs no event loop, and one function that hangs delays no other. On the stepped clock the calls are made
inline, in order, so that a run can be repeated.
"""

import copy
import importlib
import itertools
import marshal
import threading
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from pushrod.core.errors import InputError
from pushrod.core.plain_function import discard
from pushrod.runtime.door import Door, enter, is_inside, leave
from pushrod.runtime.gate import Gate
from pushrod.runtime.stop import LIMIT, Latch, error_text
from pushrod.runtime.worker import Worker

FENCE = 0.0005  # [s] for a call that is just ending
HOME = 0.1  # [s] for a call in flight to return
IN_FLIGHT = "a call is still in flight: not proven safe"
Answered = Callable[[Any, str, str | None], None]  # (stop, name, what went wrong)
Awaiting = Callable[[Any, str], None]


def find_disarm(path: str) -> Callable[[dict[str, Any]], None]:
    """Return the function behind an import path "package.module:function"."""
    module, colon, name = path.partition(":")
    if not colon:
        raise InputError(f"disarm = {path!r}: write the import path of a plain function, 'package.module:function'")
    try:
        function = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise InputError(f"disarm = {path!r} cannot be imported: {error}") from error
    if not callable(function):
        raise InputError(f"disarm = {path!r} is not a function but {function!r}")
    return function  # type: ignore[no-any-return]


def make_safe(gate: Gate, call: Callable[[], str | None], home: float = HOME) -> str | None:
    """Call a disarm function behind a fence; return None, or what went wrong. A call in flight has `home` [s] to return."""
    fenced = gate.lock.acquire(timeout=FENCE)
    try:
        failure = call()
        if failure is not None or fenced:
            return failure
        if not gate.lock.acquire(timeout=home):
            return IN_FLIGHT
        fenced = True
        return call()  # what was in flight may have undone the first call
    finally:
        if fenced:
            gate.lock.release()


class Disarmer:
    """Makes one actuator safe. `options` are kept up to date, so that nothing has to be worked out when they are needed."""

    def __init__(self, gate: Gate, disarm: Callable[[dict[str, Any]], None], options: dict[str, Any], threaded: bool) -> None:
        self.gate = gate
        self.disarm = disarm
        self.options = options
        # called on this actuator's thread: must not run foreign code
        self.answered: Answered = lambda stop, name, failure: None
        self.awaiting: Awaiting = lambda stop, name: None
        self._stops: deque[Any] = deque()
        self._inside: list[Any] = []  # stops that came from inside a call into the driver, without threads
        self.door = Door()  # around serving this actuator
        self.numbers: Iterator[int] = itertools.count(1)
        self.number = 0  # of the latest call of its function
        self.worker = Worker(f"disarm {gate.name}", threaded)

    @property
    def options(self) -> dict[str, Any]:
        """What the disarm function is called with, as a new copy each time: a function that changes it changes nothing for the next call."""
        return self._copy()

    @options.setter
    def options(self, options: dict[str, Any]) -> None:
        try:
            packed = marshal.dumps(options)  # copied in a microsecond, without foreign code
        except ValueError:  # not plain data
            self._copy = partial(copy.deepcopy, options)
        else:
            self._copy = partial(marshal.loads, packed)

    @property
    def is_current(self) -> bool:
        """Whether the caller is the disarm function, or called by it: it cannot wait for itself."""
        return is_inside(self.door)

    def go(self, stop: Any) -> None:
        """Serve a stop on this actuator's own thread. Safe everywhere, as `Worker.put` is, and harmless for a stop that is served already."""
        self._stops.append(stop)
        self.worker.put(self._serve)

    def is_free(self, timeout: float) -> bool:
        """Wait until its disarm function is not running, nor to be run after a call in flight; False where that takes longer.

        It does not enter: a stop that interrupts the caller could not enter either.
        """
        if self.is_current:
            return False
        if not self._stops and not self.door.holder:
            return True
        idle = Latch()
        self.worker.put(idle.set)  # after all its thread has to do
        return idle.wait(timeout) and not self.door.holder

    def serve_at_once(self, stop: Any) -> None:
        """Serve a stop on the caller's thread, unless a call is in flight or another stop is being served."""
        if not enter(self.door, 0.0):
            return
        try:
            if self.gate.name in stop.served or self._is_within(stop) or not self.gate.lock.acquire(False):
                return
            try:
                stop.served.add(self.gate.name)
                failure = self._call()
            finally:
                self.gate.lock.release()
            self.answered(stop, self.gate.name, failure)
        finally:
            leave(self.door)
        if self._stops and not self.worker.running:
            self._serve()  # inline, the disarm function itself has stopped the robot

    def _call(self) -> str | None:
        self.number = next(self.numbers)
        try:
            unrun = discard(self.disarm(self._copy()))
        except BaseException as error:
            return f"raised {error_text(error)}"
        return f"returned {unrun}, so that nothing ran: disarm must be a plain function" if unrun else None

    def _serve(self) -> None:
        """Call the disarm function for all stops that wait for it: one call serves them all."""
        if self.is_current:
            return  # inline, from the disarm function itself: the caller serves this stop afterwards
        with self.door.lock:
            self.door.holder = threading.get_ident()
            try:
                overtaken: list[Any] = []
                while stops := overtaken + self._unserved():
                    overtaken = self._serve_all(stops)
            finally:
                self.door.holder = 0

    def _serve_all(self, stops: list[Any]) -> list[Any]:
        """Make the actuator safe for these stops; return those that another stop has overtaken while they waited for a call in flight."""
        if any(map(self._is_within, stops)):
            self._serve_inside(stops)
            return []
        holder = self.gate.holder
        own = any(stop.caller == holder for stop in stops)  # the driver stops the robot from inside its own call, which returns afterwards
        failure = make_safe(self.gate, self._call, 0.0 if own else HOME)
        in_flight = failure is IN_FLIGHT and self.worker.running
        if in_flight and own:
            for stop in stops:
                self.awaiting(stop, self.gate.name)
            if self._await_return(stops, ""):
                return []
            if self.worker.running:
                return stops
        for stop in stops:
            self.answered(stop, self.gate.name, failure)
        if in_flight:
            self._await_return(stops[-1:], " after a late call")
        return []

    def _is_within(self, stop: Any) -> bool:
        """Whether this is inside a call into the driver that goes on after the stop; one that failed has returned."""
        return is_inside(self.gate) and not stop.fault

    def _serve_inside(self, stops: list[Any]) -> None:
        """Without threads, from inside a call into the driver: call the disarm function now, and again when that call has returned."""
        self._call()
        self._inside += stops
        self.gate.left = self._serve_after
        for stop in stops:
            self.awaiting(stop, self.gate.name)

    def _serve_after(self) -> None:
        self.gate.left = None
        if is_inside(self.door):
            return
        try:
            enter(self.door, LIMIT)
            stops, self._inside = self._inside, []
            failure = self._call()
        finally:
            leave(self.door)
        for stop in stops:
            self.answered(stop, self.gate.name, failure)

    def _unserved(self) -> list[Any]:
        stops = []
        while self._stops:
            stop = self._stops.popleft()
            if self.gate.name not in stop.served:
                stop.served.add(self.gate.name)
                stops.append(stop)
        return stops

    def _await_return(self, stops: list[Any], when: str) -> bool:
        """Call the disarm function again when the call in flight has returned; False where another stop comes first."""
        returned = False
        while not returned and self.worker.running and all(self.gate.name in one.served for one in tuple(self._stops)):
            if returned := self.gate.lock.acquire(timeout=HOME):
                try:
                    failure = self._call()
                finally:
                    self.gate.lock.release()
                for stop in stops:
                    self.answered(stop, self.gate.name, failure and failure + when)
        return returned
