"""What has no preferred side has none: the mirrored command from the mirrored state gives the mirrored answer, to the last bit."""

import random
from typing import Any

import pytest

from counts import examples
from pushrod.core.model import Model
from pushrod.core.quantity import Q
from pushrod.core.record import build, flat, get, leaves, numbers
from pushrod.models import MODELS, dead_zone, friction, gear_friction, second_order, servo, thruster
from pushrod.plants import PLANTS

# by name, parameters that are the same on both sides and near enough to their limits that these act
EVEN: dict[str, Any] = {
    "rate_limit": MODELS["rate_limit"].Params(2.0, 2.0),
    "first_order": MODELS["first_order"].Params(0.03),
    "second_order": second_order.Params(30.0, 0.5, 3.0, -0.8, 0.8),
    "saturation": MODELS["saturation"].Params(-0.5, 0.5),
    "backlash": MODELS["backlash"].Params(0.4),
    "dead_zone": dead_zone.Params(0.7),
    "friction": friction.Params(c=0.3, s=0.5, w_s=0.2, b=0.1, mu=0.2),
    "gear_friction": gear_friction.Params(c=0.3, s=0.2, w_s=0.2, b=0.1, mu=0.2, mu_s=0.1, mu_q=0.1, mu_m=0.05, mu_e=0.02),
    "dc_motor": MODELS["dc_motor"].Params(v_max=1.0, i_max=0.3),
    "servo": servo.Params()._replace(motor=servo.Params().motor._replace(i_max=0.4), play=0.02),
    "thruster": thruster.Params(F_ahead=40.0, F_astern=40.0),
    "joint": PLANTS["joint"].Params(),
}
SIDELESS = {"enabled", "J", "J_l", "r", "held", "stuck"}  # numbers that have no side


def turned(record: Any, value: Any) -> Any:
    def leaf(at: Any) -> float:
        x = get(value, at.path)
        unsigned = at.path in SIDELESS or (isinstance(at.meta, Q) and at.meta.unit == "V" and at.path == "V")
        return float(x if unsigned else -x)

    return build(record, leaf)


def drawn(record: Any, rng: random.Random) -> Any:
    def leaf(at: Any) -> float:
        if not isinstance(at.meta, Q):
            return float(rng.randrange(2))
        return rng.uniform(0.001, 0.1) if at.meta.lo >= 0.0 else rng.choice((0.0, rng.uniform(-2.0, 2.0), rng.uniform(-2.0, 2.0)))

    return build(record, leaf)


@pytest.mark.parametrize("name", EVEN)
def test_mirrored(name: str) -> None:
    model: Model = (MODELS | PLANTS)[name]
    p = EVEN[name]
    assert all(leaf.is_number for leaf in leaves(model.State))
    rng = random.Random(name)
    for _ in range(examples(60)):
        s = t = model.State()
        for _ in range(12):
            u = drawn(model.In, rng)
            dt = rng.choice((1e-4, 1e-3, 0.01, 0.05))
            s, y = model.step(p, s, u, dt)
            t, z = model.step(p, t, turned(model.In, u), dt)
            assert flat(turned(model.State, t)) == flat(s)
            assert flat(turned(model.Out, z), model.Out) == flat(y, model.Out)
    assert numbers(model.Out)
