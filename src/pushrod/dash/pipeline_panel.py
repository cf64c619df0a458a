"""Bars from request to achieved for every axis, what each stage takes, and the effectors with their limits."""

from pushrod.dash.element import attribute, bar, box, live, marked, shown, text
from pushrod.dash.fault import faults, is_announced
from pushrod.dash.seat import Seat
from pushrod.dash.stages import LOSSES, WORDS, axes, effectors
from pushrod.dash.told import Told, figure
from pushrod.dash.unit import Units

MOST = 8  # axes and effectors
SMALLEST = 1e-4  # in SI: digits below a hundredth of this are not shown


class PipelinePanel:
    def __init__(self, seat: Seat, units: Units) -> None:
        self._watch = seat.watch
        self._units = units
        self._largest: dict[str, float] = {}  # of what was seen of each axis, in SI
        text("From request to achieved", "pr-heading")
        live("pipe:status", "pr-soft", "div")
        live("pipe:fault", "pr-fault-note", "div")
        with marked("pipe:assumed", box("pr-stages")), marked("pipe:faulted", box("pr-axes")):
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
                        text("loss by stage", "pr-soft pr-span")
                        for loss in LOSSES:
                            text(loss.replace("_", " "), "pr-soft")
                            bar(f"pipe:{i}:loss:{loss}", "pr-bar-loss")
                            live(f"pipe:{i}:loss:{loss}", "pr-value pr-right")
        with shown("pipe:effectors", "pr-card"):
            with box("pr-effector"):
                text("Effectors", "pr-name")
                text("")
                text("commanded", "pr-soft pr-right")
                text("actual", "pr-soft pr-right")
            for i in range(MOST):
                with attribute(shown(f"eff:{i}", "pr-effector"), marked=f"eff:{i}:faulted"):
                    live(f"eff:{i}:name", "pr-effector-name")
                    with box():
                        bar(f"eff:{i}", "pr-bar-half")
                        bar(f"eff:{i}:actual", "pr-bar-half pr-stage-meas")
                    live(f"eff:{i}:u", "pr-value pr-right")
                    live(f"eff:{i}:actual", "pr-value pr-right")

    def tell(self, told: Told) -> None:
        found = axes(self._watch)[:MOST]
        motors = effectors(self._watch)[:MOST]
        wrong = faults(self._watch, self._units)
        silent = [channel for channel in wrong if motors and not is_announced(self._watch, channel)]
        told.texts["pipe:fault"] = _fault_note(wrong, silent, bool(motors))
        told.flags |= {"pipe:faulted": bool(wrong), "pipe:assumed": bool(silent)}
        status = self._watch.status
        if status is not None:
            more = [word for word in (status.reason, status.detail) if word and word.lower() != "none"]
            told.texts["pipe:status"] = ", ".join((f"mode {status.mode}", f"owner {status.owner}", *more))
        for i in range(MOST):
            told.flags[f"pipe:{i}"] = i < len(found)
            if i >= len(found):
                continue
            axis, at = found[i], f"pipe:{i}"
            least = 1.0 if axis.unit == "-" else 1e-3
            largest = self._largest[axis.name] = max([self._largest.get(axis.name, 0.0), *map(abs, axis.stages.values())])
            scale = max(largest, least)
            shown_as = self._units.of(axis.unit).for_size(max(largest, SMALLEST) if largest else 1.0)
            taken = axis.taken(shown_as)
            told.texts |= {f"{at}:name": axis.name, f"{at}:unit": shown_as.unit if shown_as.unit != "-" else "", f"{at}:taken": taken}
            told.texts[f"{at}:fine"] = "" if taken or wrong else "no loss"  # beside a fault nothing looks healthy
            for stage in WORDS:
                told.flags[f"{at}:{stage}"] = stage in axis.stages
                if stage in axis.stages:
                    told.texts[f"{at}:{stage}"] = figure(shown_as.factor * axis.stages[stage], "", shown_as.digits)
                    told.bar(f"{at}:{stage}", axis.stages[stage], -scale, scale)
            told.flags[f"{at}:losses"] = bool(axis.losses)
            for loss, value in axis.losses.items():
                told.texts[f"{at}:loss:{loss}"] = figure(value)
                told.bar(f"{at}:loss:{loss}", value, -scale, scale)
        told.flags["pipe:effectors"] = bool(motors)
        for i in range(MOST):
            told.flags[f"eff:{i}"] = i < len(motors)
            if i < len(motors):
                told.texts |= {f"eff:{i}:name": motors[i].name, f"eff:{i}:u": figure(motors[i].u) + (" sat" if motors[i].saturated else "")}
                told.texts[f"eff:{i}:actual"] = figure(motors[i].actual)
                told.flags[f"eff:{i}:faulted"] = motors[i].name in wrong
                told.bar(f"eff:{i}", motors[i].u, -1.0, 1.0)
                told.bar(f"eff:{i}:actual", motors[i].actual, -1.0, 1.0)


def _fault_note(wrong: dict[str, str], silent: list[str], has_effectors: bool) -> str:
    """Return the active faults and, for a pipeline, whether its stages account for them; `silent` are those that no effector announces."""
    if not wrong:
        return ""
    note = f"Fault: {'; '.join(f'{channel} {words}' for channel, words in wrong.items())}."
    if silent:
        return f"{note} The stages assume healthy effectors, since {_listed(silent)} not announced. Actual outputs are listed under Effectors."
    return f"{note} The stages account for announced faults." if has_effectors else note


def _listed(channels: list[str]) -> str:
    return f"the fault of {channels[0]} is" if len(channels) == 1 else f"the faults of {', '.join(channels[:-1])} and {channels[-1]} are"
