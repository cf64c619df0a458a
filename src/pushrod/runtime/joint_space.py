"""From motor space, which is all a driver knows, to joint space, which is all others see. What is no report is refused where it is published."""

from collections.abc import Collection
from dataclasses import is_dataclass
from typing import Any

from msgspec import Struct

from pushrod.core.errors import InputError
from pushrod.core.names import did_you_mean
from pushrod.core.record import is_record
from pushrod.robot.transmission import Transmission
from pushrod.runtime.message import BeginMotion, Command, EndMotion, JointState, Message, Outcome
from pushrod.runtime.payload import Payload
from pushrod.runtime.plain_numbers import struct_converter

ALLOWED = "a part publishes JointState, BeginMotion, EndMotion, or a msgspec Struct of its own"


def to_joint_space(payload: Any, t: Transmission) -> Any:
    """Return the payload in joint space, with plain numbers; one without motor quantities stays in its own. A malformed one is refused."""
    if isinstance(payload, (BeginMotion, EndMotion, JointState)) and (problem := payload.problem()) is not None:
        raise InputError(f"{type(payload).__name__} is not published: {problem}")
    if isinstance(payload, Struct):  # before arithmetic, which would keep the precision of a float32
        payload = struct_converter(type(payload))(payload)
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


def report_in_joint_space(payload: Any, t: Transmission, joints: Collection[str]) -> Any:
    """The same of what a part publishes, which must be a report, and of no other joints than these."""
    kind = type(payload)
    if isinstance(payload, (Payload, Command)):
        raise InputError(f"{kind.__name__} is not published: it is a command; send it with context.actuator(name).direct; {ALLOWED}")
    if isinstance(payload, (Message, Outcome)) or not (isinstance(payload, Struct) or is_record(kind) or is_dataclass(kind)):
        raise InputError(f"{payload!r:.80} is not published; {ALLOWED}")
    seen = to_joint_space(payload, t)
    strange = [name for name in payload.names if name not in joints] if isinstance(payload, JointState) else []
    if strange:
        hint = did_you_mean(joints, strange[0])
        raise InputError(f"JointState is not published: there is no joint {strange[0]!r} here; {hint}{' ' if hint else ''}known: {', '.join(joints)}")
    return seen
