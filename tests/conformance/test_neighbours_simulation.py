"""More of the kind of cases 41 to 48: whole robots from files, any commands in any order, through any gear."""

import asyncio
import math
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from fixture_r import drive, heard, near, robot
from hypothesis import given, settings
from hypothesis import strategies as st

from counts import examples
from pushrod.robot import Limits, Robot, Transmission, load, to_urdf
from pushrod.runtime import BeginMotion, Effort, EndMotion, Hold, JointState, Position, SteppedClock, Stop, Trajectory, Velocity, Waypoint

FILE = """
robot: press
links: [frame, carriage, flap]
joints:
  lift: {kind: prismatic, parent: frame, child: carriage, limits: {lower: 0 mm, upper: {parameter: lift.reach}, velocity: 10 cm/s, effort: 200 N}}
  hinge:
    kind: revolute
    parent: carriage
    child: flap
    limits: {lower: -90 deg, upper: 90 deg, velocity: 60 deg/s, acceleration: 120 deg/s2, effort: 5 N.m}
actuators:
  spindle: {joint: lift, driver: "pushrod.runtime.simulated:Kinematic", transmission: {reduction: 600}, options: {feedback_hz: 10, initial: 0}}
  servo:
    joint: hinge
    driver: pushrod.runtime.simulated:Kinematic
    limit_policy: reject
    watchdog: {silence: 2 s, reaction: damp}
    transmission: {reduction: 50, offset: 45 deg, reversed: true}
sensors:
  guess: {joint: hinge, driver: "pushrod.runtime.simulated:OpenLoopEstimator", options: {actuator: servo, publish_rate: 20}}
parameters:
  lift.reach: {default: 50 cm, lo: 10 cm, hi: 1 m, unit: m, doc: how far it goes}
"""


@pytest.fixture
def press(tmp_path: Path) -> Robot:
    (tmp_path / "press.yaml").write_text(FILE)
    return load(tmp_path / "press.yaml")


def test_a_robot_from_a_file_runs(press: Robot) -> None:
    async def body(rt):
        watch = rt.subscribe("sensor", JointState)
        rt.arm()
        far = rt["spindle"].direct.set_position(0.8, id="lift")
        rt.parameters.set("lift.reach", "70 cm")
        further = rt["spindle"].direct.set_position(0.8, id="lift")
        no = rt["servo"].direct.set_position(2.0)
        rt["servo"].direct.set_position(1.0, id="open")
        opened = await rt.motion("servo", "open")
        await asyncio.sleep(2.1)
        bitten = rt["servo"].direct.set_position(0.0)
        lifted = await rt.motion("spindle", "lift")
        return far.done, further.done, no, opened, bitten, lifted, heard(watch)[-1], rt["spindle"].joint_state

    far, further, no, opened, bitten, lifted, guess, state = drive(press, {}, body)
    assert (far, further) == (Position(0.5), Position(0.7))
    assert (no.reason, bitten.reason) == ("limits", "watchdog")
    assert (opened.position, guess.positions) == (near(1.0), (near(1.0),))
    assert lifted.position == near(0.7)
    assert state.positions == (near(0.7, 0.011),)  # its last report may be a tenth of a second old


def test_the_same_robot_from_urdf_takes_the_same_commands(press: Robot, tmp_path: Path) -> None:
    (tmp_path / "press.urdf").write_text(to_urdf(press))

    async def body(rt):
        rt.arm()
        rt["servo"].direct.set_position(1.0, id="open")
        return rt["spindle"].direct.set_position(0.8).done, await rt.motion("servo", "open"), rt.clock.now()

    assert drive(load(tmp_path / "press.urdf"), {}, body) == drive(press, {}, body)


LIMITS = Limits(-1.0, 2.0, velocity=1.5, acceleration=4.0, effort=3.0)
near_or_beyond = st.floats(-3.0, 3.0)
times = st.lists(st.floats(0.05, 1.0), min_size=1, max_size=3)
payloads = st.one_of(
    st.builds(Position, near_or_beyond, st.none() | st.floats(0.0, 2.0), st.none() | st.floats(0.01, 3.0)),
    st.builds(Velocity, near_or_beyond, st.none() | st.floats(0.01, 2.0)),
    st.builds(Effort, near_or_beyond, st.none() | st.floats(0.01, 2.0)),
    st.builds(
        lambda gaps, xs, repeat: Trajectory(tuple(Waypoint(x, sum(gaps[: i + 1])) for i, x in enumerate(xs[: len(gaps)])), repeat),
        times,
        st.lists(near_or_beyond, min_size=3, max_size=3),
        st.sampled_from([1, 2, "forever"]),
    ),
    st.just(Hold()),
    st.sampled_from([Stop(), Stop("decelerate")]),
)
gears = st.builds(Transmission, st.floats(0.1, 100.0), st.floats(-1.0, 1.0), st.booleans())


@settings(max_examples=examples(25))
@given(gears, st.lists(st.tuples(payloads, st.floats(0.0, 2.0)), min_size=1, max_size=8), st.sampled_from(["revolute", "prismatic"]))
def test_every_command_ends_once_within_limits_and_without_a_jump(gear: Transmission, commands, kind: str) -> None:
    async def body(rt):
        watch = rt.subscribe("actuator")
        rt.arm()
        ids = []
        for n, (payload, wait) in enumerate(commands):
            if rt["motor"].direct.send(payload, id=f"n{n}").ok:
                ids.append(f"n{n}")
            await asyncio.sleep(wait)
        rt["motor"].direct.stop("decelerate", id="last")
        await rt.motion("motor", "last", timeout=60.0)
        await asyncio.sleep(0.1)
        return [*ids, "last"], heard(watch)

    ids, said = drive(robot(gear, LIMITS, kind), {}, body, simulation=True)
    ends = Counter(p.command_id for p in said if isinstance(p, EndMotion))
    assert ends == dict.fromkeys(ids, 1)
    begun = Counter(p.command_id for p in said if isinstance(p, BeginMotion))
    assert set(begun) <= set(ids)
    states = [p for p in said if isinstance(p, JointState)]
    for p in states:
        assert -1.0 - 1e-6 <= p.positions[0] <= 2.0 + 1e-6
        assert abs(p.velocities[0]) <= 1.5 * (1.0 + 1e-6)
    for before, after in pairwise(states):
        assert abs(after.positions[0] - before.positions[0]) <= 1.5 * 0.02 * (1.0 + 1e-6)
    assert math.isclose(states[-1].velocities[0], 0.0, abs_tol=1e-9)


def test_a_whole_run_says_the_same_twice(press: Robot) -> None:
    def once() -> list[tuple[float, str]]:
        async def body(rt):
            watch = rt.subscribe()
            rt.arm()

            @rt.loop(hz=20)
            def control(k):
                rt["servo"].publish.set_velocity(math.sin(0.1 * k))

            for x in (0.1, 0.4, 0.2):
                await rt["spindle"].sync.set_position(x)
                await asyncio.sleep(0.77)
            rt.parameters.set("lift.reach", 0.3)
            rt.estop("enough")
            await asyncio.sleep(0.5)
            return [(m.time, repr(m)) for m in iter(watch.poll, None)]

        return drive(press, {}, body, SteppedClock())

    first = once()
    assert len(first) > 200
    assert once() == first
