"""`pushrod run`: simulate a machine, say how well it followed, write the log."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from typing import Annotated as A

import typer

from pushrod.cli.output import STOPPED, answer, say

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pushrod.log.writer import Attachment, Said
    from pushrod.sim.machine import Machine
    from pushrod.sim.run import Interrupted
    from pushrod.sim.scenario import Scenario

T = TypeVar("T")


def run(
    machine: A[str, typer.Argument(help="A shipped machine (see `pushrod list`) or a machine file.")],
    scenario: A[str | None, typer.Argument(help="A shipped scenario or a scenario file; the machine's own if left out.")] = None,
    out: A[Path, typer.Option(help="Folder for the log.")] = Path("runs"),
    set_: A[list[str] | None, typer.Option("--set", metavar="PATH=VALUE", help="Put a value over a parameter; may be repeated.")] = None,
    duration: A[str | None, typer.Option(help="Length of the run, such as 5 or '500 ms'.")] = None,
    seed: A[int | None, typer.Option(help="Seed of all noise.")] = None,
    log: A[bool, typer.Option("--log/--no-log", help="Write an MCAP log.")] = True,
    live: A[bool, typer.Option("--live", help="Through the runtime and its gate, as a scenario with commands always goes.")] = False,
) -> None:
    """Simulate a machine and say how well it followed what was asked of it.

    Exit codes: 0 fine; 1 an expectation did not hold; 2 wrong input; 130 stopped by Ctrl-C.
    """
    from pushrod.sim import machine as machines
    from pushrod.sim import scenario as scenarios

    what = machines.load(machine, set_ or ())
    how = scenarios.load(scenario, what, duration, seed)
    from pushrod.cli.summary import print_summary
    from pushrod.log.folder import prepare
    from pushrod.sim.recording import record
    from pushrod.sim.verdict import verdict

    answer(machine=what.name, scenario=how.name, dt=how.dt, ticks=how.steps, seed=how.seed)
    if log:
        prepare(out)
    attached: list[Attachment] = []
    said: Sequence[Said] = ()
    if live or how.live:
        from pushrod.cli.live_summary import print_commands, print_difference
        from pushrod.live.recording import commands_file, commands_of
        from pushrod.live.run import against_rollout
        from pushrod.live.run import simulate as simulate_live

        through = _behind_bar(what, how, partial(simulate_live, taped=log), out if log else None)
        result = through.outcome
        difference = against_rollout(through)
        print_summary(result)
        print_commands(through)
        print_difference(difference)
        answer(**commands_of(through), against_rollout=difference._asdict())
        attached.append(commands_file(through))
        said = through.said
    else:
        from pushrod.sim.run import simulate

        result = _behind_bar(what, how, simulate, out if log else None)
        print_summary(result)
    answer(**verdict(result))
    if log:
        _tell_log(record(result, out, attached, said, "stepped" if live or how.live else "rollout"))
    if not result.held:
        raise typer.Exit(1)


def _tell_log(file: Path) -> None:
    answer(log=file)
    say(f"log: {file}")


def _behind_bar(
    machine: "Machine", scenario: "Scenario", simulate: "Callable[[Machine, Scenario, Callable[[int, int], None]], T]", out: Path | None
) -> "T":
    """The run behind a progress bar. Stopped by Ctrl-C, what was run until then is still logged."""
    from pushrod.cli.progress import progress
    from pushrod.sim.run import Interrupted

    for note in scenario.notes:
        say(f"note: {note}", err=True)
    answer(notes=list(scenario.notes))
    try:
        with progress("simulating", "ticks", scenario.steps, before="compiling") as show:
            return simulate(machine, scenario, show)
    except Interrupted as stop:
        raise _stopped(stop, out) from stop


def _stopped(stop: "Interrupted", out: Path | None) -> typer.Exit:
    """Say how far it got, and where that is kept."""
    import signal

    from pushrod.sim.recording import record

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the log shall be whole
    how = stop.result.scenario
    disarmed = "all is disarmed, and " if stop.live else ""
    text = f"stopped by Ctrl-C after {how.steps * how.dt:g} s of {stop.steps * how.dt:g} s; {disarmed}nothing was judged"
    say(f"\n{text}", err=True)
    answer(error={"type": "Interrupted", "message": text}, ticks=how.steps)
    if out is not None:
        _tell_log(record(stop.result, out, (), stop.said, "stepped" if stop.live else "rollout"))
    return typer.Exit(STOPPED)
