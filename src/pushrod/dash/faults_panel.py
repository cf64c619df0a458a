"""What can break in a simulated machine, broken and mended from the page: parameters of the robot, checked and told like any other."""

from typing import Any

from nicegui import ui

from pushrod.core.errors import PushrodError
from pushrod.dash.element import box, live, needs, text
from pushrod.dash.seat import Seat
from pushrod.dash.told import Told
from pushrod.dash.watch import Watch
from pushrod.live.fault_node import PATH
from pushrod.models.fault import KINDS

FOREVER = 1e9  # [s]
FIELDS = {"effectiveness": ("loss", "what is left"), "bias": ("bias", "what is added"), "extra_delay": ("delay", "more delay")}  # of which kind


class FaultsPanel:
    def __init__(self, seat: Seat) -> None:
        self._seat = seat
        self._wrong: dict[str, str] = {}
        entries = {entry["path"]: entry for entry in seat.watch.parameters if entry["path"].startswith(f"{PATH}.")}
        self._channels = list(dict.fromkeys(path.split(".")[1] for path in entries))
        text("Faults to inject", "pr-heading")
        if not self._channels:
            text(nothing(seat.watch), "pr-soft", "div")
        with needs("control", "pr-groups"):
            for channel in self._channels:
                self._card(channel, entries)

    def _card(self, channel: str, entries: dict[str, dict[str, Any]]) -> None:
        with box("pr-card"):
            with box("pr-card-head"):
                text(channel, "pr-name")
                live(f"fault:{channel}", "pr-owner")
            with box("pr-parameter"):
                text("kind", "pr-parameter-name")
                kind = ui.select(list(KINDS[1:]), value=KINDS[1]).props("dense outlined options-dense").classes("pr-input")
            fields: dict[str, Any] = {}
            for field, (of, about) in FIELDS.items():
                entry = entries.get(f"{PATH}.{channel}.{field}")
                if entry is None:
                    continue
                with box("pr-parameter").bind_visibility_from(kind, "value", value=of):
                    text(field, "pr-parameter-name").tooltip(about)
                    made = ui.number(value=entry["value"], min=entry["lo"], max=entry["hi"]).props("dense outlined").classes("pr-input")
                    fields[field] = made
                    text(entry["unit"] if entry["unit"] not in (None, "-") else "", "pr-unit")
            announced = ui.switch("announced", value=False).props("dense").tooltip("The actuator itself reports that it is broken")
            with box("pr-card-foot"):
                ui.button("Inject", on_click=lambda: self._inject(channel, kind, fields, announced), color=None).props(
                    "no-caps unelevated dense size=sm"
                ).classes("pr-inject")
                ui.button("Mend", on_click=lambda: self._set(channel, {"kind": KINDS[0]})).props("no-caps outline dense size=sm")
            live(f"fault:{channel}:wrong", "pr-refusal", "div")

    async def _inject(self, channel: str, kind: Any, fields: dict[str, Any], announced: Any) -> None:
        values = {field: float(made.value) for field, made in fields.items() if made.value is not None}
        await self._set(channel, {"kind": kind.value, "at": 0.0, "until": FOREVER, "announced": bool(announced.value), **values})

    async def _set(self, channel: str, values: dict[str, Any]) -> None:
        self._wrong.pop(channel, None)
        try:
            await self._seat.set_parameters({f"{PATH}.{channel}.{field}": value for field, value in values.items()})
        except (PushrodError, TimeoutError) as error:
            self._wrong[channel] = str(error)

    def tell(self, told: Told) -> None:
        kinds = {entry["path"]: entry["value"] for entry in self._seat.watch.parameters if entry["path"].endswith(".kind")}
        for channel in self._channels:
            kind = kinds.get(f"{PATH}.{channel}.kind", KINDS[0])
            told.texts[f"fault:{channel}"] = "well" if kind == KINDS[0] else f"broken: {kind}"
            told.texts[f"fault:{channel}:wrong"] = self._wrong.get(channel, "")


def nothing(watch: Watch) -> str:
    """Why there is nothing to break."""
    if watch.world is None:
        return "Nothing can be broken here: there is no simulated world behind this robot, and faults belong to one."
    return f"Nothing can be broken here: the simulated world of this machine ({watch.world.world}) has no faults to inject."
