"""What a run comes to, as tables on the terminal: one row per tracked pair where there is room, one block per pair where there is not."""

from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table

from pushrod.cli import output
from pushrod.cli.folding import fits, stacked
from pushrod.core.names import count

if TYPE_CHECKING:
    from pushrod.sim.comparison import Compared
    from pushrod.sim.expectation import Outcome
    from pushrod.sim.response import Response
    from pushrod.sim.run import Result

PLAIN = str.maketrans({"→": "->", "…": "..", "≤": "<=", "≥": ">="})  # for terminals that cannot show these


def print_summary(result: "Result", on: Console | None = None) -> None:
    console = on or output.console()
    scenario = result.scenario
    console.print(
        f"{result.machine.name}, scenario {scenario.name}: {count(scenario.steps, 'tick')} of {scenario.dt:g} s = {scenario.steps * scenario.dt:g} s",
        markup=False,
    )
    signs = {} if console.encoding.startswith("utf") else PLAIN
    if result.responses:
        wide = _wide(result, signs)
        console.print(wide if fits(console, wide) else _narrow(result, signs))
    if result.outcomes:
        console.print(_expectations(result.outcomes, signs))
    if result.compared:
        console.print(_comparisons(result.compared, signs))


def _wide(result: "Result", signs: dict[int, str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("request → achieved".translate(signs), overflow="fold")
    for head in _cells(result.responses[0][1], ""):
        table.add_column(head, justify="right")
    for pair, response in result.responses:
        table.add_row(f"{pair.request} → {pair.achieved}".translate(signs), *_cells(response, result.units[pair.achieved]).values())
    return table


def _narrow(result: "Result", signs: dict[int, str]) -> Table:
    rows = (
        (f"{pair.request} → {pair.achieved}".translate(signs), _cells(response, result.units[pair.achieved])) for pair, response in result.responses
    )
    return stacked("request → achieved".translate(signs), rows)


def _cells(response: "Response", unit: str) -> dict[str, str]:
    return {
        "error rms": _number(response.error_rms, unit),
        "error max": _number(response.error_max, unit),
        "delay": _number(response.delay, "s"),
        "rise time": _number(response.rise_time, "s"),
        "overshoot": "-" if response.overshoot is None else f"{100.0 * response.overshoot:.1f} %",
        "saturated": _number(response.saturation_time, "s"),
    }


def _number(value: float | None, unit: str) -> str:
    if value is None:
        return "-"
    return f"{value:.3g}" if unit == "-" else f"{value:.3g} {unit}"


def _measured(value: float | None, unit: str) -> str:
    """None: the run was over before, or never came to what is to be measured."""
    return "not in this run" if value is None else _number(value, unit)


def _expectations(outcomes: tuple["Outcome", ...], signs: dict[int, str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("expected", overflow="fold")
    table.add_column("to be", justify="right", overflow="fold")
    table.add_column("was", justify="right", overflow="fold")
    table.add_column("")
    for outcome in outcomes:
        e = outcome.expectation
        table.add_row(
            str(e), e.bounds.translate(signs), _measured(outcome.value, e.unit), "[green]held[/]" if outcome.held else "[bold red]FAILED[/]"
        )
    return table


def _comparisons(compared: tuple["Compared", ...], signs: dict[int, str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("compared", overflow="fold")
    table.add_column("with", overflow="fold")
    table.add_column("was", justify="right", overflow="fold")
    table.add_column("")
    for i, found in enumerate(compared):
        if i:
            table.add_section()
        comparison = found.comparison
        first, second = (_measured(value, comparison.what.unit) for value in found.values)
        ratio = "-" if found.ratio is None else f"{found.ratio:.3g} times"
        asked = f"second ≥ {comparison.times:g} times first".translate(signs) if comparison.times else "second over first"
        verdict = "" if not comparison.times else "[green]held[/]" if found.held else "[bold red]FAILED[/]"
        table.add_row(str(comparison.what), comparison.labels[0], first, "")
        table.add_row("", comparison.labels[1], second, "")
        table.add_row("", asked, ratio, verdict)
    return table
