"""A second way to stop a served robot from the same machine: one datagram socket for the e-stop and one for the disarm, in the user's folder.

Datagrams need no connection, so a stop gets through when the robot's process has no free file descriptor, thread or process slot, when the disk is
full, and when its network port is flooded. The sockets and their threads exist before the robot can be armed. The rights of the folder decide who may
send: the user that serves the robot. Any datagram stops the robot, whatever it holds.
"""

import asyncio
import errno
import getpass
import json
import logging
import os
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pushrod.cli.nearby import stop_path
from pushrod.core.errors import PushrodError
from pushrod.core.forked import close_in_children

if TYPE_CHECKING:
    from pushrod.runtime.runtime import Runtime

log = logging.getLogger("pushrod.cli")
LARGEST = 65536  # bytes of a datagram
ANSWER = {"ok", "state", "failures", "why"}
TEXT = 500  # characters of a text in a request
PAUSE = 0.02  # [s] after a failure, so that one that lasts takes no whole core
SHORT = 200  # characters of each failure, where the whole answer does not fit into a datagram


class UnansweredError(PushrodError):
    """A stop was sent, and no answer came."""


@contextmanager
def stop_sockets(rt: "Runtime") -> Iterator[None]:
    """Serve the sockets of a robot. Where the system has none for it the robot is served without, with a warning."""
    with ExitStack() as stack:
        for what in ("estop", "disarm"):
            path = stop_path(rt.robot.name, what)
            try:
                stack.enter_context(_served(rt, what, path))
            except (OSError, AttributeError, RuntimeError) as error:
                log.warning("%s: no stop socket at %s: %s; `pushrod %s` uses the network instead", rt.robot.name, path, error, what)
        yield


@contextmanager
def _served(rt: "Runtime", what: str, path: Path) -> Iterator[None]:
    path.unlink(missing_ok=True)  # of a process that was killed; the lock of this robot is held
    listening, process = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM), os.getpid()
    keep = close_in_children(listening.fileno())
    try:
        listening.bind(str(path))
        path.chmod(0o600)
        ending = threading.Event()
        thread = threading.Thread(target=_serve, args=(rt, what, listening, ending), name=f"pushrod {what} socket", daemon=True)
        thread.start()
        try:
            yield
        finally:
            ending.set()
            if os.getpid() == process:
                with suppress(OSError):
                    listening.shutdown(socket.SHUT_RDWR)
                thread.join(1.0)
    finally:
        if os.getpid() == process:  # else it is a forked child, whose parent still listens
            path.unlink(missing_ok=True)
            keep()
            listening.close()


def _serve(rt: "Runtime", what: str, listening: socket.socket, ending: threading.Event) -> None:
    """Serve one socket until it is closed. Nothing else ends it: the next stop must find this thread."""
    while not ending.is_set():
        try:
            body, sender = listening.recvfrom(LARGEST)
            if ending.is_set():
                return
            answer = _stop(rt, what, body)
            if sender:
                _reply(listening, sender, answer)
            _report(rt, what, answer)
        except BaseException as error:  # also SystemExit of a driver, and no memory
            if isinstance(error, OSError) and error.errno == errno.EBADF:
                return
            with suppress(BaseException):
                log.warning("%s: the %s socket: %s: %s", rt.robot.name, what, type(error).__name__, error)
            time.sleep(PAUSE)


def _stop(rt: "Runtime", what: str, body: bytes) -> dict[str, Any]:
    operator, used, ignored = _read(what, body)
    try:
        reason = f"{used['cause' if what == 'estop' else 'why']}, by {operator}"
        got = rt.estop(reason) if what == "estop" else rt.disarm(reason, used["limit"])
    except BaseException as error:  # the sender must learn that the robot may not have stopped
        log.exception("%s: %s failed", rt.robot.name, what)
        return {"error": f"{type(error).__name__}: {error}"}
    about = {"by": operator, "reason": used["cause" if what == "estop" else "why"]}
    return {"ok": got.ok, "state": got.state, "failures": dict(got.failures), "why": got.why, "ignored": ignored, **about}


def _read(what: str, body: bytes) -> tuple[str, dict[str, Any], list[str]]:
    """Return the operator, the arguments, and what was ignored. Defaults replace whatever cannot be read, and no memory for it is no reason not to
    stop."""
    from pushrod.net.stop_request import select_arguments

    try:
        given = json.loads(body)
        operator, arguments = str(given["by"])[:100], dict(given["arguments"])
        used, unused = select_arguments(what, arguments)
        return operator, used, unused
    except Exception as error:
        used, _ = select_arguments(what, {})
        return "an unknown program of this user", used, [f"the request is malformed: {error!s:.200}"]


def _report(rt: "Runtime", what: str, answer: dict[str, Any]) -> None:
    """Report who stopped the robot and why, after the answer was sent."""
    failures = "; ".join(f"{path}: {text}" for path, text in answer.get("failures", {}).items()) or str(answer.get("error", ""))
    try:
        rt.report_request(what, str(answer.get("by", "")), str(answer.get("reason", "")), bool(answer.get("ok")), failures)
    except Exception:  # the robot was stopped; the next stop must find this thread
        log.exception("%s: the %s could not be reported", rt.robot.name, what)


def _reply(listening: socket.socket, sender: Any, answer: dict[str, Any]) -> None:
    short = {**answer, "failures": {path: text[:SHORT] for path, text in list(answer.get("failures", {}).items())[:100]}, "ignored": []}
    for text in (answer, short):
        try:
            listening.sendto(json.dumps(text).encode(), socket.MSG_DONTWAIT, sender)
            return
        except Exception as error:  # too large, or the sender has gone
            log.debug("the answer was not sent: %s", error)


async def request_stop(robot: str, what: str, operator: str, arguments: Mapping[str, Any], timeout: float) -> dict[str, Any] | None:
    """Send a stop to a robot of this machine and user and return its answer; None where it has no such socket. UnansweredError where it was sent
    and no answer comes in time: the robot may stop yet."""
    short = {name: value[:TEXT] if isinstance(value, str) else value for name, value in arguments.items()}  # it must fit into a datagram
    loop, body = asyncio.get_running_loop(), json.dumps({"by": (operator or _user())[:TEXT], "arguments": short}).encode()
    with suppress(OSError, AttributeError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as asking:
        asking.bind("")  # an abstract address, which takes no room in any folder
        asking.setblocking(False)
        asking.connect(str(stop_path(robot, what)))
        asking.send(body)
        try:
            async with asyncio.timeout(timeout):
                answer: dict[str, Any] = json.loads(await loop.sock_recv(asking, LARGEST))
                if isinstance(answer, dict) and ("error" in answer or answer.keys() >= ANSWER):
                    return answer
        except (TimeoutError, ValueError, RecursionError):
            pass
        raise UnansweredError(f"no answer within {timeout:g} s; the outcome is unknown. Check the robot, or switch its power off.")
    return None


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a user without a name
        return f"user {os.getuid()}"
