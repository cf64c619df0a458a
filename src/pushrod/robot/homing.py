"""Homing: the joint is known to stand somewhere, the motor says where it stands, and the offset between the two is set."""

from dataclasses import replace

from pushrod.core.errors import InputError
from pushrod.robot.description import Robot
from pushrod.robot.parameter import ParameterRef
from pushrod.robot.reference import resolve
from pushrod.robot.store import Store


def home(robot: Robot, store: Store, actuator: str, motor: float, joint: float) -> float:
    """Set the parameter behind the offset of an actuator's transmission so that the motor position means the joint position; gives the offset."""
    transmission = robot.actuator(actuator).transmission
    ref: object = transmission.offset
    if not isinstance(ref, ParameterRef):
        raise InputError(f"actuator {actuator!r} cannot be homed: its offset is fixed at {ref}; let it be a ParameterRef")
    offset: float = resolve(replace(transmission, offset=0.0), store).homed_offset(motor, joint)
    store.set(ref.path, offset)
    return offset
