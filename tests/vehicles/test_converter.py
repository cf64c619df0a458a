"""The command converter: which pedal is chosen, what the steering becomes, and that a car obeying its maps does what was asked."""

import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counts import examples
from pushrod.core.check import check
from pushrod.core.errors import ParameterError
from pushrod.core.purity import offences
from pushrod.core.table import lookup_grid
from pushrod.vehicles import converter, steer_pid, vgr
from pushrod.vehicles.converter import NONE, STEER_MAP, VGR, In, Out, Params, State
from pushrod.vehicles.map_file import load_accel_map, load_brake_map, load_steer_map

MAPS = Path(__file__).resolve().parents[1] / "golden" / "vehicle" / "maps"
P = Params(
    accel_map=load_accel_map(MAPS / "accel_map.csv"),
    brake_map=load_brake_map(MAPS / "brake_map.csv"),
    steer_map=load_steer_map(MAPS / "steer_map.csv"),
    max_throttle=0.6,
    max_brake=0.9,
)
DT = 0.01


def convert(p: Params, u: In) -> Out:
    return converter.step(p, State(), u, DT)[1]


def test_an_acceleration_presses_one_pedal_and_the_maps_give_it_back() -> None:
    for v in (0.0, 3.0, 8.0, 20.0):
        for a in (-5.0, -2.0, -0.5, 0.0, 0.5, 1.0):
            y = convert(P, In(acceleration=a, v=v))
            given = lookup_grid(P.brake_map, y.brake, v) if y.brake > 0.0 else lookup_grid(P.accel_map, y.accel, v)
            reach = lookup_grid(P.accel_map, 0.0, v), lookup_grid(P.brake_map, 0.9, v)
            assert y.accel * y.brake == 0.0
            assert given == pytest.approx(max(a, reach[1]), abs=1e-12)


def test_below_the_accel_map_the_brake_takes_over() -> None:
    coast = lookup_grid(P.accel_map, 0.0, 8.0)
    above, below = convert(P, In(acceleration=coast + 0.01, v=8.0)), convert(P, In(acceleration=coast - 0.01, v=8.0))
    assert above.accel > 0.0
    assert above.brake == 0.0
    assert below.accel == 0.0
    assert below.brake > 0.0


def test_reverse_uses_the_speed_without_its_sign() -> None:
    for a in (0.7, -2.0):
        assert convert(P, In(acceleration=a, v=-6.0)) == convert(P, In(acceleration=a, v=6.0))


def test_pedal_limits_hold_and_are_reported() -> None:
    p = P._replace(max_throttle=0.3, max_brake=0.2)
    y = convert(p, In(acceleration=4.0, v=1.0))
    assert (y.accel, y.brake, y.accel_limited, y.brake_limited) == (0.3, 0.0, 1.0, 0.0)
    y = convert(p, In(acceleration=-6.0, v=10.0))
    assert (y.accel, y.brake, y.accel_limited, y.brake_limited) == (0.0, 0.2, 0.0, 1.0)
    y = convert(p, In(acceleration=0.2, v=1.0))
    assert (y.accel_limited, y.brake_limited, y.steer_limited) == (0.0, 0.0, 0.0)


def test_the_end_of_a_map_is_a_limit_too() -> None:
    y = convert(P._replace(max_throttle=1.0), In(acceleration=100.0, v=1.0))
    assert (y.accel, y.accel_limited) == (0.6, 1.0)


def test_slope_is_compensated_when_asked() -> None:
    uphill = In(acceleration=0.5, slope=-0.6, v=5.0)
    assert convert(P, uphill) == convert(P, In(acceleration=0.5, v=5.0))
    assert convert(P._replace(compensate_slope=1.0), uphill) == convert(P, In(acceleration=1.1, v=5.0))


@pytest.mark.parametrize(("accel", "brake"), [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0)])
def test_what_is_not_converted_is_passed_on(accel: float, brake: float) -> None:
    p = P._replace(convert_accel_cmd=accel, convert_brake_cmd=brake)
    up, down = convert(p, In(acceleration=1.0, v=5.0)), convert(p, In(acceleration=-3.0, v=5.0))
    assert up.accel == (1.0 if accel == 0.0 else convert(P, In(acceleration=1.0, v=5.0)).accel)
    assert (down.accel, down.brake) == ((-3.0, 3.0) if brake == 0.0 else (0.0, convert(P, In(acceleration=-3.0, v=5.0)).brake))


def test_steering_may_be_left_alone() -> None:
    p = P._replace(convert_steer_cmd=NONE)
    assert convert(p, In(steer=0.3, v=5.0, wheel_meas=2.0)).steer == 0.3


def test_steering_by_gear_ratio_uses_the_ratio_where_the_wheel_is() -> None:
    y = convert(P, In(steer=0.1, v=5.0, wheel_meas=-2.0))
    assert y.steer == pytest.approx(0.1 * (15.713 + 0.053 * 25.0 - 0.042 * 2.0), rel=1e-12)
    y = convert(P, In(steer=-0.5, v=20.0))
    assert (y.steer, y.steer_limited) == (-10.0, 1.0)


def test_steering_by_map_is_feed_forward_plus_feedback() -> None:
    p = P._replace(convert_steer_cmd=STEER_MAP, pid=steer_pid.Params(kp=20.0, ki=2.0))
    still = In(steer=0.2, steer_rate=0.1, v=5.0, steer_meas=0.2)
    ff = convert(p, still).steer
    assert lookup_grid(p.steer_map, ff, 0.2) == pytest.approx(0.1, abs=1e-12)
    behind = still._replace(steer_meas=0.15)
    fb = convert(p._replace(use_steer_ff=0.0), behind).steer
    assert fb == pytest.approx(20.0 * 0.05 + 2.0 * 0.05 * DT)
    assert convert(p, behind).steer == pytest.approx(fb + convert(p._replace(use_steer_fb=0.0), behind).steer)
    assert convert(p._replace(max_steer=0.5), behind)[2] == 0.5


def test_steering_by_map_brings_an_integrating_steering_to_its_angle() -> None:
    p = P._replace(convert_steer_cmd=STEER_MAP, pid=steer_pid.Params(ki=0.0))
    s, angle = State(), 0.0
    for _ in range(600):
        s, y = converter.step(p, s, In(steer=0.2, v=5.0, steer_meas=angle), DT)
        angle += lookup_grid(p.steer_map, y.steer, angle) * DT
    assert angle == pytest.approx(0.2, abs=1e-9)


def test_without_a_steering_report_the_angle_is_derived_from_the_wheel() -> None:
    p = P._replace(enable_pub_steer=0.0)
    wheel = vgr.wheel_from_tire(p.vgr_coef, 7.0, 0.12)
    y = convert(p, In(v=7.0, wheel_meas=wheel, steer_meas=99.0))
    assert y.steer_meas == pytest.approx(0.12, abs=1e-12)
    assert convert(P, In(v=7.0, wheel_meas=wheel, steer_meas=0.3)).steer_meas == 0.3


@pytest.mark.parametrize("steer", [NONE, STEER_MAP])
def test_an_angle_cannot_be_derived_without_the_gear_ratio(steer: float) -> None:
    with pytest.raises(ParameterError, match="needs convert_steer_cmd: vgr"):
        check(P._replace(enable_pub_steer=0.0, convert_steer_cmd=steer))
    check(P._replace(enable_pub_steer=0.0, convert_steer_cmd=VGR))


def test_a_map_without_an_inverse_is_refused_where_it_is_used() -> None:
    flat = P.accel_map._replace(z=(1.0,) * len(P.accel_map.z))
    with pytest.raises(ParameterError, match="accel_map.z: must rise strictly"):
        check(P._replace(accel_map=flat))
    with pytest.raises(ParameterError, match="brake_map.z: must fall strictly"):
        check(P._replace(brake_map=P.brake_map._replace(z=P.brake_map.z[::-1])))
    with pytest.raises(ParameterError, match="accel_map.z has 3 values"):
        check(P._replace(accel_map=flat._replace(z=(1.0, 2.0, 3.0))))
    check(P._replace(accel_map=flat, convert_accel_cmd=0.0))


@settings(max_examples=examples(200))
@given(
    st.sampled_from((NONE, STEER_MAP, VGR)),
    st.builds(In, *(st.floats(-bound, bound) for bound in (50.0, 1.5, 50.0, 10.0, 60.0, 1.5, 50.0))),
    st.floats(1e-6, 0.1),
)
def test_any_request_gives_finite_commands_within_limits(steer: float, u: In, dt: float) -> None:
    p = P._replace(convert_steer_cmd=steer)
    s, y = converter.step(p, State(), u, dt)
    assert all(math.isfinite(x) for x in (*y, *s.pid))
    assert 0.0 <= y.accel <= p.max_throttle
    assert 0.0 <= y.brake <= p.max_brake
    assert steer == NONE or p.min_steer <= y.steer <= p.max_steer


def test_a_tick_of_length_zero_changes_nothing() -> None:
    s = State(steer_pid.State(0.01, 0.2, 1.0))
    assert converter.step(P._replace(convert_steer_cmd=STEER_MAP), s, In(steer=0.3, v=5.0), 0.0)[0] == s


def test_the_converter_is_pure() -> None:
    for fn in (converter.step, converter.pedals, converter.at_limit, steer_pid.step):
        assert offences(fn) == []
    check(Params())
