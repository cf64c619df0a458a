"""The six verbs on a dynamic world: what the servo is told, what the arm does, and what is said of it."""

import asyncio
import math
import threading
import time

import live_rig
import numpy as np
import pytest

from pushrod.core.errors import PushrodError
from pushrod.plants import two_link_arm
from pushrod.runtime.message import BeginMotion, EndMotion, JointState
from pushrod.runtime.payload import Waypoint
from pushrod.runtime.simulated.port import JointPort, disarm
from pushrod.sim.worlds.arm import State

SHOULDER, ELBOW = "shoulder_motor", "elbow_motor"


def bent(q1, q2=0.0, w1=0.0):
    return State(arm=two_link_arm.State(q1, q2, w1))


def test_a_position_is_reached_and_held_against_gravity():
    async def body(arm):
        assert arm[SHOULDER].set_position(1.2, id="up").ok
        await asyncio.sleep(3.0)
        assert arm.q() == pytest.approx(1.2, abs=5e-4)  # what is left the integral overcomes only together with the friction
        assert arm.ended() == [("up", "completed", None)]
        (begin,) = arm.heard(BeginMotion)
        assert (begin.payload.initial_position, begin.payload.target_position) == (0.0, 1.2)
        assert begin.payload.expected_arrival == pytest.approx(2.0 * math.sqrt(1.2 / 8.0))  # a triangle
        (end,) = arm.heard(EndMotion)
        assert end.time == pytest.approx(begin.payload.expected_arrival, abs=1.01e-3)
        assert end.payload.position == pytest.approx(1.2, abs=0.02), "what was measured, not what was asked"
        assert end.payload.position != 1.2
        told = arm.world.inputs()
        assert np.all(np.abs(np.diff(told["shoulder.velocity"])) <= 50.0 * 8.0 * live_rig.DT + 1e-9), "no jump of the set-point"

    live_rig.run(body)


def test_a_reversed_motor_with_an_offset_moves_the_joint_the_right_way():
    async def body(arm):
        assert arm[ELBOW].set_position(0.9).ok
        await asyncio.sleep(2.0)
        assert arm.q("elbow") == pytest.approx(0.9, abs=5e-4)
        assert arm.world.output("elbow.position") == pytest.approx(-50.0 * (0.9 - 0.3), abs=0.03)

    live_rig.run(body)


def test_a_new_target_goes_on_from_set_point_and_velocity():
    async def body(arm):
        arm[SHOULDER].set_position(1.5, id="first")
        await asyncio.sleep(0.3)
        arm[SHOULDER].set_position(0.2, id="second")
        await asyncio.sleep(2.0)
        assert arm.ended() == [("first", "cancelled", "superseded"), ("second", "completed", None)]
        second = arm.heard(BeginMotion)[1].payload
        assert second.initial_velocity == pytest.approx(8.0 * 0.3)
        assert second.initial_position == pytest.approx(0.5 * 8.0 * 0.3**2)
        velocity = arm.world.inputs()["shoulder.velocity"]
        assert np.max(np.abs(np.diff(velocity))) <= 50.0 * 8.0 * live_rig.DT + 1e-9
        assert arm.q() == pytest.approx(0.2, abs=1e-3)

    live_rig.run(body)


def test_from_a_swing_a_position_starts_from_what_is_measured():
    async def body(arm):
        await asyncio.sleep(0.2)  # let go, it falls
        q, w = arm.q(), arm.world.output("shoulder.w")
        assert w < -0.5
        arm[SHOULDER].set_position(1.0)
        (begin,) = arm.heard(BeginMotion)
        assert (begin.payload.initial_position, begin.payload.initial_velocity) == (pytest.approx(q), pytest.approx(w))
        await asyncio.sleep(3.0)
        assert arm.q() == pytest.approx(1.0, abs=1e-3)

    live_rig.run(body, state=bent(1.4))


def test_velocity_runs_for_its_time_and_then_holds():
    async def body(arm):
        arm[SHOULDER].set_velocity(0.5, duration=1.0, id="turn")
        await asyncio.sleep(0.9)
        assert arm.world.output("shoulder.w") == pytest.approx(0.5, abs=0.02)
        await asyncio.sleep(2.0)
        assert arm.ended() == [("turn", "completed", None)]
        assert arm.world.output("shoulder.w") == pytest.approx(0.0, abs=1e-6)
        assert arm.q() == pytest.approx(0.5, abs=0.01)  # the ramp down makes up for the ramp up

    live_rig.run(body)


def test_velocity_ends_at_the_end_of_the_travel():
    async def body(arm):
        arm[ELBOW].set_velocity(2.0, id="on")
        await asyncio.sleep(4.0)
        assert arm.ended() == [("on", "limit_reached", None)]
        assert arm.q("elbow") == pytest.approx(math.radians(150.0), abs=2e-3)

    live_rig.run(body)


def test_effort_is_a_torque_at_the_joint_and_no_servo():
    """Held torque against gravity: it comes to rest where weight and torque balance, within what friction leaves open."""

    async def body(arm):
        arm[SHOULDER].set_effort(5.0, id="push")
        arm[ELBOW].set_position(0.0)
        await asyncio.sleep(20.0)
        p = arm.world.machine.params
        lift = 0.85 * 5.0
        assert two_link_arm.weight(p.arm, arm.q(), arm.q("elbow")).a == pytest.approx(lift, abs=p.arm.shoulder.c + 0.01)
        assert arm.world.output("shoulder.torque") == pytest.approx(5.0 / 50.0)
        assert arm.world.inputs()["shoulder.stiff"].max() == 0.0
        assert [e for e in arm.ended() if e[0] == "push"] == []

    live_rig.run(body)


def test_effort_for_a_time_then_lets_go():
    async def body(arm):
        arm[SHOULDER].set_effort(8.0, duration=0.25, id="push")
        await asyncio.sleep(1.0)
        told = arm.world.inputs()
        assert np.count_nonzero(told["shoulder.effort"]) == 250
        assert set(told["shoulder.effort"]) == {0.0, 8.0 / 50.0}
        assert arm.ended() == [("push", "completed", None)]

    live_rig.run(body)


def test_effort_is_caught_before_the_end_of_the_travel():
    async def body(arm):
        arm[ELBOW].set_effort(6.0, id="push")
        await asyncio.sleep(3.0)
        assert arm.ended() == [("push", "limit_reached", None)]
        assert arm.world.run()["elbow.q"].max() < math.radians(150.0) + 0.03
        assert arm.q("elbow") == pytest.approx(math.radians(150.0), abs=2e-3)

    live_rig.run(body)


def test_a_trajectory_goes_through_its_points():
    async def body(arm):
        points = [Waypoint(0.5, 0.5), Waypoint(-0.2, 1.2), Waypoint(0.1, 1.8)]
        arm[ELBOW].follow_trajectory(points, repeat=2, id="wave")
        await asyncio.sleep(4.5)
        q = arm.world.run()["elbow.q"]
        for at, goal in ((0.5, 0.5), (1.2, -0.2), (1.8, 0.1), (2.3, 0.5), (3.0, -0.2), (3.6, 0.1)):
            assert q[round(at / live_rig.DT) - 1] == pytest.approx(goal, abs=0.02)
        assert arm.ended() == [("wave", "completed", None)]

    live_rig.run(body)


def test_hold_brakes_and_then_holds():
    async def body(arm):
        arm[SHOULDER].set_position(2.0)
        await asyncio.sleep(0.4)
        w, q = arm.world.inputs()["shoulder.velocity"][-1] / 50.0, arm.world.inputs()["shoulder.position"][-1] / 50.0
        arm[SHOULDER].hold(id="here")
        await asyncio.sleep(3.0)
        assert arm.q() == pytest.approx(q + 0.5 * w * w / 8.0, abs=0.01)
        assert arm.ended()[-1] == ("here", "completed", None)
        assert arm.world.inputs()["shoulder.stiff"][-1] == 1.0

    live_rig.run(body)


def test_stop_lets_go_at_once_or_after_slowing_down():
    async def body(arm):
        for mode in ("immediate", "decelerate"):
            arm[SHOULDER].set_position(1.5 if mode == "immediate" else -1.0)
            await asyncio.sleep(0.3)
            k = arm.world.k
            arm[SHOULDER].stop(mode, id=mode)
            await asyncio.sleep(1.0)
            stiff = arm.world.inputs()["shoulder.stiff"][k:]
            assert stiff[-1] == 0.0
            assert np.count_nonzero(stiff) == (0 if mode == "immediate" else np.count_nonzero(stiff))
            assert (np.count_nonzero(stiff) > 0) == (mode == "decelerate")
            assert arm.ended()[-1] == (mode, "completed", None)
        assert np.all(arm.world.inputs()["shoulder.effort"] == 0.0)

    live_rig.run(body)


def test_disarming_lets_go_and_arming_again_moves_nothing():
    async def body(arm):
        arm[SHOULDER].set_position(1.2, id="up")
        await asyncio.sleep(0.3)
        assert arm.rt.disarm("test").ok
        k = arm.world.k
        await asyncio.sleep(live_rig.DT)
        assert arm.ended() == [("up", "cancelled", "disarmed")]
        assert arm[SHOULDER].set_position(1.0).reason == "not_armed"
        await asyncio.sleep(0.2)
        assert arm.rt.arm().ok
        await asyncio.sleep(0.2)
        told = arm.world.inputs()
        for channel in ("stiff", "effort"):
            assert set(told[f"shoulder.{channel}"][k:]) == {0.0}

    live_rig.run(body)


def test_disarm_reaches_it_by_robot_and_path_alone():
    async def body(arm):
        arm[SHOULDER].set_position(1.0, id="up")
        arm[ELBOW].set_position(0.5, id="bend")
        path = list(arm.rt.hosts[SHOULDER].path)
        disarm({"robot": "another", "path": path})
        disarm({"robot": "arm", "path": path})
        await asyncio.sleep(0.01)
        assert arm.ended() == [("up", "cancelled", "disarmed")]
        disarm({})
        await asyncio.sleep(0.01)
        assert arm.ended()[-1] == ("bend", "cancelled", "disarmed")

    live_rig.run(body)


def test_a_fault_kills_the_driver_lets_go_and_a_new_one_takes_the_same_port():
    async def body(arm):
        arm[SHOULDER].set_position(1.0, id="up")
        await asyncio.sleep(0.2)
        await arm.rt[SHOULDER].request({"fault": "winding too hot"})
        assert arm.ended() == [("up", "fault", "fault")]
        assert not arm[SHOULDER].set_position(1.0).ok
        k = arm.world.k
        await asyncio.sleep(0.3)
        assert set(arm.world.inputs()["shoulder.stiff"][k:]) == {0.0}
        assert arm.rt.arm().ok
        assert arm[SHOULDER].set_position(0.4, id="again").ok
        await asyncio.sleep(3.0)
        assert arm.q() == pytest.approx(0.4, abs=1e-3)
        assert arm.ended()[-1] == ("again", "completed", None)

    live_rig.run(body)


def test_feedback_tells_position_velocity_and_effort_in_joint_space():
    async def body(arm):
        arm[ELBOW].set_position(0.8)
        await asyncio.sleep(2.0001)
        found = [m for m in arm.heard(JointState) if m.payload.names == ("elbow",)]
        assert len(found) == 2 * 20
        last = found[-1].payload
        assert last.positions[0] == pytest.approx(arm.q("elbow"), abs=1e-12)
        assert last.velocities[0] == pytest.approx(arm.world.output("elbow.w"), abs=1e-9)
        assert last.efforts[0] == pytest.approx(-50.0 * arm.world.output("elbow.torque"))
        assert last.efforts[0] > 0.0, "it carries the forearm"
        state = await arm.rt[ELBOW].request("state")
        assert state["position"] == arm.world.output("elbow.position")
        assert state["set_point"]["stiff"] == 1.0

    live_rig.run(body, feedback_hz=20.0)


def test_straight_positions_are_set_points_at_once_with_their_velocity():
    async def body(arm):
        arm[SHOULDER].set_position(0.1, velocity=0.5, id="a")
        await asyncio.sleep(0.01)
        arm[SHOULDER].set_position(9.0)
        await asyncio.sleep(0.01)
        told = arm.world.inputs()
        assert told["shoulder.position"].tolist() == [5.0] * 10 + [pytest.approx(50.0 * math.radians(170.0))] * 10
        assert told["shoulder.velocity"].tolist() == [25.0] * 10 + [0.0] * 10
        assert arm.ended() == [("a", "completed", None)], "told only where there is an id"

    live_rig.run(body, profile="none")


def test_a_jerk_limit_is_kept():
    async def body(arm):
        arm[SHOULDER].set_position(1.0)
        await asyncio.sleep(2.0)
        a = np.diff(arm.world.inputs()["shoulder.velocity"]) / live_rig.DT
        assert np.max(np.abs(np.diff(a))) / live_rig.DT <= 5000.0 * 1.001
        assert np.max(np.abs(a)) <= 50.0 * 8.0 * 1.001

    live_rig.run(body, jerk=5000.0)


def test_before_the_first_tick_it_knows_where_it_is():
    async def body(arm):
        state = await arm.rt[ELBOW].request("state")
        assert state["position"] == pytest.approx(-50.0 * (0.7 - 0.3))
        assert arm.q("elbow") == 0.7

    live_rig.run(body, state=bent(0.0, 0.7))


@pytest.mark.parametrize(("options", "what"), [({"feedback_hz": -1.0}, "feedback_hz"), ({"profile": "s_curve", "jerk": None}, "jerk")])
def test_options_that_make_no_sense_are_refused(options, what):
    with pytest.raises(PushrodError, match=what):
        live_rig.run(lambda arm: asyncio.sleep(0.0), **options)


def test_it_answers_only_what_it_knows():
    async def body(arm):
        with pytest.raises(LookupError, match="'state'"):
            await arm.rt[SHOULDER].request("temperature")

    live_rig.run(body)
    assert set(JointPort.channels) == {"stiff", "position", "velocity", "effort"}


@pytest.fixture
def short(monkeypatch):
    """Motions longer than a short horizon, and a runtime that waits little for their ends."""
    for module in ("port", "verbs"):
        monkeypatch.setattr(f"pushrod.runtime.simulated.{module}.HORIZON", 0.3)
    monkeypatch.setattr("pushrod.runtime.motions.SILENT", 0.1)


def test_a_motion_longer_than_the_horizon_is_announced_with_its_arrival_and_completes(short):
    async def body(arm):
        arm[SHOULDER].follow_trajectory([Waypoint(0.2, 1.0), Waypoint(0.0, 2.0)], repeat=2, id="along")
        (begin,) = arm.heard(BeginMotion)
        assert begin.payload.expected_arrival == pytest.approx(4.0, abs=0.1)
        await asyncio.sleep(4.2)
        assert arm.ended() == [("along", "completed", None)]

    live_rig.run(body)


@pytest.mark.parametrize("verb", ["trajectory", "effort"])
def test_a_motion_without_an_end_goes_on_and_is_announced_again(short, verb):
    async def body(arm):
        if verb == "trajectory":
            arm[SHOULDER].follow_trajectory([Waypoint(0.1, 0.5), Waypoint(0.0, 1.0)], repeat="forever", id="on")
        else:
            arm[SHOULDER].set_effort(0.0, id="on")
        await asyncio.sleep(1.0)
        assert arm.ended() == []
        assert [m.payload.expected_arrival - m.time for m in arm.heard(BeginMotion)] == [pytest.approx(0.3)] * 4

    live_rig.run(body, feedback_hz=0.0)


def test_a_motion_in_a_world_that_misses_ticks_is_late_and_completes(monkeypatch):
    monkeypatch.setattr("pushrod.runtime.simulated.port.LATE", 0.05)
    monkeypatch.setattr("pushrod.runtime.motions.SILENT", 0.1)

    async def body(arm):
        step, calls = arm.world.step, []

        def every_second():
            calls.append(1)
            if len(calls) % 2:
                step()

        arm.world.step = every_second
        arm[SHOULDER].set_position(0.5, duration=2.0, id="up")
        await asyncio.sleep(4.1)
        assert arm.ended() == [("up", "completed", None)]
        assert len(arm.heard(BeginMotion)) > 1

    live_rig.run(body)


def test_a_stop_does_not_wait_for_a_thread_that_is_interrupted_inside_a_step():
    async def body(arm):
        arm[SHOULDER].set_position(1.0, id="up")
        await asyncio.sleep(0.1)
        with arm.world._moving, arm.rt.bus._lock:
            stopping = threading.Thread(target=lambda: disarm({}))
            began = time.monotonic()
            stopping.start()
            stopping.join(2.0)
            took = time.monotonic() - began
        assert took < 1.0
        k = arm.world.k
        await asyncio.sleep(0.01)
        assert set(arm.world.inputs()["shoulder.stiff"][k:]) == {0.0}

    live_rig.run(body)


def test_a_signal_handler_inside_a_step_stops_the_robot_on_the_stepped_clock():
    async def body(arm):
        arm[SHOULDER].set_position(1.0, id="up")
        await asyncio.sleep(0.1)
        stopped = []

        def stop(k, u, y):
            if not stopped:
                stopped.append(arm.rt.estop("signal"))

        arm.world.observe(stop)
        await asyncio.sleep(0.01)
        assert arm.ended() == [("up", "cancelled", "disarmed")]

    live_rig.run(body)
