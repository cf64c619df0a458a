"""`pushrod arm`: let a served robot move."""

from typing import TYPE_CHECKING

from pushrod.cli.output import answer, say
from pushrod.cli.reach import REFUSED, As, Net, OneRobot, TlsFiles

if TYPE_CHECKING:
    from pushrod.runtime.deciding import Armed

NEXT_STEP = {"in_error": "pushrod disarm {} --force", "estopped": "pushrod reset {}"}
REASONS = {  # of refusals that list nothing
    "in_error": "the robot is in error",
    "estopped": "the robot is e-stopped",
    "disarming": "the robot is being disarmed; try again",
    "not_estopped": "the robot is not e-stopped",
    "stopped": "a stop came meanwhile; try again",
}


def arm(robot: OneRobot = None, net: Net = None, tls: TlsFiles = None, as_: As = "") -> None:
    """Arm a served robot, so that its actuators take commands. If that is refused, print what blocks it and what to do.

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
            say(refusal_text(remote.robot, "arming", got), err=True)
            return REFUSED

    run(main())


def tell(robot: str, got: "Armed") -> None:
    """Add the answer of a robot to the object of --json."""
    answer(robot=robot, ok=got.ok, state=got.state, refusal=got.refusal, missing=list(got.missing), note=got.note)


def refusal_text(robot: str, what: str, got: "Armed") -> str:
    """Return that a request was refused, why, and the next step."""
    step = NEXT_STEP.get(got.refusal, "").format(robot)
    reasons = got.missing or (REASONS.get(got.refusal, got.refusal.replace("_", " ")),)
    return "\n".join([f"{robot}: {what} refused:", *(f"  {text}" for text in reasons), *([f"  when it is safe: {step}"] if step else [])])
