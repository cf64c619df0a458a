"""`pushrod excite`: design a test that tells the parameters of a machine."""

import shlex
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any
from typing import Annotated as A

import typer

from pushrod.cli.output import STOPPED, answer, console, say
from pushrod.cli.trust import Trust, trust_words

if TYPE_CHECKING:
    from pushrod.identify.excite import Excitation

STYLES = {"well": "green", "fair": "", "poor": "yellow", "unseen": "bold red"}


class Kind(StrEnum):
    chirp = "chirp"
    multisine = "multisine"
    steps = "steps"


def excite(
    model: A[str, typer.Argument(help="A machine, world, model or plant (see `pushrod list`), a machine file, or FILE.py:NAME.")],
    input_: A[list[str] | None, typer.Option("--input", metavar="CHANNEL=RANGE", help="Input to excite and how far: 2, or '-5..20 deg'.")] = None,
    output: A[list[str] | None, typer.Option(metavar="PATH=NOISE", help="What is measured, and its standard deviation: 'q=0.1 deg'.")] = None,
    limit: A[list[str] | None, typer.Option(metavar="PATH=RANGE", help="An output must stay within: q=1, or 'w=-3..5 rad/s'.")] = None,
    rate: A[list[str] | None, typer.Option(metavar="PATH=MOST", help="An output must not change faster, in its unit per second.")] = None,
    free: A[list[str] | None, typer.Option(metavar="PATH", help="A parameter to be found; all that are not 0 if left out.")] = None,
    offset: A[list[str] | None, typer.Option(metavar="PATH", help="A measured output whose sensor is off by a constant to be found, too.")] = None,
    kind: A[Kind | None, typer.Option(help="Only signals of this kind; the best of all if left out.")] = None,
    duration: A[str, typer.Option(help="Length of the test, such as 10 or '500 ms'.")] = "10 s",
    dt: A[str | None, typer.Option(help="Length of a tick; that of --scenario, of the machine's own scenario, or 1 ms if left out.")] = None,
    sample: A[str, typer.Option(help="Time between two samples.")] = "10 ms",
    band: A[str | None, typer.Option(metavar="LOW..HIGH", help="Frequencies to use [Hz].")] = None,
    margin: A[float, typer.Option(help="Share of every limit to keep free: the machine is not the model.")] = 0.1,
    scenario: A[str | None, typer.Option(help="What the other channels are given, and the state at the start: a scenario of that machine.")] = None,
    set_: A[list[str] | None, typer.Option("--set", metavar="PATH=VALUE", help="Put a value over a parameter; may be repeated.")] = None,
    generations: A[int, typer.Option(min=1, max=1000, help="How long to look for a better signal.")] = 20,
    seed: A[int, typer.Option(min=0, help="Of the search.")] = 0,
    trust: Trust = False,
    out: A[Path | None, typer.Option(help="Scenario file to write; excite_NAME.yaml if left out.")] = None,
) -> None:
    """Design the test that tells most of the parameters of a machine within its limits, say how well each will be known, and write it as a scenario.

    Exit codes: 0 written; 2 wrong input, nothing was written; 130 stopped by Ctrl-C, the best so far was written if there was one.
    """
    from pushrod.cli.progress import COMPILING, progress
    from pushrod.core.record import numbers
    from pushrod.identify.excite import excite as design
    from pushrod.identify.excite_file import files_of, write
    from pushrod.identify.limit import most_of, number, range_of, read_range
    from pushrod.identify.subject import subject
    from pushrod.sim import scenario as scenarios

    machine = subject(model, set_ or (), trust=trust)
    file = out or Path(f"excite_{machine.name}.yaml")
    files_of(machine, file)  # a name that is taken is told before anything is looked for
    ins: dict[str, str] = {leaf.path: str(leaf.meta.unit) for leaf in numbers(machine.world.In)}  # type: ignore[union-attr]
    outs: dict[str, str] = {leaf.path: str(leaf.meta.unit) for leaf in numbers(machine.world.Out)}  # type: ignore[union-attr]
    one, other = f"input of {machine.name}", f"output of {machine.name}"
    wanted: dict[str, Any] = {
        "inputs": dict(range_of(text, ins, one, "--input") for text in input_ or ()),
        "outputs": dict(most_of(text, outs, other, "--output") for text in output or ()),
        "limits": dict(range_of(text, outs, other, "--limit") for text in limit or ()),
        "rates": dict(_given(most_of(text, outs, other, "--rate", "/s")) for text in rate or ()),
        "duration": number(duration, "s", f"--duration {duration}"),
        "dt": None if dt is None else number(dt, "s", f"--dt {dt}"),
        "sample": number(sample, "s", f"--sample {sample}"),
        "band": None if band is None else read_range(band, "Hz", f"--band {band}"),
        "scenario": None if scenario is None else scenarios.load(scenario, machine),
    }
    with progress("looking for a better signal", "generations", before=COMPILING) as show:
        found = design(
            machine,
            **wanted,
            free=free or (),
            offsets=offset or (),
            kinds=[] if kind is None else [kind.value],
            margin=margin,
            seed=seed,
            generations=generations,
            progress=show,
        )
    _tell(found, write(found, file), model, set_ or [])
    if found.stopped:
        say("stopped by Ctrl-C: this is the best of what was tried until then", err=True)
        raise typer.Exit(STOPPED)


def _given(pair: "tuple[str, float | None]") -> "tuple[str, float]":
    from pushrod.core.errors import InputError

    path, most = pair
    if most is None or not most > 0.0:
        raise InputError(f"--rate {path}: how fast at most? Write --rate {path}=1")
    return path, most


def _tell(found: "Excitation", written: list[Path], model: str, sets: list[str]) -> None:
    from rich.table import Table

    from pushrod.identify.excite_file import shown

    own = len(written) > 1  # a machine file was written, with what was set in it
    words = ["pushrod", "run", str(written[0]) if own else model, str(written[-1])]
    command = shlex.join([*words, *(word for one in sets if not own for word in ("--set", one)), *trust_words(found.machine)])
    answer(
        machine=found.machine.name,
        kind=found.kind,
        signals=found.signals,
        duration=found.seconds,
        dt=found.setup.dt,
        sample=found.sample,
        noise=dict(found.setup.outputs),
        tried={one.kind: one.typical for one in found.tried},
        parameters={row.path: {**row._asdict(), "relative": row.relative} for row in found.expected},
        notes=list(found.assumed),
        written=written,
        **{"try": command},
    )
    for note in found.assumed:
        say(f"note: {note}", err=True)
    at = console()
    best = next(one for one in found.tried if one.kind == found.kind)
    others = ", ".join(f"{one.kind} {shown(one.typical)}" for one in found.tried if one is not best)
    at.print(f"{found.kind}: typical error of a parameter {shown(best.typical)}{f' ({others})' if others else ''}", markup=False)
    table = Table(box=None, pad_edge=False)
    for name in ("parameter", "value", "sd", "share", "known"):
        table.add_column(name, justify="right" if name in ("value", "sd", "share") else "left", overflow="fold")
    for row in found.expected:
        sd, share = ("", "") if row.verdict == "unseen" else (f"{row.sd:.2g}", f"{row.relative * 100:.2g} %")
        mark = f"[{STYLES[row.verdict]}]{row.verdict}[/]" if STYLES[row.verdict] else row.verdict
        table.add_row(row.path, row.text, sd, share, f"{mark}{f': {row.why}' if row.why else ''}")
    at.print(table)
    for file in written:
        say(f"wrote {file}")
    say(f"try: {command}")
