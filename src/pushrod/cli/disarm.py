"""`pushrod disarm`: every actuator of a served robot made safe."""

import asyncio
from typing import TYPE_CHECKING, Any
from typing import Annotated as A

import typer

from pushrod.cli.output import answer, plain_error, say
from pushrod.cli.reach import REFUSED, As, Net, OneRobot, TlsFiles

if TYPE_CHECKING:
    from pushrod.cli.reach import Place
    from pushrod.net import Hello
    from pushrod.runtime.arming import Disarmed


def disarm(
    robot: OneRobot = None,
    force: A[bool, typer.Option("--force", help="Out of error, after somebody has looked at the robot.")] = False,
    why: A[str, typer.Option(help="The reason, for whoever watches.")] = "asked",
    net: Net = None,
    tls: TlsFiles = None,
    as_: As = "",
) -> None:
    """Disarm a served robot: every disarm function is called, and what could not be made safe is named.

    Of several hosts of one name each is disarmed.

    Exit codes: 0 all is safe; 2 wrong input; 3 something is not safe, or --force was refused; 4 not reached, or no answer.
    """
    from pushrod.cli.arm import not_done, tell
    from pushrod.cli.reach import connect, network, place, run
    from pushrod.runtime.arming import Armed

    network()
    from pushrod.net import SeveralHostsError

    async def main() -> int:
        at = await place(robot, net, tls)
        try:
            remote = await connect(at, as_)
        except SeveralHostsError as several:
            if force:
                raise
            say(f"{several}; each is disarmed", err=True)
            return await _each(at, as_, several.hosts, why)
        async with remote:
            got = await remote.force_disarm() if force else await remote.disarm(why)
            if isinstance(got, Armed):
                tell(remote.robot, got)
                say(f"{remote.robot}: {not_done('--force', got.refusal, got.state, got.missing)}", err=True)
                return REFUSED
            answer(**plain(remote.robot, got))
            return told(remote.robot, got)

    run(main())


async def _each(at: "Place", operator: str, hosts: "list[Hello]", why: str) -> int:
    """Of several hosts of one name; one that does not obey keeps none of the others from it. Gives the worst exit code."""
    from pushrod.cli.reach import UNREACHED, connect
    from pushrod.core.errors import PushrodError
    from pushrod.net import AccessError

    async def one(host: "Hello") -> tuple[dict[str, Any], int]:
        name = named(at.robot, host)
        try:
            async with await connect(at, operator, host) as remote:
                got = await remote.disarm(why)
                return plain(at.robot, got, host), told(name, got)
        except PushrodError as error:
            say(f"{name}: NOT DISARMED: {error}", err=True)
            found = {"robot": at.robot, "host": host.where, "ok": False, "error": plain_error(error, str(error))}
            return found, REFUSED if isinstance(error, AccessError) else UNREACHED

    found = await asyncio.gather(*(one(host) for host in hosts))
    answer(robot=at.robot, ok=all(code == 0 for _, code in found), hosts=[told for told, _ in found])
    return max(code for _, code in found)


def named(robot: str, host: "Hello | None") -> str:
    """A robot; of several of that name, with where it is."""
    return robot if host is None else f"{robot} ({host.where or host.instance})"


def plain(robot: str, got: "Disarmed", host: "Hello | None" = None) -> dict[str, Any]:
    where = {} if host is None else {"host": host.where}
    return {"robot": robot, **where, "ok": got.ok, "state": got.state, "failures": dict(got.failures), "why": got.why}


def told(robot: str, got: "Disarmed") -> int:
    """Say what a disarm came to; gives the exit code."""
    from pushrod.safety.state import State

    if got.ok:
        error = got.state is State.ERROR
        say(f"{robot}: {got.state}" + (f" ({got.why}); look at it, then: pushrod disarm --force" if error else ""))
        return 0
    say(f"{robot}: {got.state}; NOT SAFE, switch its power off:", err=True)
    for path, failure in got.failures.items():
        say(f"  {path}: {failure}", err=True)
    return REFUSED
