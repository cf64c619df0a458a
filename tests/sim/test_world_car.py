"""The car worlds: what comes to rest, what converges, what answers to what, and what a fault does and when."""

import math
import statistics
from collections.abc import Callable
from importlib import util
from typing import Any

import pytest

from pushrod.core.check import check, problems
from pushrod.core.errors import ParameterError
from pushrod.core.model import Tick, World
from pushrod.core.purity import offences
from pushrod.core.record import numbers, put
from pushrod.core.table import lookup_grid
from pushrod.models import fault
from pushrod.sim import machine
from pushrod.sim.worlds import WORLDS, car, car_drive
from pushrod.sim.worlds.car import CAR, CAR_CONTROL, Controlled, Out, Pedalled
from pushrod.vehicles.gear import NEUTRAL, PARK, REVERSE
from pushrod.vehicles.map_file import load_accel_map, load_brake_map

MAPS = machine.FOLDER / "maps"
ACCEL, BRAKE = load_accel_map(MAPS / "car_accel.csv"), load_brake_map(MAPS / "car_brake.csv")
DT = 0.01


def params(world: World, **changes: Any) -> Any:
    """The world's parameters with the shipped pedal maps; changes by path, dots written as __."""
    p = world.Params()
    for part in ("vehicle", "convert"):
        if hasattr(p, part):
            p = put(put(p, f"{part}.accel_map", ACCEL), f"{part}.brake_map", BRAKE)
    for path, value in changes.items():
        p = put(p, path.replace("__", "."), value)
    check(p, world.name, DT)
    return p


def drive(world: World, p: Any, u: Callable[[float], Any] | Any, seconds: float, dt: float = DT, v: float = 0.0, seed: int = 0) -> list[Out]:
    s = put(world.State(), "vehicle.vx", v)
    run = []
    for k in range(round(seconds / dt)):
        s, y = world.step(p, s, u(k * dt) if callable(u) else u, Tick(k, dt, seed))
        run.append(y)
    return run


def test_at_rest_it_stays_at_rest() -> None:
    for world in (CAR, CAR_CONTROL):
        last = drive(world, params(world), world.In(), 2.0)[-1]
        assert (last.x, last.y, last.yaw, last.speed) == (0.0, 0.0, 0.0, 0.0)


def test_a_held_pedal_settles_at_the_speed_its_map_balances() -> None:
    last = drive(CAR, params(CAR), Pedalled(accel=0.3), 200.0, dt=0.1, v=30.0)[-1]
    assert lookup_grid(ACCEL, 0.3, last.speed) == pytest.approx(0.0, abs=2e-3)
    assert last.acc_ach == pytest.approx(0.0, abs=2e-3)


def test_released_pedals_let_it_roll_out_and_brakes_stop_it_for_good() -> None:
    coast = drive(CAR, params(CAR), Pedalled(), 3.0, v=10.0)
    assert coast[-1].acc_ach == pytest.approx(lookup_grid(ACCEL, 0.0, coast[-1].speed), abs=0.01)
    stop = drive(CAR, params(CAR), Pedalled(brake=0.4), 5.0, v=10.0)
    assert min(y.speed for y in stop) == 0.0
    assert stop[-1].speed == 0.0
    assert stop[-1].x == pytest.approx(10.0 * (0.1 + 0.1) + 10.0**2 / (2 * 3.25), rel=0.02)  # dead time, lag, then -3.25 m/s2


@pytest.mark.parametrize(
    ("u", "v"),
    [
        (Pedalled(brake=0.4), 0.0),
        (Pedalled(accel=0.3, slope=-0.5), 3.0),
        (Pedalled(accel=0.3, gear=REVERSE, slope=0.3), 0.0),
        (Pedalled(accel=0.3, gear=REVERSE), 3.0),
        (Pedalled(gear=NEUTRAL, slope=0.6), 0.0),
        (Pedalled(gear=NEUTRAL, slope=-0.6), -4.0),
        (Pedalled(accel=0.9, gear=PARK, slope=0.6), 0.0),
        (Pedalled(accel=0.9, gear=PARK), 5.0),
    ],
)
def test_the_acceleration_of_a_command_is_the_one_that_comes(u: Pedalled, v: float) -> None:
    run = drive(
        CAR, params(CAR, dead_time=car.DeadTimes(0.0, 0.0, 0.0), vehicle__accel_time_constant=0.0, vehicle__brake_time_constant=0.0), u, 0.4, v=v
    )
    assert run[-1].acc_cmd == pytest.approx(run[-1].acc_ach, abs=0.01)
    assert run[-1].acc_req == run[-1].acc_cmd


def test_a_held_wheel_drives_a_circle() -> None:
    p = params(CAR)
    y = drive(CAR, p, Pedalled(accel=0.12, wheel=2.0), 20.0, v=5.0)[-1]
    assert y.steer_ach == pytest.approx(y.steer_req, abs=2e-3)
    assert y.yaw_rate == pytest.approx(y.speed * math.tan(y.steer_ach) / p.vehicle.wheelbase, rel=1e-12)
    assert y.yaw > 0.0


@pytest.mark.parametrize("world", [CAR, CAR_CONTROL], ids=lambda w: w.name)
def test_halving_the_step_changes_less_and_less(world: World) -> None:
    p = params(world)

    def command(t: float) -> Any:
        turn = math.sin(0.8 * t)
        return Pedalled(0.3 + 0.1 * turn, 0.0, 1.5 * turn) if world is CAR else Controlled(0.5 + 0.3 * turn, 0.08 * turn)

    ends = [drive(world, p, command, 4.0, dt, v=8.0)[-1] for dt in (0.02, 0.01, 0.005)]
    for name in ("x", "y", "yaw", "speed", "steer_ach"):
        coarse, fine = (abs(getattr(ends[i], name) - getattr(ends[i + 1], name)) for i in (0, 1))
        assert fine <= 0.7 * coarse + 1e-4, name
    assert ends[2].y == pytest.approx(ends[1].y, abs=0.05)


STEERING = ("wheel_req", "wheel_cmd", "wheel_meas", "steer_ach", "steer_meas", "yaw_rate", "y", "yaw")
PEDALLED = {
    "accel": (0.3, ("accel_req", "accel_cmd", "acc_req", "acc_cmd", "acc_ach", "acc_meas", "speed", "speed_meas", "x", "x_meas")),
    "brake": (0.3, ("brake_req", "brake_cmd", "acc_req", "acc_cmd", "acc_ach", "speed")),
    "wheel": (1.0, (*STEERING, "steer_req", "steer_cmd", "yaw_rate_meas", "y_meas", "yaw_meas")),
    "gear": (NEUTRAL, ("acc_cmd", "acc_ach", "speed")),
    "slope": (-1.0, ("acc_req", "acc_cmd", "acc_ach", "speed")),
}
CONTROLLED = {
    "acceleration": (1.0, ("acc_req", "acc_cmd", "acc_ach", "accel_req", "accel_cmd", "speed", "x")),
    "steer": (0.1, (*STEERING, "steer_req", "steer_cmd")),
    "gear": (PARK, ("speed", "acc_ach", "x")),
    "slope": (-1.0, ("accel_req", "accel_cmd")),
}


@pytest.mark.parametrize(("world", "table"), [(CAR, PEDALLED), (CAR_CONTROL, CONTROLLED)], ids=["car", "car_control"])
def test_each_output_answers_to_its_input(world: World, table: dict[str, tuple[float, tuple[str, ...]]]) -> None:
    p = params(world)
    rest = world.In(accel=0.2) if world is CAR else world.In()
    idle = drive(world, p, rest, 1.0, v=8.0)[-1]
    for channel, (value, outputs) in table.items():
        moved = drive(world, p, put(rest, channel, value), 1.0, v=8.0)[-1]
        for name in outputs:
            assert abs(getattr(moved, name) - getattr(idle, name)) > 1e-3, (channel, name)


def test_a_command_acts_after_its_dead_time() -> None:
    p = params(CAR, dead_time__accel=0.12, dead_time__brake=0.07, dead_time__steer=0.033)
    run = drive(CAR, p, lambda t: Pedalled(0.5, 0.2, 1.0) if t >= 0.1 - 1e-9 else Pedalled(), 0.5)
    first = {name: next(k for k, y in enumerate(run) if getattr(y, name) != 0.0) for name in ("accel_req", "accel_cmd", "brake_cmd", "wheel_cmd")}
    # 33 ms is nearest to three ticks
    assert first == {"accel_req": 10, "accel_cmd": 22, "brake_cmd": 17, "wheel_cmd": 13}


@pytest.mark.parametrize("dt", [0.01, 0.02, 0.05])
def test_dead_time_is_in_seconds_whatever_the_tick(dt: float) -> None:
    run = drive(CAR, params(CAR), Pedalled(accel=0.5), 0.5, dt)
    assert next(k for k, y in enumerate(run) if y.accel_cmd > 0.0) * dt == pytest.approx(0.1)


def steering(t: float) -> Pedalled:
    return Pedalled(wheel=2.0 * math.sin(2.0 * t))


def test_a_stuck_steering_holds_from_its_time_to_its_end() -> None:
    p = params(CAR, faults__steer=fault.Params(fault.STUCK, at=1.0, until=2.0, announced=1.0), dead_time__steer=0.0)
    run, sound = (drive(CAR, q, steering, 3.0, v=5.0) for q in (p, params(CAR, dead_time__steer=0.0)))
    held = run[99].wheel_cmd
    assert held == sound[99].wheel_cmd
    assert {y.wheel_cmd for y in run[100:200]} == {held}
    assert [y.wheel_cmd for y in run[200:]] == [y.wheel_cmd for y in sound[200:]]
    assert [y.steer_fault for y in run] == [fault.STUCK if 100 <= k < 200 else 0.0 for k in range(300)]
    assert run[199].wheel_req != held


def test_lost_effectiveness_and_bias_act_on_the_command_alone() -> None:
    loss = drive(CAR, params(CAR, faults__brake=fault.Params(fault.LOSS, at=0.5, effectiveness=0.4)), Pedalled(brake=0.5), 1.0, v=20.0)
    assert (loss[59].brake_cmd, loss[60].brake_cmd) == (0.5, 0.2)
    assert loss[60].brake_req == 0.5
    assert loss[99].acc_ach > loss[59].acc_ach + 1.0
    assert {y.brake_fault for y in loss} == {0.0}
    bias = drive(CAR, params(CAR, faults__steer=fault.Params(fault.BIAS, at=0.5, bias=0.3)), Pedalled(wheel=1.0), 1.0, v=5.0)
    assert (bias[54].wheel_cmd, bias[55].wheel_cmd) == (1.0, 1.3)
    assert bias[99].steer_ach > bias[54].steer_ach


def test_a_fault_may_add_delay() -> None:
    p = params(CAR, faults__steer=fault.Params(fault.DELAY, at=1.0, extra_delay=0.2), dead_time__steer=0.05)
    run = drive(CAR, p, lambda t: Pedalled(wheel=float(round(t / DT))), 2.0)
    assert run[99].wheel_cmd == 10.0 == p.wheel_lim
    p = p._replace(wheel_lim=50.0)
    run = drive(CAR, p, lambda t: Pedalled(wheel=0.1 * round(t / DT)), 2.0)
    assert run[99].wheel_cmd == pytest.approx(0.1 * 94)
    assert run[150].wheel_cmd == pytest.approx(0.1 * 125)


def test_no_command_passes_the_limits_of_its_actuator() -> None:
    run = drive(CAR, params(CAR), Pedalled(accel=3.0, brake=0.0, wheel=-99.0), 3.0, v=2.0)
    last = run[-1]
    assert (last.accel_cmd, last.wheel_cmd) == (1.0, -10.0)
    assert (last.accel_limited, last.brake_limited, last.steer_limited) == (1.0, 0.0, 1.0)
    assert max(abs(y.steer_ach) for y in run) <= 0.6
    # a bias beyond the pedal's end does not brake harder than the pedal can
    p = params(CAR, faults__brake=fault.Params(fault.BIAS, at=0.0, bias=5.0))
    assert min(y.acc_ach for y in drive(CAR, p, Pedalled(), 1.0, v=20.0)) >= -9.5


def test_speed_limit_is_kept_and_told() -> None:
    last = drive(CAR, params(CAR, vehicle__vel_lim=12.0), Pedalled(accel=0.8), 4.0, v=10.0)[-1]
    assert (last.speed, last.speed_limited) == (12.0, 1.0)


def test_noise_is_off_by_default_and_repeats_with_its_seed() -> None:
    quiet = drive(CAR, params(CAR), steering, 0.5, v=5.0)
    assert all(
        (y.speed_meas, y.acc_meas, y.yaw_rate_meas, y.steer_meas, y.x_meas) == (y.speed, y.acc_ach, y.yaw_rate, y.steer_ach, y.x) for y in quiet
    )
    noise = car.Noise(speed=0.2, acceleration=0.3, yaw_rate=0.01, steer=0.005, position=0.1, yaw=0.02)
    p = params(CAR, noise=noise)
    one, two, other = (drive(CAR, p, steering, 5.0, v=5.0, seed=seed) for seed in (1, 1, 2))
    assert one == two
    assert [y.speed for y in one] == [y.speed for y in other]
    assert [y.speed_meas for y in one] != [y.speed_meas for y in other]
    for meas, true, sigma in (("speed_meas", "speed", 0.2), ("steer_meas", "steer_ach", 0.005), ("x_meas", "x", 0.1), ("yaw_meas", "yaw", 0.02)):
        errors = [getattr(y, meas) - getattr(y, true) for y in one]
        assert statistics.pstdev(errors) == pytest.approx(sigma, rel=0.15)
        assert statistics.fmean(errors) == pytest.approx(0.0, abs=0.15 * sigma)


def test_control_gives_the_acceleration_asked_for_on_the_flat_and_on_a_slope() -> None:
    p = params(CAR_CONTROL)
    for slope in (0.0, -0.8, 0.8):
        for a in (-2.0, 0.3, 1.5):
            y = drive(CAR_CONTROL, p, Controlled(acceleration=a, slope=slope), 1.5, v=10.0)[-1]
            assert y.acc_ach == pytest.approx(a, abs=0.02), (slope, a)
    y = drive(CAR_CONTROL, p._replace(convert=p.convert._replace(compensate_slope=0.0)), Controlled(acceleration=0.3, slope=-0.8), 1.5, v=10.0)[-1]
    assert y.acc_ach == pytest.approx(-0.5, abs=0.02)


def test_control_in_reverse_speeds_up_backwards_on_a_slope_too() -> None:
    for slope in (0.0, 0.5):
        y = drive(CAR_CONTROL, params(CAR_CONTROL), Controlled(acceleration=1.0, gear=REVERSE, slope=slope), 3.0)[-1]
        assert y.acc_req == -1.0
        assert y.acc_ach == pytest.approx(-1.0, abs=0.03)
        assert y.speed < -2.0
        assert y.x < -2.0


def test_control_steers_the_tyre_to_the_angle_asked_for() -> None:
    for v in (3.0, 15.0):
        y = drive(CAR_CONTROL, params(CAR_CONTROL), Controlled(steer=0.1), 6.0, v=v)[-1]
        assert y.steer_ach == pytest.approx(0.1, abs=4e-3)  # friction holds it a little off
        assert y.steer_cmd == pytest.approx(0.1, abs=1e-4)


def test_control_chooses_the_brake_only_below_the_coasting_row() -> None:
    p = params(CAR_CONTROL)
    coast = lookup_grid(ACCEL, 0.0, 10.0)
    above, below = (drive(CAR_CONTROL, p, Controlled(acceleration=coast + d), DT, v=10.0)[0] for d in (0.1, -0.1))
    assert above.accel_req > 0.0 == above.brake_req
    assert below.brake_req > 0.0 == below.accel_req
    limit = drive(CAR_CONTROL, p, Controlled(acceleration=-20.0), DT, v=10.0)[0]
    assert (limit.brake_req, limit.brake_limited, limit.accel_limited) == (1.0, 1.0, 0.0)


def test_without_a_steering_report_control_derives_the_angle() -> None:
    p = params(CAR_CONTROL, vehicle__enable_pub_steer=0.0, convert__enable_pub_steer=0.0)
    hidden, plain = (drive(CAR_CONTROL, q, Controlled(steer=0.1), 2.0, v=8.0) for q in (p, params(CAR_CONTROL)))
    assert [y.steer_ach for y in hidden] == [y.steer_ach for y in plain]
    for y in hidden[::20]:
        assert y.steer_meas == pytest.approx(y.steer_ach, abs=1e-12)
    assert drive(CAR, params(CAR, vehicle__enable_pub_steer=0.0), Pedalled(wheel=1.0), 1.0, v=5.0)[-1].steer_meas == 0.0


def test_control_is_the_car_behind_a_converter() -> None:
    """The pedals and wheel that control asks for, given to the plain car, give the same run."""
    noise = car.Noise(speed=0.1, steer=0.002)
    asked = drive(CAR_CONTROL, params(CAR_CONTROL, noise=noise), lambda t: Controlled(1.5 * math.sin(t), 0.1 * math.sin(2.0 * t)), 4.0, v=10.0)
    given = drive(
        CAR,
        params(CAR, noise=noise),
        lambda t: Pedalled(*(getattr(asked[round(t / DT)], f"{n}_req") for n in ("accel", "brake", "wheel"))),
        4.0,
        v=10.0,
    )
    for name in ("x", "y", "yaw", "speed", "steer_ach", "steer_meas", "acc_ach", "accel_cmd", "wheel_meas"):
        assert [getattr(y, name) for y in asked] == [getattr(y, name) for y in given], name


@pytest.mark.parametrize("world", [CAR, CAR_CONTROL], ids=lambda w: w.name)
def test_a_tick_of_length_zero_changes_nothing(world: World) -> None:
    p, s = params(world, noise=car.Noise(speed=0.1)), put(world.State(), "vehicle.vx", 7.0)
    for k in range(30):
        s, _ = world.step(p, s, world.In(0.4, 0.1), Tick(k, DT))
    assert world.step(p, s, world.In(0.1, 0.0), Tick(30, 0.0))[0] == s


@pytest.mark.parametrize(
    ("world", "changes", "text"),
    [
        (CAR, {"dead_time__steer": 0.9}, "dead_time.steer: delay = 0.9 s is 90 ticks"),
        (CAR, {"faults__accel": fault.Params(fault.DELAY, extra_delay=0.7)}, "faults.accel.extra_delay: delay = 0.8 s is 80 ticks"),
        (CAR, {"wheel_lim": 0.0}, "wheel_lim = 0 rad is outside"),
        (CAR, {"faults__steer": fault.Params(fault.STUCK, at=2.0, until=1.0)}, "until"),
        (CAR_CONTROL, {"convert__convert_steer_cmd": 0.0}, "convert.convert_steer_cmd: this vehicle is steered by its wheel"),
        (CAR_CONTROL, {"vehicle__enable_pub_steer": 0.0}, "convert.enable_pub_steer: differs from vehicle.enable_pub_steer"),
    ],
)
def test_what_does_not_fit_is_refused(world: World, changes: dict[str, Any], text: str) -> None:
    with pytest.raises(ParameterError, match=text):
        params(world, **changes)


def test_the_worlds_are_in_the_table_pure_and_sound() -> None:
    for world in (CAR, CAR_CONTROL):
        assert WORLDS[world.name] is world
        assert offences(world.step) == []
        assert list(problems(world.Params(), "", DT)) == []
        assert {leaf.path for leaf in numbers(world.Out)} == set(Out._fields)
    for fn in (car.seen, car_drive.measure, car_drive.acceleration, car_drive.noisy, car_drive.of(car.VEHICLE, car.SLOTS).step):
        assert offences(fn) == []


def test_other_vehicles_and_longer_lines_can_be_had() -> None:
    world = car.pedalled("ACTUATION_CMD_VGR", 200)
    assert world is car.pedalled("ACTUATION_CMD_VGR", 200)
    p = params(world, dead_time__steer=1.5)
    run = drive(world, p, Pedalled(wheel=1.0), 2.5, v=5.0)
    assert run[149].steer_ach == 0.0
    assert run[-1].steer_ach == pytest.approx(run[-1].steer_req, rel=0.05)


def test_the_shipped_maps_are_what_their_formula_gives() -> None:
    spec = util.spec_from_file_location("car_maps", MAPS / "car_maps.py")
    assert spec is not None
    assert spec.loader is not None
    car_maps = util.module_from_spec(spec)
    spec.loader.exec_module(car_maps)
    for name in ("car_accel.csv", "car_brake.csv"):
        assert (MAPS / name).read_text() == car_maps.text(name)
    # released pedals mean the same on both maps, so that changing from one to the other is smooth
    assert ACCEL.z[: len(ACCEL.col)] == BRAKE.z[: len(BRAKE.col)]
    assert ACCEL.z[0] == 0.0
