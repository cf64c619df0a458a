"""Bars from request to achieved for every axis, what each stage takes, and the effectors with their limits."""

from nicegui import ui

from pushrod.dash.element import bar, box, live, shown, text
from pushrod.dash.seat import Seat
from pushrod.dash.stages import LOSSES, WORDS, axes, effectors
from pushrod.dash.told import Told, figure

MOST = 8  # axes and effectors


class PipelinePanel:
    def __init__(self, seat: Seat) -> None:
        self._watch = seat.watch
        self._scale: dict[str, float] = {}
        text("From request to achieved", "pr-heading")
        live("pipe:status", "pr-soft", "div")
        with box("pr-axes"):
            for i in range(MOST):
                with shown(f"pipe:{i}", "pr-card"):
                    with box("pr-card-head"):
                        live(f"pipe:{i}:name", "pr-name")
                        live(f"pipe:{i}:unit", "pr-soft")
                        live(f"pipe:{i}:taken", "pr-taken")
                        live(f"pipe:{i}:fine", "pr-fine")
                    for stage, words in WORDS.items():
                        with shown(f"pipe:{i}:{stage}", "pr-stage"):
                            text(words, "pr-soft")
                            bar(f"pipe:{i}:{stage}", f"pr-bar-tall pr-stage-{stage}")
                            live(f"pipe:{i}:{stage}", "pr-value pr-right")
                    with shown(f"pipe:{i}:losses", "pr-losses"):
                        text("what each stage takes", "pr-soft pr-span")
                        for loss in LOSSES:
                            text(loss.replace("_", " "), "pr-soft")
                            bar(f"pipe:{i}:loss:{loss}", "pr-bar-loss")
                            live(f"pipe:{i}:loss:{loss}", "pr-value pr-right")
        with shown("pipe:effectors", "pr-card"):
            text("Effectors", "pr-name")
            for i in range(MOST):
                with shown(f"eff:{i}", "pr-stage"):
                    live(f"eff:{i}:name", "pr-soft")
                    bar(f"eff:{i}", "pr-bar-tall")
                    live(f"eff:{i}:u", "pr-value pr-right")
        with shown("pipe:none"):
            ui.label("This machine has neither a pipeline nor outputs that tell what became of a request.").classes("pr-soft")

    def tell(self, told: Told) -> None:
        found = axes(self._watch)[:MOST]
        status = self._watch.status
        if status is not None:
            more = [word for word in (status.reason, status.detail) if word and word.lower() != "none"]
            told.texts["pipe:status"] = ", ".join((f"mode {status.mode}", f"owner {status.owner}", *more))
        told.flags["pipe:none"] = not found
        for i in range(MOST):
            told.flags[f"pipe:{i}"] = i < len(found)
            if i >= len(found):
                continue
            axis, at = found[i], f"pipe:{i}"
            least = 1.0 if axis.unit == "-" else 1e-3
            scale = self._scale[axis.name] = max([self._scale.get(axis.name, least), *map(abs, axis.stages.values())])
            told.texts |= {f"{at}:name": axis.name, f"{at}:unit": axis.unit if axis.unit != "-" else "", f"{at}:taken": axis.taken}
            told.texts[f"{at}:fine"] = "" if axis.taken else "nothing is lost"
            for stage in WORDS:
                told.flags[f"{at}:{stage}"] = stage in axis.stages
                if stage in axis.stages:
                    told.texts[f"{at}:{stage}"] = figure(axis.stages[stage])
                    told.bar(f"{at}:{stage}", axis.stages[stage], -scale, scale)
            told.flags[f"{at}:losses"] = bool(axis.losses)
            for loss, value in axis.losses.items():
                told.texts[f"{at}:loss:{loss}"] = figure(value)
                told.bar(f"{at}:loss:{loss}", value, -scale, scale)
        motors = effectors(self._watch)[:MOST]
        told.flags["pipe:effectors"] = bool(motors)
        for i in range(MOST):
            told.flags[f"eff:{i}"] = i < len(motors)
            if i < len(motors):
                told.texts |= {f"eff:{i}:name": motors[i].name, f"eff:{i}:u": figure(motors[i].u) + (" sat" if motors[i].saturated else "")}
                told.bar(f"eff:{i}", motors[i].u, -1.0, 1.0)
