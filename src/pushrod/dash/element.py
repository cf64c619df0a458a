"""Elements of the page that NiceGUI has not: texts and bars the feed fills, parts that can be used only in control, and lines over time."""

from collections.abc import Sequence
from typing import Any

from nicegui import ui
from nicegui.element import Element

from pushrod.dash.history import KEPT

SILENCE = 0.6  # [s] of the server after which a page says that it is stale
PATIENCE = 1.0  # [s] for an e-stop to be confirmed, before the page says that it is not


class Feed(Element, component="feed.js"):
    """`seat`: a word by which the browser is known again when its page is loaded anew."""

    def __init__(self, seat: str) -> None:
        super().__init__()
        self._props["silence"] = SILENCE
        self._props["patience"] = PATIENCE
        self._props["seat"] = seat


class Plot(Element, component="plot.js"):
    """`series`: name, unit, whether it is a request (dashed)."""

    def __init__(self, series: Sequence[dict[str, Any]], window: float) -> None:
        super().__init__()
        self._props["series"] = list(series)
        self._props["window"] = window
        self._props["kept"] = KEPT

    def set_series(self, series: Sequence[dict[str, Any]]) -> None:
        self._props["series"] = list(series)
        self.update()

    def set_window(self, window: float) -> None:
        self._props["window"] = window
        self.update()


def box(classes: str = "", tag: str = "div") -> Element:
    return ui.element(tag).classes(classes)


def attribute(element: Element, **told: str) -> Element:
    """data-* attributes, whatever the text holds."""
    for name, text in told.items():
        element._props[f"data-{name.replace('_', '-')}"] = text
    return element


def live(key: str, classes: str = "", tag: str = "span", stale: str = "") -> Element:
    """A text that the feed fills; `stale`: what stands there while the page is."""
    return attribute(box(classes, tag), live=key, **({"stale": stale} if stale else {}))


def needs(key: str, classes: str = "") -> Element:
    """A part that can be used only while this holds, and never while the page is stale."""
    return attribute(box(classes), needs=key)


def wants(key: str, classes: str = "") -> Element:
    """A part that looks as if it could not be used while this does not hold; whoever uses it is told why."""
    return attribute(box(classes), wants=key)


def marked(key: str, element: Element) -> Element:
    """An element that is marked while this holds: the mode in force, a channel with a fault."""
    return attribute(element, marked=key)


def shown(key: str, classes: str = "") -> Element:
    return attribute(box(classes), shown=key)


def text(words: str, classes: str = "", tag: str = "span") -> Element:
    """Plain text, never HTML."""
    label = ui.label(words).classes(classes)
    label.tag = tag
    return label


def bar(key: str, classes: str = "") -> None:
    with box(f"pr-bar {classes}"):
        attribute(box("pr-bar-fill"), bar=key)


def rows(key: str, classes: str, head: Sequence[str] = ()) -> None:
    """A table that the feed fills, below its headings."""
    with box(classes):
        if head:
            with box("pr-row-line pr-row-head"):
                for words in head:
                    text(words)
        attribute(box("pr-row-body"), rows=key)
