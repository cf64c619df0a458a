"""A run through the runtime on a stepped clock, once more: every command through its gate again, and every answer and every tick compared."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from pushrod.core.errors import LogError
from pushrod.log.table import Table
from pushrod.log.writer import Said
from pushrod.replay.answer import AnswerDifference
from pushrod.replay.commands import TOPIC, Sent, again, sent, switches
from pushrod.replay.difference import Difference, first_difference
from pushrod.replay.rebuilding import Rebuilt, check_drivers
from pushrod.replay.world import Recorded

Array = NDArray[np.float64]


class Stepped(NamedTuple):
    """Outputs [tick, output] of the run again, what differs in them or in what the world was told, and in the answers.

    `answers` to commands and other `messages` were compared.
    """

    data: Array
    difference: Difference | None
    answers: int
    answer: AnswerDifference | None
    notes: tuple[str, ...] = ()
    messages: int = 0


def replay_stepped(rebuilt: Rebuilt, log: Recorded, table: Table, at: int, progress: Callable[[int, int], None], judge: bool = True) -> Stepped:
    from pushrod.live.recording import commands_file
    from pushrod.live.run import simulate
    from pushrod.sim.run import Interrupted

    check_drivers(rebuilt, table.file)
    if rebuilt.scenario is None:
        return _commanded(rebuilt, log, table, at, progress, judge)
    how = replace(rebuilt.scenario, steps=log.ticks, expectations=(), comparisons=())
    try:
        live = simulate(rebuilt.machine, replace(how, commands=tuple(c for c in how.commands if c.k < log.ticks)), progress, taped=judge)
    except Interrupted as stop:
        return _until(stop.result.columns, log, at, judge)
    columns = live.outcome.columns
    data = np.column_stack([columns[name] for name in log.outputs])
    if not judge:
        return Stepped(data, None, 0, None)
    told = np.column_stack([columns[f"in.{name}"] for name in log.inputs])
    whole = rebuilt.whole and log.ticks == rebuilt.scenario.steps and not table.torn
    since, until = at * rebuilt.dt, math.inf if whole else (log.ticks - 0.5) * rebuilt.dt  # how it ended is not what the scenario says
    count, answer = _answers(table, commands_file(live).text, since, until)
    sent, messages, message = _messages(table, live.said, since, until)
    return Stepped(data, _first(log, told, data, at), sent or count, answer or message, messages=messages)


def _until(columns: Mapping[str, Array], log: Recorded, at: int, judge: bool) -> Stepped:
    """What was found when it was stopped by Ctrl-C; of the answers nothing is said."""
    data = np.column_stack([columns[name] for name in log.outputs])
    n = len(data)
    told = np.column_stack([columns[f"in.{name}"] for name in log.inputs])
    return Stepped(data, _first(log.first(n), told, data, at) if judge and n > at else None, 0, None)


def _first(log: Recorded, told: Array, data: Array, at: int) -> Difference | None:
    """In what the world was told, or in what it gave."""
    names, was_told = [f"in.{name}" for name in log.inputs], np.column_stack(list(log.inputs.values()))
    found = [
        first_difference(names, log.units, was_told[at:], told[at:], log.begin[at:], at),
        first_difference(list(log.outputs), log.units, log.table()[at:], data[at:], log.end[at:], at),
    ]
    return min((d for d in found if d is not None), key=lambda d: d.k, default=None)  # of one tick what it was told comes first


def _commanded(rebuilt: Rebuilt, log: Recorded, table: Table, at: int, progress: Callable[[int, int], None], judge: bool) -> Stepped:
    """Of a run without a scenario: whoever commanded it, what he sent is in the log."""

    def tick(t: float) -> int:
        return math.floor(t / rebuilt.dt + 1e-6)

    commands, notes = sent(table, tick)
    run = again(rebuilt, commands, switches(table, tick), log.ticks, progress)
    data = np.column_stack([run.outputs[name] for name in log.outputs])
    if not judge:
        return Stepped(data, None, 0, None, tuple(notes))
    told = np.column_stack([run.inputs[name] for name in log.inputs])
    pairs = [(one, answer) for one, answer in zip(commands, run.answers, strict=False) if one.k >= at]
    wrong = next((i for i, (one, answer) in enumerate(pairs) if one.became != answer), None)
    answer = None if wrong is None else _of_command(wrong + 1, *pairs[wrong])
    return Stepped(data, _first(log, told, data, at), len(pairs), answer, tuple(notes))


def _of_command(number: int, one: Sent, answer: tuple[Any, ...]) -> AnswerDifference:
    return AnswerDifference(number, one.row, {**one.row, **dict(zip(("result", "done", "reason"), answer, strict=True))}, t=one.t)


def _messages(table: Table, said: Iterable[Said], since: float, until: float) -> tuple[int, int, AnswerDifference | None]:
    """How many commands and other messages there are of a runtime that is on a tape, and the first one that differs."""
    now: dict[str, list[tuple[float, Any]]] = {}
    for one in sorted(said, key=lambda one: one.ns):
        now.setdefault(one.topic[0], []).append((one.ns / 1e9, msgspec.json.decode(one.message)))
    found: list[tuple[float, AnswerDifference]] = []
    commands = others = 0
    for topic, rows in now.items():
        if topic not in table.topics:
            continue
        then = [row for row in table.messages(topic) if since <= row[0] < until]
        again = [row for row in rows if since <= row[0] < until]
        commands += len(again) if TOPIC.fullmatch(topic) else 0
        others += 0 if TOPIC.fullmatch(topic) else len(again)
        for i in range(max(len(then), len(again))):
            a, b = _entry(then, i), _entry(again, i)
            if a != b:
                t = (a or b)[0]
                found.append((t, AnswerDifference(i + 1, _timed(a, b), _timed(b, a), topic, t)))
                break
    return commands, others, min(found, key=lambda pair: pair[0])[1] if found else None


def _timed(entry: tuple[float, Any] | None, other: tuple[float, Any] | None) -> Any:
    """A message; with its time where that is not the same."""
    if entry is None or other is None or entry[0] == other[0] or not isinstance(entry[1], dict):
        return None if entry is None else entry[1]
    return {"t": entry[0], **entry[1]}


def _answers(table: Table, now: str, since: float, until: float) -> tuple[int, AnswerDifference | None]:
    """How many answers there are before `until`, and the first one that differs."""
    if "commands.json" not in table.attachments:
        return 0, None
    then, again = (_before(_commands(text, table.file), until) for text in (table.attachments["commands.json"].data, now.encode()))
    whole = [("commands", i) for i in range(max(len(then[0]), len(again[0])))] + [("streams", i) for i in range(max(len(then[1]), len(again[1])))]
    for number, (kind, i) in enumerate(whole):
        a, b = (_entry(side[kind == "streams"], i) for side in (then, again))
        if a != b and not (kind == "commands" and isinstance(a, dict) and _time(a) < since):
            return len(whole), AnswerDifference(number + 1, a, b, t=_time(a or b) if kind == "commands" else None)
    return len(whole), None


def _before(told: tuple[list[Any], list[Any]], until: float) -> tuple[list[Any], list[Any]]:
    """Commands before that time, without the ends of motions that still went on then; what was sent every tick is known of a whole run only."""
    if until == math.inf:
        return told
    return [_going_on(one, until) for one in told[0] if not isinstance(one, dict) or _time(one) < until], []


def _going_on(entry: Any, until: float) -> Any:
    ended = entry.get("ended") if isinstance(entry, dict) else None
    return entry | {"ended": None, "end": None} if isinstance(ended, (int, float)) and ended >= until else entry


def _commands(text: bytes, file: Path) -> tuple[list[Any], list[Any]]:
    try:
        data = msgspec.json.decode(text, type=dict[str, list[Any]])
    except (msgspec.DecodeError, RecursionError, ValueError) as e:
        raise LogError(f"{file}: its commands.json cannot be read: {e}") from e
    return data.get("commands", []), data.get("streams", [])


def _entry(entries: list[Any], i: int) -> Any:
    return entries[i] if i < len(entries) else None


def _time(entry: dict[str, Any]) -> float:
    at = entry.get("at")
    return float(at) if isinstance(at, (int, float)) else 0.0
