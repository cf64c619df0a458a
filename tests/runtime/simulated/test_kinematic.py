"""The kinematic motor: six verbs, continuous velocity, limits, and one EndMotion for every command."""

import math
from itertools import pairwise

import pytest
from bench import Motor
from hypothesis import given, settings
from hypothesis import strategies as st

from counts import examples
from pushrod.core.errors import InputError
from pushrod.runtime.driver import Stopped, hooks
from pushrod.runtime.message import BeginMotion, EndMotion
from pushrod.runtime.payload import BUILT_IN, Effort, Hold, Position, Stop, Trajectory, Velocity, Waypoint
from pushrod.runtime.simulated import kinematic
from pushrod.runtime.simulated.kinematic import Kinematic, Options, disarm
from pushrod.runtime.simulated.verbs import HORIZON

DEG = math.pi / 180.0


def test_is_a_driver_of_all_six_verbs() -> None:
    found = hooks(Kinematic())
    assert set(found.command_payloads(None)) == set(BUILT_IN)
    assert found.capabilities(None) == {"position_feedback", "velocity_feedback"}
    assert found.disarm == "pushrod.runtime.simulated.kinematic:disarm"
    assert found.options is Options


def test_starts_in_the_middle_of_its_travel_or_where_told() -> None:
    assert Motor(lower=-1.0, upper=2.0).x == 0.5
    assert Motor(lower=None).x == 0.0
    assert Motor(initial=0.7).x == 0.7


class TestPosition:
    def test_reference_trapezoid(self) -> None:
        m = Motor(60.0 * DEG, 120.0 * DEG)
        m.tell(Position(1.0), "go")
        (begin,) = m.begun()
        assert begin.expected_arrival == pytest.approx(1.4549297)
        assert (begin.initial_position, begin.target_position, begin.command_id, begin.command_type) == (0.0, 1.0, "go", "position")
        assert (begin.acceleration, begin.peak_velocity) == (pytest.approx(2.0944, abs=1e-4), pytest.approx(1.0472, abs=1e-4))
        assert begin.initial_velocity is None
        m.clock.advance(0.727)
        assert m.x == pytest.approx(0.499513, abs=1e-6)
        m.clock.advance(1.0)
        assert m.ended() == [("go", "completed")]
        assert next(t for t, p in m.said if isinstance(p, EndMotion)) == pytest.approx(1.4549297)
        assert m.x == 1.0

    def test_reference_triangle_and_rectangle(self) -> None:
        m = Motor(60.0 * DEG, 120.0 * DEG)
        m.tell(Position(0.1))
        assert m.begun()[0].peak_velocity == pytest.approx(0.457646, abs=1e-6)
        assert m.begun()[0].expected_arrival == pytest.approx(0.437, abs=1e-3)
        m = Motor(60.0 * DEG, None)
        m.tell(Position(1.0))
        assert (m.begun()[0].acceleration, m.begun()[0].peak_velocity) == (None, None)
        assert m.begun()[0].expected_arrival == pytest.approx(0.955, abs=1e-3)

    def test_is_clamped_to_the_travel(self) -> None:
        m = Motor(lower=-90.0 * DEG, upper=90.0 * DEG)
        m.tell(Position(3.0))
        assert m.begun()[0].target_position == pytest.approx(1.5708, abs=1e-4)

    def test_a_new_target_starts_from_position_and_velocity(self) -> None:
        m = Motor(10.0 * DEG, 5.0)
        m.tell(Position(1.0), "first")
        m.clock.advance(0.05)
        x, v = m.x, m.v
        m.tell(Position(0.5), "second")
        assert m.begun()[1].initial_position == x
        assert 0.0 < x < 1.0
        assert m.begun()[1].initial_velocity == v
        assert m.v == pytest.approx(v)
        assert m.ended() == [("first", "cancelled")]
        assert m.heard(EndMotion)[0].detail == "superseded"
        m.clock.advance(10.0)
        assert m.ended() == [("first", "cancelled"), ("second", "completed")]

    def test_hints(self) -> None:
        m = Motor()
        m.tell(Position(1.0, velocity=-0.25))
        assert m.begun()[0].peak_velocity == pytest.approx(0.25)
        m.clock.advance(20.0)
        m.tell(Position(0.0, duration=5.0, velocity=0.0))  # a hint of 0 says nothing
        assert m.begun()[1].expected_arrival == pytest.approx(25.0)
        m.clock.advance(2.5)
        assert m.x == pytest.approx(0.5)

    def test_without_limits_it_is_there_at_once(self) -> None:
        m = Motor(None, None)
        m.tell(Position(1.0), "a")
        assert (m.x, m.ended(), m.begun()[0].expected_arrival) == (1.0, [("a", "completed")], 0.0)

    def test_where_it_is_already(self) -> None:
        m = Motor()
        m.tell(Position(0.0), "a")
        assert m.ended() == [("a", "completed")]

    def test_under_a_jerk_limit_the_acceleration_is_continuous_too(self) -> None:
        m = Motor(jerk=10.0)
        m.tell(Position(1.0))
        m.clock.advance(0.5)
        before = m.driver.state(0.5)
        assert before.a != 0.0
        m.tell(Position(-1.0))
        assert tuple(m.driver.state(0.5)) == pytest.approx(tuple(before))


class TestVelocity:
    def test_for_a_duration(self) -> None:
        m = Motor()
        m.tell(Velocity(0.5, 1.0), "a")
        m.clock.advance(0.9)
        assert m.v == 0.5
        m.clock.advance(1.0)
        assert (m.v, m.ended()) == (0.0, [("a", "completed")])
        assert m.x == pytest.approx(0.0625 + 0.375 + 0.0625)  # up for 0.25 s, on for 0.75 s, down for 0.25 s
        assert m.begun()[0].target_position == pytest.approx(m.x)
        assert m.begun()[0].expected_arrival == pytest.approx(1.25)

    def test_until_the_end_of_the_travel(self) -> None:
        m = Motor()
        m.tell(Velocity(0.5), "a")
        assert m.begun()[0].target_position == pytest.approx(3.0)
        assert max(x for x, _ in m.run(8.0)) <= 3.0 + 1e-9
        assert (m.x, m.v, m.ended()) == (pytest.approx(3.0), 0.0, [("a", "limit_reached")])
        m.tell(Velocity(0.5), "b")  # no further
        m.clock.advance(0.1)
        assert (m.x, m.ended()[-1]) == (pytest.approx(3.0), ("b", "limit_reached"))
        m.tell(Velocity(-0.5), "c")
        m.clock.advance(1.0)
        assert m.v == -0.5

    def test_until_told_otherwise_where_there_is_no_end(self) -> None:
        m = Motor(lower=None, upper=None, feedback_hz=0.0)
        m.tell(Velocity(0.5), "a")
        assert m.begun()[0].expected_arrival == HORIZON
        m.clock.advance(HORIZON + 10.0)
        assert (m.ended(), m.v) == ([], 0.5)
        assert m.begun()[1].expected_arrival == pytest.approx(2.0 * HORIZON)
        m.tell(Velocity(0.0), "b")
        m.clock.advance(1.0)
        assert m.ended() == [("a", "cancelled"), ("b", "completed")]
        assert m.v == 0.0

    def test_is_clamped_to_the_limit(self) -> None:
        m = Motor(velocity=1.0)
        m.tell(Velocity(-9.0, 1.0))
        m.clock.advance(0.8)
        assert m.v == -1.0


class TestEffort:
    def test_is_an_acceleration_through_the_inertia(self) -> None:
        m = Motor(inertia=4.0)
        m.tell(Effort(2.0, 1.0), "a")
        m.clock.advance(1.0)
        assert (m.v, m.x) == (pytest.approx(0.5), pytest.approx(0.25))
        m.clock.advance(1.0)
        assert (m.v, m.x) == (0.0, pytest.approx(0.25 + 0.0625))  # brakes at 2.0
        assert m.ended() == [("a", "completed")]

    def test_within_the_limits_of_effort_acceleration_velocity_and_travel(self) -> None:
        m = Motor(effort=1.0, acceleration=2.0)
        m.tell(Effort(100.0))
        m.clock.advance(0.5)
        assert m.v == pytest.approx(0.5)  # 1.0 / 1.0 kg.m2
        seen = m.run(6.0)
        assert max(v for _, v in seen) == pytest.approx(1.0)
        assert max(x for x, _ in seen) <= 3.0 + 1e-9
        assert m.ended()[-1][1] == "limit_reached"

    def test_too_weak_to_turn_it_in_time_the_travel_still_holds(self) -> None:
        m = Motor(initial=-2.5)
        m.tell(Velocity(-1.0))
        m.clock.advance(0.5)
        m.tell(Effort(0.1))
        assert min(x for x, _ in m.run(5.0)) >= -3.0 - 1e-9
        assert m.ended()[-1][1] == "limit_reached"

    def test_without_any_limit_it_goes_on_and_on(self) -> None:
        m = Motor(None, None, None, None, None)
        m.tell(Effort(3.0))
        m.clock.advance(2.0)
        assert (m.v, m.x) == (pytest.approx(6.0), pytest.approx(6.0))

    def test_none_lets_it_coast(self) -> None:
        m = Motor()
        m.tell(Velocity(0.5))
        m.clock.advance(1.0)
        m.tell(Effort(0.0))
        m.clock.advance(1.0)
        assert m.v == 0.5


class TestTrajectory:
    def test_passes_its_waypoints_with_repeats(self) -> None:
        m = Motor(5.0, 50.0)
        assert m.tell(Trajectory((Waypoint(1.0, 1.0), Waypoint(-1.0, 2.0)), 2), "a") is None
        seen = []
        for _ in range(4):
            m.clock.advance(1.0)
            seen.append(m.x)
        assert seen == pytest.approx([1.0, -1.0, 1.0, -1.0])
        m.clock.advance(0.1)
        assert m.ended() == [("a", "completed")]
        assert (m.begun()[0].command_type, m.begun()[0].target_position, m.begun()[0].expected_arrival) == ("trajectory", pytest.approx(-1.0), 4.0)

    def test_for_ever_until_the_next_command(self) -> None:
        m = Motor(5.0, 50.0)
        m.tell(Trajectory((Waypoint(1.0, 1.0), Waypoint(-1.0, 2.0)), "forever"), "a")
        m.clock.advance(101.0)
        assert (m.x, m.ended()) == (pytest.approx(1.0), [])
        m.tell(Hold(), "b")
        m.clock.advance(1.0)
        assert m.ended() == [("a", "cancelled"), ("b", "completed")]

    def test_starts_from_the_present_position_and_velocity(self) -> None:
        m = Motor(5.0, 50.0)
        m.tell(Velocity(0.5))
        m.clock.advance(1.0)
        x, v = m.x, m.v
        m.tell(Trajectory((Waypoint(0.0, 1.0, 0.2), Waypoint(1.0, 2.0, 0.0))))
        assert (m.x, m.v) == (pytest.approx(x), pytest.approx(v))
        m.clock.advance(1.0)
        assert (m.x, m.v) == (pytest.approx(0.0, abs=1e-9), pytest.approx(0.2))

    def test_too_fast_for_the_limits_it_is_slowed_down_and_says_so(self) -> None:
        m = Motor(1.0, 2.0)
        info = m.tell(Trajectory((Waypoint(1.0, 0.1), Waypoint(0.0, 0.2))))
        assert info["slower"] > 1.0
        seen = m.run(6.0)
        assert max(abs(v) for _, v in seen) <= 1.0 + 1e-6
        assert max(abs(b[1] - a[1]) for a, b in pairwise(seen)) <= 2.0 * 0.01 + 1e-6
        assert m.ended()[-1][1] == "completed"

    def test_given_rates_cannot_carry_it_out_of_its_travel(self) -> None:
        m = Motor(5.0, 20.0)
        m.tell(Trajectory((Waypoint(2.9, 1.0, 4.0), Waypoint(2.9, 2.0, -4.0))), "a")
        seen = m.run(4.0)
        assert max(x for x, _ in seen) <= 3.0 + 1e-6
        assert m.ended() == [("a", "limit_reached")]

    def test_a_velocity_asked_for_at_its_end_is_braked_from(self) -> None:
        m = Motor(5.0, 2.0)
        m.tell(Trajectory((Waypoint(0.5, 1.0, 0.5),)), "a")
        m.clock.advance(1.0)
        assert m.v == pytest.approx(0.5)
        m.clock.advance(1.0)
        assert (m.v, m.x, m.ended()) == (0.0, pytest.approx(0.5625), [("a", "completed")])


class TestStopAndHold:
    def test_stop_immediate(self) -> None:
        m = Motor()
        m.tell(Velocity(1.0), "go")
        m.clock.advance(1.0)
        x = m.x
        m.tell(Stop(), "stop")
        assert (m.x, m.v) == (x, 0.0)
        assert m.ended() == [("go", "cancelled"), ("stop", "completed")]
        assert len(m.begun()) == 1

    @pytest.mark.parametrize("payload", [Stop("decelerate"), Hold()])
    def test_within_the_limits(self, payload: Stop | Hold) -> None:
        m = Motor()
        m.tell(Velocity(1.0), "go")
        m.clock.advance(1.0)
        x = m.x
        m.tell(payload, "stop")
        assert m.v == 1.0
        m.clock.advance(1.0)
        assert (m.x, m.v) == (pytest.approx(x + 0.25), 0.0)
        assert m.ended() == [("go", "cancelled"), ("stop", "completed")]
        assert m.begun()[1].target_position == pytest.approx(x + 0.25)
        assert m.begun()[1].command_type is None

    def test_at_rest_they_end_at_once(self) -> None:
        m = Motor()
        m.tell(Hold(), "a")
        m.tell(Stop("decelerate"), "b")
        assert (m.ended(), m.begun()) == ([("a", "completed"), ("b", "completed")], [])


class TestFeedback:
    def test_at_its_rate_from_the_start_on(self) -> None:
        m = Motor(feedback_hz=100.0)
        assert m.states()[0][0] == 0.0
        m.tell(Velocity(1.0))
        m.clock.advance(1.0)
        times = [t for t, _ in m.states()]
        assert times == pytest.approx([0.01 * k for k in range(101)])
        state = m.states()[-1][1]
        assert (state.names, state.positions, state.velocities) == (("shoulder",), (m.x,), (1.0,))
        assert state.problem() is None

    def test_new_options(self) -> None:
        m = Motor(feedback_hz=10.0)
        m.clock.advance(1.0)
        m.driver.handle_options(m.context, Options(feedback_hz=0.0))
        n = len(m.states())
        m.clock.advance(1.0)
        assert len(m.states()) == n
        m.driver.handle_options(m.context, Options(feedback_hz=20.0))
        m.clock.advance(1.0)
        assert len(m.states()) == n + 20

    def test_ends_with_the_driver(self) -> None:
        m = Motor()
        m.tell(Velocity(1.0), "a")
        m.driver.terminate("done")
        assert m.heard(EndMotion)[0].detail == "terminated"
        n = len(m.said)
        m.clock.advance(1.0)
        assert len(m.said) == n

    def test_ends_with_a_driver_that_was_dropped(self) -> None:
        m = Motor()
        del m.driver
        n = len(m.said)
        m.clock.advance(1.0)
        assert len(m.said) == n


class TestDisarm:
    def test_stops_it_on_the_spot(self) -> None:
        m = Motor()
        m.tell(Position(2.0), "a")
        m.clock.advance(0.7)
        x = m.x
        disarm({"robot": "r", "path": ["base", "shoulder", "motor"]})
        disarm({"robot": "r", "path": ["base", "shoulder", "motor"]})
        assert (m.x, m.v) == (x, 0.0)
        assert m.heard(EndMotion) == []  # a disarm function waits for no observer
        m.driver.handle_arming(False)
        (end,) = m.heard(EndMotion)
        assert (end.reason, end.detail, end.command_id, end.position) == ("cancelled", "disarmed", "a", x)
        m.clock.advance(5.0)
        assert m.x == x

    def test_only_the_one_that_is_meant(self) -> None:
        mine, other = Motor(), Motor(robot="other")
        for m in (mine, other):
            m.tell(Velocity(1.0))
            m.clock.advance(1.0)
        disarm({"robot": "r", "path": ["base", "shoulder", "motor"]})
        assert (mine.v, other.v) == (0.0, 1.0)
        disarm({"robot": "other", "path": ["base", "elbow", "motor"]})
        assert other.v == 1.0

    def test_by_options_where_nothing_else_is_given(self) -> None:
        mine, other = Motor(inertia=2.0), Motor(inertia=3.0)
        for m in (mine, other):
            m.tell(Velocity(1.0))
            m.clock.advance(1.0)
        disarm({"inertia": 2.0})
        assert (mine.v, other.v) == (0.0, 1.0)
        disarm({"no": "sense"})
        assert other.v == 0.0

    def test_before_any_motor_exists(self) -> None:
        disarm({"robot": "nobody", "path": []})
        assert kinematic.disarm is disarm


def test_a_fault_ends_the_motion_and_the_driver() -> None:
    m = Motor()
    m.tell(Velocity(1.0), "a")
    m.clock.advance(1.0)
    m.driver.handle_request({"fault": "overheated"})
    (end,) = m.heard(EndMotion)
    assert (end.reason, end.message, m.v) == ("fault", "overheated", 0.0)
    with pytest.raises(Stopped, match="overheated"):
        m.tell(Position(1.0))


def test_requests() -> None:
    m = Motor()
    m.tell(Velocity(1.0))
    m.clock.advance(1.0)
    assert m.driver.handle_request("state") == {"position": m.x, "velocity": 1.0, "acceleration": 0.0}
    with pytest.raises(LookupError, match="answers 'state'"):
        m.driver.handle_request("temperature")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"feedback_hz": -1.0}, r"feedback_hz = -1\.0 Hz: allowed are 0 \(none\) to 10000"),
        ({"inertia": 0.0}, r"inertia = 0\.0 kg\.m2 or kg: allowed are finite numbers above 0"),
        ({"initial": math.nan}, r"initial = nan"),
        ({"jerk": 0.0}, r"limit j = 0\.0 x/s3"),
    ],
)
def test_bad_options_are_refused(options: dict[str, float], says: str) -> None:
    with pytest.raises(InputError, match=says):
        Motor(**options)  # type: ignore[arg-type]


numbers = st.floats(-4.0, 4.0)
durations = st.none() | st.floats(0.05, 3.0)
commands = st.one_of(
    st.builds(Position, numbers, st.none() | st.floats(0.1, 2.0), durations),
    st.builds(Velocity, numbers, durations),
    st.builds(Effort, numbers, durations),
    st.builds(
        lambda xs, first, rate, repeat: Trajectory(
            tuple(Waypoint(max(-3.0, min(3.0, x)), first + 0.4 * k, rate if k == 1 else None) for k, x in enumerate(xs)), repeat
        ),
        st.lists(numbers, min_size=1, max_size=4),
        st.sampled_from([0.0, 0.5]),
        st.none() | st.floats(-1.0, 1.0),
        st.sampled_from([1, 3, "forever"]),
    ),
    st.just(Hold()),
    st.just(Stop("decelerate")),
)


@settings(max_examples=examples(60))
@given(st.lists(st.tuples(commands, st.floats(0.0, 3.0)), min_size=1, max_size=6), st.none() | st.floats(2.0, 40.0))
def test_whatever_is_commanded_whenever(script: list[tuple[object, float]], jerk: float | None) -> None:
    """Within travel, velocity and acceleration limits at every moment, and one EndMotion for every command."""
    m = Motor(1.5, 4.0, feedback_hz=0.0, jerk=jerk)
    told, dt = [], 0.02
    seen = [(m.x, m.v)]
    for payload, wait in script:
        told.append(f"n{len(told)}")
        m.tell(payload, told[-1])
        seen += m.run(wait, dt)
    m.tell(Stop("decelerate"), "last")
    seen += m.run(3.0, dt)
    for (x, v), (y, w) in pairwise(seen):
        assert -3.0 - 1e-6 <= y <= 3.0 + 1e-6
        assert abs(w) <= 1.5 * (1.0 + 1e-6)
        assert abs(w - v) <= 4.0 * dt * (1.0 + 1e-6) + 1e-7
        assert abs(y - x) <= 1.5 * dt * (1.0 + 1e-6) + 1e-7
    assert [id for id, _ in m.ended()] == [*told, "last"]
    assert m.v == 0.0


def test_many_commands_leave_no_timers_behind() -> None:
    m = Motor(lower=None, upper=None, feedback_hz=0.0)
    for k in range(2000):
        m.tell(Position(1.0 + 0.001 * k))
        m.clock.advance(0.001)
    assert len(m.clock.heap) < 20
    assert len(m.heard(BeginMotion)) == 2000
