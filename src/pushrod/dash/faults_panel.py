"""Faults of a simulated machine, injected and cleared from the page: parameters of the robot, checked and published like any other."""

from typing import Any

from nicegui import ui

from pushrod.core.errors import PushrodError
from pushrod.dash.element import box, live, marked, needs, text
from pushrod.dash.fault import faults, injected, is_scheduled
from pushrod.dash.seat import Seat
from pushrod.dash.stages import signal_unit
from pushrod.dash.told import Told
from pushrod.dash.unit import Units
from pushrod.live.world_node import FAULT
from pushrod.models.fault import KINDS

FOREVER = 1e9  # [s]
FIELDS = {"effectiveness": "loss", "bias": "bias", "extra_delay": "delay"}  # of which kind
LABELS = {"effectiveness": "share left", "bias": "added", "extra_delay": "more delay"}
NO_EFFECT = {"effectiveness": 1.0, "bias": 0.0, "extra_delay": 0.0}  # a fault of these values is none
AT_FIRST = {"effectiveness": 0.5, "bias": 0.2, "extra_delay": 0.2}


class Amount:
    """A number of a fault with its unit; typed and shown in the units of the page, sent in SI."""

    def __init__(self, value: float, unit: str, low: float | None, high: float | None, units: Units) -> None:
        self._unit, self._units, self._low, self._high = unit, units, low, high
        self._scale = units.of(unit)
        self._input = ui.number(value=self._rounded(value)).props("dense outlined").classes("pr-input")
        self._label = ui.label().classes("pr-unit")
        units.on_change(self._rescale)
        self._show(value)

    @property
    def value(self) -> float | None:
        """Return what is typed [SI]; None where the input is empty."""
        shown = self._input.value
        return None if shown is None else float(shown) / self._scale.factor

    def _rescale(self) -> None:
        value = self.value
        self._scale = self._units.of(self._unit)
        self._show(value)

    def _show(self, value: float | None) -> None:
        factor, unit = self._scale.factor, self._scale.unit
        if self._low is not None:
            self._input.min = factor * self._low
        if self._high is not None:
            self._input.max = factor * self._high
        self._input.set_value(None if value is None else self._rounded(value))
        self._label.set_text(unit if unit != "-" else "")

    def _rounded(self, value: float) -> float:
        return float(f"{self._scale.factor * value:.4g}")


class FaultsPanel:
    def __init__(self, seat: Seat, units: Units) -> None:
        self._seat = seat
        self._units = units
        self._refusals: dict[str, str] = {}
        entries = {entry["path"]: entry for entry in seat.watch.parameters if entry["path"].startswith(f"{FAULT}.")}
        self._channels = list(injected(seat.watch))
        text("Faults", "pr-heading")
        live("faults:hint", "pr-soft", "div")
        with needs("control", "pr-groups"):
            for channel in self._channels:
                self._card(channel, entries)

    def _card(self, channel: str, entries: dict[str, dict[str, Any]]) -> None:
        with marked(f"fault:{channel}", box("pr-card pr-fault-card")).props(f'id="fault-{channel}"'):
            with box("pr-card-head"):
                text(channel, "pr-name")
                live(f"fault:{channel}", "pr-owner")
            with box("pr-parameter"):
                text("kind", "pr-parameter-name")
                kind = ui.select(list(KINDS[1:]), value=KINDS[1]).props("dense outlined options-dense").classes("pr-input")
            fields: dict[str, Any] = {}
            for field, of in FIELDS.items():
                entry = entries.get(f"{FAULT}.{channel}.{field}")
                if entry is None:
                    continue
                with box("pr-parameter").bind_visibility_from(kind, "value", value=of):
                    text(LABELS[field], "pr-parameter-name").tooltip(f"{FAULT}.{channel}.{field}")
                    at_first = AT_FIRST[field] if entry["value"] == NO_EFFECT[field] else entry["value"]
                    unit = signal_unit(self._seat.watch, channel) if field == "bias" else entry["unit"] or "-"
                    fields[field] = Amount(at_first, unit, entry["lo"], entry["hi"], self._units)
            announced = ui.switch("announced", value=False).props("dense").tooltip("The actuator reports the fault itself")
            with box("pr-card-foot"):
                ui.button("Inject", on_click=lambda: self._inject(channel, kind, fields, announced), color=None).props(
                    "no-caps unelevated dense size=sm"
                ).classes("pr-inject")
                clear = ui.button("Clear fault", on_click=lambda: self._set(channel, {"kind": KINDS[0]})).props("no-caps outline dense size=sm")
                clear.classes("pr-clear")
            live(f"fault:{channel}:refusal", "pr-refusal", "div")

    async def _inject(self, channel: str, kind: Any, fields: dict[str, Any], announced: Any) -> None:
        given = {field: amount.value for field, amount in fields.items() if FIELDS[field] == kind.value}
        values = {field: value for field, value in given.items() if value is not None}
        for field, value in values.items():
            if value == NO_EFFECT[field]:
                self._refusals[channel] = f"{LABELS[field]}: {value:g} changes nothing. Enter another value."
                return
        await self._set(channel, {"kind": kind.value, "at": 0.0, "until": FOREVER, "announced": bool(announced.value), **values})

    async def _set(self, channel: str, values: dict[str, Any]) -> None:
        self._refusals.pop(channel, None)
        try:
            await self._seat.set_parameters({f"{FAULT}.{channel}.{field}": value for field, value in values.items()})
        except (PushrodError, TimeoutError) as error:
            self._refusals[channel] = str(error)

    def tell(self, told: Told) -> None:
        watch = self._seat.watch
        active, fields = faults(watch, self._units), injected(watch)
        told.texts["faults:hint"] = "" if self._seat.in_control else "Take control to inject or clear a fault"
        for channel in self._channels:
            later = f"from {fields[channel]['at']:g} s: {fields[channel]['kind']}" if is_scheduled(fields[channel], watch.world_time) else "healthy"
            told.flags[f"fault:{channel}"] = channel in active
            told.texts[f"fault:{channel}"] = f"faulted: {active[channel]}" if channel in active else later
            told.texts[f"fault:{channel}:refusal"] = self._refusals.get(channel, "")
