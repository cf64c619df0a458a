"""The open-loop estimator: along what was announced, by the message's own time, with velocities, ending where the driver says."""

import pytest
from bench import Bench, Motor, message

from pushrod.core.errors import InputError, UnknownNameError
from pushrod.runtime.message import BeginMotion, Command, EndMotion, Outcome
from pushrod.runtime.payload import Position, Stop, Velocity
from pushrod.runtime.result import ACCEPTED, refused
from pushrod.runtime.simulated.estimator import OpenLoopEstimator, Options

TOPIC = ("actuator", "base", "shoulder", "motor")


class Watcher(Bench):
    def __init__(self, **options) -> None:
        super().__init__()
        self.estimator = OpenLoopEstimator()
        self.estimator.init(self.context, Options("motor", **options))

    def tell(self, payload, time: float | None = None) -> None:
        self.estimator.handle_message(TOPIC, message(payload, self.clock.now() if time is None else time))

    def told(self) -> list[tuple[float, float, float]]:
        """(time, position, velocity) published."""
        return [(t, p.positions[0], p.velocities[0]) for t, p in self.said]


def stop(mode: str = "immediate", origin: float = 0.0, result=ACCEPTED) -> Outcome:
    return Outcome(Command(Stop(mode), "x", origin), result)


def test_publishes_at_its_rate_until_it_arrives_exactly() -> None:
    w = Watcher(publish_rate=100.0)
    w.tell(BeginMotion(0.0, 0.75, 0.1 + 1e-4))
    w.clock.advance(0.2)
    assert [t for t, _, _ in w.told()] == pytest.approx([0.01 * k for k in range(1, 11)] + [0.1001])
    assert w.told()[4][1:] == (pytest.approx(0.75 * 0.05 / 0.1001), pytest.approx(0.75 / 0.1001))
    assert w.told()[-1][1:] == (0.75, 0.0)
    assert w.said[0][1].names == ("shoulder",)


def test_a_motion_that_should_be_over_is_at_its_target_at_once() -> None:
    w = Watcher()
    w.clock.advance(5.0)
    w.tell(BeginMotion(0.0, 0.75, 4.0), time=3.0)
    assert w.told() == [(5.0, 0.75, 0.0)]


def test_counts_from_the_time_of_the_message_not_of_its_arrival() -> None:
    w = Watcher(publish_rate=10.0)
    w.clock.advance(0.5)  # it took half a second to get here
    w.tell(BeginMotion(0.0, 1.0, 1.0), time=0.0)
    w.clock.advance(0.1)
    assert w.told()[0] == (pytest.approx(0.6), pytest.approx(0.6), pytest.approx(1.0))


def test_trapezoid_where_acceleration_and_peak_are_told() -> None:
    motor = Motor(1.0, 2.0)
    motor.tell(Position(2.0))
    w = Watcher(publish_rate=100.0)
    w.tell(motor.begun()[0])
    for k in range(1, 250):
        w.clock.advance(0.01)
        s = motor.driver.state(0.01 * k)
        assert w.estimator.estimate(w.clock.now()) == pytest.approx(tuple(s), abs=1e-9)


def test_a_motion_that_starts_at_a_velocity_is_followed_exactly() -> None:
    for target in (2.0, 0.9, 0.1):  # on, braking, overshooting and back
        motor = Motor(1.0, 2.0)
        motor.tell(Velocity(0.9))
        motor.clock.advance(1.0)
        motor.tell(Position(target))
        w = Watcher()
        w.clock.advance(1.0)
        w.tell(motor.begun()[1])
        arrival = motor.begun()[1].expected_arrival
        for k in range(1, 20):
            t = 1.0 + (arrival - 1.0) * k / 20.0
            assert w.estimator.estimate(t)[:2] == pytest.approx(tuple(motor.driver.state(t))[:2], abs=1e-7)


@pytest.mark.parametrize(("name", "way"), [("ease_in_quad", -1), ("linear", 0), ("ease_out_quad", 1)])
def test_easings(name: str, way: int) -> None:
    w = Watcher(easing=name)
    w.tell(BeginMotion(0.0, 0.75, 1.0))
    early = w.estimator.estimate(0.2).x - 0.75 * 0.2
    assert (early > 1e-9) - (early < -1e-9) == way
    w.clock.advance(2.0)
    assert w.told()[-1][1:] == (0.75, 0.0)


def test_says_nothing_new_where_nothing_changes() -> None:
    w = Watcher()
    w.tell(BeginMotion(0.5, 0.5, 1.0))
    w.clock.advance(0.9)
    assert len(w.told()) == 1
    w.clock.advance(0.2)
    assert w.told()[-1][1:] == (0.5, 0.0)


def test_the_end_of_a_motion_counts_whatever_was_expected() -> None:
    w = Watcher()
    w.tell(BeginMotion(0.0, 1.0, 1.0))
    w.clock.advance(0.5)
    w.tell(EndMotion(0.42, "limit_reached"))
    assert w.told()[-1] == (0.5, 0.42, 0.0)
    n = len(w.told())
    w.clock.advance(1.0)
    assert len(w.told()) == n


def test_a_superseded_motion_waits_for_the_next() -> None:
    w = Watcher()
    w.tell(BeginMotion(0.0, 1.0, 1.0))
    w.clock.advance(0.5)
    n = len(w.told())
    w.tell(EndMotion(0.5, "cancelled", "superseded"))
    assert len(w.told()) == n
    w.tell(BeginMotion(0.5, 0.0, 1.5))
    w.clock.advance(0.5)
    assert w.told()[-1][1:] == (pytest.approx(0.25), pytest.approx(-0.5))
    w.tell(EndMotion(0.25, "cancelled", "disarmed"))
    assert w.told()[-1][1:] == (0.25, 0.0)


def test_stop_of_a_driver_that_does_not_report() -> None:
    w = Watcher()
    w.tell(BeginMotion(0.0, 1.0, 1.0))
    w.clock.advance(0.5)
    w.tell(stop(origin=0.5, result=refused("not_armed", "motor", "Stop")))
    w.tell(Outcome(Command(Position(3.0), "x", 0.5), ACCEPTED))  # a command is not a motion
    w.clock.advance(0.1)
    assert w.told()[-1][2] == pytest.approx(1.0)
    w.tell(stop(origin=0.6))
    assert w.told()[-1] == (pytest.approx(0.6), pytest.approx(0.6), 0.0)
    w.clock.advance(1.0)
    assert w.estimator.estimate(1.6).x == pytest.approx(0.6)


def test_slow_stop_brakes_at_the_announced_acceleration() -> None:
    w = Watcher()
    w.tell(BeginMotion(0.0, 10.0, 10.5, acceleration=2.0, peak_velocity=1.0))
    w.clock.advance(1.0)
    w.tell(stop("decelerate", 1.0))
    assert w.estimator.estimate(1.25).v == pytest.approx(0.5)
    w.clock.advance(1.0)
    assert w.told()[-1][1:] == (pytest.approx(0.75 + 0.25), 0.0)


def test_stop_of_a_driver_that_reports_changes_nothing_more() -> None:
    w = Watcher()
    w.tell(BeginMotion(0.0, 1.0, 1.0))
    w.clock.advance(0.5)
    w.tell(EndMotion(0.5, "cancelled", "superseded"))
    w.tell(BeginMotion(0.5, 0.75, 1.0, acceleration=2.0, peak_velocity=1.0, initial_velocity=1.0))  # the braking, as the driver sees it
    w.tell(stop("decelerate", 0.5))
    w.clock.advance(1.0)
    assert w.told()[-1] == (pytest.approx(1.0), 0.75, 0.0)


def test_breaks_a_long_silence_but_not_before_the_first_motion() -> None:
    w = Watcher(max_silence=2.0)
    w.clock.advance(10.0)
    assert w.told() == []
    w.tell(BeginMotion(0.0, 1.0, 5.0))
    w.clock.advance(4.1)
    assert [t for t, _, _ in w.told()] == pytest.approx([10.0, 12.0, 14.0])
    assert w.told()[-1][1:] == (1.0, 0.0)
    w.estimator.terminate("done")
    w.clock.advance(10.0)
    assert len(w.told()) == 3


def test_a_known_start_is_published_at_once() -> None:
    assert Watcher(initial=0.3).told() == [(0.0, 0.3, 0.0)]


def test_new_options() -> None:
    w = Watcher(max_silence=1.0)
    w.tell(BeginMotion(0.0, 1.0, 0.0))
    w.estimator.handle_options(w.context, Options("motor", max_silence=3.0))
    w.clock.advance(2.0)
    assert len(w.told()) == 1
    assert w.estimator.estimate(2.0).x == 1.0


def test_listens_to_its_actuator_alone() -> None:
    w = Watcher()
    w.estimator.handle_message(("actuator", "base", "elbow", "other"), message(BeginMotion(0.0, 0.75, 0.0), 0.0))
    assert w.told() == []
    w.tell(BeginMotion(0.0, 0.75, 0.0))
    assert w.told() == [(0.0, 0.75, 0.0)]


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"easing": "ease_in_quadd"}, UnknownNameError, "no easing named 'ease_in_quadd'; did you mean 'ease_in_quad'"),
        ({"publish_rate": 0.0}, InputError, r"publish_rate = 0\.0 Hz"),
        ({"max_silence": -1.0}, InputError, r"max_silence = -1\.0 s"),
    ],
)
def test_bad_options_are_refused(options, error, says) -> None:
    with pytest.raises(error, match=says):
        Watcher(**options)
