"""`pushrod disarm`: make every actuator of a served robot safe."""

from pathlib import Path
from typing import Annotated as A

import typer

from pushrod.cli.output import NOT_DONE, answer, say
from pushrod.cli.reach import REFUSED, UNREACHED, As, Net, OneRobot, TlsFiles
from pushrod.cli.stop_robot import Outcome, Reachable, disarmed, show

Files = tuple[Path, Path, Path]


def disarm(
    robot: OneRobot = None,
    extra: A[list[str] | None, typer.Argument(metavar="WORDS", help="Further robots; words that name none are ignored.")] = None,
    force: A[bool, typer.Option("--force", help="Leave the error state. Inspect the robot first.")] = False,
    why: A[str, typer.Option(help="The reason, for observers and the log.")] = "requested",
    net: Net = None,
    tls: TlsFiles = None,
    as_: As = "",
) -> None:
    """Disarm a served robot: call every disarm function, and list the actuators that could not be made safe.

    Words that name no robot are ignored. If several hosts serve a robot of this name, all of them are disarmed. For a robot of this machine and user
    no network is needed. Every failure begins with NOT DISARMED on stderr.

    Exit codes: 0 all actuators are safe; 2 wrong input; 3 an actuator is not safe, or --force was refused; 4 not reached, or no answer.
    """
    from pushrod.cli.reach import run_stop

    words = [*([] if robot is None else [robot]), *(extra or [])]
    run_stop(_disarm(words, net, tls, as_, why, force))


async def _disarm(words: list[str], net: list[str] | None, tls: Files | None, operator: str, why: str, force: bool) -> int:
    """Disarm the robots that are named, else the only one there is. The other words may be the values of options that do not exist.

    `force`: those in error leave it, after they have been disarmed.
    """
    from pushrod.cli.stop_robot import reachable, stop_each, stop_one
    from pushrod.core.errors import InputError, NetworkError

    robots = await reachable(net, tls)
    names = [*robots.nearby, *robots.distant]
    named = [name for name in dict.fromkeys(words) if name in names]
    missing = words[0] if words and not named and not words[0].startswith("-") else ""  # a robot was named, and there is none of that name
    if not named and len(names) != 1:
        listed = ", ".join(sorted(names))
        where = f"at {', '.join(net)}" if robots.distant and net else "on this machine"
        if missing:
            raise NetworkError(f"no robot {missing!r} is served {where}; robots found: {listed}")
        raise InputError(f"{len(names)} robots found: {listed}. Name one of them")
    chosen = named or names
    outcomes = await stop_each({name: stop_one(robots, name, "disarm", operator, {"why": why}) for name in chosen}, "disarm")
    if force:
        outcomes = [await _leave_error(one, robots, operator) for one in outcomes]
    if missing:
        say(f"{NOT_DONE['disarm']}: no robot {missing!r} is served; disarmed {chosen[0]} instead", err=True)
    if ignored := [word for word in words if word not in named]:
        say(f"ignored: {' '.join(ignored)}", err=True)
    for notice in robots.notices:
        say(notice, err=True)
    ok = not any(one.code for one in outcomes)
    if len(outcomes) == 1:
        answer(**outcomes[0].plain)
    elif len(chosen) == 1:
        answer(robot=chosen[0], ok=ok, hosts=[one.plain for one in outcomes])
    else:
        answer(ok=ok, robots=[one.plain for one in outcomes])
    return max(show(outcomes), UNREACHED if missing else 0)


async def _leave_error(outcome: Outcome, robots: Reachable, operator: str) -> Outcome:
    """Have a robot that is in error leave it; the outcome of its disarming stands where that fails."""
    from pushrod.cli.arm import refusal_text
    from pushrod.cli.reach import Place, connect, link_to, network, with_certificates
    from pushrod.core.errors import NetworkError, PushrodError
    from pushrod.runtime.deciding import Armed
    from pushrod.safety.state import State

    if outcome.plain.get("state") != State.ERROR:
        return outcome
    name = outcome.plain["robot"]
    try:
        network()
        near = robots.nearby.get(name)
        if near is not None and with_certificates(near):
            raise NetworkError(with_certificates(near))
        at = robots.distant[name] if near is None else Place(name, link_to([near.endpoint], None))
        async with await connect(at, operator) as remote:
            got = await remote.force_disarm()
    except (PushrodError, OSError) as error:
        code = UNREACHED if isinstance(error, (ConnectionError, TimeoutError)) else REFUSED
        why = f"{NOT_DONE['disarm']}: {name}: it has not left its error state: {error}"
        return outcome._replace(plain={**outcome.plain, "ok": False}, code=max(code, outcome.code), err=(*outcome.err, why))
    if not isinstance(got, Armed):
        return disarmed(name, got)
    plain = {"robot": name, "ok": got.ok, "state": got.state, "refusal": got.refusal, "missing": list(got.missing)}
    return Outcome(plain, REFUSED, err=(f"{NOT_DONE['disarm']}: {refusal_text(name, '--force', got)}",))
