"""`pushrod arm`: let a served robot move."""

from typing import TYPE_CHECKING

from pushrod.cli.output import answer, say
from pushrod.cli.reach import REFUSED, As, Net, OneRobot, TlsFiles

if TYPE_CHECKING:
    from pushrod.runtime.arming import Armed


def arm(robot: OneRobot = None, net: Net = None, tls: TlsFiles = None, as_: As = "") -> None:
    """Arm a served robot, so that its actuators take commands; where it is not armed, say what is missing.

    Exit codes: 0 armed; 2 wrong input; 3 refused; 4 not reached, or no answer.
    """
    from pushrod.cli.reach import connect, network, place, run

    network()

    async def main() -> int:
        async with await connect(await place(robot, net, tls), as_) as remote:
            got = await remote.arm()
            tell(remote.robot, got)
            if got.ok:
                say(f"{remote.robot}: armed" + (f"; {got.note}" if got.note else ""))
                return 0
            if got.refusal == "already_armed":
                say(f"{remote.robot}: armed already")
                return 0
            say(f"{remote.robot}: {not_done('arming', got.refusal, got.state, got.missing)}", err=True)
            return REFUSED

    run(main())


def tell(robot: str, got: "Armed") -> None:
    """The answer of a robot, for --json."""
    answer(robot=robot, ok=got.ok, state=got.state, refusal=got.refusal, missing=list(got.missing), note=got.note)


def not_done(what: str, refusal: str, state: str, missing: tuple[str, ...]) -> str:
    """Why, and what comes first."""
    then = {"in_error": "disarm --force", "estopped": "reset"}.get(refusal)
    said = [f"{what} was refused ({refusal.replace('_', ' ')}); it is {state}", *(f"  {text}" for text in missing)]
    return "\n".join([*said, *([f"  when it is safe: pushrod {then}"] if then else [])])
