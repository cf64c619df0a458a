"""`pushrod disarm`: every actuator of a served robot made safe."""

from typing import TYPE_CHECKING, Any
from typing import Annotated as A

import typer

from pushrod.cli.output import answer, say
from pushrod.cli.reach import REFUSED, As, Net, OneRobot, TlsFiles

if TYPE_CHECKING:
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

    Exit codes: 0 all is safe; 2 wrong input; 3 something is not safe, or --force was refused; 4 not reached, or no answer.
    """
    from pushrod.cli.arm import not_done, tell
    from pushrod.cli.reach import connect, network, place, run
    from pushrod.runtime.arming import Armed

    network()

    async def main() -> int:
        async with await connect(await place(robot, net, tls), as_) as remote:
            got = await remote.force_disarm() if force else await remote.disarm(why)
            if isinstance(got, Armed):
                tell(remote.robot, got)
                say(f"{remote.robot}: {not_done('--force', got.refusal, got.state, got.missing)}", err=True)
                return REFUSED
            answer(**plain(remote.robot, got))
            return told(remote.robot, got)

    run(main())


def plain(robot: str, got: "Disarmed") -> dict[str, Any]:
    return {"robot": robot, "ok": got.ok, "state": got.state, "failures": dict(got.failures)}


def told(robot: str, got: "Disarmed") -> int:
    """Say what a disarm came to; gives the exit code."""
    from pushrod.safety.state import State

    if got.ok:
        say(f"{robot}: {got.state}" + ("; to go on: pushrod disarm --force" if got.state is State.ERROR else ""))
        return 0
    say(f"{robot}: {got.state}; NOT SAFE, switch its power off:", err=True)
    for path, failure in got.failures.items():
        say(f"  {path}: {failure}", err=True)
    return REFUSED
