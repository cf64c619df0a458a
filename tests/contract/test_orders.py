"""Every claim of a header about its order of accuracy, measured: the error with n steps against that with twice as many.

A header that names an order and is not in ORDERS fails, and so does an entry whose header names none.
"""

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pushrod
from pushrod.models import friction, second_order, servo
from pushrod.plants import rigid_body, surface_vessel, two_link_arm

SOURCE = Path(pushrod.__file__).parent
CLAIM = re.compile(r"of the order of the|Runge-Kutta|(?:first|second|third|fourth)[- ]order (?:method|accura)|order of accuracy", re.IGNORECASE)
FINE = 8  # times as many steps again for what counts as exact


def ran(step: Callable[..., Any], p: Any, s: Any, u: Any, t: float, n: int) -> Any:
    for _ in range(n):
        s, _ = step(p, s, u, t / n)
    return s


def rubbing(n: int) -> tuple[float, ...]:
    """A rotor pushed along through the speeds at which the Stribeck friction falls."""
    p, J, w, t = friction.Params(c=0.06, s=0.12, w_s=2.0, b=0.01), 0.05, 0.5, 1.0
    for _ in range(n):
        _, y = friction.step(p, friction.State(), friction.In(0.2, w, J), t / n)
        w = y.w
    return (w,)


def against_limits(n: int) -> tuple[float, ...]:
    """From several places up at the greatest rate, against the stop, back from there and to the command: all limits come and go."""
    p = second_order.Params(w=20.0, z=0.2, rate=8.0, lo=-1.0, hi=1.0)
    ends = (ran(second_order.step, p, second_order.State(-0.9 + 0.03 * a, 0.0), 0.8, 0.5, n) for a in range(12))
    return tuple(x for end in ends for x in end)


def served(n: int) -> tuple[float, ...]:
    """A servo on its way to a goal, with n runs of its firmware."""
    t = 0.1
    s = servo.step(servo.Params(period=t / n), servo.State(), servo.In(0.6, 0.2, 1.0, 0.02), t)[0]
    return (s.q, s.w)


def tumbling(n: int) -> tuple[float, ...]:
    """Slowly enough that no tick is cut."""
    s = ran(
        rigid_body.step,
        rigid_body.Params(1.0, 2.0, 2.5, 0.1, -0.2, 0.05),
        rigid_body.State(rigid_body.Rate(1.0, -0.7, 0.4)),
        rigid_body.Torque(0.5, -0.4, 0.3),
        0.4,
        n,
    )
    return (*s.w, *s.q)


def sailing(n: int) -> tuple[float, ...]:
    """No speed passes 0, where the drag has a kink, and no tick is cut."""
    p = surface_vessel.Params(a=0.0)
    s = ran(surface_vessel.step, p, surface_vessel.State(u=1.0, v=0.5, r=0.3), surface_vessel.In(X=60.0, Y=60.0, N=20.0), 1.0, n)
    return tuple(s)


def swinging(n: int) -> tuple[float, ...]:
    free = two_link_arm.Joint(b=0.1, c=0.0)
    p = two_link_arm.Params(shoulder=free, elbow=free)
    s = ran(two_link_arm.step, p, two_link_arm.State(q1=1.0, q2=-0.5, w1=0.5, w2=-1.0), two_link_arm.In(1.0, -0.3), 0.4, n)
    return (s.q1, s.q2, s.w1, s.w2)


# order, run, steps, and how many times as many show the order: events fall into steps by chance, so limits need more than twice
ORDERS: dict[str, tuple[int, Callable[[int], tuple[float, ...]], int, int]] = {
    "models/friction": (1, rubbing, 40, 2),
    "models/second_order": (2, against_limits, 100, 8),
    "models/servo": (1, served, 200, 2),
    "plants/rigid_body": (4, tumbling, 40, 2),
    "plants/surface_vessel": (4, sailing, 40, 2),
    "plants/two_link_arm": (4, swinging, 40, 2),
}


@pytest.mark.parametrize("name", ORDERS)
def test_the_error_shrinks_as_the_header_says(name: str) -> None:
    order, run, n, times = ORDERS[name]
    exact = run(FINE * times * n)
    coarse, fine = (math.dist(run(k * n), exact) for k in (1, times))
    assert coarse > 1e-13, "an error of rounding shows no order"
    measured = math.log(coarse / fine) / math.log(times)
    assert measured >= order - 0.25, f"order {measured:.2f}, errors {coarse:.2g} and {fine:.2g}"


def test_every_header_that_names_an_order_is_measured() -> None:
    claims = set()
    for package in ("models", "plants", "signals", "pipeline", "motion"):
        for file in sorted((SOURCE / package).rglob("*.py")):
            header = file.read_text().split('"""')[1] if file.read_text().startswith('"""') else ""
            if CLAIM.search(header):
                claims.add(str(file.relative_to(SOURCE).with_suffix("")))
    assert claims == set(ORDERS)
