"""Actuator models and effects. One file each; a new one is its file and its row in MODELS."""

from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.quantity import Q
from pushrod.models import delay, queue
from pushrod.models.backlash import BACKLASH
from pushrod.models.curve import CURVE
from pushrod.models.dc_motor import DC_MOTOR
from pushrod.models.dead_zone import DEAD_ZONE
from pushrod.models.fault import FAULT
from pushrod.models.first_order import FIRST_ORDER
from pushrod.models.friction import FRICTION
from pushrod.models.gear_friction import GEAR_FRICTION
from pushrod.models.grid import GRID
from pushrod.models.quantiser import QUANTISER
from pushrod.models.rate_limit import RATE_LIMIT
from pushrod.models.saturation import SATURATION
from pushrod.models.second_order import SECOND_ORDER
from pushrod.models.servo import SERVO
from pushrod.models.thruster import THRUSTER


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
        SECOND_ORDER,
        SATURATION,
        DEAD_ZONE,
        BACKLASH,
        QUANTISER,
        FRICTION,
        GEAR_FRICTION,
        DC_MOTOR,
        SERVO,
        THRUSTER,
        FAULT,
        CURVE,
        GRID,
    )
}
