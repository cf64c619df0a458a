"""How the machine moves: speed, heading, height and attitude from the outputs of its world, each beside the requested value."""

from math import pi, remainder

from pushrod.dash.card import is_requested
from pushrod.dash.element import box, live, shown, text
from pushrod.dash.seat import Seat
from pushrod.dash.told import Told, figure
from pushrod.dash.unit import Units
from pushrod.dash.watch import Watch
from pushrod.live.world_sensor import INPUT

FIGURES = {  # outputs of worlds, in this order
    "speed": "speed",
    "v": "speed",
    "acc_ach": "acceleration",
    "z": "height",
    "climb": "climb rate",
    "yaw": "heading",
    "psi": "heading",
    "yaw_rate": "yaw rate",
    "r": "yaw rate",
    "roll": "roll",
    "pitch": "pitch",
    "steer_ach": "tyre angle",
    "pointing_error": "pointing error",
}
ERROR = "pointing_error"  # from the requested attitude: none while no attitude is requested
WRAPPED = ("yaw", "psi")  # counted on over whole turns by their worlds


class MotionCard:
    def __init__(self, seat: Seat, units: Units) -> None:
        self._watch = seat.watch
        self._units = units
        self._names = names(seat.watch)
        with box("pr-card").props("id=card-motion"):
            text("Motion", "pr-name")
            with box("pr-figures"):
                for name in self._names:
                    with box("pr-figure"):
                        text(FIGURES[name], "pr-soft")
                        live(f"motion:{name}", "pr-value")
                        with shown(f"motion:{name}:req"):
                            live(f"motion:{name}:req", "pr-soft")

    def tell(self, told: Told) -> None:
        world, now = self._watch.world, self._watch.now
        if world is None:
            return
        unit_of = dict(zip(world.names, world.units, strict=True))
        asked = {achieved: request for request, achieved in world.pairs}
        for name in self._names:
            scale = self._units.of(unit_of.get(name, ""))
            is_known = name != ERROR or is_requested(self._watch, "yaw")
            told.texts[f"motion:{name}"] = scale.figure(wrapped(name, now.get(name)) if is_known else None)
            request = asked.get(name)
            if request is not None and request.startswith(INPUT) and not is_requested(self._watch, name):
                request = None  # the world keeps the input of a command that another one has replaced
            told.flags[f"motion:{name}:req"] = request is not None
            if request is not None:
                told.texts[f"motion:{name}:req"] = f"requested {figure(scale.factor * (wrapped(name, now.get(request)) or 0.0), '', scale.digits)}"


def names(watch: Watch) -> list[str]:
    found = [name for name in FIGURES if name in watch.now]
    return found if len(found) > 1 else []  # the height of a tip alone is no motion of the machine


def wrapped(name: str, angle: float | None) -> float | None:
    """A heading within half a turn to either side."""
    return remainder(angle, 2.0 * pi) if angle is not None and name in WRAPPED else angle
