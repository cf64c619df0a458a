"""Pedal and steering maps and the gear ratio: forward and back is where one started, and the ends clamp."""

import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counts import examples
from pushrod.core.purity import offences
from pushrod.core.table import column_value, fraction, invert_rows, lookup_cell, lookup_grid, segment, segment_near
from pushrod.vehicles import vgr
from pushrod.vehicles.map_file import load_accel_map, load_brake_map, load_steer_map
from pushrod.vehicles.pedal_map import AccelMap, BrakeMap, Throttle, accel_to_brake, accel_to_throttle
from pushrod.vehicles.steer_map import SteerMap, rate_to_steer

MAPS = Path(__file__).resolve().parents[1] / "golden" / "vehicle" / "maps"
ACCEL = load_accel_map(MAPS / "accel_map.csv")
BRAKE = load_brake_map(MAPS / "brake_map.csv")
STEER = load_steer_map(MAPS / "steer_map.csv")
speed = st.floats(-5.0, 30.0)


@settings(max_examples=examples(200))
@given(st.floats(ACCEL.row[0], ACCEL.row[-1]), speed)
def test_pedal_to_acceleration_and_back(pedal: float, v: float) -> None:
    t = accel_to_throttle(ACCEL, lookup_grid(ACCEL, pedal, v), v)
    # at the very bottom the acceleration may round to just below the map
    assert t.found == 1.0 or pedal < 1e-9
    assert t.pedal == pytest.approx(pedal, abs=1e-12)


@settings(max_examples=examples(200))
@given(st.floats(-8.0, 6.0), speed)
def test_acceleration_to_pedal_and_back_where_the_maps_reach(a: float, v: float) -> None:
    low, high = lookup_grid(ACCEL, ACCEL.row[0], v), lookup_grid(ACCEL, ACCEL.row[-1], v)
    t = accel_to_throttle(ACCEL, a, v)
    assert t.found == (1.0 if a >= low else 0.0)
    if t.found:
        assert lookup_grid(ACCEL, t.pedal, v) == pytest.approx(min(a, high), abs=1e-12)
    low, high = lookup_grid(BRAKE, BRAKE.row[-1], v), lookup_grid(BRAKE, BRAKE.row[0], v)
    assert lookup_grid(BRAKE, accel_to_brake(BRAKE, a, v), v) == pytest.approx(min(max(a, low), high), abs=1e-12)


@settings(max_examples=examples(200))
@given(st.floats(STEER.row[0], STEER.row[-1]), st.floats(-1.0, 1.0))
def test_steering_actuation_to_rate_and_back(u: float, steer: float) -> None:
    assert rate_to_steer(STEER, lookup_grid(STEER, u, steer), steer) == pytest.approx(u, abs=1e-11)


def test_beyond_the_maps_the_pedal_clamps() -> None:
    assert accel_to_throttle(ACCEL, 100.0, 5.0) == Throttle(0.6, 1.0)
    assert accel_to_throttle(ACCEL, -100.0, 5.0) == Throttle(0.0, 0.0)
    assert accel_to_brake(BRAKE, -100.0, 5.0) == BRAKE.row[-1]
    assert accel_to_brake(BRAKE, 100.0, 5.0) == BRAKE.row[0]
    assert rate_to_steer(STEER, 100.0, 0.0) == STEER.row[-1]
    assert rate_to_steer(STEER, -100.0, 0.0) == STEER.row[0]


def test_the_row_segment_may_be_found_once_for_many_speeds() -> None:
    i = segment(ACCEL.row, 0.2)
    f = fraction(ACCEL.row, i, 0.2)
    j = 0
    for k in range(-10, 300):
        v = 0.1 * k
        j = segment_near(ACCEL.col, v, j)
        assert lookup_cell(ACCEL, i, f, j, fraction(ACCEL.col, j, v)) == lookup_grid(ACCEL, 0.2, v)


def test_a_flat_or_unordered_map_still_answers_with_a_number() -> None:
    flat = AccelMap((0.0, 0.5, 1.0), (0.0, 1.0), (1.0, 1.0, 1.0, 1.0, 1.0, 1.0))
    assert accel_to_throttle(flat, 1.0, 0.5).found == 1.0
    assert accel_to_throttle(flat, 2.0, 0.5) == Throttle(1.0, 1.0)
    mixed = AccelMap((0.0, 0.5, 1.0), (0.0, 1.0), (1.0, 1.0, 0.9, 0.9, 3.0, 3.0))
    assert 0.0 <= accel_to_throttle(mixed, 1.5, 0.0).pedal <= 1.0
    assert accel_to_brake(BrakeMap(*flat), 1.0, 0.5) in (0.0, 1.0)


ratios = st.builds(vgr.Vgr, st.floats(8.0, 30.0), st.floats(0.0, 0.1), st.floats(0.0, 0.1))


@settings(max_examples=examples(200))
@given(ratios, st.floats(-30.0, 30.0), st.floats(-1.2, 1.2))
def test_tire_to_wheel_and_back(p: vgr.Vgr, v: float, tire: float) -> None:
    assert vgr.tire_from_wheel(p, v, vgr.wheel_from_tire(p, v, tire)) == pytest.approx(tire, abs=1e-9)


@settings(max_examples=examples(200))
@given(ratios, st.floats(-30.0, 30.0), st.floats(-10.0, 10.0))
def test_wheel_to_tire_and_back(p: vgr.Vgr, v: float, wheel: float) -> None:
    if vgr.ratio(p, v, wheel) > 0.1:
        tire = vgr.tire_from_wheel(p, v, wheel)
        assert vgr.wheel_from_tire(p, v, tire) == pytest.approx(wheel, rel=1e-9, abs=1e-12)
        # commanding the tyre to where it is means the wheel stays where it is, and the other way round
        assert vgr.wheel_command(p, v, wheel, tire) == pytest.approx(wheel, abs=1e-12)
        assert vgr.tire_command(p, v, tire, wheel) == pytest.approx(tire, rel=1e-9, abs=1e-12)


def test_the_ratio_never_falls_to_zero() -> None:
    assert vgr.ratio(vgr.Vgr(16.0, 0.04, 0.05), 0.0, 500.0) == 1e-5
    assert math.isfinite(vgr.tire_from_wheel(vgr.Vgr(0.0, 0.0, 10.0), 0.0, 50.0))


def test_the_gear_ratio_grows_with_speed_and_shrinks_with_wheel_angle() -> None:
    p = vgr.Vgr()
    assert vgr.ratio(p, 20.0, 0.0) == pytest.approx(15.713 + 0.053 * 400.0)
    assert vgr.ratio(p, 0.0, -5.0) == pytest.approx(15.713 - 0.042 * 5.0)


LOOK_UPS = (column_value, invert_rows, accel_to_throttle, accel_to_brake, rate_to_steer)
RATIOS = (vgr.ratio, vgr.tire_from_wheel, vgr.wheel_from_tire, vgr.tire_command, vgr.wheel_command)


@pytest.mark.parametrize("fn", [*LOOK_UPS, *RATIOS], ids=lambda fn: fn.__name__)
def test_look_ups_are_pure(fn: object) -> None:
    assert offences(fn) == []  # type: ignore[arg-type]


def test_default_maps_turn_pedals_into_plain_accelerations() -> None:
    assert accel_to_throttle(AccelMap(), 2.5, 20.0) == Throttle(0.5, 1.0)
    assert accel_to_brake(BrakeMap(), -4.0, 20.0) == 0.5
    assert rate_to_steer(SteerMap(), 0.25, 0.3) == pytest.approx(5.0)
