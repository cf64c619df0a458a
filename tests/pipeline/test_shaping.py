"""Stage 1: the feel of a request, its slope, and the envelope."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from two_motor_sets import params, requests

from pushrod.pipeline.act import Man, Params, Shp, Sw
from pushrod.pipeline.shaping import manual, shape
from pushrod.pipeline.topic import ActuatorReq

AUTOPILOT, MANUAL, TEST = 1.0, 2.0, 3.0


def test_each_source_has_its_own_feel() -> None:
    shp = Shp(man=Man(0.5, 0.25, 0.1, 0.4))
    assert shape(shp, Sw(), ActuatorReq(0.8, 0.4, AUTOPILOT)).cmd == (0.8, 0.4)
    assert shape(shp, Sw(), ActuatorReq(0.8, 0.4, TEST)).cmd == (0.8, 0.4)
    y = 0.7 / 0.9
    assert shape(shp, Sw(), ActuatorReq(0.8, 0.05, MANUAL)).cmd == pytest.approx((0.5 * (0.6 * y + 0.4 * y**3), 0.0))


def test_the_envelope_cuts_each_side_by_its_own_limit() -> None:
    sw = Sw(u_s_min=-0.2, u_s_max=0.6, u_d_max_neg=0.1, u_d_max_pos=0.3)
    assert shape(Shp(), sw, ActuatorReq(1.0, 1.0, AUTOPILOT)).cmd == (0.6, 0.3)
    assert shape(Shp(), sw, ActuatorReq(-1.0, -1.0, AUTOPILOT)).cmd == (-0.2, -0.1)


def test_neutral_is_at_rest_even_where_the_envelope_is_not() -> None:
    assert shape(Shp(), Sw(u_s_min=0.2), ActuatorReq(0.7, 0.7, 0.0)).cmd == (0.0, 0.0)


@given(st.floats(-1.2, 1.2), st.floats(0.1, 2.0), st.floats(0.0, 0.5), st.floats(0.0, 1.0))
def test_the_slope_is_the_derivative(x: float, k: float, db: float, e: float) -> None:
    assume(abs(abs(x) - db) > 1e-4)
    h = 1e-6
    slope = (manual(x + h, k, db, e).u - manual(x - h, k, db, e).u) / (2.0 * h)
    assert manual(x, k, db, e).slope == pytest.approx(slope, rel=1e-5, abs=1e-6)


@given(params(), requests)
def test_the_command_is_within_the_envelope(p: Params, req: ActuatorReq) -> None:
    cmd = shape(p.act.shp, p.act.sw, req).cmd
    assert req.src == 0.0 or p.act.sw.u_s_min <= cmd.u_s_cmd <= p.act.sw.u_s_max
    assert -p.act.sw.u_d_max_neg <= cmd.u_d_cmd <= p.act.sw.u_d_max_pos
