"""`pushrod estop`: disarm a served robot, and keep it from arming until it is reset."""

from typing import Annotated as A

import typer

from pushrod.cli.reach import As, Net, OneRobot, TlsFiles


def estop(
    robot: OneRobot = None,
    cause: A[str, typer.Argument(help="Why, for whoever resets it.")] = "pushrod estop",
    net: Net = None,
    tls: TlsFiles = None,
    as_: As = "",
) -> None:
    """Stop a served robot at once and latch it: it does not arm before `pushrod reset`. Not a certified emergency stop.

    Exit codes: 0 all is safe; 2 wrong input; 3 something is not safe; 4 not reached, or no answer.
    """
    from pushrod.cli.disarm import told
    from pushrod.cli.reach import connect, network, place, run

    network()

    async def main() -> int:
        async with await connect(await place(robot, net, tls), as_) as remote:
            return told(remote.robot, await remote.estop(cause))

    run(main())
