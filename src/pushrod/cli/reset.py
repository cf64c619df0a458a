"""`pushrod reset`: the cause of an e-stop is gone."""

import typer

from pushrod.cli.reach import REFUSED, As, Net, OneRobot, TlsFiles


def reset(robot: OneRobot = None, net: Net = None, tls: TlsFiles = None, as_: As = "") -> None:
    """Clear the e-stop of a served robot, once its cause is gone; arming is a second step.

    Exit codes: 0 it is disarmed, ready to be armed; 2 wrong input; 3 refused; 4 not reached, or no answer.
    """
    from pushrod.cli.arm import not_done
    from pushrod.cli.reach import connect, network, place, run

    network()

    async def main() -> int:
        async with await connect(await place(robot, net, tls), as_) as remote:
            answer = await remote.reset()
            if answer.ok:
                typer.echo(f"{remote.robot}: {answer.state}")
                return 0
            typer.echo(f"{remote.robot}: {not_done('the reset', answer.refusal, answer.state, answer.missing)}", err=True)
            return REFUSED

    run(main())
