"""Call a disarm function for one actuator, whatever its driver is doing.

The caller has already set the epoch to 0, so nothing new is admitted. Taking the gate's lock is the fence: after it, nothing admitted
earlier is still on its way. The disarm function is called in any case; if a call was in flight, it is waited for and the function
called once more, so it must be idempotent. A call that does not come home in time is reported; when it does come home, however late, the
function is called again, for it may have undone what was done.

On the wall clock each actuator has a thread of its own, parked from registration on, so that disarming starts nothing and needs no
event loop. On the stepped clock the calls are made inline, in order, so that a run can be repeated.
"""

import importlib
import logging
import queue
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from pushrod.core.errors import InputError
from pushrod.runtime.gate import Gate

log = logging.getLogger("pushrod.runtime")
FENCE = 0.005  # [s] for a call that is just ending
HOME = 0.1  # [s] for a call in flight to come home
IN_FLIGHT = "a call is still in flight: not proven safe"
Done = Callable[[str | None], None]


def find_disarm(path: str) -> Callable[[dict[str, Any]], None]:
    """The function behind an import path "package.module:function"."""
    module, colon, name = path.partition(":")
    if not colon:
        raise InputError(f"disarm = {path!r}: write the import path of a plain function, 'package.module:function'")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise InputError(f"disarm = {path!r} cannot be imported: {error}") from error
    if not callable(found):
        raise InputError(f"disarm = {path!r} is not a function but {found!r}")
    return found  # type: ignore[no-any-return]


def make_safe(gate: Gate, disarm: Callable[[dict[str, Any]], None], options: dict[str, Any]) -> str | None:
    """None, or what went wrong."""
    fenced = gate.holder != threading.get_ident() and gate.lock.acquire(timeout=FENCE)
    try:
        disarm(options)
        if fenced or gate.holder == threading.get_ident():
            return None
        if not gate.lock.acquire(timeout=HOME):
            return IN_FLIGHT
        fenced = True
        disarm(options)  # what was in flight may have undone the first call
        return None
    except BaseException as error:
        return f"raised {type(error).__name__}: {error}"
    finally:
        if fenced:
            gate.lock.release()


class Disarmer(ABC):
    """Makes one actuator safe when told to. Registration is automatic, and it outlives the driver."""

    def __init__(self, gate: Gate, disarm: Callable[[dict[str, Any]], None], options: Callable[[], dict[str, Any]]) -> None:
        self.gate = gate
        self.disarm = disarm
        self.options = options  # as they are when they are needed

    @abstractmethod
    def go(self, done: Done) -> None:
        """Start; `done` is told None or what went wrong."""

    @abstractmethod
    def open(self) -> None:
        """From here on it is ready at once."""

    @abstractmethod
    def close(self) -> None: ...


class InlineDisarmer(Disarmer):
    def open(self) -> None:
        return

    def go(self, done: Done) -> None:
        done(make_safe(self.gate, self.disarm, self.options()))

    def close(self) -> None:
        return


class ParkedDisarmer(Disarmer):
    def __init__(self, gate: Gate, disarm: Callable[[dict[str, Any]], None], options: Callable[[], dict[str, Any]]) -> None:
        super().__init__(gate, disarm, options)
        self._box: queue.SimpleQueue[Done | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=f"pushrod disarm {gate.name}", daemon=True)
        self._parked = False

    def open(self) -> None:
        if self._thread.ident is None:
            self._thread.start()
            self._parked = True

    def go(self, done: Done) -> None:
        if self._parked:
            self._box.put(done)
        else:  # the runtime has not begun, or is over
            done(make_safe(self.gate, self.disarm, self.options()))

    def _run(self) -> None:
        while (done := self._box.get()) is not None:
            failure = make_safe(self.gate, self.disarm, self.options())
            done(failure)
            if failure == IN_FLIGHT:
                self._await_home()

    def _await_home(self) -> None:
        """Until the call is home, the robot is armed again, or there is something else to do."""
        while self._box.empty() and not self.gate.epoch:
            if self.gate.lock.acquire(timeout=HOME):
                try:
                    if not self.gate.epoch:
                        self.disarm(self.options())
                except BaseException as error:  # it was reported as not proven safe, and still is not
                    log.warning("%s: disarmed again after a late call, which raised %s: %s", self.gate.name, type(error).__name__, error)
                finally:
                    self.gate.lock.release()
                return

    def close(self) -> None:
        if self._parked:
            self._parked = False
            self._box.put(None)
            self._thread.join(1.0)
