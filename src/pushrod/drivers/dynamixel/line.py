"""One serial line, shared by all servos on it within this process; other processes that use it through Pushrod take turns with it.

An exchange is an instruction and its answer. One that failed is tried again, after whatever still comes late has been thrown away: an answer does
not say what it is the answer to. An urgent exchange (torque off) goes before all others that wait.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from pushrod.core.errors import DeviceError, InputError

try:
    import fcntl
except ImportError:  # Windows: there a port is one process's own
    fcntl = None  # type: ignore[assignment]

PING, READ, WRITE, REBOOT, CLEAR = 0x01, 0x02, 0x03, 0x08, 0x10
BAUD_RATES = (9600, 57_600, 115_200, 1_000_000, 2_000_000, 3_000_000, 4_000_000)
TURN = 1.0  # [s] besides four times its patience that an exchange waits for its turn
NEIGHBOUR = 0.1  # [s] besides its patience that it waits for another process; then it goes ahead all the same
QUIET = 0.5  # of the patience: so long a silence after a failure, before the next attempt
ALERT = 0x80
RESULTS = {-1000: "the port is in use", -1001: "it could not be sent", -1002: "no answer", -3001: "no answer", -3002: "a damaged answer"}
REASONS = {
    1: "the servo could not do it",
    2: "the servo does not know this instruction",
    3: "it arrived damaged",
    4: "the value is out of range",
    5: "the value has the wrong size",
    6: "the value is beyond a limit set in the servo",
    7: "the register cannot be accessed so (EEPROM is locked while torque is on)",
}
PASSING = (1, 2, 3)  # what may go better the next time


class NoAnswer(DeviceError):  # noqa: N818
    """Nothing usable came back within the attempts allowed."""


class Rejected(DeviceError):  # noqa: N818
    """The servo answered that it will not; `code` as in protocol 2.0, `alert` where it also reports a hardware error."""

    def __init__(self, message: str, code: int, alert: bool) -> None:
        super().__init__(message)
        self.code = code
        self.alert = alert


class Answer(NamedTuple):
    """`alert`: the servo has a hardware error, whatever it answers."""

    data: bytes
    alert: bool


class LineStatistics(NamedTuple):
    exchanges: int
    retries: int
    failures: int


class Line:
    def __init__(self, path: str, baud: int, patience: float) -> None:
        if baud not in BAUD_RATES:
            raise InputError(f"baud = {baud} bit/s: allowed are {', '.join(str(b) for b in BAUD_RATES)}; factory setting is 57600")
        self.path = path
        self.baud = baud
        self.patience = patience
        self.users: dict[Any, str] = {}  # who keeps it open
        self.disarmed: dict[int, int] = {}  # id -> how many times torque was switched off by `disarm` in this process
        self._free = threading.Condition()
        self._busy = self._closed = False
        self._urgent = 0
        self._port: Any = None
        self._handler: Any = None
        self._exchanges = self._retries = self._failures = 0

    def exchange(self, id: int, instruction: int, parameters: bytes = b"", *, wanted: int = 0, attempts: int = 1, urgent: bool = False) -> Answer:
        """`wanted`: how many bytes the answer must hold. Raises NoAnswer or Rejected."""
        attempts = max(attempts, 1)
        what = ""
        for attempt in range(attempts):
            with self._turn(urgent):
                self._exchanges += 1
                self._retries += attempt > 0
                what, error, data = self._once(id, instruction, parameters, wanted)
            alert, number = bool(error & ALERT), error & ~ALERT
            if number in REASONS and number not in PASSING:
                raise Rejected(f"servo {id} on {self.path}: {what}", number, alert)
            if not what:
                return Answer(data, alert)
        with self._free:
            self._failures += 1
        raise NoAnswer(f"servo {id} on {self.path} at {self.baud} bit/s: {what} in {attempts} attempts; look at its power, cable, id and baud rate")

    def everyone(self) -> dict[int, tuple[int, int]]:
        """Ids of all that answer to a ping for everyone, with model number and firmware. Takes about a second."""
        with self._turn(False):
            self._open()
            with self._other_processes():
                found, _ = self._handler.broadcastPing(self._port)
            return {id: (number, firmware) for id, (number, firmware) in found.items()}

    def statistics(self) -> LineStatistics:
        return LineStatistics(self._exchanges, self._retries, self._failures)

    def close(self) -> None:
        """For good: a call that is still under way must not open it again."""
        with self._turn(True):
            self._closed = True
            self._shut()

    def _once(self, id: int, instruction: int, parameters: bytes, wanted: int) -> tuple[str, int, bytes]:
        """What went wrong ("" for nothing), the error byte, the parameters."""
        try:
            self._open()
            with self._other_processes():
                result, error, data = self._handler.exchange(self._port, id, instruction, parameters)
                what = RESULTS.get(result, f"result {result}") if result != 0 else REASONS.get(error & ~ALERT, "")
                if not what and len(data) != wanted:
                    what = f"an answer of {len(data)} bytes where {wanted} were asked for"
                if what:
                    self._hush()
                return what, error, data
        except Exception as trouble:  # SerialException, OSError, termios.error, TypeError: a port that is pulled raises any of them
            self._shut()
            time.sleep(QUIET * self.patience)
            return f"the port failed ({trouble})", 0, b""

    def _open(self) -> None:
        from pushrod.drivers.dynamixel.sdk import Handler, Port

        if self._closed:
            raise OSError("it was closed")
        if self._port is None:
            port = Port(self.path, self.baud, self.patience)
            if not port.openPort():
                raise OSError(f"{self.path} cannot be opened at {self.baud} bit/s")
            self._port, self._handler = port, Handler()

    def _shut(self) -> None:
        """The next exchange opens it anew: an adapter may have been pulled and put back."""
        port, self._port = self._port, None
        if port is not None:
            try:
                port.closePort()
            except Exception:  # it is gone already
                return

    def _hush(self) -> None:
        """Throw away what still comes in, until it is quiet."""
        end = time.monotonic() + 2.0 * self.patience
        quiet = time.monotonic()
        while (now := time.monotonic()) < end and now - quiet < QUIET * self.patience:
            if self._port.readPort(256):
                quiet = time.monotonic()

    @contextmanager
    def _turn(self, urgent: bool) -> Iterator[None]:
        with self._free:
            self._urgent += urgent
            try:
                mine = self._free.wait_for(lambda: not self._busy and (urgent or not self._urgent), TURN + 4.0 * self.patience)
            finally:
                self._urgent -= urgent
            if not mine:
                raise NoAnswer(f"{self.path}: the line was not free within {TURN + 4.0 * self.patience:g} s")
            self._busy = True
        try:
            yield
        finally:
            with self._free:
                self._busy = False
                self._free.notify_all()

    @contextmanager
    def _other_processes(self) -> Iterator[None]:
        """An advisory lock: bytes of an answer go to whoever reads first, so only one process may be waiting for one.

        Whoever waits for the lock holds a second one meanwhile, without which nobody may wait: so a busy process cannot keep others out.
        """
        if fcntl is None:
            yield
            return
        fd = self._port.ser.fileno()
        end = time.monotonic() + NEIGHBOUR + 3.0 * self.patience
        _lock(lambda: fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB), end)
        _lock(lambda: fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB), end)
        fcntl.lockf(fd, fcntl.LOCK_UN)
        try:
            yield
        finally:
            fcntl.flock(fd, fcntl.LOCK_UN)


def _lock(take: Callable[[], None], end: float) -> None:
    """Try until it succeeds or the time is over: a process that hangs must not keep torque from being switched off."""
    while True:
        try:
            return take()
        except (BlockingIOError, PermissionError):
            if time.monotonic() > end:
                return
            time.sleep(0.0005)


_lines: dict[str, Line] = {}
_registering = threading.Lock()


def share(path: str, baud: int, patience: float, user: Any, what: str) -> Line:
    """The line at this device, opened for one more user; the same for a device by any of its names. `what` says who it is."""
    try:
        import dynamixel_sdk  # noqa: F401
    except ImportError as error:
        raise DeviceError(f"a Dynamixel needs dynamixel-sdk, which is not installed: pip install 'pushrod[dynamixel]' ({error})") from error
    key = os.path.realpath(path)
    with _registering:
        line = _lines.get(key) or Line(path, baud, patience)
        if line.baud != baud:
            raise InputError(f"{path} is open at {line.baud} bit/s for {', '.join(line.users.values())}: one line has one baud rate, got {baud}")
        other = line.users.get(user)
        if other is not None and other != what:
            raise InputError(f"{what} and {other} have the same id on {path}: give each servo an id of its own")
        line.users[user] = what
        _lines[key] = line
        return line


def leave(line: Line, user: Any) -> None:
    """One user less; the last one closes the port."""
    with _registering:
        line.users.pop(user, None)
        if line.users:
            return
        for key in [key for key, other in _lines.items() if other is line]:
            del _lines[key]
    line.close()
