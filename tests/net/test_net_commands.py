"""A robot in another process, commanded: the same answers as within one; what comes twice, late, out of order or from nobody is refused."""

import asyncio
import dataclasses
import time
from typing import Any

import pytest
import zenoh
from net_rig import HostProcess, arm, free_port
from waiting import soon, until

from pushrod.core.errors import InputError, NetworkError, ParameterError, UnknownNameError
from pushrod.net import AccessError, Link, RemoteRobot, ZenohBus, connect, fingerprint, key, robots, router
from pushrod.net.courier import Courier
from pushrod.net.wire import CommandAsk, Hello, Reply, decode, encode, pack
from pushrod.robot import Transmission
from pushrod.runtime import (
    Accepted,
    Clamped,
    CommandTimeout,
    EndMotion,
    Hold,
    LeaseChanged,
    Outcome,
    ParameterChanged,
    Payload,
    Position,
    Runtime,
    State,
    Stop,
    Transition,
    Velocity,
    WallClock,
)

HOLD = Hold()


@pytest.fixture(scope="module")
def host():
    with HostProcess() as process:
        yield process


def remotely(host: HostProcess, body: Any, operator: str = "ann", **how: Any) -> Any:
    async def main() -> Any:
        async with await connect("arm", host.link(), operator=operator, **how) as remote:
            if remote.state is not State.ARMED:
                assert (await remote.arm()).ok
            return await body(remote)

    return asyncio.run(main())


class Kick(Payload, frozen=True, gc=False, tag=True):
    """Of a driver that nobody has."""

    force: float


def test_every_answer_is_the_one_a_local_handle_gives(host):
    async def ask(motor: Any, other: Any) -> list[Any]:
        points = [{"position": 0.1, "time": 0.1}, {"position": 0.2, "time": 0.5}]
        return [
            await motor.sync.set_position(0.5),
            await motor.sync.set_position(1, velocity=2, duration=0.5),
            await motor.sync.set_velocity(9.0),
            await motor.sync.set_effort(99.0, duration=0.1),
            await motor.sync.follow_trajectory(points, 2),
            await motor.sync.follow_trajectory(points[::-1]),
            await motor.sync.hold(),
            await motor.sync.stop("decelerate"),
            await other.sync.set_position(999.0),
            await motor.sync.set_position(float("nan")),
            await motor.sync.send(Kick(1.0)),
            await motor.sync.set_position(0.1, sequence=7, id="a"),
            await motor.sync.set_position(0.1, sequence=7),
            await motor.sync.set_position(0.1, validity=-1.0),
            await motor.sync.set_position(0.1, sequence="first"),
            await motor.sync.set_position(0.1, id=5),
        ]

    async def local() -> list[Any]:
        async with Runtime(arm(), simulation=True, clock=WallClock(), guard=False) as rt:
            rt.arm()
            return await ask(rt["shoulder_motor"], rt["elbow_motor"])

    async def remote(robot: RemoteRobot) -> list[Any]:
        return await ask(robot["shoulder_motor"], robot["elbow_motor"])

    assert remotely(host, remote) == asyncio.run(local())


def test_direct_refuses_and_says_why(host):
    async def body(remote: RemoteRobot) -> None:
        answer = remote["elbow_motor"].direct.set_position(0.1)
        assert (answer.reason, answer.ok) == ("remote", False)
        assert "hosted by another process" in str(answer)
        assert "use sync or publish" in str(answer)

    remotely(host, body)


def test_published_commands_and_their_outcomes_are_seen_by_all(host):
    async def body(remote: RemoteRobot) -> None:
        async with await connect("arm", host.link(), operator="bob") as other:
            watch = other.subscribe("actuator", [Velocity])
            await other.overview()  # the host knows of the subscription by now
            sent = remote["elbow_motor"].publish.set_velocity(0.1, id="v")
            assert sent == Accepted("on its way; the outcome comes on the topic")
            seen = (await watch.get()).payload
            assert isinstance(seen, Outcome)
            assert (seen.command.source, seen.command.id, seen.command.payload, seen.result) == ("ann", "v", Velocity(0.1), Accepted())

    remotely(host, body)


def test_a_motion_is_awaited_whether_it_ended_before_or_after_one_asks(host):
    async def body(remote: RemoteRobot) -> None:
        motor = remote["shoulder_motor"]
        x = (await motor.request("state"))["position"] / 2.0  # of the motor, behind its gearbox
        assert (await motor.sync.set_position(x + 0.05, id="go")).ok
        end = await remote.motion("shoulder_motor", "go", timeout=5.0)
        assert (end.reason, end.command_id) == ("completed", "go")
        assert end.position == pytest.approx(x + 0.05)
        assert await remote.motion("shoulder_motor", "go", timeout=1.0) == end
        with pytest.raises(TimeoutError, match="the motion 'none' has not ended within"):
            await remote.motion("shoulder_motor", "none", timeout=0.05)
        await soon(lambda: motor.joint_state is not None and motor.joint_state.positions[0] == pytest.approx(x + 0.05))

    remotely(host, body)


def test_the_first_motion_through_a_router_is_awaited_as_any_other():
    async def main() -> None:
        end = f"tcp/127.0.0.1:{free_port()}"
        with router(Link(end)), HostProcess(connect=end):
            for k in range(3):
                async with await connect("arm", Link(connect=end)) as remote:
                    for name in ("shoulder_motor", "elbow_motor"):
                        assert (await remote[name].sync.set_position(0.01 * (k + 1), id=f"{name} {k}")).ok
                        assert (await remote.motion(name, f"{name} {k}", timeout=5.0)).reason == "completed"

    asyncio.run(main())


def test_several_commands_act_as_one_or_not_at_all(host):
    async def body(remote: RemoteRobot) -> None:
        both = await remote.send([("shoulder_motor", Hold()), ("elbow_motor", Hold(), "b")])
        assert both == [Accepted(), Accepted()]
        assert await remote.send([("elbow_motor", Hold()), ("elbow_motor", Stop())]) == [Accepted(), Accepted()]
        answers = await remote.send([("shoulder_motor", Position(500.0)), ("elbow_motor", Position(500.0))])
        assert [a.reason for a in answers] == ["batch", "limits"]
        answers = await remote.send([("shoulder_motor", Kick(1.0)), ("elbow_motor", Hold())])
        assert [a.reason for a in answers] == ["unsupported", "batch"]
        assert (await remote["elbow_motor"].sync.hold()).ok, "the numbers go on after a batch"
        late = await remote.send([("elbow_motor", Hold())], validity=1e-9)
        assert (late[0].reason, "clocks known to agree within" in late[0].detail) == ("stale", True)

    remotely(host, body)


def test_leases_exclude_others_and_end_when_their_owner_leaves(host):
    async def body(remote: RemoteRobot) -> None:
        motor = remote["elbow_motor"]
        watch = remote.subscribe(motor.topic, [LeaseChanged])
        async with await connect("arm", host.link(), operator="bob") as bob:
            theirs = bob["elbow_motor"]
            assert await theirs.take_lease(priority=1)
            answer = await motor.take_lease()
            assert (answer.ok, answer.owner, str(answer)) == (
                False,
                "bob",
                "leased by bob with priority 1: wait, or take it over with a priority above 1",
            )
            answer = await motor.sync.hold()
            assert (answer.reason, answer.detail) == ("lease", "leased by bob")
            assert (await motor.sync.stop()).ok, "a stop needs no lease"
        assert [((await watch.get()).payload.new) for _ in range(2)] == ["bob", None]
        assert (await motor.sync.hold()).ok
        assert await motor.take_lease(5.0)
        assert await motor.release_lease()

    remotely(host, body)


def test_arming_disarming_and_stopping_are_heard_of(host):
    async def body(remote: RemoteRobot) -> None:
        watch = remote.subscribe("state_machine", [Transition])
        answer = await remote.estop("a hand in the door")
        assert (answer.ok, answer.state) == (True, State.ESTOPPED)
        await soon(lambda: remote.state is State.ESTOPPED)
        refusal = await remote.arm()
        assert (refusal.ok, refusal.refusal) == (False, "estopped")
        assert "a hand in the door, by ann" in refusal.missing[0]
        assert (await remote["elbow_motor"].sync.hold()).reason == "not_armed"
        assert (await remote.reset()).ok
        assert not (await remote.force_disarm()).ok, "it is not in error"
        assert (await remote.arm()).ok
        assert (await remote.disarm("enough")).ok
        told = [(await watch.get()).payload for _ in range(5)]
        assert [(t.from_, t.to) for t in told][:3] == [("armed", "estopped"), ("estopped", "disarmed"), ("disarmed", "armed")]
        assert "enough, by ann" in told[3].why
        assert (await remote.arm()).ok
        assert (await remote["elbow_motor"].sync.hold()).ok

    remotely(host, body)


def test_parameters_are_read_set_and_checked_by_the_host(host):
    async def body(remote: RemoteRobot) -> None:
        watch = remote.subscribe("param", [ParameterChanged])
        await remote.parameters.set("speed", 0.5)
        assert await remote.parameters.get("speed") == 0.5
        change = (await watch.get()).payload
        assert (change.path, change.new, change.source) == ("speed", 0.5, "ann")
        with pytest.raises(ParameterError, match="speed: must be at most 2.0"):
            await remote.parameters.set_many({"speed": 5.0})
        with pytest.raises(InputError, match="no parameter 'sped'; it has speed"):
            await remote.parameters.get("sped")
        (entry,) = await remote.parameters.list()
        assert (entry["path"], entry["unit"], entry["lo"], entry["hi"]) == ("speed", "rad/s", 0.1, 2.0)
        await remote.parameters.set("speed", 1.0)

    remotely(host, body)


def test_mistakes_come_back_as_the_errors_they_are(host):
    async def body(remote: RemoteRobot) -> None:
        with pytest.raises(UnknownNameError, match="no actuator named 'knee_motor'"):
            remote["knee_motor"]
        with pytest.raises(LookupError, match="a kinematic motor answers 'state'"):
            await remote["elbow_motor"].request("nonsense")
        with pytest.raises(InputError, match="a lease lasts 0 s or longer"):
            await remote["elbow_motor"].take_lease(-1.0)
        with pytest.raises(InputError, match="timeout must be a number of seconds"):
            await remote["elbow_motor"].sync.hold(timeout=-1.0)
        with pytest.raises(TypeError, match="on an envelope go id, origin, priority, sequence, validity; got speed"):
            await remote["elbow_motor"].sync.hold(speed=1.0)
        with pytest.raises(InputError, match="runs on the wall clock, which waits for nobody"):
            await remote.in_step(lambda k: None)

    remotely(host, body)


def test_validity_counts_from_this_programs_clock(host):
    async def body(remote: RemoteRobot) -> None:
        motor, now = remote["elbow_motor"], time.monotonic
        assert (await motor.sync.hold(validity=0.5)).ok
        assert (await motor.sync.hold(validity=0.5, origin=now() - 0.2)).ok
        stale = await motor.sync.hold(validity=0.5, origin=now() - 0.6)
        assert stale.reason == "stale"
        assert stale.detail.startswith("0.6")
        assert "valid for 0.5 s, with the clocks known to agree within" in stale.detail
        ahead = await motor.sync.hold(validity=0.5, origin=now() + 3.0)
        assert (ahead.reason, "ahead of the host's clock" in ahead.detail) == ("stale", True)
        doubtful = await motor.sync.hold(validity=1e-7)
        assert (doubtful.reason, "the host's clock is known within" in doubtful.detail) == ("stale", True)
        assert abs(remote.offset.seconds) <= remote.offset.doubt < 0.1, "both clocks are that of this machine"

    remotely(host, body)


def test_a_host_with_another_clock_is_judged_by_its_own():
    with HostProcess(ahead=1000.0) as host:

        async def body(remote: RemoteRobot) -> None:
            assert remote.offset.seconds == pytest.approx(1000.0, abs=0.1)
            assert (await remote["elbow_motor"].sync.hold(validity=0.5)).ok
            assert (await remote["elbow_motor"].sync.hold(validity=0.5, origin=time.monotonic() - 0.6)).reason == "stale"

        remotely(host, body)


def test_what_comes_twice_or_out_of_order_or_from_nobody_is_refused(host):
    async def body(remote: RemoteRobot) -> None:
        motor = remote["shoulder_motor"]
        name = key.ask("arm", "ann", "actuator", *motor.path)

        async def again(number: int, payload: Any = HOLD, session: str = "", sent: float | None = None, operator: str = "") -> Any:
            when = time.monotonic() if sent is None else sent
            ask = CommandAsk(session or remote.session_id, number, when, 1e-3, pack(payload), when, 0.0, 0, 0, 0, None, False, 1.0)
            answers: list[Any] = []
            who, where = operator or "ann", key.ask("arm", operator, "actuator", *motor.path) if operator else name
            ear = Courier("arm")
            heard = ear.listen(remote.bus.session.zenoh, key.of("arm", "answer", who, session or remote.session_id))
            ear._waiting[number] = (answers.append, 0.0, 0.0)
            remote.bus.session.zenoh.put(where, encode(ask))
            await soon(lambda: answers)
            heard.undeclare()
            return remote.result(answers[0].answer)

        assert (await motor.sync.hold()).ok
        assert (await motor.sync.hold()).ok
        assert (await again(100)).ok
        twice, older = await again(100), await again(95)
        assert (twice.reason, older.reason) == ("sequence", "sequence")
        assert "got number 100 of session" in twice.detail
        assert (await again(3, Stop())).ok, "a late stop acts"
        strange = await again(101, session="cafe")
        assert (strange.reason, "no session cafe of ann is connected" in strange.detail) == ("access", True)
        for taken in ("watchdog", "local", "elbow_motor"):
            assert (await again(102, operator=taken)).reason == "access"
        late = await again(110, sent=time.monotonic() - 0.7)
        assert (late.reason, "on its way, which may take 0.5 s" in late.detail) == ("stale", True)
        assert (await again(111)).ok
        counted = next(a for a in (await remote.overview()).actuators if a.path == motor.path).refused
        assert (counted["sequence"], counted["access"], counted["stale"]) >= (2, 1, 1), counted

    remotely(host, body)


def test_garbage_is_answered_and_hurts_nobody(host):
    async def body(remote: RemoteRobot) -> None:
        motor = remote["shoulder_motor"]
        for name in (
            key.ask("arm", "ann", "actuator", *motor.path),
            key.ask("arm", "ann", "actuator", "nowhere"),
            key.ask("arm", "ann", "send"),
            key.ask("arm", "ann", "do", "arm"),
            key.ask("arm", "ann", "do", "nonsense"),
            key.ask("arm", "ann"),
            key.of("arm", "info", "nonsense"),
            key.of("arm", "ask", "*", "actuator", "**"),
        ):
            for rubbish in (b"", b"\xc1", b"\x93\x01\x02", encode({"a": 1}), b"x" * 5000):
                remote.bus.session.zenoh.put(name, rubbish)
                answer = decode(await remote.caller.call(name, rubbish, 2.0), Reply).answer
                with pytest.raises(Exception, match=".+"):
                    remote.result(answer)
        assert (await motor.sync.hold()).ok

    remotely(host, body)


def test_a_command_sent_under_an_arming_that_is_over_does_not_act(host):
    async def body(remote: RemoteRobot) -> None:
        motor = remote["elbow_motor"]
        assert (await motor.sync.hold()).ok
        before = motor.epoch
        assert before > 0
        await remote.disarm()
        await remote.arm()
        await soon(lambda: motor.epoch == 0)
        motor.epoch = before  # as if nobody had told
        assert (await motor.sync.hold()).reason == "epoch"
        assert (await motor.sync.hold()).ok, "it knows better now"

    remotely(host, body)


def test_who_is_there_and_what_it_is(host):
    (hello,) = asyncio.run(robots(host.link()))
    assert (hello.schema, hello.robot, hello.fingerprint) == (key.SCHEMA, "arm", fingerprint(arm()))

    async def body(remote: RemoteRobot) -> None:
        shoulder = next(one for one in remote.description.actuators if one.name == "shoulder_motor")
        assert (shoulder.path, shoulder.joint, shoulder.upper, shoulder.blocking) == (
            ("base", "shoulder", "shoulder_motor"),
            "shoulder",
            100.0,
            False,
        )
        assert "Position" in shoulder.payloads
        await remote["shoulder_motor"].sync.hold()
        now = await remote.overview()
        assert (now.state, now.operators) == ("armed", ("ann",))
        told = next(one for one in now.actuators if one.name == "shoulder_motor")
        assert (told.armed, told.commander, told.stopped) == (True, "ann", "")
        assert told.silence is not None
        assert told.silence < 5.0
        assert any(topic.topic == ("state_machine",) for topic in now.topics)

    remotely(host, body, expect=arm())


def test_another_robot_than_expected_is_told_with_both_fingerprints(host):
    other = arm(silence=0.5)
    with pytest.raises(NetworkError, match=f"fingerprint {fingerprint(arm())}, this program's {fingerprint(other)}; give both the same description"):
        remotely(host, None, expect=other)
    with pytest.raises(NetworkError, match="; watchdog of shoulder_motor is None, here 0.5"):
        remotely(host, None, expect=other)
    geared = dataclasses.replace(arm(), actuators=[dataclasses.replace(one, transmission=Transmission(3.0)) for one in arm().actuators])
    with pytest.raises(NetworkError, match="; they differ in links, transmissions, options or parameters"):
        remotely(host, None, expect=geared)
    with pytest.raises(NetworkError, match="give both the same description$"):
        remotely(host, None, expect="0123456789abcdef")
    fewer = dataclasses.replace(arm(), actuators=arm().actuators[:1])
    with pytest.raises(NetworkError, match="; it has an actuator 'elbow_motor'"):
        remotely(host, None, expect=fewer)
    with pytest.raises(NetworkError, match=r"no robot 'leg' answers at tcp/.* within 0.3 s; there are arm"):
        asyncio.run(connect("leg", host.link(), timeout=0.3))


@pytest.mark.parametrize(("schema", "newer"), [(99, "this program"), (0, "the host, which runs pushrod 7.7")])
def test_another_schema_is_told_with_both_versions_and_who_is_behind(host, schema, newer):
    with ZenohBus(host.link()) as bus:
        told = encode(Hello(schema, "7.7", "other", "f", "i"))
        bus.session.zenoh.declare_queryable(key.hello("other"), zenoh.handlers.Callback(lambda q: q.reply(q.key_expr, told), indirect=False))
        with pytest.raises(NetworkError, match=f"speaks schema {schema}, this program schema {key.SCHEMA}: bring {newer} up to date"):
            asyncio.run(connect("other", host.link(), timeout=3.0))


def test_two_hosts_of_one_name_are_found_out(host):
    with HostProcess(connect=host.endpoint):
        until(lambda: "another host of a robot of this name is on the network" in host.log)
        with pytest.raises(NetworkError, match=r"2 hosts answer for the robot 'arm' \(.* pid \d+; .* pid \d+\): each robot needs a name of its own"):
            asyncio.run(connect("arm", host.link(), timeout=3.0))


def test_a_driver_that_blocks_is_awaited_withdrawn_or_not_known():
    with HostProcess("slow") as host:

        async def body(remote: RemoteRobot) -> None:
            motor = remote["shoulder_motor"]
            assert (await motor.sync.hold()).ok
            first = asyncio.create_task(motor.sync.set_velocity(0.1, duration=1.0))
            await asyncio.sleep(0.1)  # it is in the driver
            second = asyncio.create_task(motor.sync.set_position(0.1))
            await asyncio.sleep(0)  # it is sent
            third = await motor.sync.set_position(0.1, timeout=0.05)
            assert ((await second).reason, third.reason) == ("superseded", "withdrawn")
            assert (await first).ok
            with pytest.raises(CommandTimeout, match="has not come back from Velocity within 0.1 s: the outcome is unknown"):
                await motor.sync.set_velocity(0.1, duration=0.4, timeout=0.1)
            busy = asyncio.create_task(motor.sync.set_velocity(0.1, duration=2.0))
            await asyncio.sleep(0.5)
            quick = time.monotonic()
            assert (await remote["elbow_motor"].sync.hold()).ok
            assert "in flight" in (await remote.estop("now")).failures["base/shoulder/shoulder_motor"]
            assert time.monotonic() - quick < 1.0, "what one driver does holds up nobody else, least of all a stop"
            await busy

        remotely(host, body)


def test_a_watch_only_operator_without_certificates_is_refused_by_the_host():
    with HostProcess(access={"command": ["ann"], "watch": ["bob"]}) as host:

        async def watcher() -> None:
            async with await connect("arm", host.link(), operator="bob") as remote:
                answer = await remote["elbow_motor"].sync.hold()
                assert (answer.reason, answer.detail) == ("access", "bob may only watch; who may command: ann")
                with pytest.raises(AccessError, match="refused arm: access .bob may only watch"):
                    await remote.arm()
                with pytest.raises(AccessError):
                    await remote.estop("no")
                assert (await remote.overview()).robot == "arm"

        asyncio.run(watcher())
        remotely(host, lambda remote: remote["elbow_motor"].sync.hold())
        with pytest.raises(AccessError, match="eve is on no list"):
            remotely(host, lambda remote: remote.disarm(), operator="eve")
    assert "operator bob: base/shoulder/upper/elbow/elbow_motor refused Hold: access" in host.log


def test_an_id_that_clamps_keeps_what_was_asked_and_done(host):
    async def body(remote: RemoteRobot) -> None:
        answer = await remote["shoulder_motor"].sync.set_velocity(9.0)
        assert answer == Clamped(Velocity(9.0), Velocity(5.0))
        watch = remote.subscribe(remote["shoulder_motor"].topic, [EndMotion])
        await remote["shoulder_motor"].sync.stop()
        assert (await watch.get()).payload.reason == "cancelled"

    remotely(host, body)
