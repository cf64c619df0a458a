"""Parameters as inputs with unit and bounds. The host checks a set as a whole; what it does not take stands beside the input."""

from collections.abc import Sequence
from typing import Any

from nicegui import ui

from pushrod.core.errors import ParameterError, PushrodError
from pushrod.core.quantity import Choice, Q, Table
from pushrod.dash.element import box, live, needs, text
from pushrod.dash.seat import Seat
from pushrod.dash.told import Told
from pushrod.dash.watch import Watch
from pushrod.live.fault_node import PATH as FAULT
from pushrod.live.pipeline.act_parameters import declaration


class ParametersPanel:
    def __init__(self, seat: Seat) -> None:
        self._seat = seat
        self._inputs: dict[str, Any] = {}
        self._wrong: dict[str, str] = {}
        self._read = seat.watch.parameters_read
        groups: dict[str, list[dict[str, Any]]] = {}
        for entry in seat.watch.parameters:
            if not entry["path"].startswith(f"{FAULT}."):
                groups.setdefault(entry["path"].rpartition(".")[0], []).append(entry)
        text("Parameters", "pr-heading")
        if not groups:
            text(nothing(seat.watch), "pr-soft", "div")
        with needs("control", "pr-groups"):
            for group, entries in groups.items():
                with box("pr-card"):
                    text(group or "(top)", "pr-name")
                    for entry in entries:
                        self._row(entry)

    def _row(self, entry: dict[str, Any]) -> None:
        path, value = entry["path"], entry["value"]
        meta = declaration(path)
        words = meta.names if isinstance(meta, Choice) and not isinstance(value, bool) else ()
        unit = meta.unit if isinstance(meta, (Q, Table)) else entry["unit"] or ""
        with box("pr-parameter pr-chosen" if words else "pr-parameter"):
            text(path.rpartition(".")[2], "pr-parameter-name").tooltip(path)
            self._inputs[path] = made = parameter_input(value, entry["lo"], entry["hi"], words)
            made._props["aria-label"] = path
            made.on("keydown.enter", lambda: self._set(path))
            made.on("blur", lambda: self._set(path))
            if words or isinstance(value, bool):
                made.on_value_change(lambda: self._set(path))
            if not words:
                text(unit if unit != "-" else "", "pr-unit")
                text(bounds(entry["lo"], entry["hi"]), "pr-soft pr-bounds")
            if entry["doc"]:
                text(entry["doc"], "pr-doc pr-span")
            live(f"parameter:{path}", "pr-refusal pr-span")

    async def _set(self, path: str) -> None:
        value, now = self._inputs[path].value, next(entry["value"] for entry in self._seat.watch.parameters if entry["path"] == path)
        if value == now or value is None:
            return
        try:
            await self._seat.set_parameters({path: value})
            self._wrong.pop(path, None)
        except ParameterError as error:
            self._wrong[path] = "; ".join(error.problems)
        except (PushrodError, TimeoutError) as error:
            self._wrong[path] = str(error)
        if path in self._wrong:
            self._inputs[path].set_value(now)

    def tell(self, told: Told) -> None:
        for path in self._inputs:
            told.texts[f"parameter:{path}"] = self._wrong.get(path, "")
        if self._seat.watch.parameters_read == self._read:
            return
        self._read = self._seat.watch.parameters_read
        for entry in self._seat.watch.parameters:
            made = self._inputs.get(entry["path"])
            if made is not None and made.value != entry["value"]:
                made.set_value(entry["value"])


def nothing(watch: Watch) -> str:
    """Why there is nothing to set here, and where it is set instead."""
    here = "Nothing of this robot can be changed while it runs; what its description declares under `parameters:` is listed here."
    if watch.world is None:
        return here
    broken = " What can be broken is on the tab Faults." if any(entry["path"].startswith(f"{FAULT}.") for entry in watch.parameters) else ""
    at_start = f"pushrod serve {watch.world.machine} --set PATH=VALUE, or in its machine file (parameters:)."
    return f"{here} The parameters of its simulated world are set before it starts: {at_start}{broken}"


def parameter_input(value: Any, low: float | None, high: float | None, words: Sequence[str] = ()) -> Any:
    """What suits its type."""
    if words:
        return ui.select(list(words), value=value).props("dense outlined options-dense").classes("pr-input")
    if isinstance(value, bool):
        return ui.switch(value=value).props("dense")
    if isinstance(value, (int, float)) or value is None:
        whole = isinstance(value, int)
        return (
            ui.number(value=value, min=low, max=high, step=1 if whole else None, precision=0 if whole else None)
            .props("dense outlined")
            .classes("pr-input")
        )
    return ui.input(value=str(value)).props("dense outlined").classes("pr-input")


def bounds(low: float | None, high: float | None) -> str:
    if low is None and high is None:
        return ""
    return f"{'' if low is None else f'{low:g}'} .. {'' if high is None else f'{high:g}'}"
