"""Stage 4: what was achieved, which stage took the rest, and what an integrator may unwind by.

    ach  = B y            y final outputs, B the effectiveness the allocator used: half sum and half difference, each motor times its health k
    free = B (y - o) / g  the trim removed
    aw   = free - cmd                                 in the space of the hardware
    aw_req = (free' - shaped) / max(slope, 0.01)      in the space of the request: shaped is the command before the envelope, slope its du/dx,
                                                      free' what it would be without the dead band of the motors

The loss of a stage is the value before it less the value after it, on each axis, trim removed; so all of them add up. Where no request comes through
(a scale of 0, the dead band of a stick) aw_req is -req. The slope counts as 0.01 at least, so that no residual grows more than a hundredfold.

What the dead band of a motor takes is a loss like the others, but it is no limit: a greater request gets through it. So it stays out of aw_req; else
the integral that has to push through the band would be emptied while it grows.
"""

from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.purity import pure
from pushrod.core.quantity import Q, flag
from pushrod.core.scalar import maximum, minimum
from pushrod.pipeline.act import Act
from pushrod.pipeline.allocate.two_motor import Bounds
from pushrod.pipeline.motor_stage import Out as Passed
from pushrod.pipeline.motor_stage import Params as MotorParams
from pushrod.pipeline.motor_stage import untrimmed
from pushrod.pipeline.names import SPEED_PRIORITY, WEIGHTED
from pushrod.pipeline.shaping import Feel
from pushrod.pipeline.shaping import Out as Shaped
from pushrod.pipeline.topic import ActuatorReq, Allocated, Diagnostics, Loss, MixerFeedback

CHANGED = 1e-6  # less than this is rounding, not saturation
SLOPE_LEAST = 0.01


class Pair(NamedTuple):
    """A point of the two axes."""

    s: A[float, Q("-")] = 0.0
    d: A[float, Q("-")] = 0.0


class Motors(NamedTuple):
    """Both motors on their way through the motor stage, and what is known of them."""

    L: MotorParams = MotorParams()
    R: MotorParams = MotorParams()
    k_L: A[float, Q("-", 0.0, 1.0)] = 1.0
    k_R: A[float, Q("-", 0.0, 1.0)] = 1.0


class Seen(NamedTuple):
    """What is known of the motors beside what they were told, and whether that and the tick are numbers."""

    resid_s: A[float, Q("-")] = 0.0
    resid_d: A[float, Q("-")] = 0.0
    bad_dt: A[float, flag()] = 0.0
    bad_known: A[float, flag()] = 0.0


@pure
def mixed(m: Motors, y_L: float, y_R: float) -> Pair:
    """The axes from the motors, through the effectiveness the allocator used."""
    L = m.k_L * y_L
    R = m.k_R * y_R
    return Pair(0.5 * (L + R), 0.5 * (R - L))


@pure
def free(m: Motors, y_L: float, y_R: float) -> Pair:
    """The same with the trim removed."""
    return mixed(m, untrimmed(m.L, y_L), untrimmed(m.R, y_R))


@pure
def to_flag(x: bool) -> float:
    return 1.0 if x else 0.0


@pure
def changed(a: float, b: float) -> bool:
    return abs(a - b) > CHANGED


@pure
def in_request(residual: float, req: float, feel: Feel) -> float:
    return residual / maximum(feel.slope, SLOPE_LEAST) if feel.slope > 0.0 or feel.u != 0.0 else -req


@pure
def less_achieved(aw_req: float, gone: float, feel: Feel) -> float:
    """The residual of a request once so much less is achieved than the motors were told."""
    return aw_req - gone / maximum(feel.slope, SLOPE_LEAST) if feel.slope > 0.0 or feel.u != 0.0 else aw_req


@pure
def feedback(m: Motors, req: ActuatorReq, shaped: Shaped, L: Passed, R: Passed, wish_L: float, wish_R: float) -> MixerFeedback:
    """`wish` is what the command alone would have each motor do, trim included."""
    ach = mixed(m, L.y, R.y)
    net = free(m, L.y, R.y)
    through = free(m, L.through, R.through)
    sat_L = changed(L.y, wish_L)
    sat_R = changed(R.y, wish_R)
    return MixerFeedback(
        ach.s,
        ach.d,
        to_flag(sat_L),
        to_flag(sat_R),
        to_flag(sat_L or sat_R),
        net.s - shaped.cmd.u_s_cmd,
        net.d - shaped.cmd.u_d_cmd,
        in_request(through.s - shaped.s.u, req.u_s_req, shaped.s),
        in_request(through.d - shaped.d.u, req.u_d_req, shaped.d),
        ach.s - net.s,
        ach.d - net.d,
    )


@pure
def losses(req: float, shaped: float, cmd: float, well: float, alloc: float, clamped: float, banded: float, out: float) -> Loss:
    """One axis, value after value. Behind the dead band only the slew acts: the last output and the next lie within the hardware's bounds."""
    return Loss(req - shaped, shaped - cmd, cmd - well, well - alloc, alloc - clamped, clamped - banded, banded - out)


@pure
def diagnose(
    p: Act,
    m: Motors,
    b: Bounds,
    req: ActuatorReq,
    shaped: Shaped,
    well: Allocated,
    alloc: Allocated,
    L: Passed,
    R: Passed,
    seen: Seen,
    gone_L: float,
    gone_R: float,
    certificate: float,
) -> Diagnostics:
    cmd = shaped.cmd
    clamped = free(m, L.clamped, R.clamped)
    banded = free(m, L.banded, R.banded)
    out = free(m, L.y, R.y)
    s = alloc.u_s_alloc
    moved_L = changed(L.trimmed, L.clamped) or changed(L.banded, L.y)
    moved_R = changed(R.trimmed, R.clamped) or changed(R.banded, R.y)
    hi = minimum(p.sw.u_LR_max, p.hw.u_LR_max)
    gone = gone_L + gone_R
    # one motor serves one axis: the one that comes first, or counts for more
    s_first = p.alloc.policy == SPEED_PRIORITY or (p.alloc.policy == WEIGHTED and p.alloc.w_s >= p.alloc.w_d)
    return Diagnostics(
        to_flag(changed(cmd.u_s_cmd, shaped.s.u) or changed(cmd.u_d_cmd, shaped.d.u)),
        to_flag(changed(s, cmd.u_s_cmd) or changed(alloc.u_d_alloc, cmd.u_d_cmd)),
        to_flag(moved_L or moved_R),
        minimum(p.sw.u_s_max, 0.5 * (b.b_L + b.b_R)),
        minimum(p.sw.u_d_max_pos, maximum(minimum(s - b.a_L, b.b_R - s), 0.0)),
        minimum(p.sw.u_d_max_neg, maximum(minimum(b.b_L - s, s - b.a_R), 0.0)),
        hi,
        maximum(p.sw.u_LR_min, p.hw.u_LR_min),
        losses(req.u_s_req, shaped.s.u, cmd.u_s_cmd, well.u_s_alloc, s, clamped.s, banded.s, out.s),
        losses(req.u_d_req, shaped.d.u, cmd.u_d_cmd, well.u_d_alloc, alloc.u_d_alloc, clamped.d, banded.d, out.d),
        seen.resid_s,
        seen.resid_d,
        maximum(1.0 / m.k_L if m.k_L > 0.0 else 0.0, 1.0 / m.k_R if m.k_R > 0.0 else 0.0),
        to_flag(gone > 1.0 or (gone == 1.0 and not s_first)),
        to_flag(gone > 1.0 or (gone == 1.0 and s_first)),
        seen.bad_dt,
        seen.bad_known,
        certificate,
    )
