"""`pushrod fit`: parameters from recordings, with how far they can be believed."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any
from typing import Annotated as A

import typer

from pushrod.cli.output import answer, console, say
from pushrod.cli.trust import Trust, trust_words

if TYPE_CHECKING:
    from pushrod.identify.belief import Belief
    from pushrod.identify.search import Fit


class Hold(StrEnum):
    zero = "zero"
    linear = "linear"


class Missing(StrEnum):
    refuse = "refuse"
    drop = "drop"


class Loss(StrEnum):
    linear = "linear"
    soft_l1 = "soft_l1"
    huber = "huber"


class Device(StrEnum):
    auto = "auto"
    cpu = "cpu"
    cuda = "cuda"


def fit(
    logs: A[list[Path], typer.Argument(metavar="LOG...", help="Recordings: .mcap, .csv, .mat, .json or a ROS 2 bag.")],
    model: A[str | None, typer.Option(help="A machine, world, model or plant (see `pushrod list`), a machine file, or FILE.py:NAME.")] = None,
    ladder: A[str | None, typer.Option(metavar="NAME", help="Instead of one model a ladder of them: servo, steering or axis.")] = None,
    rung: A[list[str] | None, typer.Option(metavar="NAME", help="A rung of the ladder; all of them if left out.")] = None,
    output: A[list[str] | None, typer.Option(metavar="PATH=COLUMN", help="A measured output: 'q=position [deg]'; q alone is q=q.")] = None,
    input_: A[list[str] | None, typer.Option("--input", metavar="CHANNEL=COLUMN", help="What it was told: 'goal=goal [deg]'.")] = None,
    free: A[list[str] | None, typer.Option(metavar="PATH[=LOW..HIGH]", help="A parameter to find, within its legal range or this one.")] = None,
    set_: A[list[str] | None, typer.Option("--set", metavar="PATH=VALUE", help="A parameter that is known, or a first guess of a free one.")] = None,
    constant: A[list[str] | None, typer.Option(metavar="[LOG:]PATH=VALUE", help="A parameter known for one log alone: run1.csv:mass=0.49.")] = None,
    start: A[
        list[str] | None, typer.Option(metavar="STATE=VALUE", help="A state at the begin: a number, an output (its first value), or LOW..HIGH: free.")
    ] = None,
    offset: A[list[str] | None, typer.Option(metavar="PATH", help="An output whose sensor has an offset, found for each log.")] = None,
    noise: A[list[str] | None, typer.Option(metavar="PATH=SD", help="Standard deviation of an output: 'q=0.1 deg'; learnt if left out.")] = None,
    weight: A[list[str] | None, typer.Option(metavar="PATH=COLUMN", help="A column that says how much each value of an output counts.")] = None,
    holdout: A[list[Path] | None, typer.Option(metavar="LOG", help="A recording that is only used to judge the fit.")] = None,
    holdout_share: A[float, typer.Option(min=0.0, max=0.9, help="The last share of each log that is only used to judge.")] = 0.0,
    tick: A[str | None, typer.Option(help="Length of a tick; that of the recorded run, else the time between two samples, if left out.")] = None,
    hold: A[Hold, typer.Option(help="Inputs between two samples: the last value, or a straight line.")] = Hold.zero,
    begin: A[float | None, typer.Option("--from", help="Leave out what comes before [s].")] = None,
    end: A[float | None, typer.Option("--to", help="Leave out what comes after [s].")] = None,
    missing: A[Missing, typer.Option(help="What to do about values that are no numbers.")] = Missing.refuse,
    loss: A[Loss, typer.Option(help="How residuals count: squares, or less for outliers.")] = Loss.linear,
    seeds: A[int, typer.Option(min=1, max=1000, help="How often to search, each from another start.")] = 5,
    generations: A[int, typer.Option(min=1, max=100_000, help="How long each search goes on at most.")] = 80,
    population: A[int | None, typer.Option(min=8, help="Guesses in a generation; ten for each parameter if left out.")] = None,
    device: A[Device, typer.Option(help="Where to simulate: a GPU if there is one with auto.")] = Device.auto,
    ignore_problems: A[bool, typer.Option("--ignore-problems", help="Fit recordings in spite of the problems that were found in them.")] = False,
    trust: Trust = False,
    out: A[Path | None, typer.Option(metavar="FILE.yaml", help="Where to write the result; NAME_fit.yaml, and the report beside it.")] = None,
    no_report: A[bool, typer.Option("--no-report", help="Write no HTML report.")] = False,
) -> None:
    """Find parameters of a machine from recordings, say how far each can be believed, and write them as a machine file and a report.

    Ctrl-C ends the search and keeps the best found until then.

    Exit codes: 0 fitted; 1 fitted, but the model explains less than half of an output: nothing was written; 2 wrong input or recordings that
    nothing can be learnt from.
    """
    from pushrod.cli import fit_request
    from pushrod.cli.ladder import fit_ladder, refuse_mixture
    from pushrod.identify.belief import believe
    from pushrod.identify.limit import number
    from pushrod.identify.problem import Problem
    from pushrod.identify.result import figures, write, yaml_text
    from pushrod.identify.search import fit as search
    from pushrod.identify.subject import subject

    of_model: dict[str, object] = {"--free": free, "--set": set_, "--start": start, "--offset": offset, "--noise": noise, "--weight": weight}
    of_model |= {"--holdout-share": holdout_share, "--ignore-problems": ignore_problems, "--trust": trust}
    refuse_mixture(model, ladder, of_model, rung)
    dt = None if tick is None else number(tick, "s", f"--tick {tick}")
    taken: dict[str, Any] = {"dt": dt, "hold": hold.value, "begin": begin, "end": end, "missing": missing.value}
    if ladder is not None:
        steps = taken | {"loss": loss.value, "seeds": seeds}
        steps |= {"rungs": rung, "generations": generations, "population": population, "device": device.value}
        return fit_ladder(ladder, logs, holdout or [], [*(input_ or ()), *(output or ())], constant or [], out, not no_report, steps)
    machine = subject(str(model), set_ or (), trust=trust)
    file = fit_request.place(out or Path(f"{machine.name}_fit.yaml"))
    asked = fit_request.Asked(
        machine, input_ or [], output or [], free or [], constant or [], start or [], offset or [], noise or [], [*logs, *(holdout or [])], weight
    )
    trials = [asked.trial(log, held_out=holdout_share, **taken) for log in logs]
    others = [asked.trial(log, **taken) for log in holdout or ()]
    problem = Problem(
        machine.world,
        trials,
        asked.free(),
        params=machine.params,
        offsets=tuple(offset or ()),
        starts=asked.free_starts(),
        noise=asked.noise(),
        loss=loss.value,
        device=device.value,
    )
    with fit_request.shown() as told:
        found = search(problem, seeds=seeds, generations=generations, population=population, ignore_problems=ignore_problems, told=told)
    belief = believe(found, others)
    answer(model=model, **figures(found, belief))
    _tell(found, belief)
    if not ignore_problems:
        fit_request.refuse_unexplained(belief)
    write(yaml_text(found, belief, machine, file), file)
    written = [file]
    if not no_report:
        from pushrod.identify.page import page

        written.append(file.with_suffix(".html"))
        write(page(found, belief, machine.name, others), written[-1])
    answer(written=written)
    for each in written:
        say(f"wrote {each}")
    command = " ".join(["pushrod", "run", str(file), *([] if machine.scenario else ["SCENARIO"]), *trust_words(machine)])
    study = f"; or pushrod new study NAME --from {file}" if machine.scenario else ""
    say(f"try: {command}{study}; or include it in a machine file: parameters: {{include: {file}}}")


def _tell(found: "Fit", belief: "Belief") -> None:
    from rich.table import Table

    from pushrod.cli import fit_request
    from pushrod.core.names import count
    from pushrod.identify.interval_text import interval_text

    at = console()
    table = Table(box=None, pad_edge=False)
    for name in ("parameter", "value", "95 % interval", "unit", "over seeds"):
        table.add_column(name, justify="left" if name in ("parameter", "unit") else "right", overflow="fold")
    for one in belief.estimates:
        within = interval_text(one.lo, one.hi) if one.informed else "not informed"
        within += f", at the {one.edge} end" if one.edge else ""
        table.add_row(one.free.name, f"{one.value:.5g}", within, "" if one.free.unit == "-" else one.free.unit, f"{one.spread:.2g}")
    at.print(table)
    for rest in (*belief.remainders, *belief.held_out):
        kind = "held out" if rest.held_out else "fitted"
        unit = "" if rest.unit in ("", "-") else f" {rest.unit}"
        at.print(f"{rest.log}: {rest.path} {kind}, rms {rest.rms:.4g}{unit}, explained {100.0 * rest.explained:.2f} %", markup=False)
    seeds = f", best of {count(len(found.seeds), 'seed')}" if found.seeds else ""
    at.print(f"{count(found.simulated, 'run')} in {found.seconds:.1f} s{seeds}", markup=False)
    fit_request.tell_doubts(belief)
