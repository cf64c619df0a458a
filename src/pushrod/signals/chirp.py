"""Swept sine. tau = t - t_start, T = t_end - t_start.

    y = offset + amplitude sin(2 pi theta(tau) + phase)
    linear:       f(tau) = f_start + r tau,        r = (f_end - f_start) / T,   theta = f_start tau + r tau^2 / 2
    logarithmic:  f(tau) = f_start exp(r tau),     r = ln(f_end / f_start) / T, theta = f_start tau (exp(x) - 1) / x,  x = r tau

theta is the integral of the frequency f, so f is the frequency one sees at tau.
"""

import math
from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.purity import pure
from pushrod.core.quantity import Choice, Q
from pushrod.signals.kind import FlawError, Kind, Row, refuse_zero_length


class Fields(NamedTuple):
    amplitude: A[float, Q("y", about="half of peak to peak")]
    f_start: A[float, Q("Hz", 0.0, 1e6, about="frequency at the start")]
    f_end: A[float, Q("Hz", 0.0, 1e6, about="frequency at the end")]
    phase: A[float, Q("rad", about="at the start of the interval")] = 0.0
    offset: A[float, Q("y", about="mean value")] = 0.0
    sweep: A[float, Choice(("linear", "logarithmic"), about="equal time per hertz, or per octave")] = 0.0


@pure
def growth(x: float) -> float:
    """(exp(x) - 1) / x, by its series near 0 where the quotient loses its digits."""
    y = 1.0 + x / 2.0 * (1.0 + x / 3.0 * (1.0 + x / 4.0 * (1.0 + x / 5.0 * (1.0 + x / 6.0))))
    if x > 0.01 or x < -0.01:
        y = (math.exp(x) - 1.0) / x
    return y


@pure
def chirp(tau: float, amplitude: float, f_start: float, r: float, phase: float, offset: float, sweep: float) -> float:
    theta = f_start * tau * growth(r * tau) if sweep != 0.0 else (f_start + 0.5 * r * tau) * tau
    return offset + amplitude * math.sin(2.0 * math.pi * theta + phase)


def row(f: Fields, t_start: float, t_end: float) -> Row:
    refuse_zero_length("chirp", t_start, t_end)
    r = (f.f_end - f.f_start) / (t_end - t_start)
    if f.sweep != 0.0:
        for name, value in (("f_start", f.f_start), ("f_end", f.f_end)):
            if value <= 0.0:
                raise FlawError(name, value, "has no logarithm; a logarithmic sweep needs frequencies above 0 Hz")
        r = math.log(f.f_end / f.f_start) / (t_end - t_start)
    return Row((f.amplitude, f.f_start, r, f.phase, f.offset, f.sweep))


CHIRP = Kind("chirp", "sine swept from f_start to f_end", Fields, row, open_ended=False)
