"""A climbed ladder as a table and a picture, for the page of the rung that it recommends."""

from pushrod.identify.ladder import Climb, Step
from pushrod.report.cell import Cell, Grid, amount, plain, text

BAR = 24  # characters of the longest bar


def bar(found: Climb, step: Step) -> str:
    """The error on what was left out, by that of the worst rung."""
    longest = max(error_of(one) for one in found.steps)
    return "█" * max(1, round(BAR * error_of(step) / longest))


def error_of(step: Step) -> float:
    return step.left_out_error if step.left_out else step.error


def ladder_table(found: Climb) -> Grid:
    least = min(step.criterion for step in found.steps)
    unit = found.unit if len(found.ladder.outputs) == 1 else "-"
    rows = []
    for step in found.steps:
        chosen = step is found.recommended
        rows.append(
            (
                text(step.rung.name, "good" if chosen else ""),
                text(step.rung.about + (" (recommended)" if chosen else "")),
                Cell(str(len(step.fit.problem.parameters)), float(len(step.fit.problem.parameters)), "", "right"),
                amount(step.error, unit, 4),
                amount(step.left_out_error if step.left_out else None, unit, 4),
                amount(step.held_error if step.held_errors else None, unit, 4),
                plain(step.criterion - least, 3),
                text(bar(found, step), "good" if chosen else "dim"),
            )
        )
    return Grid(("rung", "what it has", "parameters", "error", "left out", "held out", "criterion above the least", ""), rows)
