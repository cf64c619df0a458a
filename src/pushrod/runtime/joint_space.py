"""From motor space, which is all a driver knows, to joint space, which is all others see."""

from typing import Any

from pushrod.core.errors import InputError
from pushrod.robot.transmission import Transmission
from pushrod.runtime.message import BeginMotion, EndMotion, JointState


def to_joint_space(payload: Any, t: Transmission) -> Any:
    """The same report in joint space; what holds no motor quantities stays as it is. One that is malformed is refused: nobody should act on it."""
    if isinstance(payload, (BeginMotion, EndMotion, JointState)) and (problem := payload.problem()) is not None:
        raise InputError(f"{type(payload).__name__} is not published: {problem}")
    if isinstance(payload, BeginMotion):
        a, v, v0 = payload.acceleration, payload.peak_velocity, payload.initial_velocity
        return BeginMotion(
            t.position_to_joint(payload.initial_position),
            t.position_to_joint(payload.target_position),
            payload.expected_arrival,
            payload.command_id,
            payload.command_type,
            None if a is None else abs(t.rate_to_joint(a)),
            None if v is None else abs(t.rate_to_joint(v)),
            None if v0 is None else t.rate_to_joint(v0),
        )
    if isinstance(payload, EndMotion):
        return EndMotion(t.position_to_joint(payload.position), payload.reason, payload.detail, payload.message, payload.command_id)
    if isinstance(payload, JointState):
        return JointState(
            tuple(payload.names),
            tuple(t.position_to_joint(float(x)) for x in payload.positions),
            tuple(t.rate_to_joint(float(x)) for x in payload.velocities),
            tuple(t.effort_to_joint(float(x)) for x in payload.efforts),
        )
    return payload
