"""`pushrod fit --ladder`: every model of a ladder, each judged by recordings it was not fitted to, and the simplest that is not beaten."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from pushrod.cli.output import answer, console, say
from pushrod.cli.read_log import read_log
from pushrod.core.errors import InputError
from pushrod.core.names import find

if TYPE_CHECKING:
    from pushrod.identify.ladder import Climb
    from pushrod.identify.rung import Ladder, Log


WIDE = 100  # columns of a terminal, from which on there is room for bars


def fit_ladder(
    name: str, logs: list[Path], holdout: list[Path], columns: list[str], constants: list[str], out: Path | None, report: bool, how: dict[str, Any]
) -> None:
    """Fit the rungs, show them, write the recommended one as a machine file and a report."""
    from pushrod.cli.fit_request import called, place, refuse_unexplained, tell_doubts
    from pushrod.identify.belief import believe
    from pushrod.identify.ladder import climb
    from pushrod.identify.ladders import LADDERS
    from pushrod.identify.result import write, yaml_text
    from pushrod.identify.subject import subject

    make = find(LADDERS, name, "ladder")
    file = place(out or Path(f"{name}_fit.yaml"))
    names = called([*logs, *holdout])
    fitted, judging = ([_log(make({}), log, columns, constants, names) for log in some] for some in (logs, holdout))
    ladder = make(fitted[0].facts)
    with _shown(how["rungs"] or [rung.name for rung in ladder.rungs]) as told:
        found = climb(ladder, fitted, judging, told=told, **how)
    answer(ladder=name, unit=found.unit, rungs=found.table(), recommended=found.recommended.rung.name)
    _tell(found)
    best = found.recommended
    machine = subject(f"world:{best.rung.kind.world.name}")
    others = list(best.judge.trials) if best.judge is not None else []
    belief = believe(best.fit, others)
    tell_doubts(belief)
    refuse_unexplained(belief)
    write(yaml_text(best.fit, belief, machine, file), file)
    written = [file]
    if report:
        from pushrod.identify.ladder_table import ladder_table
        from pushrod.identify.page import page

        written.append(file.with_suffix(".html"))
        write(page(best.fit, belief, f"{name}: {best.rung.name}", others, ladder_table(found)), written[-1])
    answer(written=written)
    for each in written:
        say(f"wrote {each}")


def _log(ladder: "Ladder", file: Path, columns: list[str], constants: list[str], names: dict[Path, str]) -> "Log":
    from pushrod.cli.fit_request import of_name
    from pushrod.identify.rung import Log

    table = read_log(file)
    told = {}
    for text in columns:
        path, eq, rest = (part.strip() for part in text.partition("="))
        find({**dict.fromkeys(ladder.inputs), **dict.fromkeys(ladder.outputs)}, path, f"column of the ladder {ladder.name}")
        told[path] = rest if eq else path
    known = {fact: path for rung in ladder.rungs for fact, path in rung.kind.facts.items()}
    facts = {}
    for text in constants:
        only, _, rest = text.rpartition(":")
        if only and of_name(names, only) != file:
            continue
        fact, _, value = (part.strip() for part in rest.partition("="))
        find(known, fact, f"fact that the ladder {ladder.name} knows")
        facts[fact] = _number(value, table.metadata.get("file", {}), f"--constant {text}", file)
    return Log(table, told, facts, name=names[file], conditions=dict(table.metadata.get("file", {})))


def _number(text: str, beside: Any, where: str, file: Path) -> float:
    """A number, or what the file says beside its records: "mass", or "kp*0.00288"."""
    product = 1.0
    for part in text.split("*"):
        word = part.strip()
        try:
            product *= float(beside.get(word, word))
        except ValueError:
            known = ", ".join(beside) or "nothing"
            raise InputError(f"{where}: {word!r} is no number, and {file} says nothing of that name beside its records; it says {known}") from None
    return product


def _shown(rungs: list[str]) -> Any:
    from contextlib import contextmanager

    @contextmanager
    def bar() -> Any:
        from pushrod.cli.progress import COMPILING, progress

        with progress("fitting", "parts", before=COMPILING) as show:

            def tell(rung: Any, now: Any) -> None:
                done = rungs.index(rung.name) + (now.seed + now.done) / now.seeds
                loss = f", residual {now.loss:.4g} of the noise" if now.loss < 1e9 else ""
                show(round(100 * done), 100 * len(rungs), words=f"{rung.name}: seed {now.seed + 1} of {now.seeds}{loss}")

            yield tell

    return bar()


def _tell(found: "Climb") -> None:
    from rich.table import Table

    from pushrod.identify.ladder_table import bar

    at = console()
    table = Table(box=None, pad_edge=False)
    judged = any(step.held_errors for step in found.steps)
    drawn = at.width >= WIDE
    table.add_column("rung", no_wrap=True)
    table.add_column("", overflow="fold")
    for head in ("free", "error", "left out", *(["held out"] if judged else []), "criterion", "s"):
        table.add_column(head, justify="right", no_wrap=True)
    if drawn:
        table.add_column("", no_wrap=True)
    least = min(step.criterion for step in found.steps)
    for step in found.steps:
        mark = "* " if step is found.recommended else "  "
        cells = [mark + step.rung.name, step.rung.about, str(len(step.fit.problem.parameters)), f"{step.error:.3g}"]
        cells += [f"{step.left_out_error:.3g}" if step.left_out else "–"]
        cells += [f"{step.held_error:.3g}"] if judged else []
        table.add_row(*cells, f"+{step.criterion - least:.0f}", f"{step.fit.seconds:.0f}", *([bar(found, step)] if drawn else []))
    at.print(table)
    what = "; the bar is the error on what was left out" if drawn else ""
    at.print(f"* the simplest that is not beaten; errors: mean absolute differences [{found.unit}]{what}", markup=False)


def refuse_mixture(model: str | None, ladder: str | None, of_model: dict[str, object], rung: list[str] | None) -> None:
    """A fit is of one model or of a ladder, each with options of its own: none is passed over."""
    if (model is None) == (ladder is None):
        raise typer.BadParameter("give either --model, or --ladder with servo, steering or axis")
    given = [name for name, value in of_model.items() if value] if ladder is not None else ["--rung"] if rung else []
    if given:
        other, way = (
            ("--ladder", "its rungs say what is free, and --holdout LOG judges them")
            if ladder is not None
            else ("--model", "rungs belong to a --ladder")
        )
        raise typer.BadParameter(f"{', '.join(given)} cannot be used with {other}: {way}")
