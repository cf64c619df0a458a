"""Dead times as queues of whole sampling times: whether they fit the slots they were given."""

from collections.abc import Iterator
from typing import Any

from pushrod.models.queue import entries


def slots_for(delay: float, sampling_time: float) -> int:
    """Slots that a queue of this dead time needs."""
    return int(entries(delay, sampling_time)) + 1


def too_long(p: Any, delays: tuple[str, ...], slots: int) -> Iterator[str]:
    """A text for each dead time of a vehicle that does not fit its queue."""
    if not p.sampling_time > 0.0:
        return
    for name in delays:
        delay = getattr(p, name)
        if delay >= 0.0 and slots_for(delay, p.sampling_time) > slots:
            need = slots_for(delay, p.sampling_time)
            yield (
                f"{name} = {delay:g} s is {need - 1} entries of {p.sampling_time:g} s and needs {need} slots; this vehicle has {slots}: "
                f"take at most {(slots - 1) * p.sampling_time:g} s, or make the vehicle with slots={need}"
            )
