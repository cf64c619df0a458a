"""Vehicles against answers known on paper."""

import math

import pytest

from pushrod.core.check import problems
from pushrod.core.errors import InputError, UnknownNameError
from pushrod.core.table import lookup_grid
from pushrod.vehicles import STATUS, VEHICLES, make
from pushrod.vehicles.gear import NAMES, is_forward, is_held, is_reverse, is_stopping
from pushrod.vehicles.kinematics import Pose, Stages, travel, turn
from pushrod.vehicles.pedal_line import Line, line_at, pressed, value
from pushrod.vehicles.pedal_map import AccelMap, BrakeMap
from pushrod.vehicles.set_state import set_state
from pushrod.vehicles.vgr import Vgr, tire_from_wheel


def run(model, p, u, seconds, dt=0.01, s=None):
    s = model.State() if s is None else s
    y = None
    for _ in range(round(seconds / dt)):
        s, y = model.step(p, s, u, dt)
    return s, y


class TestKinematics:
    def test_small_turns_are_exact_and_large_ones_too(self):
        for k in range(-300, 301):
            d = k / 200.0
            t = turn(d)
            assert t.c == pytest.approx(math.cos(d), abs=2e-16, rel=0.0) or abs(d) > 0.25
            assert t.c == pytest.approx(math.cos(d), abs=3e-16)
            assert t.s == pytest.approx(math.sin(d), abs=1e-14)

    def test_straight_on(self):
        v = Stages(3.0, 3.0, 3.0, 3.0)
        at = travel(Pose(1.0, 2.0, math.pi / 6.0), v, Stages(), 0.1)
        assert at == pytest.approx((1.0 + 0.3 * math.cos(math.pi / 6.0), 2.15, math.pi / 6.0), abs=1e-15)

    def test_a_circle_closes_and_the_error_falls_with_the_fourth_power(self):
        model = make("IDEAL_STEER_VEL")
        p = model.Params(wheelbase=2.5)
        R, v = 10.0, 5.0
        u = model.In(v, math.atan(2.5 / R))
        errors = []
        for n in (40, 80, 160):
            T = 2.0 * math.pi * R / v
            s = model.State()
            for _ in range(n):
                s, y = model.step(p, s, u, T / n)
            assert s.yaw == pytest.approx(2.0 * math.pi, abs=1e-12)
            assert y.wz == pytest.approx(v / R, rel=1e-12)
            errors.append(math.hypot(s.x, s.y))
        # a closed circle hides one order more
        assert errors[0] / errors[1] > 14.0 or errors[1] < 1e-11
        assert errors[2] < 1e-6

    def test_reverse_retraces_the_way(self):
        model = make("IDEAL_STEER_VEL")
        s, _ = run(model, model.Params(), model.In(4.0, 0.3), 2.0)
        s, _ = run(model, model.Params(), model.In(-4.0, 0.3), 2.0, s=s)
        assert (s.x, s.y, s.yaw) == pytest.approx((0.0, 0.0, 0.0), abs=1e-7)


def test_a_held_acceleration_gives_half_a_t_squared():
    model = make("IDEAL_STEER_ACC")
    s, y = run(model, model.Params(), model.In(2.0, 0.0), 3.0)
    assert (s.x, s.vx, y.ax) == pytest.approx((9.0, 6.0, 2.0), abs=1e-12)


@pytest.mark.parametrize("reference", [0.0, 1.0])
@pytest.mark.parametrize("name", ["IDEAL_STEER_VEL", "IDEAL_STEER_ACC_GEARED", "DELAY_STEER_VEL", "DELAY_STEER_ACC_GEARED_WO_FALL_GUARD"])
def test_the_acceleration_reported_is_the_change_of_speed(name, reference):
    model = make(name, 4)
    p = model.Params(reference=reference, **{field: 0.0 for field in model.Params._fields if field.endswith("_delay")})
    s = model.State(vx=1.0)
    for _ in range(20):
        before = s.vx
        s, y = model.step(p, s, model.In(2.0), 0.02)
        assert y.ax == pytest.approx((s.vx - before) / 0.02, rel=1e-9, abs=1e-9)
    assert s.vx > 1.1


@pytest.mark.parametrize("dt", [0.001, 0.02, 0.1])
def test_without_quirks_lags_are_exact_at_any_step(dt):
    model = make("DELAY_STEER_ACC")
    p = model.Params(reference=0.0, acc_time_delay=0.0, steer_time_delay=0.0, acc_time_constant=0.4, steer_time_constant=0.3)
    s, _ = run(model, p, model.In(2.0, 0.1), 0.6, dt)
    assert s.accx == pytest.approx(2.0 * (1.0 - math.exp(-0.6 / 0.4)), rel=1e-12)
    assert s.vx == pytest.approx(2.0 * (0.6 - 0.4 * (1.0 - math.exp(-0.6 / 0.4))), rel=1e-12)
    assert s.steer == pytest.approx(0.1 * (1.0 - math.exp(-0.6 / 0.3)), rel=1e-12)


@pytest.mark.parametrize("dt", [0.001, 0.02, 0.1])
def test_without_quirks_a_rate_limit_hands_over_to_the_lag_where_it_should(dt):
    model = make("DELAY_STEER_VEL")
    p = model.Params(reference=0.0, steer_time_delay=0.0, steer_time_constant=0.5, steer_rate_lim=0.4, steer_dead_band=0.05)
    s, _ = run(model, p, model.In(0.0, 0.65), 2.0, dt)
    # to go: 0.6 before the dead band, at full rate down to rate * T = 0.2 in 1 s, then exponentially
    assert s.steer == pytest.approx(0.6 - 0.2 * math.exp(-1.0 / 0.5), rel=1e-12)


def test_a_dead_time_is_counted_in_sampling_times():
    model = make("DELAY_STEER_VEL")
    p = model.Params(vel_time_delay=0.1, sampling_time=0.02)
    s = model.State()
    moved = []
    for _ in range(8):
        s, _ = model.step(p, s, model.In(5.0, 0.0), 0.01)
        moved.append(s.vx > 0.0)
    assert moved == [False] * 5 + [True] * 3


def test_bias_bends_the_way_and_not_the_report():
    model = make("DELAY_STEER_VEL")
    for reference in (0.0, 1.0):
        p = model.Params(reference=reference, steer_bias=0.05, steer_time_delay=0.0)
        s, y = run(model, p, model.In(5.0, 0.2), 6.0)
        assert y.steer == pytest.approx(0.2, abs=1e-6)
        assert s.steer == pytest.approx(0.15, abs=1e-6)
        assert y.wz == pytest.approx(s.vx * math.tan(s.steer) / 2.79)


class TestGears:
    def test_sets(self):
        forward = [NAMES[g] for g in range(25) if is_forward(float(g))]
        assert forward == ["drive", *(f"drive_{k}" for k in range(2, 19)), "low", "low_2"]
        assert [NAMES[g] for g in range(25) if is_reverse(float(g))] == ["reverse", "reverse_2"]
        assert [NAMES[g] for g in range(25) if is_held(float(g), 0.0)] == ["none", "neutral", "park"]
        assert [NAMES[g] for g in range(25) if is_stopping(float(g), 0.0)] == ["none", "park"]
        assert NAMES[22] == "park"

    def test_the_reference_stops_in_one_step_and_puts_the_car_back(self):
        model = make("DELAY_STEER_ACC_GEARED")
        s, _ = model.step(model.Params(), model.State(x=7.0, vx=5.0), model.In(0.0, 0.0, 22.0), 0.01)
        assert (s.x, s.vx, s.accx) == (7.0, 0.0, pytest.approx(-500.0))

    @pytest.mark.parametrize("name", ["IDEAL_STEER_ACC_GEARED", "DELAY_STEER_ACC_GEARED", "ACTUATION_CMD"])
    def test_a_stop_in_next_to_no_time_is_reported_as_one_in_ten_microseconds(self, name):
        model = make(name)
        s, y = model.step(model.Params(), model.State(vx=5.0), model.In(gear=22.0), 1e-7)
        assert (s.vx, y.ax) == (0.0, pytest.approx(-5.0 / 1e-5))

    @pytest.mark.parametrize(
        "name", ["DELAY_STEER_ACC_GEARED", "ACTUATION_CMD_VGR", "IDEAL_STEER_ACC_GEARED", "DELAY_STEER_ACC_GEARED_WO_FALL_GUARD"]
    )
    def test_park_takes_its_way_to_stop(self, name):
        model = make(name)
        p = model.Params(reference=0.0, stop_deceleration=2.5)
        s, _ = run(model, p, model.In(gear=22.0), 3.0, s=model.State(vx=5.0))
        assert s.vx == 0.0
        assert s.x == pytest.approx(5.0, abs=1e-9)  # v^2 / 2a
        assert s.accx == 0.0

    def test_shifting_to_reverse_stops_first_and_then_drives_back(self):
        model = make("DELAY_STEER_ACC_GEARED")
        p = model.Params(reference=0.0, stop_deceleration=2.0, acc_time_delay=0.0)
        s, far, last = model.State(vx=2.0, accx=1.0), 0.0, 2.0
        for _ in range(300):
            s, _ = model.step(p, s, model.In(-1.0, 0.0, 20.0), 0.01)
            assert s.vx <= last
            far, last = max(far, s.x), s.vx
        assert far == pytest.approx(1.0, abs=1e-9)
        assert s.vx == pytest.approx(-1.0 * (2.0 - 0.1), abs=1e-6)

    @pytest.mark.parametrize("way", [1.0, -1.0])
    @pytest.mark.parametrize("name", ["DELAY_STEER_ACC_GEARED", "IDEAL_STEER_ACC_GEARED"])
    def test_neutral_rolls_without_drive(self, name, way):
        model = make(name)
        p = model.Params(reference=0.0)
        s, _ = run(model, p, model.In(way * 3.0, 0.0, 1.0), 2.0, s=model.State(vx=way * 4.0))
        assert s.vx == way * 4.0
        s, _ = run(model, p, model.In(way * -1.0, 0.0, 1.0), 10.0, s=s)
        assert s.vx == 0.0

    @pytest.mark.parametrize(("way", "gear"), [(1.0, 2.0), (-1.0, 20.0)])
    @pytest.mark.parametrize("name", ["DELAY_STEER_ACC_GEARED", "IDEAL_STEER_ACC_GEARED", "DELAY_STEER_ACC_GEARED_WO_FALL_GUARD"])
    def test_braked_to_rest_within_a_tick_it_has_come_no_further_than_the_brake_allows(self, name, way, gear):
        model = make(name)
        pedals = "pedal_accx_des" in model.In._fields  # where a brake is negative in either gear
        for v, b, far in ((0.5, 75.0, 0.5**2 / 150.0), (0.25, 50.0, None), (0.2, 100.0, None)):
            p, u = model.Params(reference=0.0), model.In(-b if pedals else -way * b, gear=gear)
            s = model.State(vx=way * v)
            if name.startswith("DELAY"):
                p = p._replace(acc_time_delay=0.0, vel_rate_lim=100.0)
                s = s._replace(**{"pedal_accx" if pedals else "accx": u[0]})  # pressed long since
            s, _ = model.step(p, s, u, 0.01)
            assert s.vx == 0.0
            assert 0.0 < way * s.x <= 0.5 * v * 0.01
            assert far is None or way * s.x == pytest.approx(far, rel=1e-12)  # v^2 / 2b

    @pytest.mark.parametrize("way", [1.0, -1.0])
    def test_a_slope_rolls_a_car_in_neutral_until_a_brake_holds_it(self, way):
        model = make("ACTUATION_CMD")
        p = model.Params(reference=0.0)
        s, _ = run(model, p, model.In(0.9, 0.0, way, 0.0, 1.0), 2.0)
        assert s.vx == pytest.approx(way * 1.9, abs=0.02)
        s, _ = run(model, p, model.In(0.0, 0.5, way, 0.0, 1.0), 3.0, s=s)
        assert s.vx == 0.0
        here = s.x
        s, _ = run(model, p, model.In(0.0, 0.2, way, 0.0, 1.0), 3.0, s=s)
        assert (s.vx, s.x) == (0.0, here)

    @pytest.mark.parametrize("way", [1.0, -1.0])
    def test_without_fall_guard_a_car_in_gear_rolls_down_either_way(self, way):
        model = make("DELAY_STEER_ACC_GEARED_WO_FALL_GUARD")
        for reference in (0.0, 1.0):
            p = model.Params(reference=reference)
            s, _ = run(model, p, model.In(0.0, 2.0, way, 0.0), 1.0)
            assert s.vx == pytest.approx(way, abs=0.02)
            s, _ = run(model, p, model.In(-3.0, 2.0, way, 0.0), 3.0, s=s)
            assert s.vx == 0.0


# creep at rest, drag when rolling; the pedal adds
COAST = AccelMap((0.0, 0.5), (0.0, 2.0, 20.0), (0.4, -0.1, -0.3, 3.0, 2.5, 2.0))
BRAKE = BrakeMap((0.0, 0.1, 0.8), (0.0, 2.0, 20.0), (0.4, -0.1, -0.3, 0.1, -0.4, -0.6, -6.0, -6.2, -6.4))


class TestPedals:
    model = make("ACTUATION_CMD")

    def params(self, reference):
        return self.model.Params(reference=reference, accel_map=COAST, brake_map=BRAKE)

    def test_released_pedals(self):
        start = self.model.State(vx=15.0)
        s, _ = run(self.model, self.params(1.0), self.model.In(), 2.0, s=start)
        assert s.vx == 15.0  # the reference coasts for ever
        s, _ = run(self.model, self.params(0.0), self.model.In(), 2.0, s=start)
        assert s.vx == pytest.approx(15.0 - 2.0 * 0.24, abs=0.05)

    def test_a_light_brake_at_rest(self):
        u = self.model.In(brake_des=0.05)
        s, _ = run(self.model, self.params(1.0)._replace(brake_time_delay=0.0), u, 5.0)
        assert s.vx > 0.5  # the reference creeps against it
        s, _ = run(self.model, self.params(0.0)._replace(brake_time_delay=0.0), u, 5.0)
        assert (s.x, s.vx) == (0.0, 0.0)
        s, _ = run(self.model, self.params(0.0)._replace(brake_time_delay=0.0), u, 5.0, s=self.model.State(vx=0.2))
        assert s.vx == 0.0
        s, _ = run(self.model, self.params(0.0), self.model.In(), 5.0)
        assert s.vx > 0.5  # without a brake the creep is there

    def test_backwards_is_as_forwards(self):
        ahead, back = self.model.In(accel_des=0.3), self.model.In(accel_des=0.3, gear=20.0)
        for reference, same in ((0.0, True), (1.0, False)):
            a, _ = run(self.model, self.params(reference), ahead, 4.0)
            b, _ = run(self.model, self.params(reference), back, 4.0)
            assert (a.vx == pytest.approx(-b.vx, rel=1e-12)) == same

    def test_both_pedals(self):
        u = self.model.In(accel_des=0.5, brake_des=0.5)
        start = self.model.State(vx=10.0)
        s, _ = run(self.model, self.params(1.0), u, 1.0, s=start)
        assert s.vx > 10.0  # in the reference the accel pedal wins
        s, _ = run(self.model, self.params(0.0), u, 1.0, s=start)
        assert s.vx < 10.0

    def test_the_line_of_a_pressed_pedal_is_the_map(self):
        for pedal in (-0.1, 0.0, 0.2, 0.5, 0.7):
            at = pressed(COAST, pedal)
            line = Line(0.0, 0.0, 0.0, 0.0, 0.0)
            for k in range(-30, 250):
                v = k / 10.0
                line = line_at(COAST, at, line, v)
                assert line.lo <= v < line.hi
                assert value(line, v) == pytest.approx(lookup_grid(COAST, pedal, v), abs=1e-14)


def test_the_wound_up_acceleration_of_the_reference():
    model = make("ACTUATION_CMD")
    for reference, a in ((1.0, 40.0), (0.0, 1.0)):
        p = model.Params(reference=reference, vel_rate_lim=1.0, vel_lim=200.0, brake_time_constant=0.1)
        s, _ = run(model, p, model.In(slope_accx=2.0), 4.0)
        assert s.accx == pytest.approx(a, rel=0.05)


def test_at_its_greatest_speed_a_car_does_not_accelerate():
    model = make("DELAY_STEER_ACC")
    s, y = run(model, model.Params(reference=0.0, vel_lim=2.0), model.In(3.0, 0.0), 3.0)
    assert (s.vx, y.ax) == (2.0, 0.0)


class TestStatus:
    @pytest.mark.parametrize(("way", "gear"), [(1.0, 2.0), (-1.0, 20.0)])
    def test_pedals_are_the_inverse_of_what_they_do(self, way, gear):
        model = make("ACTUATION_CMD")
        p = model.Params(reference=0.0, accel_map=COAST, brake_map=BRAKE)
        s, _ = run(model, p, model.In(accel_des=0.3, gear=gear), 3.0)
        status = STATUS["ACTUATION_CMD"](p, s)
        assert status.valid == 1.0
        assert lookup_grid(COAST, status.accel, abs(s.vx)) == pytest.approx(way * s.accx, abs=1e-12)
        assert status.brake == 0.0
        s, _ = run(model, p, model.In(brake_des=0.3, gear=gear), 0.5, s=s)
        status = STATUS["ACTUATION_CMD"](p, s)
        assert status.accel == 0.0
        assert lookup_grid(BRAKE, status.brake, abs(s.vx)) == pytest.approx(way * s.accx, abs=1e-12)

    @pytest.mark.parametrize(("name", "command"), [("ACTUATION_CMD", 0.2), ("ACTUATION_CMD_VGR", 4.0), ("ACTUATION_CMD_MECHANICAL", 4.0)])
    def test_steering_is_reported_in_the_unit_of_its_command(self, name, command):
        model = make(name)
        for reference in (0.0, 1.0):
            p = model.Params(reference=reference, steer_bias=0.0)
            s, _ = run(model, p, model.In(steer_des=command), 12.0)
            assert STATUS[name](p, s).steer == pytest.approx(command, rel=0.02)

    @pytest.mark.parametrize("bias", [0.05, -0.05])
    @pytest.mark.parametrize("name", ["ACTUATION_CMD", "ACTUATION_CMD_VGR", "ACTUATION_CMD_MECHANICAL"])
    def test_the_tyre_angle_derived_from_the_status_is_the_one_reported(self, name, bias):
        """Measured, so with its bias: who switches the report off and derives the angle from the wheel gets the same."""
        model = make(name)
        p = model.Params(reference=0.0, steer_bias=bias)
        s, y = run(model, p, model.In(accel_des=0.3, steer_des=0.5), 3.0)
        told = STATUS[name](p, s).steer
        if name != "ACTUATION_CMD":
            told = tire_from_wheel(Vgr(p.vgr_coef_a, p.vgr_coef_b, p.vgr_coef_c), s.vx, told)
        assert told == pytest.approx(y.steer, rel=1e-12)
        assert y.steer == pytest.approx(s.steer + bias)

    def test_a_steering_actuation_is_reported_as_it_acted(self):
        model = make("ACTUATION_CMD_STEER_MAP")
        p = model.Params(steer_time_delay=0.1, sampling_time=0.01)
        s, _ = run(model, p, model.In(steer_des=3.0), 0.1)
        assert STATUS[model.name](p, s).steer == 0.0
        s, _ = run(model, p, model.In(steer_des=3.0), 0.01, s=s)
        assert STATUS[model.name](p, s).steer == 3.0

    def test_nothing_converted_nothing_valid(self):
        model = make("ACTUATION_CMD")
        assert STATUS[model.name](model.Params(convert_accel_cmd=0.0, convert_brake_cmd=0.0), model.State()).valid == 0.0

    def test_the_tyre_angle_may_be_kept_out_of_the_report(self):
        model = make("ACTUATION_CMD_VGR")
        s, y = run(model, model.Params(enable_pub_steer=0.0), model.In(accel_des=0.5, steer_des=3.0), 2.0)
        assert (y.steer, y.steer_valid) == (0.0, 0.0)
        assert s.steer > 0.1
        assert y.wz > 0.01


class TestSteerMap:
    model = make("ACTUATION_CMD_STEER_MAP")

    def test_the_reference_looks_the_map_up_by_speed(self):
        # a map that only resists: the rate is -0.25 times the angle
        steer_map = self.model.Params().steer_map._replace(z=(-0.25, -0.75, 0.75, 0.25))
        start = self.model.State(vx=8.0)
        drift = {}
        for reference in (0.0, 1.0):
            p = self.model.Params(reference=reference, steer_map=steer_map, steer_time_constant=1.0)
            s, _ = run(self.model, p, self.model.In(), 2.0, s=start)
            drift[reference] = s.steer
        assert drift[0.0] == 0.0
        assert drift[1.0] == pytest.approx(-0.5, abs=0.01)

    def test_the_map_gives_the_rate(self):
        p = self.model.Params(reference=0.0, steer_time_delay=0.0, steer_time_constant=0.1)
        s, _ = run(self.model, p, self.model.In(steer_des=4.0), 1.0)
        assert s.steer == pytest.approx(0.2, abs=1e-12)

    @pytest.mark.parametrize("bias", [0.1, -0.1])
    def test_the_map_knows_the_angle_as_it_is_measured(self, bias):
        """A rate of -0.5 times the measured angle brings that to 0, exponentially."""
        steer_map = self.model.Params().steer_map._replace(z=(0.5, -0.5, 0.5, -0.5))
        p = self.model.Params(reference=0.0, steer_map=steer_map, steer_bias=bias)
        s, y = run(self.model, p, self.model.In(), 2.0)
        assert y.steer == pytest.approx(bias * math.exp(-1.0), rel=1e-4)
        assert s.steer == pytest.approx(bias * (math.exp(-1.0) - 1.0), rel=1e-4)


class TestParameters:
    @pytest.mark.parametrize("name", [name for name in VEHICLES if name.startswith("ACTUATION")])
    def test_a_conversion_that_does_not_fit_says_what_to_set(self, name):
        model = make(name)
        steer = 1.0 if name != "ACTUATION_CMD" else 0.0
        assert not list(problems(model.Params(convert_steer_cmd=steer)))
        for wrong, text in (
            ({"convert_steer_cmd": 1.0 - steer}, f"set convert_steer_cmd to {'true' if steer else 'false'}"),
            ({"convert_accel_cmd": 0.0}, "set convert_accel_cmd to true"),
            ({"convert_brake_cmd": 0.0}, "set convert_brake_cmd to true"),
        ):
            found = list(problems(model.Params(**wrong)))
            assert len(found) == 1
            assert text in found[0]
            assert name in found[0]

    @pytest.mark.parametrize("name", [name for name in VEHICLES if not name.startswith("IDEAL")])
    def test_a_delay_that_does_not_fit_says_what_would(self, name):
        found = list(problems(make(name, 8).Params(steer_time_delay=0.3, sampling_time=0.01), "", 0.01))
        assert any("steer_time_delay" in line and "slots=31" in line for line in found)
        assert not list(problems(make(name, 31).Params(steer_time_delay=0.3, sampling_time=0.01), "", 0.01))

    def test_mechanical_steering_at_its_tick(self):
        model = make("ACTUATION_CMD_MECHANICAL", 16)
        m = model.Params().mechanical_params
        late = list(problems(model.Params(mechanical_params=m._replace(torque_delay_time=0.2)), "", 0.01))
        assert len(late) == 1
        assert "slots=22" in late[0]
        stiff = model.Params(mechanical_params=m._replace(inertia=0.1))
        assert "at most" in next(iter(problems(stiff, "", 0.01)))
        assert not list(problems(stiff._replace(reference=0.0), "", 0.01))

    def test_names(self):
        with pytest.raises(UnknownNameError, match="ACTUATION_CMD_MECHANICAL"):
            make("ACTUATION_CMD_MECHANIC")
        with pytest.raises(InputError, match="slots = 0"):
            make("DELAY_STEER_VEL", 0)
        assert make("DELAY_STEER_VEL", 5) is make("DELAY_STEER_VEL", 5)
        assert len(VEHICLES) == 12


class TestSetState:
    def test_queues_stay_on_their_way(self):
        model = make("DELAY_STEER_ACC")
        s, _ = run(model, model.Params(), model.In(1.0, 0.2), 0.03)
        there = set_state(s, {"x": 10.0, "vx": 2.0})
        assert (there.x, there.vx, there.yaw) == (10.0, 2.0, s.yaw)
        assert (there.accx_queue, there.steer_queue) == (s.accx_queue, s.steer_queue)

    def test_a_mechanical_steering_forgets_its_motion(self):
        model = make("ACTUATION_CMD_MECHANICAL")
        s, _ = run(model, model.Params(), model.In(steer_des=5.0), 0.5)
        assert s.mechanical.vel != 0.0
        m = set_state(s, {"steer": 0.1}).mechanical
        assert (m.pos, m.vel, m.dead_zone, m.pid_integral, m.pid_error, m.buf_len) == (0.1, 0.0, 0.0, 0.0, 0.0, 0.0)
        assert m.prev_tire_des == s.mechanical.prev_tire_des

    def test_a_wrong_name_is_answered(self):
        with pytest.raises(InputError, match="'yaw'"):
            set_state(make("DELAY_STEER_ACC").State(), {"yau": 1.0})
