"""The delayed torque driver: who acts when, what the body makes of it, and what bad input leaves alone."""

import copy
import math
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counts import examples
from pushrod.core.errors import InputError, MissingBodyError, ParameterError, PushrodError, QueueFullError, UnknownNameError
from pushrod.sim.actuator_driver import ActuatorDriver, CoarseStepWarning
from pushrod.sim.rigid_body import ReferenceBody, RigidBody

A, B, C = (1.0, 0.0, 0.0), (0.0, 2.0, 0.0), (0.0, 0.0, 3.0)
NONE = (0.0, 0.0, 0.0)
TIMINGS = ("exact", "event", "event_recompute")

pytestmark = pytest.mark.filterwarnings("ignore::pushrod.sim.actuator_driver.CoarseStepWarning")


class Recorder:
    """A body that writes down what is done to it."""

    def __init__(self) -> None:
        self.pieces: list[tuple[float, tuple[float, ...]]] = []

    def update(self, dt: float, torque: Iterable[float]) -> None:
        self.pieces.append((dt, tuple(torque)))


def recorded(delay: float, timing: str = "exact", **options: Any) -> tuple[ActuatorDriver, Recorder]:
    body = Recorder()
    return ActuatorDriver(body, delay, timing=timing, **options), body


# the two usage examples


def test_first_example_control_loop_with_a_delayed_actuator() -> None:
    aircraft = RigidBody((1.0, 2.0, 3.0))
    actuator = ActuatorDriver(aircraft, 0.05)
    dt, control_torque = 0.01, (0.5, 0.0, -0.2)
    for i in range(100):
        actuator.send_command(control_torque)
        actuator.update(dt)
        assert actuator.buffered_command_count <= 5
        assert not actuator.has_commands_exceeding_limit(10.0)
        if i == 4:
            assert aircraft.omega == NONE
    assert actuator.time == pytest.approx(1.0, abs=1e-15)
    # zero for 0.05 s, then the torque; about two principal axes at once the third stays small
    assert aircraft.omega.x == pytest.approx(0.5 / 1.0 * 0.95, rel=2e-2)
    assert aircraft.omega.z == pytest.approx(-0.2 / 3.0 * 0.95, rel=2e-2)
    actuator.reset()
    assert actuator.buffered_command_count == 0
    assert actuator.time == 0.0
    assert actuator.delay == 0.05


def test_second_example_delay_that_grows_with_the_command() -> None:
    aircraft = RigidBody((1.0, 2.0, 3.0))
    actuator = ActuatorDriver(aircraft, 0.0)
    acting = []
    for magnitude in range(1, 11):
        actuator.delay = 0.01 + magnitude * 0.005
        actuator.send_command((float(magnitude), 0.0, 0.0))
        actuator.update(0.01)
        acting.append(actuator.torque[0])
    # sent at 0, 10, 20 ... ms, due at 15, 30, 45 ... ms
    assert acting == [0.0, 1.0, 2.0, 2.0, 3.0, 4.0, 4.0, 5.0, 6.0, 6.0]
    impulse = sum(0.015 * m for m in range(1, 6)) + 0.01 * 6
    assert aircraft.omega.x == pytest.approx(impulse, rel=1e-12)
    assert aircraft.omega[1:] == (0.0, 0.0)


# exact timing


def test_the_step_is_cut_where_a_command_comes_due_and_the_torque_is_held() -> None:
    driver, body = recorded(0.013)
    driver.send_command(A)
    for _ in range(3):
        driver.update(0.01)
    driver.send_command(B)
    driver.update(0.1)
    assert [torque for _, torque in body.pieces] == [NONE, NONE, A, A, A, B]
    assert [h for h, _ in body.pieces] == pytest.approx([0.01, 0.003, 0.007, 0.01, 0.013, 0.087], abs=1e-16)
    assert driver.torque == B


def test_several_commands_in_one_step_act_one_after_the_other() -> None:
    driver, body = recorded(0.02)
    driver.send_command(A)
    driver.update(0.003)
    driver.send_command(B)
    driver.update(0.004)
    driver.send_command(C)
    driver.update(0.1)
    assert [torque for _, torque in body.pieces] == [NONE, NONE, NONE, A, B, C]
    assert [h for h, _ in body.pieces] == pytest.approx([0.003, 0.004, 0.013, 0.003, 0.004, 0.08], abs=1e-16)


def test_without_delay_a_command_acts_at_once_and_the_last_one_wins() -> None:
    driver, body = recorded(0.0)
    driver.send_command(A)
    driver.send_command(B)
    assert driver.buffered_command_count == 2
    driver.update(0.01)
    assert body.pieces == [(0.01, B)]


def test_a_step_of_no_length_releases_what_is_due_and_moves_nothing() -> None:
    driver, body = recorded(0.0)
    driver.send_command(A)
    driver.update(0.0)
    assert (driver.buffered_command_count, driver.torque, body.pieces) == (0, A, [])


def test_commands_on_their_way_keep_their_time_when_the_delay_changes() -> None:
    driver, body = recorded(0.03)
    driver.send_command(A)
    driver.delay = 0.2
    driver.update(0.05)
    assert body.pieces == [(pytest.approx(0.03), NONE), (pytest.approx(0.02), A)]


def test_first_in_stays_first_out_when_the_delay_shrinks() -> None:
    driver, body = recorded(0.1)
    driver.send_command(A)
    driver.update(0.02)
    driver.delay = 0.01
    driver.send_command(B)  # due at 0.03, but A comes at 0.1
    driver.update(0.05)
    assert driver.buffered_command_count == 2
    driver.update(0.05)
    assert [torque for _, torque in body.pieces] == [NONE, NONE, NONE, B]
    assert body.pieces[-1][0] == pytest.approx(0.02)


def test_the_clock_never_tires() -> None:
    driver, body = recorded(0.0137)
    driver.update(1e9)  # a float clock would now be good to 1e-7 s
    for _ in range(1000):
        driver.update(0.1)
    driver.send_command(A)
    driver.update(0.02)
    assert [h for h, _ in body.pieces[-2:]] == pytest.approx([0.0137, 0.0063], abs=1e-17)


@settings(max_examples=examples(60))
@given(st.lists(st.tuples(st.floats(0.0, 0.1), st.floats(0.0, 0.05), st.integers(0, 3)), max_size=20))
def test_the_body_gets_every_moment_once_and_the_torque_of_that_moment(schedule: list[tuple[float, float, int]]) -> None:
    """Against a plain list of (due time, torque) in the order of sending."""
    driver, body = recorded(0.0)
    switches: list[tuple[float, float]] = [(0.0, 0.0)]
    t, name = 0.0, 0.0
    for delay, dt, sends in schedule:
        driver.delay = delay
        for _ in range(sends):
            name += 1.0
            driver.send_command((name, 0.0, 0.0))
            switches.append((max(t + delay, switches[-1][0]), name))
        driver.update(dt)
        t += dt
    assert math.fsum(h for h, _ in body.pieces) == pytest.approx(t, abs=1e-12)
    start = 0.0
    for h, torque in body.pieces:
        if h > 1e-5:
            middle = start + h / 2
            assert torque[0] == [name for at, name in switches if at <= middle][-1]
        start += h
    waiting = [at for at, _ in switches[1:] if at > t + 2e-6]
    assert driver.buffered_command_count >= len(waiting)
    assert driver.check_numerics()


@pytest.mark.parametrize("timing", TIMINGS)
@pytest.mark.parametrize(("early", "left"), [(5e-7, 0), (2e-6, 1)])
def test_a_microsecond_early_is_in_time(timing: str, early: float, left: int) -> None:
    driver, _ = recorded(0.05, timing)
    driver.send_command(A)
    driver.update(0.05 - early)
    assert driver.buffered_command_count == left


def test_exact_timing_is_independent_of_the_step() -> None:
    ends = []
    for cuts in (1, 7, 40):
        body = RigidBody((1.0, 2.0, 3.0), omega=(0.3, -0.2, 0.5))
        driver = ActuatorDriver(body, 0.0137)
        for torque in (A, B, C, A):
            driver.send_command(torque)
            for _ in range(cuts):
                driver.update(0.05 / cuts)
        ends.append((*body.omega, *body.attitude))
    assert ends[0] == pytest.approx(ends[2], abs=1e-9)
    assert ends[1] == pytest.approx(ends[2], abs=1e-9)


# event timing


def test_event_timing_moves_the_body_only_when_a_command_comes_due() -> None:
    driver, body = recorded(0.025, "event")
    driver.send_command(A)
    for _ in range(10):
        driver.update(0.01)
    assert body.pieces == [(pytest.approx(0.005, abs=1e-8), A)]
    assert driver.torque == A


def test_event_timing_cuts_late_commands_to_the_step() -> None:
    driver, body = recorded(0.1, "event_recompute")
    for torque in (A, B, C):
        driver.send_command(torque)
        driver.update(0.01)
    driver.delay = 0.0
    driver.update(0.01)
    assert body.pieces == [(pytest.approx(0.01), torque) for torque in (A, B, C)]


@pytest.mark.parametrize(("timing", "left"), [("exact", 1), ("event", 1), ("event_recompute", 0)])
def test_what_a_smaller_delay_does_to_commands_on_their_way(timing: str, left: int) -> None:
    driver, _ = recorded(0.1, timing)
    driver.send_command(A)
    driver.update(0.02)
    driver.delay = 0.01
    driver.update(0.01)
    assert driver.buffered_command_count == left


def test_event_timing_gives_a_due_command_a_microsecond_at_least() -> None:
    driver, body = recorded(0.0, "event")
    driver.send_command(A)
    driver.update(0.0)
    assert body.pieces == [(float(np.float32(1e-6)), A)]


# queue


def test_a_full_queue_refuses_and_says_so() -> None:
    driver, body = recorded(0.1, queue_limit=2)
    driver.send_command(A)
    driver.send_command(B)
    with pytest.raises(QueueFullError, match="2 commands"):
        driver.send_command(C)
    driver.update(0.2)
    assert driver.torque == B
    driver.send_command(C)
    assert driver.buffered_command_count == 1
    assert body.pieces[-1][1] == B


@pytest.mark.parametrize("timing", TIMINGS)
def test_limit_check_is_strict_and_looks_at_the_queue_alone(timing: str) -> None:
    driver, _ = recorded(0.05, timing)
    assert not driver.has_commands_exceeding_limit(1e-9)
    driver.send_command((1.0, 2.0, 2.0))
    assert not driver.has_commands_exceeding_limit(3.0)
    assert driver.has_commands_exceeding_limit(2.9999)
    driver.update(0.1)
    assert not driver.has_commands_exceeding_limit(1.0)


def test_limit_check_in_float32_compares_float32() -> None:
    driver, _ = recorded(0.05, "event")
    driver.send_command((0.1, 0.0, 0.0))
    assert not driver.has_commands_exceeding_limit(0.1)


def test_reset_forgets_commands_time_and_torque_and_keeps_the_rest() -> None:
    body = RigidBody((1.0, 2.0, 3.0))
    driver = ActuatorDriver(body, 0.01)
    driver.send_command(A)
    driver.update(0.02)
    driver.send_command(B)
    omega = body.omega
    driver.reset()
    assert (driver.time, driver.buffered_command_count, driver.torque) == (0.0, 0, NONE)
    assert (driver.delay, driver.body, body.omega) == (0.01, body, omega)


@pytest.mark.parametrize("copied", [copy.copy, ActuatorDriver.copy])
@pytest.mark.parametrize("timing", TIMINGS)
def test_a_copy_has_its_own_queue_and_the_same_body(copied: Callable[[ActuatorDriver], ActuatorDriver], timing: str) -> None:
    driver, body = recorded(0.05, timing, queue_limit=7)
    driver.send_command(A)
    driver.update(0.01)
    twin = copied(driver)
    assert (twin.body, twin.delay, twin.time, twin.timing, twin.queue_limit) == (body, 0.05, driver.time, timing, 7)
    twin.send_command(B)
    assert (driver.buffered_command_count, twin.buffered_command_count) == (1, 2)
    driver.update(0.1)
    assert (driver.buffered_command_count, twin.buffered_command_count) == (0, 2)
    twin.delay = 0.5
    assert driver.delay == 0.05
    driver.reset()
    assert twin.time > 0.0


def test_a_deep_copy_has_its_own_body_too() -> None:
    body = RigidBody((1.0, 2.0, 3.0), omega=(1.0, 0.0, 0.0))
    twin = copy.deepcopy(ActuatorDriver(body, 0.05))
    twin.update(0.1)
    assert twin.body is not body
    assert body.attitude == (1.0, 0.0, 0.0, 0.0)


# warnings and errors


def test_a_coarse_step_warns_once() -> None:
    driver, _ = recorded(0.05)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        driver.update(0.005)
    with pytest.warns(CoarseStepWarning, match=r"0\.006 s is longer than a tenth of the delay of 0\.05 s") as caught:
        driver.update(0.006)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        driver.update(0.02)
        driver.copy().update(0.02)


def test_without_delay_no_step_is_coarse() -> None:
    driver, _ = recorded(0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        driver.update(1.0)


def test_a_driver_without_a_body_can_be_built_and_says_what_is_missing() -> None:
    driver = ActuatorDriver()
    assert (driver.body, driver.delay, driver.time, driver.buffered_command_count, driver.check_numerics()) == (None, 0.0, 0.0, 0, True)
    driver.send_command(A)
    with pytest.raises(MissingBodyError, match="body"):
        driver.update(0.01)
    assert (driver.time, driver.buffered_command_count) == (0.0, 1)
    driver.body = body = RigidBody()
    driver.update(0.01)
    assert body.omega.x == pytest.approx(0.01)


def test_a_body_without_update_is_refused() -> None:
    driver, body = recorded(0.0)
    with pytest.raises(InputError, match="update"):
        driver.body = 3.0  # type: ignore[assignment]
    assert driver.body is body


def test_an_unknown_timing_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match="event_recompute"):
        ActuatorDriver(timing="events")


@pytest.mark.parametrize("limit", [0, -1, 2.5, True, "3"])
def test_a_bad_queue_limit_is_refused(limit: Any) -> None:
    with pytest.raises(InputError, match="queue_limit"):
        ActuatorDriver(queue_limit=limit)


BAD_TIMES = [-1e-9, -1.0, math.nan, math.inf, -math.inf, None, "0.01", 10**400]
BAD_TORQUES = [(math.nan, 0.0, 0.0), (0.0, math.inf, 0.0), (0.0, 0.0), (0.0,) * 4, 1.0, None, "abc", (0.0, 0.0, "1"), (0.0, 0.0, None)]
BAD_LIMITS = [0.0, *BAD_TIMES]


def snapshot(driver: ActuatorDriver) -> tuple[Any, ...]:
    return driver.time, driver.delay, driver.torque, list(driver._queue), driver.body, driver.body.state, driver._clock  # type: ignore[union-attr]


CALLS: list[tuple[str, Callable[[ActuatorDriver, Any], Any], list[Any]]] = [
    ("delay", lambda driver, x: setattr(driver, "delay", x), BAD_TIMES),
    ("dt", lambda driver, x: driver.update(x), BAD_TIMES),
    ("torque", lambda driver, x: driver.send_command(x), BAD_TORQUES),
    ("limit", lambda driver, x: driver.has_commands_exceeding_limit(x), BAD_LIMITS),
]


@pytest.mark.parametrize("timing", TIMINGS)
@pytest.mark.parametrize(("what", "call", "value"), [(what, call, value) for what, call, values in CALLS for value in values])
def test_bad_input_is_named_and_changes_nothing(timing: str, what: str, call: Callable[[ActuatorDriver, Any], Any], value: Any) -> None:
    body = RigidBody((1.0, 2.0, 3.0), omega=(0.1, 0.2, 0.3)) if timing == "exact" else ReferenceBody((1.0, 2.0, 3.0), omega=(0.1, 0.2, 0.3))
    driver = ActuatorDriver(body, 0.05, timing=timing)
    driver.send_command(A)
    driver.update(0.01)
    driver.send_command(B)
    before = snapshot(driver)
    with pytest.raises(InputError, match=what):
        call(driver, value)
    assert snapshot(driver) == before


@pytest.mark.parametrize("delay", BAD_TIMES)
def test_a_bad_delay_is_refused_at_the_start(delay: Any) -> None:
    with pytest.raises(InputError, match="delay"):
        ActuatorDriver(RigidBody(), delay)


@pytest.mark.parametrize("timing", TIMINGS[1:])
def test_what_does_not_fit_a_float32_is_refused(timing: str) -> None:
    driver = ActuatorDriver(ReferenceBody(), 3e38, timing=timing)
    driver.update(3e38)
    before = snapshot(driver)
    for call in (
        lambda: driver.update(1e39),
        lambda: driver.update(3e38),
        lambda: driver.send_command((1e39, 0.0, 0.0)),
        lambda: driver.send_command(A),
    ):
        with pytest.raises(InputError, match="float32"):
            call()
    assert snapshot(driver) == before


@pytest.mark.parametrize(("body", "timing"), [(RigidBody(), "exact"), (ReferenceBody(), "event")])
def test_a_step_the_body_cannot_take_is_taken_by_nobody(body: RigidBody | ReferenceBody, timing: str) -> None:
    driver = ActuatorDriver(body, 0.5, timing=timing)
    driver.send_command(A)
    driver.update(0.25)
    driver.send_command((1e300, 1e300, 1e300) if timing == "exact" else (1e38, 1e38, 1e38))
    before = snapshot(driver)
    with pytest.raises(PushrodError, match="nothing was changed"):
        driver.update(1e20)
    assert snapshot(driver) == before


def test_check_numerics_sees_a_damaged_queue() -> None:
    driver, _ = recorded(0.05)
    driver.send_command(A)
    assert driver.check_numerics()
    driver._queue[0] = driver._queue[0]._replace(torque=(math.nan, 0.0, 0.0))
    assert not driver.check_numerics()
    driver._queue[0] = driver._queue[0]._replace(torque=A, due=-1)
    assert not driver.check_numerics()


def test_it_says_what_it_is() -> None:
    driver = ActuatorDriver(RigidBody((1.0, 2.0, 3.0)), 0.05)
    assert "delay=0.05" in repr(driver)
    assert "RigidBody" in repr(driver)


# bodies


def test_inertia_as_moments_or_tensor() -> None:
    assert RigidBody((1.0, 2.0, 3.0)).inertia == RigidBody(np.diag([1.0, 2.0, 3.0])).inertia == ((1.0, 0.0, 0.0), (0.0, 2.0, 0.0), (0.0, 0.0, 3.0))
    full = RigidBody([[2.0, 0.1, 0.2], [0.1, 3.0, 0.3], [0.2, 0.3, 4.0]])
    assert full.params == (2.0, 3.0, 4.0, 0.1, 0.2, 0.3)


@pytest.mark.parametrize(
    ("inertia", "error"),
    [
        ((1.0, 2.0), InputError),
        ((1.0, 2.0, math.nan), InputError),
        (5.0, InputError),
        ([[1.0, 0.1, 0.0], [0.2, 1.0, 0.0], [0.0, 0.0, 1.0]], InputError),
        ([[1.0, 0.1], [0.2, 1.0], [0.0, 0.0]], InputError),
        ((1.0, -2.0, 3.0), ParameterError),
        ((1.0, 0.0, 3.0), ParameterError),
        ([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]], ParameterError),
    ],
)
def test_an_impossible_inertia_is_refused(inertia: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="inertia"):
        RigidBody(inertia)


def test_attitude_as_quaternion_or_angles() -> None:
    body = RigidBody(attitude=(0.1, 0.2, 0.3))
    assert body.angles == pytest.approx((0.1, 0.2, 0.3))
    body.attitude = (0.0, 0.0, 0.0, -1.0000001)
    assert body.attitude == (0.0, 0.0, 0.0, -1.0)
    for bad in ((0.0,) * 4, (1.0, 0.0), 3.0, (math.nan, 0.0, 0.0, 1.0), "up"):
        with pytest.raises(InputError, match="attitude"):
            body.attitude = bad
    assert body.attitude == (0.0, 0.0, 0.0, -1.0)


def test_a_free_body_keeps_energy_and_momentum() -> None:
    body = RigidBody((1.0, 2.0, 3.0), omega=(0.3, 0.9, -0.2))
    energy, momentum = body.energy, math.hypot(*body.momentum)
    for _ in range(100):
        body.update(0.05, NONE)
    assert body.energy == pytest.approx(energy, rel=1e-9)
    assert math.hypot(*body.momentum) == pytest.approx(momentum, rel=1e-13)


@pytest.mark.parametrize("body", [RigidBody(omega=(0.1, 0.2, 0.3)), ReferenceBody(omega=(0.1, 0.2, 0.3))])
@pytest.mark.parametrize(("dt", "torque"), [(-0.1, A), (math.nan, A), (0.1, (math.inf, 0.0, 0.0)), (0.1, (1.0, 2.0))])
def test_a_body_refuses_what_it_cannot_use(body: RigidBody | ReferenceBody, dt: float, torque: Any) -> None:
    before = body.state
    with pytest.raises(InputError, match="dt|torque"):
        body.update(dt, torque)
    assert body.state == before


def test_rates_can_be_set() -> None:
    body = RigidBody()
    body.omega = np.array([1.0, 2.0, 3.0])
    with pytest.raises(InputError, match="omega"):
        body.omega = (1.0, 2.0, math.inf)
    assert body.omega == (1.0, 2.0, 3.0)
    body.state = body.state._replace(w=body.omega._replace(x=5.0))
    assert body.omega.x == 5.0


@pytest.mark.parametrize("inertia", [(0.0, 1.0, 1.0), (-1.0, 1.0, 1.0), (1e-40, 1.0, 1.0), (1e39, 1.0, 1.0)])
def test_the_reference_body_wants_usable_moments(inertia: tuple[float, ...]) -> None:
    with pytest.raises(InputError, match="inertia"):
        ReferenceBody(inertia)
