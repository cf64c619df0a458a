"""What a card says of commands: what was asked with units, and as one line where a slider was moved."""

import pytest

from pushrod.dash.card import _line
from pushrod.dash.payload_words import payload_words
from pushrod.dash.unit import Units
from pushrod.dash.watch import SUCCESSION, Noted, Watch
from pushrod.live.payload import Actuation, Throttle
from pushrod.net.link import Link
from pushrod.net.told import ActuatorTold
from pushrod.net.wire import Foreign
from pushrod.runtime.payload import Effort, Hold, Position, Stop, Trajectory, Velocity, Waypoint
from pushrod.runtime.result import ACCEPTED, Accepted, Clamped, refused

MOTOR = ActuatorTold("motor", ("arm", "motor"), "turn", ("Position",), False, -1.0, 1.0, 2.0, 3.0, None, "revolute")
RADIANS = Units()
RADIANS.switch(False)


@pytest.mark.parametrize(
    ("payload", "words"),
    [
        (Position(0.5), "position 0.5 rad"),
        (Position(2.9670597283903604, 1.0, 2.0), "position 2.967 rad, velocity 1 rad/s, duration 2 s"),
        (Velocity(-0.123456, 0.3), "velocity -0.1235 rad/s, duration 0.3 s"),
        (Effort(-0.0), "effort 0 N.m"),
        (Hold(), "hold"),
        (Stop(), "stop at once"),
        (Stop("decelerate"), "stop, slowing down"),
        (Trajectory((Waypoint(0.5, 1.0), Waypoint(0.0, 2.0)), "forever"), "trajectory of 2 points to 0 rad in 2 s, for ever"),
        (Actuation(0.25, 0.0, -0.1), "accel 0.25, brake 0, steer -0.1 rad, gear DRIVE"),
        (Throttle(1.0), "u 1"),
        (Foreign("Blink", {"type": "Blink", "times": 3}), "Blink times 3"),
    ],
)
def test_a_payload_in_words(payload, words):
    assert payload_words(payload, MOTOR, RADIANS).lower() == words.lower()


def test_angles_are_in_degrees_unless_the_browser_asks_for_radians():
    assert payload_words(Position(0.5, 1.0, 2.0), MOTOR, Units()) == "position 28.65 deg, velocity 57.3 deg/s, duration 2 s"
    assert payload_words(Effort(0.5), MOTOR, Units()) == "effort 0.5 N.m"
    assert payload_words(Trajectory((Waypoint(-1e-9, 1.0),)), MOTOR, Units()) == "trajectory of 1 point to -5.73e-08 deg in 1 s"


def test_a_slide_is_told_by_one_line_and_what_comes_later_by_another():
    watch = Watch("arm", Link(), "test")
    for k in range(20):
        watch.note("arm/motor", Noted(k * 0.05, "ann", ACCEPTED, Position(k / 10)))
    watch.note("arm/motor", Noted(1.0, "ann", Clamped(Position(9.0), Position(1.0)), Position(9.0)))
    watch.note("arm/motor", Noted(1.1 + SUCCESSION, "ann", Accepted({"slower": 1.5}), Position(0.1)))
    assert [_line(noted, MOTOR, RADIANS)[2] for noted in watch.results["motor"]] == [
        "position 0.1 rad accepted (slower 1.5)  [ann]",
        "clamped to the limits: position 1 rad; requested position 9 rad  [ann]",
        "position 1.9 rad accepted  [ann], latest of 20",
    ]


def test_refusals_for_different_reasons_stand_apart():
    watch = Watch("arm", Link(), "test")
    for k, reason in enumerate(("not_armed", "not_armed", "lease")):
        watch.note("arm/motor", Noted(k * 0.1, "ann", refused(reason, "arm/motor", "Position")))
    assert [noted.n for noted in watch.results["motor"]] == [1, 2]
