"""What the pipeline of n effectors takes and tells: requests and achieved values on the axes, outputs of the effectors, losses and limits."""

from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.quantity import Choice, Q, flag
from pushrod.pipeline.allocate.axes import M_MOST, Axes, Effectors, Health, Pulses
from pushrod.pipeline.names import REASONS, SOURCES


class In(NamedTuple):
    req: Axes = Axes()
    src: A[float, Choice(SOURCES, "whose request it is; NONE: neutral")] = 0.0
    reason: A[float, Choice(REASONS, "why it is neutral")] = 0.0
    health: Health = Health()
    measured: A[float, flag("the next is known")] = 0.0
    u_meas: Effectors = Effectors()


class Losses(NamedTuple):
    """What each stage took away on each axis, with its sign. The first two sum to req - cmd, all others to cmd - ach with the trim removed."""

    shaping: Axes = Axes()
    envelope: Axes = Axes()
    allocation: Axes = Axes()
    fault: Axes = Axes()
    clamp: Axes = Axes()
    dead_band: Axes = Axes()
    slew: Axes = Axes()


class Out(NamedTuple):
    reason: A[float, Choice(REASONS, "why the request is neutral")] = 0.0
    cmd: Axes = Axes()
    alloc: Axes = Axes()
    u: Effectors = Effectors()
    ach: Axes = Axes()
    aw: Axes = Axes()
    aw_req: Axes = Axes()
    trim: Axes = Axes()
    resid: Axes = Axes()
    sat: Effectors = Effectors()
    sat_any: A[float, flag()] = 0.0
    sat_cmd_stage: A[float, flag("the envelope cut the command")] = 0.0
    sat_alloc: A[float, flag("the allocator changed the command")] = 0.0
    sat_motor_stage: A[float, flag("clamp or slew of an effector acted")] = 0.0
    lost: Axes = Axes()
    gain: A[float, Q("-", 0.0, about="bound on effectors per share of the healthy authority")] = 0.0
    rank: A[float, Q("-", 0.0, M_MOST, "axes that are served")] = 0.0
    optimality: A[float, Q("-", 0.0)] = 0.0
    loss: Losses = Losses()
    pulse: Pulses = Pulses()
    u_min_eff: Effectors = Effectors()
    u_max_eff: Effectors = Effectors()
    a_min_eff: Axes = Axes()
    a_max_eff: Axes = Axes()
    bad_dt: A[float, flag("the tick is no length of time: the effectors stay where they are")] = 0.0
    bad_known: A[float, flag("a health is no number, such an effector counts as dead; or a measurement, there is no residual")] = 0.0
