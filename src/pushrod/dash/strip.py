"""The safety strip: how the robot is and why, what arming waits for, and the buttons that change it. E-STOP works for whoever looks."""

from collections.abc import Awaitable, Callable
from typing import Any

from nicegui import ui

from pushrod.core.errors import PushrodError
from pushrod.dash.element import attribute, box, live, needs, shown, text, wants
from pushrod.dash.fault import faults
from pushrod.dash.seat import Seat
from pushrod.dash.told import Told
from pushrod.dash.unit import Units
from pushrod.dash.watch import Watch
from pushrod.runtime.deciding import Armed, Disarmed

NEXT = {
    "error": "look at the machine, then force disarm",
    "estopped": "remove the cause, then reset",
    "gone": "nothing is known of it",
}
IN_CONTROL = "Needs control of this robot"
ACKNOWLEDGE = "pushrod acknowledge"  # what a guard's record asks for, among what is missing


class Strip:
    """`show_faults()` when its fault badge is pressed."""

    def __init__(self, seat: Seat, units: Units, show_faults: Callable[[], None]) -> None:
        self._seat = seat
        self._units = units
        self._refusal = ""
        self._had = False  # whether it was in control, when it was last told
        with box("pr-strip"):
            with box("pr-state"):
                text(seat.watch.robot, "pr-robot")
                live("state", "pr-state-word")
                live("why", "pr-why")
            with shown("faulted", "pr-fault").props('role=status aria-label="Active faults"').on("click", show_faults):
                live("fault word", "pr-fault-word")
                live("faults", "pr-fault-text")
            with box("pr-missing"):
                live("missing", "pr-missing-text")
                live("refusal", "pr-refusal")
                live("unwatched", "pr-unwatched")
            with box("pr-buttons"):
                with needs("disarmed"), wants("control"):
                    self._button("Arm", "pr-arm", self._arm)
                with needs("alive"):
                    self._button("Disarm", "pr-disarm", self._disarm, "Needs no control")
                with shown("estopped"), needs("alive"), wants("control"):
                    self._button("Reset", "pr-reset", lambda: seat.do("reset"))
                with shown("in_error"), needs("alive"), wants("control"):
                    self._button("Force disarm", "pr-force", lambda: seat.do("force_disarm"))
                with shown("unacknowledged"), needs("alive"), wants("control"):
                    self._button("Acknowledge", "pr-acknowledge", self._ask_acknowledge)
                attribute(ui.button("E-STOP", color=None).props("no-caps unelevated aria-label='Emergency stop'").classes("pr-estop"), estop="1")
        attribute(box("pr-estop-note"), note="estop").props("id=pr-estop-note hidden")
        with ui.dialog() as self._dialog, ui.card().classes("pr-dialog"):
            text("The guard has disarmed this machine. Have you looked at it?", "pr-dialog-head")
            live("missing", "pr-dialog-text")
            with box("pr-dialog-buttons"):
                ui.button("Not yet", on_click=self._dialog.close).props("flat no-caps")
                ui.button("I have looked at it", on_click=self._acknowledge).props("no-caps unelevated color=negative")

    def tell(self, told: Told) -> None:
        watch, state = self._seat.watch, self._seat.watch.state
        now = watch.overview
        why = now.why if now is not None and now.state == state else ""
        told.texts["state"] = {"estopped": "E-STOPPED", "gone": "NOT CONNECTED"}.get(state, state.upper())
        mine = self._seat.in_control
        if mine is not self._had:
            self._had, self._refusal = mine, ""
        told.texts["why"] = " - ".join(part for part in (why if why != state else "", _next(state, mine)) if part)
        waits = watch.missing if state == "disarmed" else []
        ready = "ready to arm" if mine else "ready: take control to arm it"
        told.texts["missing"] = "\n".join(waits) if waits else (ready if state == "disarmed" else "")
        told.texts["refusal"] = self._refusal
        told.texts["unwatched"] = unwatched(watch)
        wrong = faults(watch, self._units)
        told.texts["fault word"] = "FAULT" if len(wrong) < 2 else f"{len(wrong)} FAULTS"
        told.texts["faults"] = "\n".join(f"{channel}: {words}" for channel, words in wrong.items())
        told.flags |= {
            "alive": watch.alive,
            "faulted": bool(wrong),
            "control": mine,
            "disarmed": state == "disarmed",
            "estopped": state == "estopped",
            "in_error": state == "error",
            "unacknowledged": any(ACKNOWLEDGE in one for one in waits),
        }

    def _button(self, words: str, classes: str, deed: Callable[[], Awaitable[Any]], hint: str = IN_CONTROL) -> None:
        async def press() -> None:
            self._refusal = ""
            try:
                self._refusal = _said(await deed())
            except (PushrodError, TimeoutError) as error:
                self._refusal = str(error)

        button = ui.button(words, on_click=press, color=None).props("no-caps unelevated").classes(f"pr-button {classes}")
        button.tooltip(hint)

    async def _arm(self) -> Any:
        return await self._seat.do("arm")

    async def _disarm(self) -> Any:
        """By whoever looks: to disarm can never be refused."""
        remote = self._seat.remote or self._seat.watch.remote
        return None if remote is None else await remote.disarm()

    async def _ask_acknowledge(self) -> None:
        self._seat.must_control()
        self._dialog.open()

    async def _acknowledge(self) -> None:
        self._dialog.close()
        try:
            await self._seat.do("acknowledge")
        except (PushrodError, TimeoutError) as error:
            self._refusal = str(error)


def unwatched(watch: Watch) -> str:
    """Name the actuators that keep running when their operator is lost, because they have no watchdog."""
    remote = watch.remote
    names = [one.name for one in remote.description.actuators if one.watchdog is None and not one.driven_by] if remote is not None else []
    verb = "keeps" if len(names) == 1 else "keep"
    return f"no watchdog: {', '.join(names)} {verb} running without an operator" if names else ""


def _next(state: str, in_control: bool) -> str:
    """What to do now."""
    words = NEXT.get(state, "")
    return words if in_control or state not in ("error", "estopped") else words.replace("then ", "then take control and ")


def _said(answer: Any) -> str:
    if isinstance(answer, Armed) and not answer.ok:
        return f"refused: {answer.refusal.replace('_', ' ')}" + (f": {'; '.join(answer.missing)}" if answer.missing else "")
    if isinstance(answer, Disarmed) and not answer.ok:
        return "not proven safe: " + "; ".join(f"{path}: {why}" for path, why in answer.failures.items())
    return ""
