"""Pages as a Foxglove layout (JSON): a tab for each page, panels below each other, lines to read and states beside them.

A panel has an id "<kind>!<name>"; `layout` is a tree of splits whose leaves are such ids. Open it by Layouts, Import from file.
"""

import json
import re
from typing import Any

from pushrod.config.unit import bracketed
from pushrod.layout.page import Curve, Page, Panel

COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bbbbbb")  # told apart by the colour-blind, too
PLAIN = re.compile(r"[A-Za-z0-9_/-]+")
ALL_LEVELS = 1


def layout(pages: list[Page]) -> str:
    configs: dict[str, Any] = {}
    tabs = [{"title": page.title, "layout": _page(page, i, configs)} for i, page in enumerate(pages)]
    configs["Tab!pages"] = {"activeTabIdx": 0, "tabs": tabs}
    made = {"configById": configs, "globalVariables": {}, "userNodes": {}, "playbackConfig": {"speed": 1}, "layout": "Tab!pages"}
    return json.dumps(made, indent=2)


def _page(page: Page, number: int, configs: dict[str, Any]) -> Any:
    ids = []
    for j, panel in enumerate(page.panels):
        ids.append(f"Plot!p{number}_{j}")
        configs[ids[-1]] = _plot(panel)
    if page.states:
        ids.append(f"StateTransitions!p{number}")
        paths = [{"value": path_of(curve), "label": curve.label, "timestampMethod": "receiveTime"} for curve in page.states]
        configs[ids[-1]] = {"paths": paths, "isSynced": True}
    for j, topic in enumerate(page.lines):
        ids.append(f"RosOut!p{number}_{j}")
        configs[ids[-1]] = {"topicToRender": topic, "minLogLevel": ALL_LEVELS, "searchTerms": []}
    return _column(ids)


def _column(ids: list[str]) -> Any:
    """Below each other, all of one height: a tree of halves, so that it is not deep."""
    if len(ids) == 1:
        return ids[0]
    half = (len(ids) + 1) // 2
    return {"direction": "column", "first": _column(ids[:half]), "second": _column(ids[half:]), "splitPercentage": 100.0 * half / len(ids)}


def _plot(panel: Panel) -> dict[str, Any]:
    return {
        "title": panel.title + bracketed(panel.unit),
        "paths": [
            {
                "value": path_of(curve),
                "enabled": True,
                "timestampMethod": "receiveTime",
                "label": curve.label,
                "color": COLOURS[i % len(COLOURS)],
                "showLine": True,
            }
            for i, curve in enumerate(panel.curves)
        ],
        "showXAxisLabels": True,
        "showYAxisLabels": True,
        "showLegend": True,
        "legendDisplay": "floating",
        "showPlotValuesInLegend": True,
        "isSynced": True,
        "xAxisVal": "timestamp",
    }


def path_of(curve: Curve) -> str:
    """As Foxglove writes it: /topic.field.field, names that are not plain in quotes, entries of a list by what they hold."""
    topic = curve.topic if PLAIN.fullmatch(curve.topic) else json.dumps(curve.topic)
    if curve.joint:
        return f"{topic}.joints[:]{{name=={json.dumps(curve.joint)}}}.{curve.path}"
    fields = [f"[{part}]" if part.isdigit() else f".{part}" if PLAIN.fullmatch(part) else f".{json.dumps(part)}" for part in curve.path.split(".")]
    return topic + "".join(fields)
