"""Without the reference's oddities every vehicle follows its lags exactly, whatever the step; to either side, forwards and backwards."""

import math

import pytest

from pushrod.core.record import numbers
from pushrod.vehicles import VEHICLES, make
from pushrod.vehicles.gear import DRIVE, REVERSE

TIRE = [name for name in VEHICLES if name.startswith("DELAY_") or name == "ACTUATION_CMD"]  # steered by tyre angle, with a lag
ASKED = {"accx_des": 2.0, "pedal_accx_des": 2.0, "accel_des": 0.4}  # what means 2 m/s2, by the maps they have by default
T_STEER, T_ACC, END = 0.3, 0.4, 0.6
LAG = 1.0 - math.exp(-END / T_ACC)


def vehicle(name, **more):
    """The vehicle without dead times, with the time constants above."""
    model = make(name, 4)
    p = model.Params()
    changes = {field: 0.0 for field in p._fields if field.endswith("_delay")}
    changes |= {field: T_ACC for field in p._fields if field.endswith("_time_constant")} | {"reference": 0.0, "steer_time_constant": T_STEER}
    return model, p._replace(**changes, **more)


def driven(model, p, dt, gear=DRIVE, **asked):
    names = [leaf.path for leaf in numbers(model.In)]
    u = model.In(**{name: value for name, value in {"gear": gear, **asked}.items() if name in names})
    s = model.State()
    for _ in range(round(END / dt)):
        s, y = model.step(p, s, u, dt)
    return s, y


@pytest.mark.parametrize("dt", [0.001, 0.02, 0.1])
@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("name", TIRE)
def test_the_tyre_follows_its_lag(name, side, dt):
    model, p = vehicle(name)
    s, y = driven(model, p, dt, steer_des=side * 0.1)
    assert s.steer == pytest.approx(side * 0.1 * (1.0 - math.exp(-END / T_STEER)), rel=1e-12)
    assert y.steer == s.steer


@pytest.mark.parametrize("dt", [0.001, 0.02, 0.1])
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_behind_a_steady_gear_ratio_the_tyre_follows_its_lag(side, dt):
    model, p = vehicle("ACTUATION_CMD_VGR", vgr_coef_a=16.0, vgr_coef_b=0.0, vgr_coef_c=0.0)
    s, _ = driven(model, p, dt, steer_des=side * 1.6)
    assert s.steer == pytest.approx(side * 0.1 * (1.0 - math.exp(-END / T_STEER)), rel=1e-12)
    s, _ = driven(model, p._replace(steer_rate_lim=0.5), dt, steer_des=side * 12.8)
    assert s.steer == pytest.approx(side * 0.5 * END, rel=1e-12), "the error stays above rate times T"


@pytest.mark.parametrize("dt", [0.001, 0.02, 0.1])
@pytest.mark.parametrize("name", TIRE)
def test_a_tyre_that_may_not_turn_as_fast_turns_as_fast_as_it_may(name, dt):
    model, p = vehicle(name, steer_rate_lim=0.5, steer_lim=1.0)
    s, _ = driven(model, p, dt, steer_des=0.8)
    assert s.steer == pytest.approx(0.5 * END, rel=1e-12), "the error stays above rate times T"


@pytest.mark.parametrize("dt", [0.001, 0.02, 0.1])
@pytest.mark.parametrize("name", [name for name in TIRE if name != "DELAY_STEER_VEL"])
def test_the_acceleration_follows_its_lag_and_the_speed_is_its_integral(name, dt):
    model, p = vehicle(name)
    s, y = driven(model, p, dt, **ASKED)
    assert s.vx == pytest.approx(2.0 * (END - T_ACC * LAG), rel=1e-12)
    assert y.vx == s.vx
    assert s.x == pytest.approx(END * END - 2.0 * T_ACC * (END - T_ACC * LAG), rel=1.5 * dt * dt)
    lagged = s.pedal_accx if hasattr(s, "pedal_accx") else s.accx
    assert lagged == pytest.approx(2.0 * LAG, rel=1e-12)


@pytest.mark.parametrize("name", [name for name in TIRE if "GEARED" in name or name == "ACTUATION_CMD"])
def test_in_reverse_it_is_the_same_backwards(name):
    model, p = vehicle(name)
    there, _ = driven(model, p, 0.02, DRIVE, **ASKED)
    way = -1.0 if name in ("DELAY_STEER_ACC_GEARED", "DELAY_STEER_MAP_ACC_GEARED") else 1.0  # asked along the car, not along the gear
    back, _ = driven(model, p, 0.02, REVERSE, **{field: way * value for field, value in ASKED.items()})
    assert (back.x, back.vx) == pytest.approx((-there.x, -there.vx), rel=1e-12)


@pytest.mark.parametrize("dt", [0.001, 0.02, 0.1])
def test_the_speed_follows_its_lag_where_speed_is_what_is_asked(dt):
    model, p = vehicle("DELAY_STEER_VEL")
    p = p._replace(vel_rate_lim=100.0)
    s, _ = driven(model, p, dt, vx_des=2.0)
    assert s.vx == pytest.approx(2.0 * LAG, rel=1e-12)
    assert s.x == pytest.approx(2.0 * (END - T_ACC * LAG), rel=2e-3)
