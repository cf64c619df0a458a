"""Disarm or e-stop one served robot from the shell, by its stop socket or over the network.

Nothing is printed until every robot has been stopped: a terminal or a pipe that takes no output delays no stop.
"""

import asyncio
import time
from collections.abc import Awaitable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pushrod.cli.output import NOT_DONE, plain_error, say
from pushrod.cli.reach import PATIENCE, REFUSED, UNREACHED, Place, link_to, network, places, said, with_certificates

if TYPE_CHECKING:
    from pushrod.cli.nearby import Served
    from pushrod.runtime.deciding import Disarmed

SOON = 1.0  # [s] in which a stop socket answers; after that the network is tried as well
WAIT = 10.0  # [s] for the answer of a stop socket: a disarm function may take 5 s


class Outcome(NamedTuple):
    """At one host: what --json prints, the exit code, and the lines for standard output and standard error."""

    plain: dict[str, Any]
    code: int
    out: tuple[str, ...] = ()
    err: tuple[str, ...] = ()


async def stop_nearby(one: "Served", what: str, operator: str, arguments: Mapping[str, Any]) -> list[Outcome]:
    """Stop a robot of this machine and user: by its stop socket, and over the network where that does not answer at once. One that is being started,
    or whose file is damaged, is stopped at once, and again when it has started: it may be armed only then."""
    if not one.endpoint:
        early = asyncio.create_task(_by_socket(one, what, operator, arguments))
        one = await _started(one)
        early.cancel()
    asking: asyncio.Task[Any] = asyncio.create_task(_by_socket(one, what, operator, arguments))
    await asyncio.wait([asking], timeout=SOON)
    if asking.done() and isinstance(asking.result(), dict):
        return [_answered(one.robot, what, asking.result())]
    networked: asyncio.Task[Any] = asyncio.create_task(_over_network(one, what, operator, arguments))
    waiting = {asking, networked}
    while waiting:
        done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        if asking in done and isinstance(asking.result(), dict):
            networked.cancel()
            return [_answered(one.robot, what, asking.result())]
        if networked in done and not isinstance(networked.result(), Exception):
            asking.cancel()
            return _outcomes(one.robot, what, networked.result())
    return _outcomes(one.robot, what, asking.result() or networked.result())  # a stop that was sent may act yet, though the network failed


class Reachable(NamedTuple):
    """The robots that a stop can reach, by name, and lines about what was ignored or cannot be trusted."""

    nearby: "dict[str, Served]"
    distant: dict[str, Place]
    notices: tuple[str, ...] = ()


async def reachable(net: list[str] | None, tls: tuple[Path, Path, Path] | None) -> Reachable:
    """Return the robots at the given addresses, else those of this machine and user; also where no link can be made of the addresses."""
    from pushrod.cli.nearby import folder_problem, served
    from pushrod.core.errors import InputError

    unusable: InputError | None = None
    if net:
        try:
            network()
            link_to(net, tls)
        except InputError as error:
            unusable = error
        else:
            return Reachable({}, {at.robot: at for at in await places(net, tls)})
    nearby = {one.robot: one for one in served(trusted=False)}
    if not nearby and unusable is not None:
        raise unusable
    if not nearby:
        network()
        return Reachable({}, {at.robot: at for at in await places(None, tls)})
    notices = [f"ignored: {said(unusable, '')}; robots of this machine were stopped instead"] if unusable is not None else []
    notices += [f"warning: {problem}"] if (problem := folder_problem()) else []
    return Reachable(nearby, {}, tuple(notices))


def stop_one(robots: Reachable, name: str, what: str, operator: str, arguments: Mapping[str, Any]) -> Awaitable[list[Outcome]]:
    if name in robots.nearby:
        return stop_nearby(robots.nearby[name], what, operator, arguments)
    return stop_place(robots.distant[name], what, operator, arguments)


async def _by_socket(one: "Served", what: str, operator: str, arguments: Mapping[str, Any]) -> Any:
    """Return the answer, None where the robot has no stop socket, or the error that no answer came."""
    from pushrod.cli.stop_socket import UnansweredError, request_stop

    try:
        return await request_stop(one.robot, what, operator, arguments, WAIT)
    except UnansweredError as error:
        return error


async def _started(one: "Served") -> "Served":
    """Wait a moment for a robot that is being started: it may be armed as soon as it is. A file without a process is damaged, or being written."""
    from pushrod.cli.nearby import served

    end = time.monotonic() + (PATIENCE if one.pid else SOON)
    while not one.endpoint and time.monotonic() < end:
        await asyncio.sleep(0.1)
        one = next((other for other in served(trusted=False) if other.robot == one.robot), one)
    return one


async def stop_each(stops: Mapping[str, Awaitable[list[Outcome]]], what: str) -> list[Outcome]:
    """Wait for the stops of several robots, by name. An error in one of them is its outcome, and ends no other."""
    results = await asyncio.gather(*stops.values(), return_exceptions=True)
    outcomes = []
    for robot, result in zip(stops, results, strict=True):
        if isinstance(result, BaseException) and not isinstance(result, Exception):
            raise result
        outcomes += [_failed(robot, robot, what, result)] if isinstance(result, Exception) else result
    return outcomes


async def stop_place(at: Place, what: str, operator: str, arguments: Mapping[str, Any]) -> list[Outcome]:
    """Stop every host of a robot over the network."""
    return _outcomes(at.robot, what, await _stopped(at, what, operator, arguments))


async def _over_network(one: "Served", what: str, operator: str, arguments: Mapping[str, Any]) -> Any:
    from pushrod.core.errors import NetworkError

    if not one.endpoint:
        return NetworkError(f"{one.robot} (pid {one.pid}) is still starting; try again")
    if with_certificates(one):
        return NetworkError(with_certificates(one))
    network()
    return await _stopped(Place(one.robot, link_to([one.endpoint], None)), what, operator, arguments)


async def _stopped(at: Place, what: str, operator: str, arguments: Mapping[str, Any]) -> Any:
    """Return the outcome at each host, or the error that prevented all of them."""
    from pushrod.net import stop

    try:
        return await stop(at.robot, at.link, what, operator, arguments)
    except Exception as error:
        return error


def _answered(robot: str, what: str, answer: dict[str, Any]) -> Outcome:
    """Return the answer of a stop socket."""
    from pushrod.core.errors import PushrodError
    from pushrod.runtime.deciding import Disarmed
    from pushrod.safety.state import State

    if "error" in answer:
        return _failed(robot, robot, what, PushrodError(str(answer["error"])))
    return disarmed(robot, Disarmed(answer["ok"], State(answer["state"]), answer["failures"], answer["why"]), what)


def _outcomes(robot: str, what: str, stops: Any) -> list[Outcome]:
    if isinstance(stops, Exception):
        return [_failed(robot, robot, what, stops)]
    if len(stops) == 1:
        return [_at_host(robot, robot, what, stops[0])]
    places = "; ".join(host.where or "unknown host" for host in stops)
    done = {"estop": "stopped", "disarm": "disarmed"}[what]
    several = f"{len(stops)} hosts answer for the robot {robot!r} ({places}); each is {done}. Give each robot a name of its own"
    outcomes = [_at_host(robot, f"{robot} ({host.where})" if host.where else robot, what, host) for host in stops]
    return [
        one._replace(plain={**one.plain, "host": host.where}, err=one.err if k else (several, *one.err))
        for k, (one, host) in enumerate(zip(outcomes, stops, strict=True))
    ]


def _at_host(robot: str, name: str, what: str, host: Any) -> Outcome:
    outcome = _failed(robot, name, what, host.outcome) if isinstance(host.outcome, Exception) else disarmed(robot, host.outcome, what, name)
    return outcome._replace(err=(*(f"{name}: ignored {ignored}" for ignored in host.ignored), *outcome.err))


def _failed(robot: str, name: str, what: str, error: Exception) -> Outcome:
    """The exit code says whether the robot refused, was not reached, or something else failed."""
    from pushrod.cli.stop_socket import UnansweredError
    from pushrod.core.errors import NetworkError

    refusal = getattr(error, "answer", None)
    is_unanswered = isinstance(error, (TimeoutError, UnansweredError))
    is_unreached = is_unanswered or isinstance(error, (NetworkError, ConnectionError))
    code = REFUSED if refusal is not None else UNREACHED if is_unreached else REFUSED
    return Outcome({"robot": robot, "ok": False, "error": plain_error(error, str(error))}, code, err=(f"{NOT_DONE[what]}: {name}: {error}",))


def disarmed(robot: str, got: "Disarmed", what: str = "disarm", name: str = "") -> Outcome:
    """Return the outcome of a stop; `name` is that of its host."""
    from pushrod.safety.state import State

    name = name or robot
    plain = {"robot": robot, "ok": got.ok, "state": got.state, "failures": dict(got.failures), "why": got.why}
    if not got.ok:
        unsafe = (
            f"{NOT_DONE[what]}: {name}: {got.state}; NOT SAFE: switch its power off",
            *(f"  {path}: {failure}" for path, failure in got.failures.items()),
        )
        return Outcome(plain, REFUSED, err=unsafe)
    error = f" ({got.why}); inspect it, then: pushrod disarm {robot} --force" if got.state is State.ERROR else ""
    return Outcome(plain, 0, out=(f"{name}: {got.state}{error}",))


def show(outcomes: Iterable[Outcome]) -> int:
    """Print outcomes; return the exit code."""
    code = 0
    for outcome in outcomes:
        for line in outcome.err:
            say(line, err=True)
        for line in outcome.out:
            say(line)
        code = max(code, outcome.code)
    return code
