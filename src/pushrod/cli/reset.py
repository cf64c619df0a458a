"""`pushrod reset`: clear the e-stop of a served robot."""

from pushrod.cli.output import say
from pushrod.cli.reach import REFUSED, As, Net, OneRobot, TlsFiles


def reset(robot: OneRobot = None, net: Net = None, tls: TlsFiles = None, as_: As = "") -> None:
    """Clear the e-stop of a served robot. Remove the cause first: the robot does not check it. Arming is a second step.

    Exit codes: 0 disarmed, ready to be armed; 2 wrong input; 3 refused; 4 not reached, or no answer.
    """
    from pushrod.cli.arm import refusal_text, tell
    from pushrod.cli.reach import connect, network, place, run

    network()

    async def main() -> int:
        async with await connect(await place(robot, net, tls), as_) as remote:
            got = await remote.reset()
            tell(remote.robot, got)
            if got.ok:
                say(f"{remote.robot}: {got.state}")
                return 0
            say(refusal_text(remote.robot, "reset", got), err=True)
            return REFUSED

    run(main())
