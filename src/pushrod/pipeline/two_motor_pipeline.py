"""The whole pipeline for two motors: request, shape, allocate, mix, motor limits, feedback, in one step.

    req -> cmd -> alloc -> u_L = (s - d) / k_L, u_R = (s + d) / k_R -> trim, clamp, dead band, slew -> ach

k    health of a motor as announced [-]: 1 well, 0 dead. What it can contribute shrinks with it, and the allocator knows
f    how much of the range of a weak motor is used [-] (`allocate.health`); its trim offset is used as much
meas what a motor really does, where that is measured: the difference is told as a residual, and stays out of what controllers unwind by,
     for making up for it is their work

Two models: TWO_MOTOR takes a request, TWO_MOTOR_PIPELINE takes the sources and selects one. A neutral request (no owner, too old, aborted, no number)
takes both motors to rest within `act.slew.neutral_time`, past trim, dead band and software envelope.

No gain above a stated bound: 1 / k <= gain_max for every motor that is asked. One of k <= 1 / gain_max counts as dead and an axis is told as
lost; up to 2 / gain_max it is used less and less, so that nothing jumps on the way. Before the trim |du_L|, |du_R| <= gain_max (|ds| + |dd|)
while no limit acts, and twice that in any case, for a motor takes over what the other one cannot give. An axis told as lost stays so until the
motor's health is a ninth above that bound, so that the report does not come and go with a health that wavers; what is asked does not depend on it.

A tick that is no length of time (negative, NaN, infinite) is 0: nothing moves, and `bad_dt` tells. A health that is no number is 0, with a
measurement that is none there is no residual, and `bad_known` tells; so it does of a health outside 0 to 1.
"""

from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.quantity import Q, flag
from pushrod.core.scalar import clamp, maximum, minimum
from pushrod.pipeline import request
from pushrod.pipeline.act import Act, Params
from pushrod.pipeline.allocate.health import edge, is_share, known_health, used
from pushrod.pipeline.allocate.rank import BACK
from pushrod.pipeline.allocate.two_motor import Bounds, allocate, optimality
from pushrod.pipeline.esc import to_pulse
from pushrod.pipeline.feedback import Motors, Pair, Seen, diagnose, feedback, free, to_flag
from pushrod.pipeline.motor_stage import LONGEST, pass_motor, tick
from pushrod.pipeline.motor_stage import Params as MotorParams
from pushrod.pipeline.names import NONE
from pushrod.pipeline.shaping import shape
from pushrod.pipeline.topic import ActuatorCmd, ActuatorReq, Allocated, Diagnostics, EscOutput, MixerFeedback


class State(NamedTuple):
    u_L: A[float, Q("-", -10.0, 10.0, "the last output")] = 0.0
    u_R: A[float, Q("-", -10.0, 10.0, "the last output")] = 0.0
    gone_L: A[float, flag("not asked any more, or not well enough since to be counted on")] = 0.0
    gone_R: A[float, flag("not asked any more, or not well enough since to be counted on")] = 0.0


class Known(NamedTuple):
    """What is known of the motors."""

    health_L: A[float, Q("-", 0.0, 1.0, "share of its output the left motor still gives, as announced")] = 1.0
    health_R: A[float, Q("-", 0.0, 1.0, "share of its output the right motor still gives, as announced")] = 1.0
    measured: A[float, flag("the next two are known")] = 0.0
    u_L_meas: A[float, Q("-")] = 0.0
    u_R_meas: A[float, Q("-")] = 0.0


class In(NamedTuple):
    req: ActuatorReq = ActuatorReq()
    known: Known = Known()


class Sources(NamedTuple):
    sources: request.In = request.In()
    known: Known = Known()


class Out(NamedTuple):
    req: ActuatorReq = ActuatorReq()
    cmd: ActuatorCmd = ActuatorCmd()
    alloc: Allocated = Allocated()
    esc: EscOutput = EscOutput()
    fb: MixerFeedback = MixerFeedback()
    diag: Diagnostics = Diagnostics()


@pure
def motor_params(p: Act, gain: float, offset: float, at_rest: bool) -> MotorParams:
    if at_rest:
        least = maximum(abs(p.hw.u_LR_min), abs(p.hw.u_LR_max)) / p.slew.neutral_time
        up = maximum(p.slew.up, least)
        down = maximum(p.slew.down, least)
        return MotorParams(1.0, 0.0, p.hw.u_LR_min, p.hw.u_LR_max, p.hw.u_LR_min, p.hw.u_LR_max, 0.0, up, down)
    lo = maximum(p.sw.u_LR_min, p.hw.u_LR_min)
    hi = minimum(p.sw.u_LR_max, p.hw.u_LR_max)
    return MotorParams(gain, offset, lo, hi, p.hw.u_LR_min, p.hw.u_LR_max, p.motor.deadband, p.slew.up, p.slew.down)


@pure
def reach(p: Act, m: MotorParams, f: float, last: float, dt: float) -> Pair:
    """Bounds of one motor for the allocator: what is used of its range, and how far it can slew in this tick if that is to be known."""
    lo = edge(f, m.lo, m.lo, m.hi)
    hi = edge(f, m.hi, m.lo, m.hi)
    if p.alloc.slew_aware == 0.0:
        return Pair(lo, hi)
    a = (last - m.down * dt - m.offset) / m.gain
    b = (last + m.up * dt - m.offset) / m.gain
    a = clamp(a, m.lo, m.hi)
    b = clamp(b, m.lo, m.hi)
    return Pair(clamp(lo, a, b), clamp(hi, a, b))


@pure
def shared_out(v: float, k: float) -> float:
    """What a motor of health k is asked for, so that it contributes v."""
    return v / k if k > 0.0 else 0.0


@pure
def motors(p: Act, known: Known, at_rest: bool) -> Motors:
    """Both as they are: a dead one rests, without its trim."""
    g = p.alloc.gain_max
    k_L = known_health(known.health_L, g)
    k_R = known_health(known.health_R, g)
    mL = motor_params(p, p.trim.gain_L, used(k_L, g) * p.trim.offset_L, at_rest or k_L == 0.0)
    mR = motor_params(p, p.trim.gain_R, used(k_R, g) * p.trim.offset_R, at_rest or k_R == 0.0)
    return Motors(mL, mR, k_L, k_R)


@pure
def gone(before: float, k: float, gain_max: float) -> float:
    """Whether a motor counts as lost: from k = 1 / gain_max down, and then until its health is well above."""
    return to_flag(k == 0.0 or (before != 0.0 and k * gain_max * BACK <= 1.0))


@pure
def seen(m: Motors, y_L: float, y_R: float, known: Known, dt: float) -> Seen:
    """The residual: what measured motors do beyond what they were told. None where it cannot be known, which is told."""
    bad_dt = to_flag(not (dt >= 0.0 and dt <= LONGEST))
    measures = request.finite(known.u_L_meas) and request.finite(known.u_R_meas)
    strange = to_flag(not (is_share(known.health_L) and is_share(known.health_R) and (measures or known.measured == 0.0)))
    if known.measured == 0.0 or not measures:
        return Seen(0.0, 0.0, bad_dt, strange)
    a = free(m, known.u_L_meas, known.u_R_meas)
    b = free(m, y_L, y_R)
    return Seen(a.s - b.s, a.d - b.d, bad_dt, strange)


@pure
def from_request(p: Act, s: State, asked: ActuatorReq, known: Known, dt: float) -> tuple[State, Out]:
    req = request.sound(asked)
    shaped = shape(p.shp, p.sw, req)
    cmd = shaped.cmd
    at_rest = req.src == NONE
    m = motors(p, known, at_rest)
    k_L = m.k_L
    k_R = m.k_R
    h = tick(dt)
    last_L = clamp(s.u_L, p.hw.u_LR_min, p.hw.u_LR_max)
    last_R = clamp(s.u_R, p.hw.u_LR_min, p.hw.u_LR_max)

    reach_L = reach(p, m.L, used(k_L, p.alloc.gain_max), last_L, h)
    reach_R = reach(p, m.R, used(k_R, p.alloc.gain_max), last_R, h)
    b = Bounds(k_L * reach_L.s, k_L * reach_L.d, k_R * reach_R.s, k_R * reach_R.d)
    alloc = Allocated(0.0, 0.0)
    well = alloc
    if not at_rest:
        alloc = allocate(p.alloc, b, cmd.u_s_cmd, cmd.u_d_cmd)
        well = alloc
        if k_L < 1.0 or k_R < 1.0:
            fit = motors(p, Known(1.0, 1.0, 0.0, 0.0, 0.0), False)
            fit_L = reach(p, fit.L, 1.0, last_L, h)
            fit_R = reach(p, fit.R, 1.0, last_R, h)
            well = allocate(p.alloc, Bounds(fit_L.s, fit_L.d, fit_R.s, fit_R.d), cmd.u_s_cmd, cmd.u_d_cmd)

    ask_L = shared_out(alloc.u_s_alloc - alloc.u_d_alloc, k_L)
    ask_R = shared_out(alloc.u_s_alloc + alloc.u_d_alloc, k_R)
    certificate = 0.0 if at_rest else optimality(p.alloc, b, cmd.u_s_cmd, cmd.u_d_cmd, k_L * ask_L, k_R * ask_R)
    gone_L = gone(s.gone_L, k_L, p.alloc.gain_max)
    gone_R = gone(s.gone_R, k_R, p.alloc.gain_max)
    L = pass_motor(m.L, last_L, ask_L, h)
    R = pass_motor(m.R, last_R, ask_R, h)
    wish_L = m.L.gain * ((cmd.u_s_cmd - cmd.u_d_cmd) / k_L if k_L > 0.0 else cmd.u_s_cmd - cmd.u_d_cmd) + m.L.offset
    wish_R = m.R.gain * ((cmd.u_s_cmd + cmd.u_d_cmd) / k_R if k_R > 0.0 else cmd.u_s_cmd + cmd.u_d_cmd) + m.R.offset
    y = Out(
        req,
        cmd,
        alloc,
        EscOutput(L.y, R.y, to_pulse(p.esc, L.y, p.esc.reverse_L), to_pulse(p.esc, R.y, p.esc.reverse_R)),
        feedback(m, req, shaped, L, R, wish_L, wish_R),
        diagnose(p, m, b, req, shaped, well, alloc, L, R, seen(m, L.y, R.y, known, dt), gone_L, gone_R, certificate),
    )
    return State(L.y, R.y, gone_L, gone_R) if h > 0.0 else s, y


@pure
def step(p: Params, s: State, u: In, dt: float) -> tuple[State, Out]:
    return from_request(p.act, s, u.req, u.known, dt)


@pure
def step_sources(p: Params, s: State, u: Sources, dt: float) -> tuple[State, Out]:
    return from_request(p.act, s, request.select(request.Params(p.act.rc, p.act.timeout), u.sources), u.known, dt)


def settling(p: Params) -> float:
    """The longest time from any output to rest once a request is neutral [s]."""
    far = max(abs(p.act.hw.u_LR_min), abs(p.act.hw.u_LR_max))
    rate = max(min(p.act.slew.up, p.act.slew.down), far / p.act.slew.neutral_time)
    return far / rate


TWO_MOTOR = Model("two_motor", Params, State, In, Out, step)
TWO_MOTOR_PIPELINE = Model("two_motor_pipeline", Params, State, Sources, Out, step_sources)
