"""Parameters as inputs with unit and bounds. The host checks a set as a whole; what it does not take stands beside the input."""

from collections.abc import Callable, Sequence
from typing import Any

from nicegui import ui

from pushrod.core.errors import ParameterError, PushrodError
from pushrod.core.quantity import Choice, Q, Table
from pushrod.dash.element import box, live, needs, text
from pushrod.dash.seat import Seat
from pushrod.dash.told import Told
from pushrod.dash.typed import Field
from pushrod.dash.unit import Scale, Units
from pushrod.live.pipeline.act_parameters import declaration
from pushrod.live.world_node import FAULT, WORLD


class ParametersPanel:
    def __init__(self, seat: Seat, units: Units) -> None:
        self._seat = seat
        self._units = units
        self._inputs: dict[str, Any] = {}
        self._unit_of: dict[str, str] = {}  # in SI
        units.on_change(self._show_all)
        self._wrong: dict[str, str] = {}
        self._read = seat.watch.parameters_read
        groups: dict[str, list[dict[str, Any]]] = {}
        for entry in parameters(seat.watch.parameters):
            groups.setdefault(entry["path"].rpartition(".")[0], []).append(entry)
        text("Parameters", "pr-heading")
        text("Enter sends a value; the host checks it. Angles are in the unit chosen above, all other values in SI.", "pr-soft", "div")
        text("world.* are the parameters of the simulated world.", "pr-soft", "div")
        with needs("control", "pr-groups"):
            for group, entries in groups.items():
                with box("pr-card"):
                    text(group or "(top)", "pr-name")
                    for entry in entries:
                        self._row(entry)

    def _row(self, entry: dict[str, Any]) -> None:
        path, value = entry["path"], entry["value"]
        meta = declaration(path)
        choices = self._seat.watch.world.choices if self._seat.watch.world is not None else {}
        words = () if isinstance(value, bool) else meta.names if isinstance(meta, Choice) else choices.get(path, ())
        unit = meta.unit if isinstance(meta, (Q, Table)) else entry["unit"] or ""
        with box("pr-parameter pr-chosen" if words else "pr-parameter"):
            text(path.rpartition(".")[2], "pr-parameter-name").tooltip(path)
            self._unit_of[path] = "" if words else unit
            self._inputs[path] = parameter_input(path, self._scale(path).editable(value), words, lambda entered: self._set(path, entered))
            if not words:
                live(f"parameter:{path}:unit", "pr-unit")
            if entry["doc"] or (not words and bounds(entry["lo"], entry["hi"])):
                live(f"parameter:{path}:about", "pr-doc pr-span")
            live(f"parameter:{path}", "pr-refusal pr-span")

    def _scale(self, path: str) -> Scale:
        return self._units.of_channel(path, self._unit_of[path])

    def _show_all(self) -> None:
        for entry in self._seat.watch.parameters:
            made = self._inputs.get(entry["path"])
            if made is not None:
                show(made, self._scale(entry["path"]).editable(entry["value"]))

    async def _set(self, path: str, value: Any) -> None:
        entry = self._entry(path)
        now = entry["value"]
        value = self._scale(path).entered(value, now, entry["lo"], entry["hi"])
        if value == now:
            return
        if isinstance(now, int) and isinstance(value, float) and value.is_integer():
            value = int(value)
        try:
            await self._seat.set_parameters({path: value})
            self._wrong.pop(path, None)
        except ParameterError as error:
            self._wrong[path] = "; ".join(error.problems)
        except (PushrodError, TimeoutError) as error:
            self._wrong[path] = str(error)
        if path in self._wrong:
            show(self._inputs[path], self._scale(path).editable(now))

    def _entry(self, path: str) -> dict[str, Any]:
        return next(entry for entry in self._seat.watch.parameters if entry["path"] == path)

    def tell(self, told: Told) -> None:
        for path in self._inputs:
            told.texts[f"parameter:{path}"] = self._wrong.get(path, "")
        for entry in self._seat.watch.parameters:
            path = entry["path"]
            if path not in self._inputs:
                continue
            scale = self._scale(path)
            told.texts[f"parameter:{path}:unit"] = scale.unit if scale.unit != "-" else ""
            limits = bounds(entry["lo"], entry["hi"], scale.factor) if isinstance(self._inputs[path], Field) else ""
            told.texts[f"parameter:{path}:about"] = ", ".join(filter(None, (entry["doc"], limits)))
        if self._seat.watch.parameters_read == self._read:
            return
        self._read = self._seat.watch.parameters_read
        self._show_all()


def parameters(entries: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those of the robot first, then those of its simulated world; faults have a tab of their own."""
    shown = [entry for entry in entries if not entry["path"].startswith(f"{FAULT}.")]
    return sorted(shown, key=lambda entry: bool(entry["path"].startswith(f"{WORLD}.")))


def parameter_input(path: str, value: Any, words: Sequence[str], entered: Callable[[Any], Any]) -> Any:
    """What suits its type. A choice and a switch are sent when they change, a number or a text when it is entered."""
    if words or isinstance(value, bool):
        made: Any = ui.select(list(words), value=value).props("dense outlined options-dense") if words else ui.switch(value=value).props("dense")
        made._props["aria-label"] = path
        made.on_value_change(lambda event: entered(event.value))
        return made.classes("pr-input") if words else made
    numeric = isinstance(value, (int, float)) or value is None
    return Field(path, entered, value, numeric, outlined=True).classes("pr-input")


def show(made: Any, value: Any) -> None:
    if isinstance(made, Field):
        made.show(value)
    elif made.value != value:
        made.set_value(value)


def bounds(low: float | None, high: float | None, factor: float = 1.0) -> str:
    if low is None and high is None:
        return ""
    return f"{'' if low is None else f'{factor * low:g}'} .. {'' if high is None else f'{factor * high:g}'}"
