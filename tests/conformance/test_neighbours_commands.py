"""More of the kind of cases 16 to 28: numbers of every sort, orders and sequences, batches, drivers that block."""

import asyncio
import fractions
import math
import threading

import msgspec
import numpy as np
import pytest
from fixture_r import LIMITS, TOPIC, WAYS, Probe, ask, drive, heard, near, robot

from pushrod.robot import Actuator, Joint, Limits, Robot, Transmission
from pushrod.runtime import Accepted, Effort, Hold, Outcome, Payload, Position, State, Stop, Trajectory, Velocity, WallClock, Waypoint

GEAR = Transmission(50, 0.1, True)
BAD = [math.nan, math.inf, -math.inf, True, np.bool_(True), "1", None, 1j, [0.5], np.array([0.5]), np.float32("nan"), 10**400]
GOOD = [0.5, 1, np.float64(0.5), np.float32(0.5), np.float16(0.5), np.int64(1), np.uint8(1), fractions.Fraction(1, 2)]


def one(probe: Probe):
    return {"motor": lambda: probe}


@pytest.mark.parametrize("x", GOOD, ids=repr)
@pytest.mark.parametrize("verb", ["set_position", "set_velocity", "set_effort"])
def test_any_real_number_will_do_and_the_driver_gets_a_float(verb: str, x) -> None:
    verbs, built = Probe(), Probe()

    async def body(rt):
        watch = rt.subscribe(TOPIC)
        rt.arm()
        getattr(rt["motor"].publish, verb)(x, duration=np.float32(2.0))
        return msgspec.json.decode(msgspec.json.encode(watch.poll()))

    async def send(rt):
        rt.arm()
        kind = {"set_position": Position, "set_velocity": Velocity, "set_effort": Effort}[verb]
        return rt.send([("motor", kind(x))])

    told = drive(robot(GEAR), one(verbs), body)
    assert told["payload"]["result"] == {"type": "Accepted", "info": None}
    (answer,) = drive(robot(GEAR), one(built), send)
    assert answer.ok
    wanted = {"set_position": -50.0 * (float(x) - 0.1), "set_velocity": -50.0 * float(x), "set_effort": float(x) / -50.0}[verb]
    for (payload,) in (verbs.commands, built.commands):
        value = getattr(payload, verb.removeprefix("set_"))
        assert (type(value), value) == (float, near(wanted, 1e-12))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("x", BAD, ids=lambda x: repr(x)[:20])
def test_what_is_no_finite_number_never_arrives(way: str, x) -> None:
    probe = Probe()

    async def body(rt):
        rt.arm()
        view = getattr(rt["motor"], way)
        payloads = [Position(x), Velocity(x), Effort(x), Trajectory((Waypoint(x, 1.0),)), Trajectory((Waypoint(0.1, x),))]
        if x is not None:
            payloads += [Position(0.1, x), Position(0.1, None, x), Velocity(0.1, x), Effort(0.1, x), Trajectory((Waypoint(0.1, 1.0, x),))]
        return [(await ask(view, payload)).reason for payload in payloads]

    assert set(drive(robot(), one(probe), body)) == {"malformed"}
    assert probe.commands == []


def test_a_gear_cannot_make_infinity() -> None:
    probe = Probe()

    async def body(rt):
        rt.arm()
        return rt["motor"].direct.set_velocity(1e308), rt["motor"].direct.set_position(1e308)

    free = Limits(velocity=1.7e308, effort=1.0)
    answers = drive(robot(Transmission(50), free, "continuous"), one(probe), body)
    assert [answer.reason for answer in answers] == ["malformed", "malformed"]
    assert probe.commands == []


def test_waypoints_may_be_mappings() -> None:
    probe = Probe()

    async def body(rt):
        rt.arm()
        servo = rt["motor"].direct
        good = servo.follow_trajectory([{"position": np.float32(0.5), "time": 1}, Waypoint(1, 2)])
        bad = [
            servo.follow_trajectory(points) for points in ([{"position": 0.5}], [{"position": 0.5, "time": 1, "speed": 2}], [(0.5, 1.0)], [None], [])
        ]
        return good, bad

    good, bad = drive(robot(), one(probe), body)
    assert good == Accepted()
    assert probe.commands == [Trajectory((Waypoint(0.5, 1.0), Waypoint(1.0, 2.0)))]
    assert [answer.reason for answer in bad] == ["malformed"] * 5
    assert [answer.detail[:30] for answer in bad[:4]] == ["waypoints[0] must be a Waypoin"] * 4


@pytest.mark.parametrize("times", [(1.0, 0.5), (1.0, 1.0), (0.0, 0.0), (-1.0, 1.0), (0.5, math.nan)], ids=str)
def test_times_that_do_not_rise_are_refused(times) -> None:
    async def body(rt):
        rt.arm()
        return rt["motor"].direct.follow_trajectory([Waypoint(0.1, t) for t in times])

    answer = drive(robot(), {"motor": Probe}, body)
    assert (answer.reason, "].time" in answer.detail) == ("malformed", True)


@pytest.mark.parametrize("repeat", [0, -1, 1.0, True, "twice", None, math.inf])
def test_a_trajectory_is_repeated_a_whole_number_of_times_or_for_ever(repeat) -> None:
    async def body(rt):
        rt.arm()
        return rt["motor"].direct.follow_trajectory([Waypoint(0.1, 1.0)], repeat)

    assert "repeat" in drive(robot(), {"motor": Probe}, body).detail


def test_sequences_only_rise_also_after_a_late_stop() -> None:
    probe = Probe()

    async def body(rt):
        rt.arm()
        servo = rt["motor"].direct
        answers = [servo.set_position(0.1, sequence=n) for n in (5, 5, 4, 6)]
        answers.append(servo.stop(sequence=1))
        answers += [servo.set_position(0.2, sequence=n) for n in (3, 6, 7)]
        answers += [servo.stop(sequence=9), servo.set_position(0.3, sequence=8), servo.set_position(0.3, sequence=-1)]
        return [answer.ok for answer in answers]

    assert drive(robot(), one(probe), body) == [True, False, False, True, True, False, False, True, True, False, False]


def test_what_is_too_old_is_refused_and_a_stop_never_is() -> None:
    class Slow(Probe):
        blocking = True

        def __init__(self):
            super().__init__()
            self.inside, self.leave = threading.Event(), threading.Event()

        def handle_command(self, payload, command):
            self.commands.append(payload)
            self.inside.set()
            self.leave.wait(5.0)

    async def body(rt):
        rt.arm()
        servo = rt["motor"].sync
        first = asyncio.create_task(servo.set_position(0.1))
        await asyncio.to_thread(slow.inside.wait, 5.0)
        second = asyncio.create_task(servo.send(kind, validity=0.01))
        await asyncio.sleep(0.03)
        slow.leave.set()
        await first
        return await second

    for kind in (Position(0.2), Stop()):
        slow = Slow()
        answer = drive(robot(), one(slow), body, WallClock())
        assert (answer.ok, len(slow.commands)) == ((True, 2) if type(kind) is Stop else (False, 1))
        assert answer.ok or answer.reason == "stale"


def two() -> Robot:
    joints = [Joint("j1", "revolute", "base", "a", limits=LIMITS), Joint("j2", "prismatic", "base", "b", limits=LIMITS)]
    return Robot("r", ["base", "a", "b"], joints, [Actuator("m1", "j1"), Actuator("m2", "j2")])


def test_nothing_of_a_batch_acts_after_one_of_it_has_disarmed() -> None:
    class Careful(Probe):
        def handle_command(self, payload, command):
            self.rt.disarm("not today")

    careful, other = Careful(), Probe()

    async def body(rt):
        careful.rt = rt
        rt.arm()
        return rt.send([("m1", Position(0.1)), ("m2", Position(0.2))])

    first, second = drive(two(), {"m1": lambda: careful, "m2": lambda: other}, body)
    assert first.ok
    assert second.reason == "not_armed"
    assert other.commands == []


@pytest.mark.parametrize("wrong", [Position(math.nan), Payload(), None, "stop", Trajectory(())], ids=repr)
def test_one_bad_command_of_a_batch_and_none_acts(wrong) -> None:
    probes = {"m1": Probe(), "m2": Probe()}

    async def body(rt):
        watch = rt.subscribe("actuator", Outcome)
        rt.arm()
        return rt.send([("m1", Position(0.1)), ("m2", wrong), ("m1", Stop())]), heard(watch)

    answers, outcomes = drive(two(), {name: (lambda p=p: p) for name, p in probes.items()}, body)
    assert [answer.reason for answer in answers] == ["batch", answers[1].reason, "batch"]
    assert answers[1].reason in ("malformed", "unsupported")
    assert [outcome.result for outcome in outcomes] == answers
    assert not any(p.commands for p in probes.values())


def test_a_batch_acts_in_the_order_it_was_given() -> None:
    told = []

    class Noting(Probe):
        def handle_command(self, payload, command):
            told.append((self.context.path[-1], payload))

    async def body(rt):
        rt.arm()
        return [answer.ok for answer in rt.send([("m2", Position(0.1)), ("m1", Hold()), ("m2", Stop())])], rt.send([])

    assert drive(two(), {"m1": Noting, "m2": Noting}, body) == ([True, True, True], [])
    assert told == [("m2", Position(0.1)), ("m1", Hold()), ("m2", Stop())]


class Blocking(Probe):
    blocking = True


@pytest.mark.parametrize("clock", [None, WallClock])
@pytest.mark.parametrize("way", ["sync", "publish"])
def test_a_driver_that_blocks_is_refused_for_at_the_door_with_the_same_answer(clock, way: str) -> None:
    async def body(rt):
        watch = rt.subscribe(TOPIC)
        view = getattr(rt["motor"], way)
        more = {"timeout": 0.0} if way == "sync" else {}
        answers = [await ask(view, payload, **more) for payload in (Position(0.1), Position(math.nan), Stop())]
        rt.arm()
        return answers, await rt["motor"].sync.set_position(0.2), len(heard(watch))

    answers, done, seen = drive(robot(), {"motor": Blocking}, body, clock() if clock else None)
    assert [answer.reason for answer in answers] == ["not_armed", "malformed", "not_armed"]
    assert done.ok
    assert seen == (3 if way == "publish" else 0)


def test_direct_does_not_wait_for_a_driver_that_blocks() -> None:
    async def body(rt):
        rt.arm()
        return rt["motor"].direct.set_position(0.1)

    assert drive(robot(), {"motor": Blocking}, body, WallClock()).reason == "blocking"


def test_a_driver_that_ends_the_program_is_made_safe_first() -> None:
    class Exiting(Probe):
        def handle_command(self, payload, command):
            raise KeyboardInterrupt

    async def body(rt):
        rt.arm()
        with pytest.raises(KeyboardInterrupt):
            rt["motor"].direct.set_position(0.1)
        return rt["motor"].direct.set_position(0.1).ok, rt.state

    assert drive(robot(), {"motor": Exiting}, body) == (False, State.ARMED)


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "continuous"])
@pytest.mark.parametrize("policy", ["clamp", "reject"])
def test_limits_are_kept_to_by_every_delivery(kind: str, policy: str) -> None:
    bounded = kind != "continuous"
    limits = Limits(-0.5 if bounded else None, 1.5 if bounded else None, velocity=2.0, acceleration=3.0, effort=4.0)
    probe = Probe()
    asked = [Position(9.0, 9.0), Velocity(-9.0), Effort(9), Trajectory((Waypoint(9.0, 1.0, 9.0, -9.0),)), Position(1.0), Hold()]

    async def body(rt):
        rt.arm()
        return [[await ask(getattr(rt["motor"], way), payload) for payload in asked] for way in WAYS]

    x = 1.5 if bounded else 9.0
    done = [Position(x, 2.0), Velocity(-2.0), Effort(4.0), Trajectory((Waypoint(x, 1.0, 2.0, -3.0),)), Position(1.0), Hold()]
    for answers in drive(robot(None, limits, kind, limit_policy=policy), one(probe), body):
        if policy == "clamp":
            assert [getattr(answer, "done", None) for answer in answers] == [*done[:4], None, None]
        else:
            assert [getattr(answer, "reason", "") for answer in answers] == ["limits"] * 4 + ["", ""]
    assert probe.commands == (done if policy == "clamp" else done[4:]) * 3
