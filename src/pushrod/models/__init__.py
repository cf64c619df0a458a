"""Actuator models and effects. One file each; a new one is its file and its row in MODELS."""

from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.quantity import Q
from pushrod.models import delay, queue
from pushrod.models.first_order import FIRST_ORDER
from pushrod.models.rate_limit import RATE_LIMIT
from pushrod.models.saturation import SATURATION


class Signal(NamedTuple):
    """One number on its way: what the delays in the table below carry. Build your own with `delay.of(YourCommand, slots)`."""

    value: A[float, Q("-")] = 0.0


MODELS = {
    m.name: m
    for m in (
        delay.of(Signal, slots=64),
        queue.of(Signal, slots=64),
        RATE_LIMIT,
        FIRST_ORDER,
        SATURATION,
    )
}
