"""Room in the delay lines of a world: as many slots as its delays need at the tick of the run."""

from typing import Any

from pushrod.core import check
from pushrod.core.model import World
from pushrod.core.record import fields, is_record

SIZES = (64, 256, 1024, 4096, 16384)  # few, because each is compiled anew; the last holds 16 s at a tick of 1 ms


def with_room(world: World, params: Any, dt: float | None) -> tuple[World, Any]:
    """The world and its parameters, with longer lines where the delays do not fit; what does not fit the longest either is left for checks."""
    if world.sized is None or not any(check.problems(params, "", dt)):
        return world, params
    for slots in SIZES:
        larger = world.sized(slots)
        carried = carry(larger.Params, params)
        if not any(check.problems(carried, "", dt)):
            break
    return larger, carried


def carry(kind: Any, value: Any) -> Any:
    """A record as another class with the same fields."""
    if type(value) is kind:
        return value
    return kind(*(carry(f.type, getattr(value, f.name)) if is_record(f.type) else getattr(value, f.name) for f in fields(kind)))
