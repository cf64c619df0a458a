"""Which robots are served on this machine, and where: one file each, locked by whoever serves the robot, so that verbs find it without being told.

The lock goes with its process, however that ends: a file that nobody has locked tells of nobody. The folder is the user's own: what listens at a
socket in it, no other user of the machine can command.
"""

import json
import os
import time
from pathlib import Path
from typing import IO, Any, NamedTuple
from urllib.parse import quote, unquote

from pushrod.core.errors import InputError
from pushrod.guard.settings import state_folder

SERVED = ".served"
TRIES = 10
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


def socket_of(robot: str) -> str:
    """The endpoint of a robot that is told no other."""
    path = folder() / f"{_file_name(robot)}.sock"
    if len(os.fsencode(path)) > LONGEST:
        raise InputError(f"the socket {path} has too long a name for the system: choose a shorter $PUSHROD_STATE, or say where to listen with --net")
    return f"unixsock-stream/{path}"


class Serving:
    """From now on this process serves the robot, until it ends or `close`s this. InputError where another one does."""

    def __init__(self, robot: str) -> None:
        path = folder() / f"{_file_name(robot)}{SERVED}"
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = _locked(path)
        except OSError as error:
            why = error.strerror or error
            raise InputError(f"{path.parent} cannot be used: {why}; say with $PUSHROD_STATE in which folder robots are to be found") from error
        if file is None:
            other = next((one for one in served() if one.robot == robot), None)
            where = f" (pid {other.pid}{f', at {other.endpoint}' if other.endpoint else ''})" if other is not None else ""
            raise InputError(f"the robot {robot!r} is served on this machine already{where}: end that one first, or give this one another --name")
        self._robot, self._path, self._file = robot, path, file
        self.tell("")

    def tell(self, endpoint: str) -> None:
        """Where it can be reached."""
        self._file.seek(0)
        self._file.truncate()
        self._file.write(json.dumps({"robot": self._robot, "endpoint": endpoint, "pid": os.getpid()}))
        self._file.flush()

    def close(self) -> None:
        self._path.unlink(missing_ok=True)
        self._file.close()

    def __enter__(self) -> "Serving":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def served() -> list[Served]:
    """By name."""
    return [found for file in sorted(folder().glob(f"*{SERVED}")) if (found := _read(file)) is not None]


def _locked(path: Path) -> IO[str] | None:
    """The file, if nobody else serves: who only looks has it for a moment, and who served may have removed it just before."""
    import fcntl

    for _ in range(TRIES):
        file = open(path, "a+", encoding="utf-8")  # noqa: SIM115 (it stays open)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(file.fileno()), path.stat()):
                return file
        except (BlockingIOError, FileNotFoundError):
            time.sleep(0.02)
        file.close()
    return None


def _read(path: Path) -> Served | None:
    import fcntl

    try:
        with open(path, encoding="utf-8") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                return None  # nobody serves it
            except BlockingIOError:
                text = file.read()
    except OSError:
        return None
    try:
        told: dict[str, Any] = json.loads(text)
        return Served(str(told["robot"]), str(told["endpoint"]), int(told["pid"]))
    except (ValueError, KeyError, TypeError):  # it is being written
        return Served(unquote(path.name.removesuffix(SERVED)), "", 0)


def _file_name(robot: str) -> str:
    return quote(robot, safe=" ").replace(".", "%2E") or "%"
