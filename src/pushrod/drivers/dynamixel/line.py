"""One serial line, shared by all servos on it within this process; other processes that use it through Pushrod take turns with it.

An exchange is an instruction and its answer. One that failed is tried again, after whatever still comes late has been thrown away: an answer does
not say what it is the answer to. An urgent exchange (torque off) goes before all others that wait.
"""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from pushrod.core.errors import DeviceError, InputError

try:
    import fcntl
except ImportError:  # Windows: there a port is one process's own
    fcntl = None  # type: ignore[assignment]

PING, READ, WRITE, REBOOT, CLEAR = 0x01, 0x02, 0x03, 0x08, 0x10
BAUD_RATES = (9600, 57_600, 115_200, 1_000_000, 2_000_000, 3_000_000, 4_000_000)
TURN = 1.0  # [s] that an exchange waits for its turn
NEIGHBOUR = 0.2  # [s] that it waits for another process; then it goes ahead all the same
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
        self._busy = False
        self._urgent = 0
        self._port: Any = None
        self._handler: Any = None
        self._exchanges = self._retries = self._failures = 0

    def exchange(self, id: int, instruction: int, parameters: bytes = b"", *, wanted: int = 0, attempts: int = 1, urgent: bool = False) -> Answer:
        """`wanted`: how many bytes the answer must hold. Raises NoAnswer or Rejected."""
        what = "nothing was tried"
        for attempt in range(max(attempts, 1)):
            with self._turn(urgent):
                self._exchanges += 1
                self._retries += attempt > 0
                what, error, data = self._once(id, instruction, parameters)
                if not what and (error & ~ALERT) in REASONS:
                    what = REASONS[error & ~ALERT]
                    if (error & ~ALERT) not in PASSING:
                        raise Rejected(f"servo {id} on {self.path}: {what}", error & ~ALERT, bool(error & ALERT))
                elif not what and len(data) != wanted:
                    what = f"an answer of {len(data)} bytes where {wanted} were asked for (a late one?)"
                if not what:
                    return Answer(data, bool(error & ALERT))
                self._hush()
        with self._free:
            self._failures += 1
        raise NoAnswer(
            f"servo {id} on {self.path} at {self.baud} bit/s: {what} in {max(attempts, 1)} attempts; look at its power, cable, id and baud rate"
        )

    def statistics(self) -> LineStatistics:
        return LineStatistics(self._exchanges, self._retries, self._failures)

    def close(self) -> None:
        with self._turn(True):
            self._shut()

    def _once(self, id: int, instruction: int, parameters: bytes) -> tuple[str, int, bytes]:
        """What went wrong ("" for nothing), the error byte, the parameters."""
        from pushrod.drivers.dynamixel.sdk import SerialException

        try:
            self._open()
            with self._other_processes():
                result, error, data = self._handler.exchange(self._port, id, instruction, parameters)
        except (SerialException, OSError, TypeError) as trouble:  # pyserial lets a TypeError through where its port is pulled
            self._shut()
            return f"the port failed ({trouble})", 0, b""
        return (RESULTS.get(result, f"result {result}") if result != 0 else ""), error, data

    def _open(self) -> None:
        from pushrod.drivers.dynamixel.sdk import Handler, Port

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
        if self._port is None:
            time.sleep(QUIET * self.patience)
            return
        end = time.monotonic() + 2.0 * self.patience
        quiet = time.monotonic()
        try:
            while (now := time.monotonic()) < end and now - quiet < QUIET * self.patience:
                if self._port.readPort(256):
                    quiet = time.monotonic()
        except Exception:
            self._shut()

    @contextmanager
    def _turn(self, urgent: bool) -> Iterator[None]:
        with self._free:
            self._urgent += urgent
            try:
                mine = self._free.wait_for(lambda: not self._busy and (urgent or not self._urgent), TURN)
            finally:
                self._urgent -= urgent
            if not mine:
                raise NoAnswer(f"{self.path}: the line was not free within {TURN:g} s")
            self._busy = True
        try:
            yield
        finally:
            with self._free:
                self._busy = False
                self._free.notify_all()

    @contextmanager
    def _other_processes(self) -> Iterator[None]:
        """An advisory lock: bytes of an answer go to whoever reads first, so only one may be waiting for one."""
        if fcntl is None:
            yield
            return
        fd = self._port.ser.fileno()
        end = time.monotonic() + NEIGHBOUR
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > end:
                    break
                time.sleep(0.001)
        try:
            yield
        finally:
            fcntl.flock(fd, fcntl.LOCK_UN)


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
