"""`pushrod arm`: let a served robot move."""

import typer

from pushrod.cli.reach import REFUSED, As, Net, OneRobot, TlsFiles


def arm(robot: OneRobot = None, net: Net = None, tls: TlsFiles = None, as_: As = "") -> None:
    """Arm a served robot, so that its actuators take commands; where it is not armed, say what is missing.

    Exit codes: 0 armed; 2 wrong input; 3 refused; 4 not reached, or no answer.
    """
    from pushrod.cli.reach import connect, network, place, run

    network()

    async def main() -> int:
        async with await connect(await place(robot, net, tls), as_) as remote:
            answer = await remote.arm()
            if answer.ok:
                typer.echo(f"{remote.robot}: armed" + (f"; {answer.note}" if answer.note else ""))
                return 0
            if answer.refusal == "already_armed":
                typer.echo(f"{remote.robot}: armed already")
                return 0
            typer.echo(f"{remote.robot}: {not_done('arming', answer.refusal, answer.state, answer.missing)}", err=True)
            return REFUSED

    run(main())


def not_done(what: str, refusal: str, state: str, missing: tuple[str, ...]) -> str:
    """Why, and what comes first."""
    then = {"in_error": "disarm --force", "estopped": "reset"}.get(refusal)
    said = [f"{what} was refused ({refusal.replace('_', ' ')}); it is {state}", *(f"  {text}" for text in missing)]
    return "\n".join([*said, *([f"  when it is safe: pushrod {then}"] if then else [])])
