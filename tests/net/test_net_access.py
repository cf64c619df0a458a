"""Which certificate may send what: a host speaks for its own robot, an operator under its own name."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import zenoh
from certificates import Authority
from msgspec import Raw
from net_rig import HostProcess, free_port

from pushrod.core.errors import InputError, NetworkError
from pushrod.net import Access, Link, RemoteRobot, Session, Tls, connect, key, router
from pushrod.net.access import access_control
from pushrod.net.connecting import hellos
from pushrod.net.wire import Ask, CommandAsk, Frame, encode, pack
from pushrod.runtime import JointState, Velocity

LIST = {"command": ["ann"], "watch": ["bob"]}


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("ca"))


@pytest.fixture(scope="module")
def at_a_router(authority):
    end = f"tls/127.0.0.1:{free_port()}"
    access = Access(("ann",), ("bob",), hosts=("arm1", "second=arm2"))
    with (
        router(Link(end, tls=Tls(**authority.issue("router")), access=access)),
        HostProcess(connect=end, name="arm1", tls=authority.issue("arm1"), access=LIST),
        HostProcess(connect=end, name="arm2", tls=authority.issue("second"), access=LIST),
    ):
        yield end


@pytest.fixture(scope="module")
def direct(authority):
    with HostProcess(endpoint=f"tls/127.0.0.1:{free_port()}", name="arm1", tls=authority.issue("arm1"), access=LIST) as host:
        yield host.endpoint


@contextmanager
def intruder(end: str, authority: Authority, name: str) -> Iterator[zenoh.Session]:
    """Open a plain zenoh session with a valid certificate of this name, which sends whatever it wants."""
    with Session(Link(connect=end, tls=Tls(**authority.issue(name)))) as session:
        yield session.zenoh


def answers(session: zenoh.Session, name: str, body: bytes = b"\x80") -> list[Any]:
    replies = session.get(name, payload=body, timeout=0.5, target=zenoh.QueryTarget.ALL, consolidation=zenoh.ConsolidationMode.NONE)
    return [reply for reply in replies if reply.ok is not None]


def as_ann(remote: RemoteRobot) -> Iterator[tuple[str, bytes]]:
    """Yield requests in ann's name, with the number and times that her own next one would have."""
    times = remote.host_time(time.monotonic())
    path = remote["elbow_motor"].path
    move = CommandAsk(remote.session_id, 999, *times, pack(Velocity(1.0)), times[0], 0.0, 0, 0, 0, None, False, 1.0)
    yield key.ask("arm1", "ann", "actuator", *path), encode(move)
    for what, arguments in (("arm", {}), ("disarm", {}), ("estop", {"cause": "forged"}), ("reset", {})):
        for asked in (key.ask("arm1", "ann", "do", what), key.of("arm1", "ask", "*", "do", what)):
            yield asked, encode(Ask(remote.session_id, 999, *times, arguments))
    yield key.of("", "ask", key.BELOW), encode(Ask(remote.session_id, 999, *times, {}))


@pytest.mark.parametrize("name", ["second", "arm2", "bob"])
def test_no_other_certificate_commands_a_robot_in_an_operators_name(at_a_router, authority, name):
    """`second` is the host of arm2, `arm2` is on no list, `bob` may only watch."""

    async def main() -> None:
        async with await connect("arm1", Link(connect=at_a_router, tls=Tls(**authority.issue("ann")))) as ann:
            assert (await ann.disarm("before")).ok
            assert (await ann.arm()).ok
            with intruder(at_a_router, authority, name) as session:
                for asked, body in as_ann(ann):
                    session.put(asked, body)
                    assert await asyncio.to_thread(answers, session, asked, body) == [], asked
                token = session.liveliness().declare_token(key.of("arm1", "operator", "ann", f"forged.{ann.hello.instance}"))
                await asyncio.sleep(0.3)
                now = await ann.overview()
                del token
            assert (now.state, now.operators) == ("armed", ("ann",))
            assert {one.name: one.acted for one in now.actuators} == {"shoulder_motor": 0, "elbow_motor": 0}

    asyncio.run(main())


@pytest.mark.parametrize("name", ["second", "bob", "ann"])
def test_no_other_certificate_speaks_for_a_robot(at_a_router, authority, name):
    async def main() -> None:
        async with await connect("arm1", Link(connect=at_a_router, tls=Tls(**authority.issue("ann")))) as ann:
            assert len(await asyncio.to_thread(hellos, ann.bus.session, "arm1")) == 1
            topic = ("actuator", *ann["elbow_motor"].path)
            watch = ann.subscribe(topic, latched=True)
            with intruder(at_a_router, authority, name) as session:
                declared = [
                    session.declare_queryable(key.hello("arm1"), lambda query: query.reply(key.hello("arm1"), b"forged")),
                    session.declare_queryable(key.of("arm1", "ask", key.BELOW), lambda query: query.reply(query.key_expr, b"forged")),
                    session.liveliness().declare_token(key.of("arm1", "host", "forged")),
                ]
                session.put(key.of("arm1", "answer", "ann", ann.session_id), b"forged")
                frame = encode(Frame("forged", 1, 0.0, 0.0, "forged", "", Raw(encode({}))))
                for part in (key.TOPIC, key.GLANCE):
                    session.put(key.topic("arm1", part, ("dict", key.NONE), topic), frame)
                await asyncio.sleep(0.3)
                assert len(await asyncio.to_thread(hellos, ann.bus.session, "arm1")) == 1
                tokens = ann.bus.session.zenoh.liveliness().get(key.of("arm1", "host", key.ANY), timeout=0.5)
                assert [token for token in tokens if token.ok is not None and "forged" in str(token.ok.key_expr)] == []
                assert (await ann["elbow_motor"].sync.hold()).ok
                received = [await asyncio.wait_for(watch.get(), 5.0)]
                while (message := watch.poll()) is not None:
                    received.append(message)
                assert [one for one in received if one.source == "forged"] == []
                del declared

    asyncio.run(main())


def test_a_host_learns_nothing_of_other_robots(at_a_router, authority):
    with intruder(at_a_router, authority, "second") as session:
        heard: list[Any] = []
        declared = [
            session.declare_subscriber(name, heard.append) for name in (f"{key.ROOT}/**", key.of("arm1", key.BELOW), key.of("", key.TOPIC, "**"))
        ]
        assert answers(session, key.hello("arm1")) == []
        assert answers(session, key.hello()) == []
        assert answers(session, key.of("arm1", "info", "overview")) == []
        assert len(answers(session, key.hello("arm2"))) == 1
        time.sleep(0.3)
        assert [str(sample.key_expr) for sample in heard if not str(sample.key_expr).startswith(key.of("arm2"))] == []
        del declared


def test_each_robot_is_commanded_through_the_router_and_reports_back(at_a_router, authority):
    async def main() -> None:
        for name in ("arm1", "arm2"):
            async with await connect(name, Link(connect=at_a_router, tls=Tls(**authority.issue("ann")))) as ann:
                await ann.arm()
                watch = ann.subscribe("actuator", [JointState], latched=True)
                assert (await ann["elbow_motor"].sync.hold()).ok
                assert (await asyncio.wait_for(watch.get(), 5.0)).robot == name
                assert (await ann.disarm()).ok

    asyncio.run(main())


@pytest.mark.parametrize("name", ["arm2", "arm1", "bob"])
def test_a_host_that_listens_by_itself_takes_requests_in_an_operators_name_from_that_operator_only(direct, authority, name):
    """The certificate of the host itself is no exception: it is for listening."""

    async def main() -> None:
        async with await connect("arm1", Link(connect=direct, tls=Tls(**authority.issue("ann")))) as ann:
            assert (await ann.disarm("before")).ok
            assert (await ann.arm()).ok
            with intruder(direct, authority, name) as session:
                for asked, body in as_ann(ann):
                    session.put(asked, body)
                    assert await asyncio.to_thread(answers, session, asked, body) == [], asked
                token = session.liveliness().declare_token(key.of("arm1", "operator", "ann", f"forged.{ann.hello.instance}"))
                await asyncio.sleep(0.3)
                now = await ann.overview()
                del token
            assert (now.state, now.operators) == ("armed", ("ann",))

    asyncio.run(main())


def test_routers_that_are_joined_pass_on_what_each_lets_in(authority):
    centre, site = (f"tls/127.0.0.1:{free_port()}" for _ in range(2))
    middle = Link(centre, tls=Tls(**authority.issue("centre")), access=Access(("ann",), routers=("site",)))
    outer = Link(site, centre, tls=Tls(**authority.issue("site")), access=Access(hosts=("arm1",), routers=("centre",)))

    async def main() -> None:
        async with await connect("arm1", Link(connect=centre, tls=Tls(**authority.issue("ann")))) as ann:
            assert (await ann["elbow_motor"].sync.hold()).ok
        with pytest.raises(NetworkError):
            await connect("arm1", Link(connect=site, tls=Tls(**authority.issue("ann"))), timeout=0.5)

    with router(middle), router(outer), HostProcess(connect=site, name="arm1", tls=authority.issue("arm1"), access=LIST):
        asyncio.run(main())


def test_a_certificate_in_two_roles_has_the_grants_of_both_in_one_policy():
    control = access_control(Access(watch=("arm",), hosts=("arm", "arm=arm-left")))
    assert [subject["cert_common_names"] for subject in control["subjects"]] == [["arm"]]
    assert len(control["policies"]) == 1
    keys = {name for rule in control["rules"] if rule["id"] != "out" and "put" in rule["messages"] for name in rule["key_exprs"]}
    assert keys >= {key.of("arm", "answer", "*", "*"), key.of("arm-left", "answer", "*", "*"), key.of("", "ask", "arm", "**")}


@pytest.mark.parametrize("entry", ["=arm", "host=", "="])
def test_an_entry_of_a_host_without_a_name_is_refused(entry):
    with pytest.raises(InputError, match=r"access.hosts: .* lacks a name; write NAME, or NAME=ROBOT"):
        Access(hosts=(entry,))
