"""Certificates and the list of names: who is turned away, where, and what the log says of it."""

import asyncio
import json
from typing import Any

import pytest
import zenoh
from certificates import Authority
from net_rig import HostProcess, free_port
from waiting import until

from pushrod.core.errors import InputError, NetworkError
from pushrod.net import Access, AccessError, Link, RemoteRobot, Session, Tls, ZenohBus, connect, key, router, stop
from pushrod.net.stopping import HostStop
from pushrod.net.wire import Ask, CommandAsk, encode, pack
from pushrod.runtime import Hold, JointState

LIST = {"command": ["ann"], "watch": ["bob"]}


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("ca"))


@pytest.fixture(scope="module")
def host(authority):
    with HostProcess(endpoint=f"tls/127.0.0.1:{free_port()}", tls=authority.issue("arm-host"), access=LIST) as process:
        yield process


def link(host: HostProcess, who: dict[str, str], **more: Any) -> Link:
    return Link(connect=host.endpoint, tls=Tls(**who), **more)


def test_who_may_command_does_so_under_the_name_of_the_certificate(host, authority):
    async def main() -> None:
        async with await connect("arm", link(host, authority.issue("ann"))) as remote:
            assert remote.operator == "ann"
            assert (await remote["elbow_motor"].sync.hold()).ok
            assert next(a for a in (await remote.overview()).actuators if a.name == "elbow_motor").commander == "ann"

    asyncio.run(main())
    with pytest.raises(InputError, match="operator = 'chef': with certificates an operator has the name in its own, 'ann'; leave it out"):
        asyncio.run(connect("arm", link(host, authority.issue("ann")), operator="chef"))


def test_a_stop_under_another_name_is_carried_out_under_that_of_the_certificate(host, authority):
    async def main() -> HostStop:
        (got,) = await stop("arm", link(host, authority.issue("ann")), "disarm", "chef", {})
        async with await connect("arm", link(host, authority.issue("ann"))) as remote:
            assert (await remote.arm()).ok  # for the tests that follow
        return got

    got = asyncio.run(main())
    assert got.outcome.ok
    assert got.outcome.why.endswith(", by ann")
    assert got.ignored == ("operator = 'chef': the name in the certificate, 'ann', was used",)


def test_who_may_watch_sees_all_and_commands_nothing(host, authority):
    async def main() -> None:
        async with await connect("arm", link(host, authority.issue("bob"))) as remote:
            watch = remote.subscribe("actuator", [JointState])
            assert (await asyncio.wait_for(watch.get(), 5.0)).robot == "arm"
            answer = await remote["elbow_motor"].sync.hold()
            assert (answer.reason, answer.detail) == ("access", "bob may only watch; who may command: ann")
            with pytest.raises(AccessError, match="bob may only watch"):
                await remote.disarm()

    asyncio.run(main())
    until(lambda: "WARNING:pushrod.net:operator bob: base/shoulder/upper/elbow/elbow_motor refused Hold: access (bob may only watch" in host.log)
    until(lambda: "WARNING:pushrod.net:operator bob: arm refused disarm: access" in host.log)


def test_a_name_that_is_on_no_list_sees_nothing_and_is_in_the_log(host, authority):
    with pytest.raises(NetworkError, match=r"no robot 'arm' answers .* see whether 'eve' is on its access list"):
        asyncio.run(connect("arm", link(host, authority.issue("eve")), timeout=0.5))
    until(lambda: "the certificate of 'eve'" in host.log)
    assert "is on no access list: it sees and commands nothing" in host.log
    for _ in range(5):
        Session(link(host, authority.issue("eve"))).close()
    Session(link(host, authority.issue("mallory"))).close()  # who comes after them is told
    until(lambda: "the certificate of 'mallory'" in host.log)
    assert host.log.count("the certificate of 'eve'") == 1


def test_without_a_certificate_there_is_no_link_and_zenoh_says_so(host, authority, tmp_path):
    config = zenoh.Config()
    for path, value in {
        "mode": "client",
        "connect/endpoints": [host.endpoint],
        "connect/timeout_ms": 500,
        "scouting/multicast/enabled": False,
        "transport/link/tls/root_ca_certificate": authority.issue("ann")["authority"],
    }.items():
        config.insert_json5(path, json.dumps(value))
    with pytest.raises(zenoh.ZError):
        zenoh.open(config)
    until(lambda: "peer sent no certificates" in host.log)


def test_a_certificate_of_another_authority_is_turned_away_at_the_link(host, tmp_path):
    stranger = Authority(tmp_path / "other").issue("ann")
    with pytest.raises(NetworkError, match=r"no answer at tls/.* signed by one authority"):
        asyncio.run(connect("arm", link(host, stranger, patience=0.5)))


def test_a_host_whose_certificate_is_for_another_place_is_not_believed(authority):
    false = authority.issue("false-host", "robot.example")
    with (
        HostProcess(endpoint=f"tls/127.0.0.1:{free_port()}", tls=false, access=LIST) as host,
        pytest.raises(NetworkError, match="no answer at tls/"),
    ):
        asyncio.run(connect("arm", link(host, authority.issue("ann"), patience=0.5)))


def test_nobody_speaks_under_anothers_name(host, authority):
    """A program that says it is ann with bob's certificate is not heard, whatever it sends."""

    async def main() -> None:
        async with (
            await connect("arm", link(host, authority.issue("bob"))) as remote,
            await connect("arm", link(host, authority.issue("ann"))) as ann,
        ):
            session = remote.bus.session.zenoh
            path = remote["elbow_motor"].path
            before = next(a for a in (await ann.overview()).actuators if a.name == "elbow_motor").acted
            command = CommandAsk(ann.session_id, 999, *ann.host_time(0.0), pack(Hold()), 0.0, 0.0, 0, 0, 0, None, False, 1.0)
            for name, body in (
                (key.ask("arm", "ann", "actuator", *path), encode(command)),
                (key.ask("arm", "ann", "do", "disarm"), encode(Ask(ann.session_id, 999, 0.0, 0.0))),
                (key.of("arm", "ask", "*", "do", "disarm"), encode(Ask(ann.session_id, 999, 0.0, 0.0))),
                (f"{key.ROOT}/**", encode(Ask(ann.session_id, 999, 0.0, 0.0))),
            ):
                session.put(name, body)
                replies = await asyncio.to_thread(lambda name=name, body=body: list(session.get(name, payload=body, timeout=0.5)))
                assert [r for r in replies if r.ok is not None] == []
            session.liveliness().declare_token(key.of("arm", "operator", "ann", "false"))
            session.put(key.topic("arm", key.TOPIC, ("JointState", key.NONE), ("actuator", *path)), b"lies")
            now = await ann.overview()
            assert (now.state, now.operators) == ("armed", ("ann", "bob"))
            assert next(a for a in now.actuators if a.name == "elbow_motor").acted == before

    asyncio.run(main())


def test_files_that_do_not_belong_together_are_noticed_before_anybody_is_called(authority, tmp_path):
    ann, bob = authority.issue("ann"), authority.issue("bob")
    end = f"tls/127.0.0.1:{free_port()}"
    (tmp_path / "empty").write_text("")
    for wrong, said in (
        ({"key": bob["key"]}, "tls.key: .*bob.key does not belong to the certificate .*ann.pem"),
        ({"key": ann["certificate"]}, "tls.key: .*ann.pem cannot be read as a key"),
        ({"authority": str(tmp_path / "empty")}, "tls.authority: .*empty cannot be read as certificates"),
        ({"certificate": ann["key"]}, "tls.certificate: .*ann.key cannot be read as a certificate"),
    ):
        with pytest.raises(InputError, match=said):
            ZenohBus(Link(connect=end, tls=Tls(**{**ann, **wrong})))


def test_at_a_router_the_list_holds_for_all_that_meet_there(authority):
    end = f"tls/127.0.0.1:{free_port()}"
    meeting = Link(end, tls=Tls(**authority.issue("router")), access=Access(**{k: tuple(v) for k, v in LIST.items()}, hosts=("arm-host=arm",)))

    async def main() -> None:
        async def hold(who: str) -> Any:
            async with await connect("arm", Link(connect=end, tls=Tls(**authority.issue(who)))) as remote:
                return await remote["elbow_motor"].sync.hold()

        assert (await hold("ann")).ok
        assert (await hold("bob")).reason == "access"
        with pytest.raises(NetworkError, match="'eve' is on its access list"):
            await connect("arm", Link(connect=end, tls=Tls(**authority.issue("eve"))), timeout=0.5)

    with router(meeting), HostProcess(connect=end, tls=authority.issue("arm-host"), access=LIST):
        asyncio.run(main())


def test_a_host_that_calls_another_machine_must_say_who_may_command(authority):
    far = Link(connect="tls/192.0.2.1:7447", tls=Tls(**authority.issue("arm-host")), patience=0.0)

    async def main() -> None:
        from net_rig import arm

        from pushrod.net import expose
        from pushrod.runtime import Runtime

        with ZenohBus(far) as bus:
            async with Runtime(arm(), simulation=True, bus=bus, guard=False) as rt:
                with pytest.raises(InputError, match=r"this link reaches other machines: say who may command, expose\(rt, access=Access"):
                    expose(rt)
                expose(rt, Access(command=("ann",))).close()

    asyncio.run(main())


def test_a_session_is_closed_once_and_says_so(authority):
    with Session(Link()) as session:
        assert not session.closed
    assert session.closed
    session.close()
    assert isinstance(RemoteRobot.alive, property)
