"""Disarm or e-stop every host of a robot without becoming its operator: one query, answered by each host in a lane of its own.

Nothing that a busy host could delay comes before it: no seat, no clock, no overview.
"""

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from time import monotonic, sleep
from typing import Any, NamedTuple

import zenoh

from pushrod.core.errors import NetworkError
from pushrod.net import key
from pushrod.net.arming_answer import disarmed
from pushrod.net.connecting import hellos, operator_name
from pushrod.net.link import Link
from pushrod.net.remote import AccessError
from pushrod.net.service import raised
from pushrod.net.session import Session
from pushrod.net.stop_request import stop_body, usable_limit
from pushrod.net.wire import Failure, Kinds, Reply, Value, decode
from pushrod.runtime.deciding import Disarmed
from pushrod.runtime.delivery import TIMEOUT, CommandTimeout
from pushrod.runtime.result import Refused
from pushrod.runtime.stop import LIMIT

PAUSE = 0.05  # [s] before a robot that was not found is asked again
HELLO = 1.0  # [s] for hosts to report themselves


class UnreadableAnswerError(NetworkError):
    """A host has answered a stop with bytes that cannot be read: whether it stopped its robot is unknown."""


class HostStop(NamedTuple):
    """The outcome at one host: `where` is its computer and process, `ignored` what it could not use of the request."""

    where: str
    outcome: Disarmed | Exception
    ignored: tuple[str, ...] = ()


async def stop(robot: str, link: Link, what: str, operator: str, arguments: Mapping[str, Any], timeout: float = TIMEOUT) -> list[HostStop]:
    """Send a disarm or an e-stop to all hosts of a robot. NetworkError where none is found within `timeout` [s]."""
    name, ignored = _name(link, operator)
    # a thread of its own: in a shared pool, hosts that do not answer would delay the stops of others
    loop, own = asyncio.get_running_loop(), ThreadPoolExecutor(1, "pushrod stop")
    try:
        session = await loop.run_in_executor(own, Session, link)
        try:
            stops = await loop.run_in_executor(own, _stop, session, robot, what, name, arguments, timeout)
            return [one._replace(ignored=(*ignored, *one.ignored)) for one in stops]
        finally:
            await asyncio.to_thread(session.close)
    finally:
        own.shutdown(wait=False)


def _name(link: Link, operator: str) -> tuple[str, tuple[str, ...]]:
    """Return the name of an operator on a link, and what was ignored of the given one: it prevents no stop."""
    if link.tls is not None and operator and operator != link.tls.name:
        return link.tls.name, (f"operator = {operator!r:.60}: the name in the certificate, {link.tls.name!r}, was used",)
    return operator_name(link, operator), ()


def _stop(session: Session, robot: str, what: str, operator: str, arguments: Mapping[str, Any], timeout: float) -> list[HostStop]:
    wait, end = (usable_limit(arguments.get("limit")) or LIMIT) + TIMEOUT, monotonic() + timeout
    was_found = False
    while True:
        answers = _ask(session, key.ask(robot, operator, "do", what), stop_body("", arguments), wait)
        hosts = {hello.instance: hello.where or hello.instance for hello in hellos(session, robot, HELLO)}
        answered = {answer[0] for answer in answers}
        silent = [where for instance, where in hosts.items() if instance not in answered]
        silent = silent[sum(instance == "" for instance, _, _, _ in answers) :]  # a refusal does not name its host
        # An answer that cannot be read may be that of another host: a robot that is found only now is asked once more.
        is_read = any(not isinstance(outcome, UnreadableAnswerError) for _, _, outcome, _ in answers)
        if is_read or (answers and was_found) or (hosts and monotonic() >= end):
            late = CommandTimeout(f"{robot} has not answered within {wait:g} s: the outcome is unknown. Check the robot, or switch its power off.")
            return [*(HostStop(where, outcome, ignored) for _, where, outcome, ignored in answers), *(HostStop(where, late) for where in silent)]
        was_found = bool(hosts)
        if monotonic() >= end:
            lists = f"; with certificates, check that {session.link.tls.name!r} is on its access list" if session.link.tls else ""
            raise NetworkError(f"no robot {robot!r} answers at {', '.join(session.link.connect)} within {timeout:g} s{lists}")
        sleep(PAUSE)  # a router reports its robots a moment after the connection is there


# instance, place, outcome and what was ignored
HostAnswer = tuple[str, str, Disarmed | Exception, tuple[str, ...]]


def _ask(session: Session, name: str, body: bytes, wait: float) -> list[HostAnswer]:
    """Return the answer of each host that answers."""
    replies = session.zenoh.get(
        name,
        payload=body,
        target=zenoh.QueryTarget.ALL,
        consolidation=zenoh.ConsolidationMode.NONE,
        timeout=wait,
        priority=zenoh.Priority.REAL_TIME,
        express=True,
        congestion_control=zenoh.CongestionControl.BLOCK,
        allowed_destination=zenoh.Locality.REMOTE,
    )
    return [_read_answer(reply.ok.payload.to_bytes()) for reply in replies if reply.ok is not None]


def _read_answer(body: bytes) -> HostAnswer:
    """Return the answer of a host; the instance is "" in one that does not name its host."""
    try:
        answer = decode(body, Reply).answer
        if isinstance(answer, Value):
            value: Mapping[str, Any] = answer.value
            if not isinstance(value["ok"], bool):
                raise ValueError(f"ok = {value['ok']!r:.60}")
            return str(value["instance"]), str(value["where"]), disarmed(value), tuple(map(str, value["ignored"]))
        if isinstance(answer, Failure):
            return "", "", raised(answer), ()
        result = Kinds().result(answer)
        if not isinstance(result, Refused):
            raise ValueError(f"{type(result).__name__}, the answer to a command")
        return "", "", AccessError(result), ()
    except Exception as error:  # a host may send any bytes
        return (
            "",
            "",
            UnreadableAnswerError(f"unreadable answer ({type(error).__name__}: {error!s:.200}); the outcome is unknown. Check the robot."),
            (),
        )
