"""The spacecraft: it gets where it is told, later than it is told, and faults act when they should."""

import itertools
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counts import examples
from pushrod.core.check import check
from pushrod.core.errors import ParameterError
from pushrod.core.model import Tick
from pushrod.models import fault
from pushrod.plants import rigid_body
from pushrod.plants.attitude import Angles, from_angles
from pushrod.sim.worlds import WORLDS, satellite
from pushrod.sim.worlds.satellite import BUS, Craft, Faults, In, Limit, Out, Params, Sensors, State, Torque, step

QUIET = Params(noise=Sensors(0.0, 0.0))


def run(p: Params, u: In, seconds: float, dt: float = 0.02, state: State | None = None, seed: int = 0) -> list[Out]:
    s, ys = State() if state is None else state, []
    for k in range(round(seconds / dt)):
        s, y = step(p, s, u, Tick(k, dt, seed, 0))
        ys.append(y)
    return ys


def test_it_is_in_the_table() -> None:
    assert WORLDS["satellite"] is satellite.SATELLITE
    check(Params(), dt=0.01)


# control


@pytest.mark.parametrize("u", [In(roll_req=0.3), In(0.3, -0.2, 0.8), In(-3.0, 0.0, 0.0), In(0.0, 1.2, 3.0)])
def test_it_points_where_it_is_told(u: In) -> None:
    last = run(QUIET, u, 70.0)[-1]
    assert last.pointing_error < 1e-6
    assert (last.roll, last.pitch, last.yaw) == pytest.approx(u[:3], abs=1e-5)
    assert math.hypot(last.w_x, last.w_y, last.w_z) < 1e-6
    assert last.saturated == 0.0


def test_told_torques_it_turns_by_them_and_the_controller_keeps_out() -> None:
    """Euler's equation about one axis, with the delay of the bus in front."""
    last = run(QUIET, In(roll_req=1.0, by_torque=1.0, torque_z=0.6), 2.0)[-1]
    assert (last.w_x, last.w_y) == pytest.approx((0.0, 0.0), abs=1e-12)
    assert last.w_z == pytest.approx(0.6 / 60.0 * (2.0 - 0.05), rel=1e-9)
    assert (last.torque_req_z, last.torque_ach_z) == (0.6, 0.6)


def test_it_stops_a_tumble() -> None:
    tumbling = State(craft=Craft(body=rigid_body.State(rigid_body.Rate(0.2, -0.3, 0.1), from_angles(Angles(1.0, 0.5, -2.0)))))
    assert run(QUIET, In(), 90.0, state=tumbling)[-1].pointing_error < 1e-5


def test_it_turns_about_one_axis_at_the_speed_it_may_and_does_not_overshoot() -> None:
    ys = run(QUIET, In(0.3, -0.2, 0.8), 40.0)
    assert max(y.yaw for y in ys) < 0.801
    assert max(y.roll for y in ys) < 0.301
    assert 0.095 < max(math.hypot(y.w_x, y.w_y, y.w_z) for y in ys) < 0.13
    halfway = next(y for y in ys if y.pointing_error < 0.45)
    assert (halfway.w_x / halfway.w_z, halfway.w_y / halfway.w_z) == pytest.approx((0.5, -0.15), abs=0.15)


def test_with_noise_it_points_as_well_as_it_sees() -> None:
    ys = run(Params(), In(0.1, 0.0, -0.1), 60.0, seed=4)
    errors = [y.pointing_error for y in ys[2500:]]
    assert 1e-7 < sum(errors) / len(errors) < 2e-5


def test_a_steady_disturbance_costs_the_error_that_balances_it() -> None:
    last = run(QUIET._replace(disturbance=Torque(0.5, 0.0, 0.0)), In(), 40.0)[-1]
    assert last.roll == pytest.approx(0.5 / 50.0, rel=1e-4)
    assert last.torque_ach_x == pytest.approx(-0.5, rel=1e-6)


@pytest.mark.parametrize(("delay", "settles"), [(0.05, True), (0.6, True), (0.8, False)])
def test_the_margin_the_head_comment_claims(delay: float, settles: bool) -> None:
    """0.05 + 0.63 s of delay is where an axis begins to swing."""
    ys = run(QUIET._replace(bus=BUS.Params(delay)), In(roll_req=0.001), 120.0, 0.04)
    assert (max(y.pointing_error for y in ys[-500:]) < 1e-4) == settles


def test_halving_the_tick_halves_the_difference() -> None:
    def at_times(dt: float) -> list[float]:
        ys = run(QUIET, In(0.02, -0.01, 0.015), 4.0, dt)
        every = round(0.4 / dt)
        return [x for y in ys[every - 1 :: every] for x in (y.roll, y.pitch, y.yaw, y.w_x, y.w_y, y.w_z)]

    runs = [at_times(dt) for dt in (0.04, 0.02, 0.01, 0.005)]
    gaps = [max(abs(a - b) for a, b in zip(one, two, strict=True)) for one, two in itertools.pairwise(runs)]
    assert [math.log2(a / b) for a, b in itertools.pairwise(gaps)] == pytest.approx([1.0, 1.0], abs=0.2)


# who answers whom


@pytest.mark.parametrize(("channel", "axis", "angle"), [("roll_req", "x", "roll"), ("pitch_req", "y", "pitch"), ("yaw_req", "z", "yaw")])
def test_each_request_moves_its_own_outputs(channel: str, axis: str, angle: str) -> None:
    first, *_, last = run(QUIET, In(**{channel: 0.05}), 3.0)
    still, *_, _ = run(QUIET, In(), 3.0)
    moved = {name for name, a, b in zip(Out._fields, first, still, strict=True) if abs(a - b) > 1e-12}
    assert moved == {f"torque_req_{axis}", f"torque_cmd_{axis}", "pointing_error"}
    assert getattr(first, f"torque_req_{axis}") > 0.0
    changed = {name for name, value in zip(Out._fields, last, strict=True) if abs(value) > 1e-9}
    mine = {f"torque_{kind}_{axis}" for kind in ("req", "cmd", "ach")} | {angle, f"{angle}_meas", f"w_{axis}", f"w_meas_{axis}", "pointing_error"}
    assert changed == mine


def test_the_torque_arrives_late_and_inside_the_tick() -> None:
    dt, p = 0.01, QUIET._replace(bus=BUS.Params(0.025))
    ys = run(p, In(roll_req=0.05), 0.04, dt)
    assert ys[0].torque_cmd_x == pytest.approx(2.5, rel=1e-3)
    assert [y.torque_ach_x for y in ys[:2]] == [0.0, 0.0]
    assert ys[2].torque_ach_x == ys[0].torque_cmd_x
    assert ys[1].w_x == 0.0
    assert ys[2].w_x == pytest.approx(ys[0].torque_cmd_x / 50.0 * 0.005, rel=1e-9)


def test_what_is_measured_is_the_truth_of_the_tick_before_and_noise() -> None:
    quiet = run(QUIET, In(0.1, 0.2, 0.3), 1.0)
    assert all(later.w_meas_x == y.w_x and later.roll_meas == pytest.approx(y.roll, abs=1e-14) for y, later in itertools.pairwise(quiet))
    noisy = run(Params(noise=Sensors(1e-3, 2e-3)), In(), 40.0, seed=1)
    for name, sigma in (("w_meas_x", 2e-3), ("w_meas_y", 2e-3), ("w_meas_z", 2e-3), ("roll_meas", 1e-3), ("pitch_meas", 1e-3), ("yaw_meas", 1e-3)):
        true = name.replace("_meas", "")
        off = [getattr(later, name) - getattr(y, true) for y, later in itertools.pairwise(noisy)]
        assert math.sqrt(sum(x * x for x in off) / len(off)) == pytest.approx(sigma, rel=0.1)
    assert run(Params(), In(), 0.1, seed=1) == run(Params(), In(), 0.1, seed=1) != run(Params(), In(), 0.1, seed=2)


def test_limits_cut_and_say_so() -> None:
    ys = run(QUIET, In(roll_req=1.0), 2.0)
    assert (ys[0].torque_req_x, ys[0].torque_cmd_x, ys[0].saturated) == (pytest.approx(9.0), 5.0, 1.0)
    weak = run(QUIET._replace(wheel_max=Limit(0.5, 0.5, 0.5)), In(roll_req=0.05), 1.0)
    assert max(y.torque_ach_x for y in weak) == 0.5
    assert weak[0].saturated == 0.0
    assert weak[5].saturated == 1.0


# faults


def broken(channel: str, **fields: Any) -> Params:
    p = QUIET._replace(faults=Faults()._replace(**{channel: fault.Params(**fields)}))
    check(p, dt=0.02)
    return p


@pytest.mark.parametrize("channel", Faults._fields)
@pytest.mark.parametrize(
    "fields",
    [
        {"kind": fault.STUCK},
        {"kind": fault.LOSS, "effectiveness": 0.25},
        {"kind": fault.BIAS, "bias": 0.3},
        {"kind": fault.DELAY, "extra_delay": 0.3},
    ],
    ids=lambda fields: fault.KINDS[int(fields["kind"])],
)
def test_a_fault_acts_from_its_time_on(channel: str, fields: dict[str, float]) -> None:
    u = In(0.08, 0.08, 0.08)
    sound, sick = run(QUIET, u, 2.0), run(broken(channel, at=0.5, **fields), u, 2.0)
    assert sick[:25] == sound[:25]  # ticks 0 to 24 begin before 0.5 s
    first = next(k for k, (a, b) in enumerate(zip(sound, sick, strict=True)) if a != b)
    # a later command leaves those on their way alone: what was sent at 0.5 s would have arrived at 0.55 s, in tick 27
    assert first == (27 if fields["kind"] == fault.DELAY else 25)


def test_what_each_fault_does_to_its_axis() -> None:
    u = In(roll_req=0.2)
    stuck = run(broken("torque_x", kind=fault.STUCK, at=0.5), u, 2.0)
    assert {y.torque_ach_x for y in stuck[25:]} == {stuck[24].torque_ach_x}
    half = run(broken("torque_x", kind=fault.LOSS, at=0.5, effectiveness=0.5), u, 0.52)
    assert half[25].torque_ach_x == pytest.approx(0.5 * run(QUIET, u, 0.52)[25].torque_ach_x)
    bias = run(broken("torque_x", kind=fault.BIAS, at=0.5, bias=0.3), u, 0.52)
    assert bias[25].torque_ach_x == pytest.approx(0.3 + run(QUIET, u, 0.52)[25].torque_ach_x)


def test_a_fault_ends_and_is_announced_or_silent() -> None:
    told = run(broken("torque_y", kind=fault.LOSS, at=0.2, until=0.6, announced=1.0), In(pitch_req=0.1), 1.0)
    assert [k for k, y in enumerate(told) if y.torque_y_fault == fault.LOSS] == list(range(10, 30))
    assert all(y.torque_x_fault == y.torque_z_fault == fault.NONE for y in told)
    silent = run(broken("torque_y", kind=fault.LOSS, at=0.2, until=0.6), In(pitch_req=0.1), 1.0)
    assert all(y.torque_y_fault == fault.NONE for y in silent)
    assert [y.pitch for y in silent] == [y.pitch for y in told]


def test_a_delay_that_does_not_fit_the_line_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"bus\.delay"):
        check(QUIET._replace(bus=BUS.Params(0.7)), dt=0.01)
    with pytest.raises(ParameterError, match=r"faults\.torque_z\.extra_delay"):
        check(QUIET._replace(faults=Faults(torque_z=fault.Params(kind=fault.DELAY, extra_delay=0.7))), dt=0.01)


# laws


def test_nothing_happens_in_no_time() -> None:
    s = State()
    for k in range(20):
        s, _ = step(QUIET, s, In(0.3, 0.2, 0.1), Tick(k, 0.01))
    assert step(QUIET, s, In(1.0, 1.0, 1.0), Tick(20, 0.0))[0] == s


@settings(max_examples=examples(25))
@given(
    st.builds(In, st.floats(-3.2, 3.2), st.floats(-1.6, 1.6), st.floats(-3.2, 3.2), st.sampled_from([0.0, 1.0]), *[st.floats(-1e6, 1e6)] * 3),
    st.floats(0.0, 1.0),
    st.sampled_from([1e-3, 0.02, 0.1]),
    st.floats(0.0, 10.0),
    st.tuples(*[st.floats(1e-6, 1e3)] * 3),
    st.integers(0, 4),
)
def test_always_finite_and_within_limits(u: In, delay: float, dt: float, limit: float, inertia: tuple[float, ...], kind: int) -> None:
    p = Params(
        bus=BUS.Params(delay),
        wheel_max=Limit(limit, limit, limit),
        body=rigid_body.Params(*inertia),
        faults=Faults(torque_x=fault.Params(kind=float(kind), at=0.1)),
    )
    for y in run(p, u, 40 * dt, dt):
        assert all(map(math.isfinite, y))
        assert max(abs(y.torque_ach_y), abs(y.torque_ach_z)) <= limit
        assert max(abs(y.torque_cmd_x), abs(y.torque_cmd_y), abs(y.torque_cmd_z)) <= 5.0
