"""What stands in each section of the page: tables, and the panels to draw. A section without data is left out."""

from collections.abc import Sequence
from typing import Any

from pushrod.pipeline.names import axis_name
from pushrod.report import difference, drawing, tables
from pushrod.report.cell import Grid
from pushrod.report.drawing import COARSE, Drawing
from pushrod.report.findings import Findings
from pushrod.report.ledger import MOST, RESULTS
from pushrod.report.logged import Logged
from pushrod.report.number import quantity, share, unit_text, whole
from pushrod.report.pipeline import Axis
from pushrod.report.thinning import BINS
from pushrod.report.tracking import Following
from pushrod.report.trouble import scripted

PLAIN = 12  # panels of a log that does not say what belongs together
TOGETHER = 6  # channels in one of them
TOLD_ELSEWHERE = ("/actuator/", "/events", "/loops", "/param", "/recording", "/safety")  # topics that have a section of their own
EVERY = 400  # channels that can be drawn when asked for


def content(runs: Sequence[Findings], sheet: Drawing) -> dict[str, Any]:
    """All that the template needs."""
    made = {
        "title": _title([found.log.name for found in runs]),
        "two": len(runs) > 1,
        "runs": [_run(found) for found in runs],
        "warnings": difference.warnings(runs[0], runs[1]) if len(runs) > 1 else [],
        "differences": difference.grids(runs[0], runs[1]) if len(runs) > 1 else [],
        "following": _following(runs, sheet),
        "pipeline": _pipeline(runs, sheet),
        "way": _way(runs, sheet),
        "commands": [_commands(runs, found) for found in runs if found.ledger.total],
        "events": [_named(runs, found, tables.events(found)) for found in runs if found.events],
        "timing": _timing(runs, sheet),
        "parameters": [_parameters(found) for found in runs[:1] if found.parameters],
        "changes": [_named(runs, found, tables.changes(found)) for found in runs if found.changes],
        "judged": _judged(runs, sheet),
        "plain": _plain(runs, sheet),
        "channels": _channels(runs, sheet),
    }
    return made | {"notes": _notes(runs, sheet)}


def _title(names: list[str]) -> str:
    return " and ".join(dict.fromkeys(names)) + (", two runs" if len(set(names)) < len(names) else "")


def _named(runs: Sequence[Findings], found: Findings, grid: Grid) -> dict[str, Any]:
    return {"name": _label(runs, found), "grid": grid}


def _label(runs: Sequence[Findings], found: Findings) -> str:
    """Which of two it is, by the letter it has everywhere on the page."""
    file = found.log.table.file.name
    return file if len(runs) < 2 else f"{'AB'[next(i for i, one in enumerate(runs) if one is found)]}: {file}"


def _run(found: Findings) -> dict[str, Any]:
    log, verdict = found.log, found.log.verdict
    if verdict is None or not verdict.judged:
        state, head = "none", "Not judged"
        why = "the log tells of no expectations" if verdict is None else "the scenario expects nothing"
        if found.mishaps:
            state = "trouble" if found.mishaps[0].tone == "bad" else "partly"
            head = ", ".join(one.head for one in found.mishaps)
            why = f"not judged: {why}"
    elif verdict.held:
        state, head = ("partly", "Held when it ran") if log.table.torn else ("held", "Held")
        why = "the one expectation held" if verdict.judged == 1 else f"all {verdict.judged} expectations held"
        why += "; data are missing in this log" if log.table.torn else ""
    else:
        state, head = "failed", "Failed"
        why = f"{verdict.failed} of {verdict.judged} expectations did not hold"
    grid = tables.expectations(verdict) if verdict is not None and verdict.expectations else None
    return {
        "name": log.table.file.name,
        "state": state,
        "head": head,
        "why": why,
        "facts": tables.facts(found),
        "torn": log.table.torn,
        "dropped": found.dropped or 0,
        "mishaps": found.mishaps,
        "expectations": grid,
        "comparisons": tables.comparisons(verdict) if verdict is not None and verdict.comparisons else None,
        "faults": [fault.words for fault in scripted(log)],
    }


def _following(runs: Sequence[Findings], sheet: Drawing) -> dict[str, Any] | None:
    first = runs[0]
    if not first.followings:
        return None
    panels, constant = [], []
    for one in _beside_pipeline(first):
        still = [held for _, name in one.lines if (held := _constant(runs, name)) is not None]
        if len(still) == len(one.lines) and len(set(still)) == 1:
            constant.append((tables.pair_name(one), still[0]))
            continue
        same = [(run, found.log, other) for run, found in enumerate(runs) for other in found.followings if other.names == one.names]
        panel = sheet.add(drawing.follow_panel(sheet, same, first.bands))
        about = first.log.channels[one.pair.achieved].about.rpartition(" [")[0]
        panels.append({"title": tables.pair_name(one), "about": about, "panel": panel})
    grid = tables.responses(first.followings) if len(runs) == 1 else None  # of two it stands among the differences
    return {"grid": grid, "panels": panels, "constant": constant}


def _beside_pipeline(found: Findings) -> list[Following]:
    """The pairs that no axis of the pipeline is: those are drawn there, beside what was lost."""
    in_pipeline = {frozenset((axis.stages["req"], axis.stages["ach"])) for axis in found.axes}
    return [one for one in found.followings if frozenset(one.names) not in in_pipeline]


def _pipeline(runs: Sequence[Findings], sheet: Drawing) -> list[dict[str, Any]]:
    made = []
    for name in dict.fromkeys(axis.name for found in runs for axis in found.axes):
        same = [(run, found.log, axis) for run, found in enumerate(runs) for axis in found.axes if axis.name == name]
        run, log, axis = same[0]
        first, world = runs[run], log.said.world
        stages = drawing.stage_panel(sheet, same, first.bands)
        pair = next((one for one in first.followings if set(one.names) == {axis.stages["req"], axis.stages["ach"]}), None)
        if pair is not None:
            stages |= drawing.behind(pair, log, first.bands)
        made.append(
            {
                "name": axis_name(name, world.name if world is not None else ""),
                "which": f"axis {name}, {unit_text(axis.unit) or 'without unit'}",
                "title": "request → command → allocated → achieved" if pair is None else tables.pair_name(pair),
                "stages": sheet.add(stages),
                "losses": [_losses(runs, sheet, *one) for one in same if one[2].losses],
                "lost": ", ".join(filter(None, (_lost(runs, run, axis) for run, _, axis in same))) if any(one[2].losses for one in same) else "",
            }
        )
    return made


def _losses(runs: Sequence[Findings], sheet: Drawing, run: int, log: Logged, axis: Axis) -> dict[str, Any]:
    which = f"{'AB'[run]}: " if len(runs) > 1 else ""
    return {"title": f"{which}lost, by cause", "panel": sheet.add(drawing.loss_panel(sheet, run, log, axis)), "grid": tables.losses(axis, which)}


def _lost(runs: Sequence[Findings], run: int, axis: Axis) -> str:
    """What all losses come to as a share of the request, where that says anything."""
    of_all = axis.share(axis.lost)
    return "" if of_all is None else f"{'AB'[run]} {share(of_all)}" if len(runs) > 1 else share(of_all)


def _way(runs: Sequence[Findings], sheet: Drawing) -> dict[str, Any] | None:
    with_way = [(run, found.log, found.way) for run, found in enumerate(runs) if found.way is not None]
    if runs[0].way is None:
        return None
    first = runs[0].way
    height = None
    if first.height is not None:
        lines = [(run, found) for run, found in enumerate(runs) if first.height in found.log.channels]
        height = sheet.add(drawing.plain_panel(sheet, [(run, found.log) for run, found in lines], [first.height], runs[0].bands))
    lengths = ", ".join(quantity(way.length, "m", 4) for _, _, way in with_way)
    return {"view": first.view, "panel": sheet.add(drawing.way_panel(sheet, with_way)), "height": height, "length": lengths, "heading": first.heading}


def _commands(runs: Sequence[Findings], found: Findings) -> dict[str, Any]:
    entries = found.ledger.entries
    left = f"the first {whole(MOST)} of {whole(len(entries))} entries are listed" if len(entries) > MOST else ""
    counts = {result: found.ledger.count(result) for result in RESULTS}
    return {"name": _label(runs, found), "counts": counts, "senders": tables.senders(found), "grid": tables.commands(found), "left": left}


def _timing(runs: Sequence[Findings], sheet: Drawing) -> dict[str, Any] | None:
    with_loops = [found for found in runs if found.loops]
    if not with_loops:
        return None
    panels = []
    for loop in with_loops[0].loops:
        same = [(run, other) for run, found in enumerate(runs) for other in found.loops if other.name == loop.name]
        if loop.bins:
            panels.append({"title": loop.name, "panel": sheet.add(drawing.timing_panel(same))})
    return {"grids": [_named(runs, found, tables.timing(found)) for found in with_loops], "panels": panels}


def _parameters(found: Findings) -> dict[str, Any]:
    by_hand = sum(p.is_override for p in found.parameters)
    return _named([found], found, tables.parameters(found)) | {"by_hand": by_hand, "count": len(found.parameters)}


def _judged(runs: Sequence[Findings], sheet: Drawing) -> dict[str, Any] | None:
    """Signals that something was expected of and that no pair or axis has: whoever reads that one failed wants to see it."""
    drawn = _drawn(runs[0])
    names = dict.fromkeys(name for found in runs for name in found.log.said.judged)
    return _by_unit(runs, sheet, [name for name in names if name in runs[0].log.channels and name not in drawn][:EVERY])


def _plain(runs: Sequence[Findings], sheet: Drawing) -> dict[str, Any] | None:
    """Where the log does not say what belongs together: channels of one topic and unit, but for those that are drawn already."""
    first = runs[0]
    if first.log.said.track:
        return None
    drawn = _drawn(first) | {name for found in runs for name in found.log.said.judged}
    names = [name for name, channel in first.log.channels.items() if name not in drawn and not channel.source.startswith(TOLD_ELSEWHERE)]
    return _by_unit(runs, sheet, names, PLAIN)


def _drawn(found: Findings) -> set[str]:
    """Over time, as they are; losses are drawn by their size."""
    return {name for one in _beside_pipeline(found) for _, name in one.lines} | {name for axis in found.axes for name in axis.stages.values()}


def _constant(runs: Sequence[Findings], name: str) -> str | None:
    """The one value that a channel has in all runs, with its unit: such a channel needs no plot. None where it changes."""
    channels = [found.log.channels[name] for found in runs if name in found.log.channels]
    first = channels[0].values[0]
    return quantity(float(first), channels[0].unit) if all((channel.values == first).all() for channel in channels) else None


def _by_unit(runs: Sequence[Findings], sheet: Drawing, names: Sequence[str], most: int = EVERY) -> dict[str, Any] | None:
    """Channels of one topic and unit side by side, in so many panels at most; those that never change as a list."""
    first = runs[0]
    groups: dict[tuple[str, str], list[str]] = {}
    constant = [(name, value) for name in names if (value := _constant(runs, name)) is not None]
    for name in (name for name in names if name not in dict(constant)):
        channel = first.log.channels[name]
        groups.setdefault((channel.source, channel.unit), []).append(name)
    parts = [group[i : i + TOGETHER] for group in groups.values() for i in range(0, len(group), TOGETHER)]
    logs = [(run, found.log) for run, found in enumerate(runs)]
    panels = [{"title": ", ".join(part), "panel": sheet.add(drawing.plain_panel(sheet, logs, part, first.bands))} for part in parts[:most]]
    return {"panels": panels, "constant": constant} if panels or constant else None


def _channels(runs: Sequence[Findings], sheet: Drawing) -> dict[str, Any]:
    """Every channel with its figures; most can be drawn by whoever asks."""
    lines: list[Any] = []
    for name, channel in runs[0].log.listed.items():
        still = bool((channel.values == channel.values[0]).all())
        if still or len(lines) >= EVERY:
            lines.append(None)
            continue
        lines.append([sheet.line(found.log, run, name, "", COARSE) for run, found in enumerate(runs) if name in found.log.channels])
    return {"grid": tables.channels(runs[0]), "panel": sheet.add({"type": "choice", "lines": lines}), "drawn": [line is not None for line in lines]}


def _notes(runs: Sequence[Findings], sheet: Drawing) -> list[str]:
    made = []
    for found in runs:
        prefix = f"{_label(runs, found)}: " if len(runs) > 1 else ""
        if found.log.table.torn:
            made.append(f"{prefix}the log is torn: {found.log.table.torn}")
        if found.dropped:
            made.append(f"{prefix}{whole(found.dropped)} messages were dropped while recording; what is missing is not seen here")
        if found.live and found.not_armed and found.followings:
            made.append(f"{prefix}figures of requests leave out when it was not armed, or another was in charge")
        made += [prefix + note for note in found.log.notes]
    if len(runs) > 1 and any(found.live for found in runs):
        made.append("Times of a live run count from the first message of its log; the two are laid over each other at that.")
    if sheet.most:
        made.append(
            f"Plots of more than {whole(2 * BINS)} samples (the longest has {whole(sheet.most)}) are drawn by the lowest and the highest of each of "
            f"{whole(BINS)} bins, so no peak is missing. All figures are made of all samples."
        )
    if sheet.coarse:
        made.append(f"Channels drawn by choice: of more than {whole(2 * COARSE)} samples the lowest and the highest of each of {whole(COARSE)} bins.")
    return made
