"""The robots that are served on this machine, and their addresses: one file each, locked by the process that serves the robot, so that verbs find it.

The lock ends with its process, however that ends: a file that is not locked stands for no robot. The folder is the user's own: no other user of the
machine can command what listens at a socket in it. In a folder of another user, files and sockets may be traps: it is used for stops alone.
"""

import json
import os
import stat
import time
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from pushrod.core import input_file
from pushrod.core.errors import InputError
from pushrod.core.forked import close_in_children
from pushrod.guard.settings import state_folder

SERVED = ".served"
TRIES = 10
LARGEST = 65536  # bytes of a file that are read
LONGEST = 100  # bytes of a socket's path that every system takes, and a lock's name beside it


class Served(NamedTuple):
    """`endpoint` is "" while it is being started."""

    robot: str
    endpoint: str
    pid: int


def folder() -> Path:
    """$PUSHROD_STATE/run, else $XDG_RUNTIME_DIR/pushrod, else `run` in the user's folder for state."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    return Path(runtime) / "pushrod" if runtime and not os.environ.get("PUSHROD_STATE") else state_folder() / "run"


def folder_problem() -> str:
    """Return why the content of the folder cannot be trusted, or ""."""
    path = folder()
    try:
        status = path.stat()
    except OSError:
        return ""  # there is none yet, or it cannot be read
    if status.st_uid not in (os.geteuid(), 0):
        return f"{path} belongs to user {status.st_uid}, not to you. Set $PUSHROD_STATE to a folder of your own"
    if status.st_mode & stat.S_IWOTH and not status.st_mode & stat.S_ISVTX:
        return f"every user may write to {path}. Take that right away: chmod o-w"
    return ""


def socket_of(robot: str) -> str:
    """The endpoint of a robot that is told no other."""
    path = folder() / f"{_file_name(robot)}.sock"
    if len(os.fsencode(path)) > LONGEST:
        raise InputError(f"the path of the socket is too long: {path}. Set $PUSHROD_STATE to a shorter folder, or give an address with --net")
    return f"unixsock-stream/{path}"


def stop_path(robot: str, what: str) -> Path:
    """Return the path of the datagram socket that stops a robot; `what` is estop or disarm."""
    return folder() / f"{_file_name(robot)}.{what}"


class Serving:
    """This process serves the robot from now on, until it ends or `close`s this. InputError where another process does."""

    def __init__(self, robot: str) -> None:
        path = folder() / f"{_file_name(robot)}{SERVED}"
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if problem := folder_problem():
                raise InputError(problem)
            descriptor = _locked(path)
        except OSError as error:
            raise _unusable(path, error) from error
        if descriptor is None:
            other = next((one for one in served() if one.robot == robot), None)
            where = f" (pid {other.pid}{f', at {other.endpoint}' if other.endpoint else ''})" if other is not None else ""
            raise InputError(f"the robot {robot!r} is served on this machine already{where}. End that process, or give this robot another --name")
        self._robot, self._path, self._descriptor, self._process = robot, path, descriptor, os.getpid()
        self._keep = close_in_children(descriptor)
        self.tell("")

    def tell(self, endpoint: str) -> None:
        """Write where the robot can be reached. InputError where the disk is full."""
        text = json.dumps({"robot": self._robot, "endpoint": endpoint, "pid": os.getpid()}).encode()
        try:
            os.pwrite(self._descriptor, text, 0)
            os.ftruncate(self._descriptor, len(text))
        except OSError as error:
            raise _unusable(self._path, error) from error

    def close(self) -> None:
        if os.getpid() != self._process:
            return  # a forked child: its parent still serves the robot
        self._path.unlink(missing_ok=True)
        self._keep()
        os.close(self._descriptor)

    def __enter__(self) -> "Serving":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _unusable(path: Path, error: OSError) -> InputError:
    return InputError(f"{path.parent} cannot be used: {error.strerror or error}. Set $PUSHROD_STATE to another folder")


def served(trusted: bool = True) -> list[Served]:
    """Return the robots that are served, by name. InputError where the folder cannot be trusted; a stop reads it all the same (`trusted` = False)."""
    if trusted and (problem := folder_problem()):
        raise InputError(problem)
    return [found for file in sorted(folder().glob(f"*{SERVED}")) if (found := _read(file)) is not None]


def _locked(path: Path) -> int | None:
    """Return the descriptor of the locked file; None where another process serves the robot. Readers hold the lock for a moment, and a process that
    has just ended may have removed the file."""
    import fcntl

    for _ in range(TRIES):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(descriptor), path.stat()):
                return descriptor
        except (BlockingIOError, FileNotFoundError):
            time.sleep(0.02)
        os.close(descriptor)
    return None


def _read(path: Path) -> Served | None:
    """Return the robot that a file stands for; None where no process has locked it. Its name is that of the file, which the lock belongs to."""
    import fcntl

    try:
        with input_file.open_binary(path, input_file.STREAMED) as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                return None
            except BlockingIOError:
                content = file.read(LARGEST)
    except OSError:
        return None
    robot = _robot_of(path.name.removesuffix(SERVED))
    try:
        told: dict[str, Any] = json.loads(content)
        return Served(robot, str(told["endpoint"]), int(told["pid"]))
    except (
        ValueError,
        KeyError,
        TypeError,
        OverflowError,
        RecursionError,
    ):  # it is being written, or damaged: the robot can be stopped by its socket
        return Served(robot, "", 0)


def _file_name(robot: str) -> str:
    return quote(robot, safe=" ").replace(".", "%2E") or "%"


def _robot_of(name: str) -> str:
    return "" if name == "%" else unquote(name)
