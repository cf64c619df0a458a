"""Twelve vehicle models under their public names, and the converter between control and actuation commands.

`make(name, slots)` gives the Model. `slots` bounds the dead times: each needs round(delay / sampling_time) + 1 of them. In plain Python a step copies
its queues, so that more slots than needed make it slower; compiled code does not care.
"""

from collections.abc import Callable
from typing import Any

from pushrod.core.errors import InputError
from pushrod.core.model import Model
from pushrod.core.names import find
from pushrod.vehicles import (
    actuation_cmd,
    actuation_cmd_mechanical,
    actuation_cmd_steer_map,
    actuation_cmd_vgr,
    delay_steer_acc,
    delay_steer_map_acc,
    delay_steer_pedal,
    delay_steer_vel,
    ideal_steer,
)
from pushrod.vehicles.actuation import Status

VEHICLES: dict[str, Callable[[int], Model]] = {
    "IDEAL_STEER_VEL": ideal_steer.vel,
    "IDEAL_STEER_ACC": ideal_steer.acc,
    "IDEAL_STEER_ACC_GEARED": ideal_steer.acc_geared,
    "DELAY_STEER_VEL": delay_steer_vel.of,
    "DELAY_STEER_ACC": delay_steer_acc.of,
    "DELAY_STEER_ACC_GEARED": delay_steer_acc.geared,
    "DELAY_STEER_ACC_GEARED_WO_FALL_GUARD": delay_steer_pedal.of,
    "DELAY_STEER_MAP_ACC_GEARED": delay_steer_map_acc.of,
    "ACTUATION_CMD": actuation_cmd.of,
    "ACTUATION_CMD_STEER_MAP": actuation_cmd_steer_map.of,
    "ACTUATION_CMD_VGR": actuation_cmd_vgr.of,
    "ACTUATION_CMD_MECHANICAL": actuation_cmd_mechanical.of,
}

# status(params, state): what the actuators report, kept out of the step because its inverse look-ups cost more than the step itself
STATUS: dict[str, Callable[[Any, Any], Status]] = {
    "ACTUATION_CMD": actuation_cmd.status,
    "ACTUATION_CMD_STEER_MAP": actuation_cmd_steer_map.status,
    "ACTUATION_CMD_VGR": actuation_cmd_vgr.status,
    "ACTUATION_CMD_MECHANICAL": actuation_cmd_mechanical.status,
}


def make(name: str, slots: int = 64) -> Model:
    """The vehicle of that public name; the same Model for the same arguments."""
    vehicle = find(VEHICLES, name, "vehicle")
    if slots < 1:
        raise InputError(f"slots = {slots}; a vehicle needs at least one slot in each queue: round(delay / sampling_time) + 1")
    return vehicle(int(slots))
