"""The table of signal kinds. A kind joins by its file, its row here, and its line in `shape`; its number is its place in KINDS."""

from pushrod.core.purity import pure
from pushrod.signals.chirp import CHIRP, chirp
from pushrod.signals.constant import CONSTANT
from pushrod.signals.linear import LINEAR, linear
from pushrod.signals.prbs import PRBS, prbs
from pushrod.signals.quadratic import QUADRATIC, quadratic
from pushrod.signals.ramp_hold import RAMP_HOLD, ramp_hold
from pushrod.signals.recorded import RECORDED, recorded
from pushrod.signals.sine import SINE, sine
from pushrod.signals.steps import STEPS, steps
from pushrod.signals.track import Interval, Track

KINDS = {
    "constant": CONSTANT,
    "linear": LINEAR,
    "quadratic": QUADRATIC,
    "sine": SINE,
    "chirp": CHIRP,
    "steps": STEPS,
    "prbs": PRBS,
    "ramp_hold": RAMP_HOLD,
    "recorded": RECORDED,
}


@pure
def shape(p: Track, q: Interval, t: float) -> float:
    """The value of interval q at t, whatever its kind."""
    kind = int(q.kind)
    tau = t - q.t_start
    first = int(q.first)
    n = int(q.n)
    y = q.a
    if kind == 1:
        y = linear(t, q.t_start, q.t_end, q.a, q.b)
    elif kind == 2:
        y = quadratic(t, q.t_start, q.t_end, q.a, q.b, q.c, q.d)
    elif kind == 3:
        y = sine(tau, q.a, q.b, q.c, q.d)
    elif kind == 4:
        y = chirp(tau, q.a, q.b, q.c, q.d, q.e, q.f)
    elif kind == 5:
        y = steps(t, p.points, first, n, q.a)
    elif kind == 6:
        y = prbs(tau, p.points, first, n, q.a)
    elif kind == 7:
        y = ramp_hold(tau, p.points, first, n, q.a, q.b)
    elif kind == 8:
        y = recorded(t, p.points, first, n, q.a)
    return y
