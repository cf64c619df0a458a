"""What a run came to, as plain data: for logs, for --json, for reports. Numbers in SI; times in s; null where a figure cannot be taken."""

from typing import Any

from pushrod.sim.comparison import Compared
from pushrod.sim.expectation import Outcome
from pushrod.sim.run import Result


def verdict(result: Result) -> dict[str, Any]:
    return {
        "held": bool(result.held),
        "expectations": [_expectation(outcome) for outcome in result.outcomes],
        "responses": [
            {
                "request": pair.request,
                "achieved": pair.achieved,
                "unit": result.units[pair.achieved],
                **{key: _number(value) for key, value in response._asdict().items()},
            }
            for pair, response in result.responses
        ],
        "comparisons": [_comparison(found) for found in result.compared],
    }


def _expectation(outcome: Outcome) -> dict[str, Any]:
    e = outcome.expectation
    return {
        "expected": str(e),
        "to_be": e.bounds,
        "low": e.low,
        "high": e.high,
        "was": _number(outcome.value),
        "unit": e.unit,
        "held": bool(outcome.held),
    }


def _comparison(found: Compared) -> dict[str, Any]:
    comparison = found.comparison
    runs = [{"with": label, "was": _number(value)} for label, value in zip(comparison.labels, found.values, strict=True)]
    return {
        "compared": str(comparison.what),
        "unit": comparison.what.unit,
        "runs": runs,
        "ratio": _number(found.ratio),
        "at_least": comparison.times,
        "held": bool(found.held),
    }


def _number(value: float | None) -> float | None:
    """Numbers of numpy as plain ones."""
    return None if value is None else float(value)
