"""Nothing is open to other machines by accident."""

from pathlib import Path

import pytest
from net_rig import free_port
from waiting import until

from pushrod.core.errors import InputError, NetworkError
from pushrod.net import Access, Link, Tls, ZenohBus
from pushrod.net.session import Session

LOCAL = ["tcp/127.0.0.1:7447", "tcp/localhost:7447", "tcp/[::1]:7447", "tcp/127.8.8.8:1", "unixsock-stream//tmp/arm.sock"]
OPEN = ["tcp/0.0.0.0:7447", "tcp/[::]:7447", "tcp/192.168.0.7:7447", "tcp/robot.example:7447", "tcp/127.0.0.1.example:7447", "tcp/:7447"]


@pytest.fixture
def tls(tmp_path: Path) -> Tls:
    for name in ("ca", "cert", "key"):
        (tmp_path / name).write_text("")
    return Tls(tmp_path / "ca", tmp_path / "cert", tmp_path / "key")


@pytest.mark.parametrize("end", LOCAL)
def test_within_this_machine_anything_goes(end):
    assert Link(end).is_local
    assert Link(connect=end).is_local


@pytest.mark.parametrize("end", OPEN)
def test_to_others_only_with_certificates_and_a_list(end, tls):
    with pytest.raises(InputError, match=r"listen: .* is open to other machines.*tls=Tls\(...\) and access=Access\(...\)"):
        Link(end)
    with pytest.raises(InputError, match=r"connect: .* is open to other machines.* call it with tls/"):
        Link(connect=end)
    secure = end.replace("tcp/", "tls/")
    with pytest.raises(InputError, match="needs certificates"):
        Link(secure)
    with pytest.raises(InputError, match="without a list of who may: give access"):
        Link(secure, tls=tls)
    assert not Link(secure, tls=tls, access=Access(command=("ann",))).is_local
    assert not Link(connect=secure, tls=tls).is_local


@pytest.mark.parametrize("end", ["", "tcp", "tcp/", "udp/127.0.0.1:7447", "127.0.0.1:7447", 7447, None])
def test_what_is_no_endpoint_is_said_with_what_would_be(end):
    with pytest.raises(InputError, match=r"is no endpoint; write 'tcp/127.0.0.1:7447'"):
        Link((end,))


@pytest.mark.parametrize("end", ["tcp/127.0.0.1:99999", "tcp/127.0.0.1:0", "tcp/localhost", "tcp/127.0.0.1:seven", "tls/robot:-1"])
def test_a_port_that_is_none_is_said_before_anybody_is_called(end, tls):
    with pytest.raises(InputError, match=f"connect: '{end}' has no port from 1 to 65535"):
        Link(connect=end, tls=tls)


def test_other_mistakes_name_the_field_and_what_is_allowed(tls, tmp_path):
    with pytest.raises(InputError, match="lease = 0.0 s: allowed are 0.1 to 60"):
        Link(lease=0.0)
    with pytest.raises(InputError, match="patience = -1 s"):
        Link(patience=-1)
    with pytest.raises(InputError, match="tls.key: there is no file"):
        Tls(tls.authority, tls.certificate, tmp_path / "none")
    with pytest.raises(InputError, match="cannot be read as a certificate"):
        _ = tls.name
    with pytest.raises(InputError, match="access.command: give the common names"):
        Access(command="ann")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="ann may command and may only watch"):
        Access(command=("ann",), watch=("ann", "bob"))


def test_nobody_there_and_a_port_that_is_taken_are_errors_that_say_what_to_do():
    with pytest.raises(NetworkError, match=r"no answer at tcp/127.0.0.1:\d+ within 0.2 s. Check that the host is running and listens there$"):
        ZenohBus(Link(connect=f"tcp/127.0.0.1:{free_port()}", patience=0.2))
    end = f"tcp/127.0.0.1:{free_port()}"
    with ZenohBus(Link(end)), pytest.raises(NetworkError, match=f"cannot listen at {end}.*choose another endpoint"):
        Session(Link(end))


def test_a_link_without_patience_waits_for_whom_it_calls_to_come():
    end = f"tcp/127.0.0.1:{free_port()}"
    with ZenohBus(Link(connect=end, patience=0.0)) as early, ZenohBus(Link(end)):
        until(lambda: early.session.zenoh.info.peers_zid())
