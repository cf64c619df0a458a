"""The four topics as records: what each stage says to the next, to the log and to the controllers.

    u_L = u_s - u_d      u_R = u_s + u_d        u_s = (u_L + u_R) / 2      u_d = (u_R - u_L) / 2

u_s surge, u_d differential, u_L and u_R motors left and right, all normalised [-]. u_d > 0 turns to port (positive yaw rate, z up).
"""

from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.quantity import Choice, Q, flag
from pushrod.pipeline.names import REASONS, SOURCES


class ActuatorReq(NamedTuple):
    """ACTUATOR_REQ: what the owner of the actuators asks for."""

    u_s_req: A[float, Q("-")] = 0.0
    u_d_req: A[float, Q("-")] = 0.0
    src: A[float, Choice(SOURCES, "whose request it is; NONE: neutral")] = 0.0
    reason: A[float, Choice(REASONS, "why it is neutral")] = 0.0


class ActuatorCmd(NamedTuple):
    """ACTUATOR_CMD: the request after shaping, forwarded to the allocator."""

    u_s_cmd: A[float, Q("-")] = 0.0
    u_d_cmd: A[float, Q("-")] = 0.0


class Allocated(NamedTuple):
    """The feasible command before the motor stage."""

    u_s_alloc: A[float, Q("-")] = 0.0
    u_d_alloc: A[float, Q("-")] = 0.0


class EscOutput(NamedTuple):
    """ESC_OUTPUT: the motors, normalised and as pulse widths."""

    u_L: A[float, Q("-")] = 0.0
    u_R: A[float, Q("-")] = 0.0
    pulse_L: A[float, Q("us")] = 1500.0
    pulse_R: A[float, Q("us")] = 1500.0


class MixerFeedback(NamedTuple):
    """MIXER_FEEDBACK: what was achieved, and what controllers unwind by. u_ach = u_cmd + aw + trim on each axis."""

    u_s_ach: A[float, Q("-")] = 0.0
    u_d_ach: A[float, Q("-")] = 0.0
    sat_L: A[float, flag("the left motor does not do what the command alone would have it do")] = 0.0
    sat_R: A[float, flag("the right motor does not do what the command alone would have it do")] = 0.0
    sat_any: A[float, flag()] = 0.0
    aw_s: A[float, Q("-", about="achieved less commanded, trim removed")] = 0.0
    aw_d: A[float, Q("-", about="achieved less commanded, trim removed")] = 0.0
    aw_s_req: A[float, Q("-", about="the same with the envelope, without the dead band, as a request: what an integrator of requests takes")] = 0.0
    aw_d_req: A[float, Q("-", about="the same with the envelope, without the dead band, as a request: what an integrator of requests takes")] = 0.0
    trim_s: A[float, Q("-", about="what the trim adds to u_s_ach")] = 0.0
    trim_d: A[float, Q("-", about="what the trim adds to u_d_ach")] = 0.0


class Loss(NamedTuple):
    """One axis: what each stage took away, with its sign. The first two sum to req - cmd, all others to cmd - ach with the trim removed."""

    shaping: A[float, Q("-")] = 0.0
    envelope: A[float, Q("-")] = 0.0
    allocation: A[float, Q("-")] = 0.0
    fault: A[float, Q("-", about="what the allocator would have given with all motors well, less what it gave")] = 0.0
    clamp: A[float, Q("-")] = 0.0
    dead_band: A[float, Q("-")] = 0.0
    slew: A[float, Q("-")] = 0.0


class Diagnostics(NamedTuple):
    """Always computed: which stage acted, the limits in effect at this moment, the losses of each axis."""

    sat_cmd_stage: A[float, flag("the envelope cut the command")] = 0.0
    sat_alloc: A[float, flag("the allocator changed the command")] = 0.0
    sat_motor_stage: A[float, flag("clamp or slew of a motor acted")] = 0.0
    u_s_max_eff: A[float, Q("-")] = 0.0
    u_d_max_pos_eff: A[float, Q("-", about="at the allocated surge")] = 0.0
    u_d_max_neg_eff: A[float, Q("-", about="at the allocated surge")] = 0.0
    u_LR_max_eff: A[float, Q("-")] = 0.0
    u_LR_min_eff: A[float, Q("-")] = 0.0
    loss_s: Loss = Loss()
    loss_d: Loss = Loss()
    resid_s: A[float, Q("-", about="measured less put out: a fault nobody announced")] = 0.0
    resid_d: A[float, Q("-", about="measured less put out: a fault nobody announced")] = 0.0
    gain: A[float, Q("-", 0.0, about="most a motor is asked for, per what a well one would be")] = 1.0
    lost_s: A[float, flag("a motor that is not asked any more leaves nothing to serve this axis by itself")] = 0.0
    lost_d: A[float, flag("a motor that is not asked any more leaves nothing to serve this axis by itself")] = 0.0
    bad_dt: A[float, flag("the tick is no length of time: the motors stay where they are")] = 0.0
    bad_known: A[float, flag("a health is no number, such a motor counts as dead; or a measurement, there is no residual")] = 0.0
    optimality: A[float, Q("-", 0.0, about="certificate of the allocation, from what the motors are asked for: 0 where no better one exists")] = 0.0
