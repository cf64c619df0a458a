"""`pushrod run`: simulate a machine, say how well it followed, write the log."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from typing import Annotated as A

import typer

from pushrod.cli.output import STOPPED, answer, say
from pushrod.cli.trust import Trust, admit_drivers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pushrod.live.run import Live
    from pushrod.log.writer import Attachment, Said
    from pushrod.sim.machine import Machine
    from pushrod.sim.run import Interrupted, Result
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
    trust: Trust = False,
) -> None:
    """Simulate a machine and say how well it followed what was asked of it.

    Exit codes: 0 fine; 1 an expectation did not hold; 2 wrong input; 130 stopped by Ctrl-C.
    """
    from pushrod.sim import machine as machines
    from pushrod.sim import scenario as scenarios

    what = machines.load(machine, set_ or (), trust=trust)
    how = scenarios.load(scenario, what, duration, seed)
    if live or how.live:
        admit_drivers(what, trust)
    from pushrod.cli.stopping import postponed
    from pushrod.cli.summary import print_summary
    from pushrod.log.folder import prepare
    from pushrod.sim.verdict import verdict

    answer(machine=what.name, scenario=how.name, dt=how.dt, ticks=how.steps, seed=how.seed)
    if log:
        prepare(out)
    through: Live | None = None
    if live or how.live:
        from pushrod.live.run import simulate as simulate_live

        through = _behind_bar(what, how, partial(simulate_live, taped=log), out if log else None)
        result = through.outcome
    else:
        from pushrod.sim.run import simulate

        result = _behind_bar(what, how, simulate, out if log else None)
    with postponed() as pressed:  # it has run: what it came to is told and kept
        answer(**verdict(result))
        print_summary(result)
        attached = [] if through is None else [_tell_commands(through)]
        if log:
            _log(result, out, pressed, attached, () if through is None else through.said, through is not None)
    if pressed():
        raise typer.Exit(STOPPED)
    if not result.held:
        raise typer.Exit(1)


def _tell_commands(through: "Live") -> "Attachment":
    """What became of every command, and how the world would have gone without a runtime; the file of it."""
    from pushrod.cli.live_summary import print_commands, print_difference
    from pushrod.live.recording import commands_file, commands_of
    from pushrod.live.run import against_rollout

    difference = against_rollout(through)
    print_commands(through)
    print_difference(difference)
    answer(**commands_of(through), against_rollout=difference._asdict())
    return commands_file(through)


def _log(result: "Result", out: Path, pressed: "Callable[[], int]", attached: "Sequence[Attachment]", said: "Sequence[Said]", live: bool) -> None:
    from pushrod.cli.stopping import written
    from pushrod.log.writer import CutShort
    from pushrod.sim.recording import record

    kind = "stepped" if live else "rollout"
    try:
        _tell_log(written(lambda going: record(result, out, attached, said, kind, going), pressed))
    except CutShort as cut:
        dt = result.scenario.dt
        say(f"the log was cut by Ctrl-C: it has the first {cut.ticks * dt:g} s of {result.scenario.steps * dt:g} s", err=True)
        answer(logged_ticks=cut.ticks)
        _tell_log(cut.file)


def _tell_log(file: Path) -> None:
    answer(log=file)
    say(f"log: {file}")


def _behind_bar(
    machine: "Machine", scenario: "Scenario", simulate: "Callable[[Machine, Scenario, Callable[[int, int], None]], T]", out: Path | None
) -> "T":
    """The run behind a progress bar. Stopped by Ctrl-C, what was run until then is still logged."""
    from pushrod.cli.progress import COMPILING, progress
    from pushrod.sim.run import Interrupted

    for note in scenario.notes:
        say(f"note: {note}", err=True)
    answer(notes=list(scenario.notes))
    try:
        with progress("simulating", "ticks", scenario.steps, before=COMPILING) as show:
            return simulate(machine, scenario, show)
    except Interrupted as stop:
        raise _stopped(stop, out) from stop


def _stopped(stop: "Interrupted", out: Path | None) -> typer.Exit:
    """Say how far it got and what it had come to, and where that is kept."""
    from pushrod.cli.stopping import postponed
    from pushrod.cli.summary import print_summary
    from pushrod.sim.verdict import verdict

    with postponed() as pressed:
        how = stop.result.scenario
        ran = (
            f"after {how.steps * how.dt:g} s of {stop.steps * how.dt:g} s" if how.steps < stop.steps else f"when all {how.steps * how.dt:g} s had run"
        )
        disarmed = "all is disarmed, and " if stop.live else ""
        text = f"stopped by Ctrl-C {ran}; {disarmed}{'nothing was compared' if stop.result.outcomes else 'nothing was judged'}"
        say(f"\n{text}", err=True)
        answer(**verdict(stop.result) | {"held": None}, error={"type": "Interrupted", "message": text}, ticks=how.steps)
        print_summary(stop.result)
        if out is not None:
            _log(stop.result, out, pressed, (), stop.said, stop.live)
    return typer.Exit(STOPPED)
