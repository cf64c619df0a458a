"""Replay reference signals: a JSON file of configurations with expected errors and warnings, and `expected.csv` beside it.

Values bind but in the regions gap, shared_boundary, and after of an interval that is neither linear nor quadratic: there the
references record a choice, and the note says how many rows agree with ours. Errors and warnings bind by kind, not by wording.
"""

import csv
import json
import math
import re
import warnings
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from pushrod.core import input_file
from pushrod.core.errors import SignalError, SignalWarning, VerifyError
from pushrod.signals.forms import MAX_INTERVALS
from pushrod.sim.signal_set import SignalSet
from pushrod.sim.verify.verdict import Tally, Verdict

CHOICES = ("gap", "shared_boundary")
ERROR_KINDS = ("overlap", "reversed_interval", "degenerate")
WARNING_WORDS = {"unknown type": "unknown_type", "truncated": "truncated"}
EXPECTED = "expected.csv"
COLUMNS = ("case", "object", "t", "region", "value")


class Loaded(NamedTuple):
    """What came of a configuration: a set or an error, and warnings by kind."""

    signals: SignalSet | None
    error: str | None
    warned: Counter[str]


def claims(path: Path) -> bool:
    """Whether the file is a list of signal cases."""
    if path.suffix != ".json":
        return False
    try:
        cases = json.loads(input_file.read_text(path))["cases"]
        return bool(cases) and all("config" in case and "name" in case for case in cases)
    except (OSError, ValueError, TypeError, KeyError):
        return False


def replay(path: Path) -> Verdict:
    golden = json.loads(input_file.read_text(path))
    tally = Tally(*_tolerance(str(golden.get("tolerance", ""))))
    choices = Tally(tally.absolute, tally.relative)
    cases = {case["name"]: case for case in golden["cases"]}
    loaded = {name: _load(path, case) for name, case in cases.items()}
    for name, case in cases.items():
        _compare_outcome(tally, name, case, loaded[name])
    agree = 0
    for k, line in enumerate(_lines(path.parent / EXPECTED, cases)):
        signals = loaded[line["case"]].signals
        t, wanted = float(line["t"]), float(line["value"])
        got = math.nan if signals is None else signals.get_object_value(line["object"], t)
        where = f"{line['case']}.{line['object']} t = {t!r} ({line['region']})"
        tally.rows += 1
        if signals is None or _binds(line["region"], cases[line["case"]]["config"], line["object"]):
            tally.compare("value", got, wanted, where)
        else:
            choices.rows += 1
            agree += abs(got - wanted) <= choices.absolute + choices.relative * abs(wanted)
            choices.compare("value", got, wanted, f"row {k + 2}, {where}")
    note = f"{len(cases)} cases"
    if choices.rows:
        note += f"; {agree} of {choices.rows} rows that record a choice agree"
        note += "" if agree == choices.rows else f", the worst by {choices.error:g} at {choices.where}"
    return tally.verdict(str(path), note)


def _tolerance(text: str) -> tuple[float, float]:
    """Absolute and relative, from a text such as "rel 1e-12 + abs 1e-12"."""
    found = {word: float(number) for word, number in re.findall(r"(rel|abs)\w*\s+([0-9.eE+-]*[0-9])", text)}
    return found.get("abs", 1e-12), found.get("rel", 1e-12)


def _load(path: Path, case: dict[str, Any]) -> Loaded:
    config = case["config"]
    if not isinstance(config, dict) or not isinstance(config.get("objects"), dict):
        raise VerifyError(f"{path}: case {case['name']!r} has no config.objects")
    rest = {key: value for key, value in config.items() if key != "objects"}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            signals, error = SignalSet(config["objects"], {**rest, **config["objects"]}, path.parent), None
        except SignalError as raised:
            signals, error = None, raised.kind
    return Loaded(signals, error, Counter(note.message.kind for note in caught if isinstance(note.message, SignalWarning)))


def _compare_outcome(tally: Tally, name: str, case: dict[str, Any], loaded: Loaded) -> None:
    wanted = case.get("error")
    if wanted is None or wanted in ERROR_KINDS:
        tally.equal("error", loaded.error, wanted, f"{name}: {loaded.error} for {wanted}")
    else:
        tally.equal("error", loaded.error is not None, True, f"{name}: no error for {wanted}")
    if wanted is None:
        kinds = Counter(kind for text in case.get("warnings") or () for word, kind in WARNING_WORDS.items() if word in text)
        for kind in WARNING_WORDS.values():
            tally.equal("warnings", loaded.warned[kind], kinds[kind], f"{name}: {loaded.warned[kind]} of kind {kind} for {kinds[kind]}")


def _lines(path: Path, cases: dict[str, Any]) -> list[dict[str, str]]:
    try:
        with input_file.open_text(path, newline="") as file:
            reader = csv.DictReader(file)
            columns = reader.fieldnames or ()
            lines = list(reader)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise VerifyError(f"{path}: the expected values cannot be read: {error}") from error
    missing = [name for name in COLUMNS if name not in columns]
    if missing:
        raise VerifyError(f"{path}: lacks the columns {', '.join(missing)}")
    if not lines:
        raise VerifyError(f"{path}: holds no rows to compare with")
    for k, line in enumerate(lines):
        if line["case"] not in cases:
            raise VerifyError(f"{path}: row {k + 2} names the case {line['case']!r}, which is in no configuration")
        for name in ("t", "value"):
            try:
                float(line[name])
            except (TypeError, ValueError):
                raise VerifyError(f"{path}: row {k + 2}, column {name}: {line[name]!r} is not a number") from None
    return lines


def _binds(region: str, config: dict[str, Any], name: str) -> bool:
    if region in CHOICES:
        return False
    if region != "after":
        return True
    channel: dict[str, Any] = config["objects"].get(name, {})
    read = min(channel.get("num_intervals", 0), config.get("max_intervals", MAX_INTERVALS))
    ends = {channel[f"interval_{k}"].get("t_end", 0.0): channel[f"interval_{k}"].get("type") for k in range(read)}
    return bool(ends) and ends[max(ends)] in ("linear", "quadratic")
