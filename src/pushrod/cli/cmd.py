"""`pushrod cmd`: send one command to one actuator and print the result."""

from pathlib import Path
from typing import TYPE_CHECKING, Any
from typing import Annotated as A

import typer

from pushrod.cli.output import answer, say
from pushrod.cli.reach import REFUSED, As, Net, TlsFiles

if TYPE_CHECKING:
    from pushrod.cli.asked import Asked
    from pushrod.net import RemoteRobot
    from pushrod.runtime.payload import Payload
    from pushrod.runtime.result import Result

NOT_COMPLETED = 1


VERBS = "set_position, set_velocity, set_effort, trajectory, hold, stop, send, clear_watchdog"


def cmd(
    to: A[
        str, typer.Argument(metavar="ROBOT/ACTUATOR", help="The actuator, by name or any tail of its path; ROBOT is optional if only one is served.")
    ],
    verb: A[str, typer.Argument(metavar="VERB", help=f"The command: {VERBS}.")],
    values: A[
        list[str] | None,
        typer.Argument(
            metavar="VALUE",
            help="A number, SI or with a unit ('90 deg'); trajectory: a YAML file; stop: immediate or decelerate; send: KIND NAME=VALUE ...",
        ),
    ] = None,
    velocity: A[str | None, typer.Option(metavar="NUMBER", help="Largest velocity of set_position.")] = None,
    duration: A[str | None, typer.Option(metavar="TIME", help="Duration of the motion; of set_velocity and set_effort, until it ends.")] = None,
    repeat: A[str | None, typer.Option(metavar="NUMBER", help="Number of passes of a trajectory, or forever.")] = None,
    id: A[str | None, typer.Option("--id", metavar="NAME", help="Identifier of the command in reports of its end.")] = None,
    validity: A[str, typer.Option(metavar="TIME", help="Refuse the command if it arrives later than this; 0: never.")] = "0",
    take_over: A[int | None, typer.Option(metavar="PRIORITY", help="Take the lease with this priority first, and release it at the end.")] = None,
    wait: A[bool, typer.Option("--wait", help="Wait for the end of the motion.")] = False,
    timeout: A[
        str | None,
        typer.Option(metavar="TIME", help="Longest wait; default: 5 s for the answer, unlimited for the end of the motion."),
    ] = None,
    net: Net = None,
    tls: TlsFiles = None,
    as_: As = "",
) -> None:
    """Command an actuator of a served robot and print the result.

    Exit codes: 0 accepted or clamped; 1 with --wait: the motion did not complete; 2 wrong input; 3 refused; 4 not reached, or no answer.
    """
    from pushrod.cli.asked import Asked
    from pushrod.cli.reach import network, run

    network()
    hints = {"velocity": velocity, "duration": duration, "repeat": repeat}
    asked = Asked(verb, values or [], {name: text for name, text in hints.items() if text is not None}, id, validity, take_over, wait, timeout)
    asked.check()
    run(_command(to, asked, net, tls, as_))


async def _command(to: str, asked: "Asked", net: list[str] | None, tls: tuple[Path, Path, Path] | None, operator: str) -> int:
    from pushrod.cli.reach import addressed, connect
    from pushrod.robot.joint import units

    at, address = await addressed(to, net, tls)
    async with await connect(at, operator) as remote:
        actuator = _actuator(remote, address, to)
        name = f"{remote.robot}/{actuator.name}"
        if asked.verb == "clear_watchdog":
            cleared = await remote.clear_watchdog(actuator.name)
            answer(robot=remote.robot, actuator=actuator.name, cleared=bool(cleared))
            say(f"{name}: {'watchdog cleared' if cleared else 'its watchdog has not tripped'}")
            return 0
        payload = asked.payload(actuator.told.kind)
        si = units(actuator.told.kind) if actuator.told.kind else {}
        answer(robot=remote.robot, actuator=actuator.name, path=list(actuator.told.path), units=si)
        if asked.take_over is not None and not (lease := await actuator.take_lease(priority=asked.take_over)):
            answer(result="refused", reason="lease", detail=str(lease))
            say(f"{name}: the lease was not granted with priority {asked.take_over}: {lease}", err=True)
            return REFUSED
        result = await actuator.sync.send(payload, timeout=asked.patience, validity=asked.valid, id=asked.id)
        answer(**_plain(result, payload))
        if not result.ok:
            then = {
                "watchdog": f": pushrod cmd {remote.robot}/{actuator.told.name} clear_watchdog",
                "lease": "; to take it over, repeat the command with --take-over PRIORITY, a number above that of the holder",
            }
            say(f"{remote.robot}: {result}{then.get(result.reason, '')}", err=True)
            return REFUSED
        say(f"{name}: {_said(result, actuator.told.kind)}")
        return await _end(remote, actuator.name, asked, name, actuator.told.kind) if asked.wait else 0


async def _end(remote: "RemoteRobot", address: str, asked: "Asked", name: str, kind: str) -> int:
    import asyncio

    from pushrod.robot.joint import units
    from pushrod.runtime.delivery import CommandTimeout

    assert asked.id is not None
    try:
        end = await remote.motion(address, asked.id, asked.motion_limit)
    except asyncio.CancelledError:
        say(f"\nthe motion continues; to end it: pushrod cmd {name} stop", err=True)
        raise
    except CommandTimeout:
        raise  # its host is gone, or does not answer, which says nothing about the motion
    except TimeoutError as error:
        say(f"{name}: {error}", err=True)
        answer(end={"reason": "timeout", "message": str(error)})
        return NOT_COMPLETED
    detail = "".join(f" ({text})" for text in (end.detail, end.message) if text)
    answer(end=end)
    say(f"{name}: {end.reason.replace('_', ' ')}{detail} at {end.position:.4g} {units(kind)['position'] if kind else ''}".rstrip())
    return 0 if end.reason == "completed" else NOT_COMPLETED


def _actuator(remote: "RemoteRobot", address: str, written: str) -> Any:
    from pushrod.core.errors import NetworkError, UnknownNameError

    try:
        return remote[address]
    except UnknownNameError:
        first, slash, _ = written.partition("/")
        if slash and first != remote.robot and not any(first in told.path for told in remote.description.actuators):
            raise NetworkError(f"no robot {first!r} is served there; robots found: {remote.robot}") from None
        raise


def _said(result: "Result", kind: str) -> str:
    from pushrod.runtime.result import Clamped

    info = "" if result.info is None else f" ({result.info})"  # type: ignore[union-attr]
    if isinstance(result, Clamped):
        return f"clamped: {', '.join(_changes(result.asked, result.done, kind)) or 'to its limits'}{info}"
    return f"accepted{info}"


def _plain(result: "Result", payload: "Payload") -> dict[str, Any]:
    """What became of it; with what was asked and, where that differs, what is done."""
    from pushrod.runtime.result import Clamped, Refused

    if isinstance(result, Refused):
        return {"result": "refused", "asked": payload, "reason": result.reason, "detail": result.detail, "advice": result.advice}
    done = result.done if isinstance(result, Clamped) else payload
    return {"result": "clamped" if isinstance(result, Clamped) else "accepted", "asked": payload, "done": done, "info": result.info}


def _changes(asked: Any, done: Any, kind: str) -> list[str]:
    """What is done otherwise than asked, by field."""
    from pushrod.robot.joint import units

    si = units(kind) if kind else {}
    found = []
    for name in getattr(asked, "__struct_fields__", ()):
        old, new = getattr(asked, name), getattr(done, name, None)
        if name == "waypoints":
            n = sum(a != b for a, b in zip(old, new or (), strict=False))
            found += [f"{n} of {len(old)} waypoints moved to the limits"] if n else []
        elif old != new:
            found.append(f"{name} {old:.6g} -> {new:.6g} {si.get(name, '')}".rstrip() if isinstance(new, float) else f"{name} {old!r} -> {new!r}")
    return found
