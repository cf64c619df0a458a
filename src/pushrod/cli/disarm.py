"""`pushrod disarm`: every actuator of a served robot made safe."""

from typing import TYPE_CHECKING
from typing import Annotated as A

import typer

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
    from pushrod.cli.arm import not_done
    from pushrod.cli.reach import connect, network, place, run
    from pushrod.runtime.arming import Armed

    network()

    async def main() -> int:
        async with await connect(await place(robot, net, tls), as_) as remote:
            answer = await remote.force_disarm() if force else await remote.disarm(why)
            if isinstance(answer, Armed):
                typer.echo(f"{remote.robot}: {not_done('--force', answer.refusal, answer.state, answer.missing)}", err=True)
                return REFUSED
            return told(remote.robot, answer)

    run(main())


def told(robot: str, answer: "Disarmed") -> int:
    """Say what a disarm came to; gives the exit code."""
    from pushrod.safety.state import State

    if answer.ok:
        typer.echo(f"{robot}: {answer.state}" + ("; to go on: pushrod disarm --force" if answer.state is State.ERROR else ""))
        return 0
    typer.echo(f"{robot}: {answer.state}; NOT SAFE, switch its power off:", err=True)
    for path, failure in answer.failures.items():
        typer.echo(f"  {path}: {failure}", err=True)
    return REFUSED
