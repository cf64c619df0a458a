"""Certificates that the other end of a link would not take, without saying why: told before anybody is called, with which file and what to do."""

import asyncio
import datetime
import logging
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from certificates import Authority, trustme
from net_rig import HostProcess, free_port

from pushrod.core.errors import InputError
from pushrod.net import Access, Link, Session, Tls, connect
from pushrod.net.certificate import Certificate, is_for, name_for, out_of_date

PAGE = Path(__file__).resolve().parents[2] / "docs" / "howto" / "network.md"
openssl = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
NOW = datetime.datetime.now(datetime.UTC)
DAY = datetime.timedelta(days=1)


def made(folder: Path, *places: str, begins: datetime.timedelta = -DAY, ends: datetime.timedelta = DAY) -> Tls:
    ca = trustme.CA()
    one = ca.issue_cert(*places, common_name="arm", not_before=NOW + begins, not_after=NOW + ends)
    ca.cert_pem.write_to_path(folder / "ca.pem")
    one.private_key_pem.write_to_path(folder / "arm.key")
    one.cert_chain_pems[0].write_to_path(folder / "arm.pem")
    return Tls(folder / "ca.pem", folder / "arm.pem", folder / "arm.key")


@openssl
def test_the_recipe_of_the_page_makes_certificates_that_are_taken(tmp_path):
    lines = re.findall(r"^\$ (openssl .*)$", PAGE.read_text(), re.MULTILINE)
    assert len(lines) == 6
    for line in lines:
        subprocess.run(shlex.split(line), cwd=tmp_path, check=True, capture_output=True)
    ends = {"authority": "ca.pem", "certificate": "{}.pem", "key": "{}.key"}
    files = {who: {field: str(tmp_path / end.format(who)) for field, end in ends.items()} for who in ("arm", "ann")}

    async def main() -> None:
        with HostProcess(endpoint=f"tls/127.0.0.1:{free_port()}", tls=files["arm"], access={"command": ["ann"]}) as host:
            async with await connect("arm", Link(connect=host.endpoint, tls=Tls(**files["ann"]))) as remote:
                assert remote.operator == "ann"
                assert (await remote["elbow_motor"].sync.hold()).ok

    asyncio.run(main())


@openssl
def test_a_certificate_of_version_1_is_told(tmp_path):
    for line in (
        "req -x509 -newkey rsa:2048 -nodes -days 9 -subj /CN=ca -keyout ca.key -out ca.pem",
        "req -newkey rsa:2048 -nodes -subj /CN=ann -keyout ann.key -out ann.csr",
        "x509 -req -in ann.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 9 -out ann.pem",
    ):
        subprocess.run(["openssl", *line.split()], cwd=tmp_path, check=True, capture_output=True)
    tls = Tls(tmp_path / "ca.pem", tmp_path / "ann.pem", tmp_path / "ann.key")
    if tls.read().version == 3:
        pytest.skip("this openssl makes version 3 of everything")
    with pytest.raises(InputError, match=r"tls.certificate: .*ann.pem is of version 1, which nobody takes: make one of version 3"):
        Session(Link(connect="tls/127.0.0.1:1", tls=tls))


def test_dates_are_told_with_what_the_clock_says(tmp_path):
    with pytest.raises(InputError, match=r"tls.certificate: .*arm.pem has expired on \d{4}-\d\d-\d\d .*: make another one"):
        made(tmp_path, "127.0.0.1", begins=-2 * DAY, ends=-DAY).check()
    with pytest.raises(InputError, match=r"arm.pem is valid from \d{4}-.* on, and this computer's clock says .*: set the clock, or make another one"):
        made(tmp_path, "127.0.0.1", begins=DAY, ends=2 * DAY).check()
    made(tmp_path, "127.0.0.1").check()
    assert "has expired" in out_of_date(Certificate(3, ("a",), (), 0.0, 10.0), 10.1)
    assert out_of_date(Certificate(3, ("a",), (), 0.0, 10.0), 10.0) == ""


def test_a_host_shows_a_certificate_that_is_for_the_place_it_listens_at(tmp_path, caplog):
    tls, access = made(tmp_path, "arm.lan", "*.hall.lan", "10.0.0.7"), Access(command=("ann",))

    def check(end: str) -> None:
        Link(end, tls=tls, access=access).tls.check((end,))  # type: ignore[union-attr]

    for fine in ("tls/arm.lan:7447", "tls/ARM.lan:7447", "tls/a.hall.lan:7447", "tls/10.0.0.7:7447", "tls/0.0.0.0:7447", "tls/[::]:7447"):
        check(fine)
    assert caplog.text == ""
    for wrong in ("leg.lan", "hall.lan", "b.a.hall.lan"):
        with pytest.raises(InputError, match=rf"arm.pem is for arm.lan, \*.hall.lan, 10.0.0.7, not for {wrong}, where this listens"):
            check(f"tls/{wrong}:7447")
    with caplog.at_level(logging.WARNING):  # it may be called by a name that leads there
        check("tls/10.0.0.8:7447")
    assert "whoever calls tls/10.0.0.8:7447 by its address hangs up" in caplog.text
    nameless = Certificate(3, ("arm",), (), 0.0, 1e12)
    assert not is_for(nameless, "arm")


@openssl
def test_a_host_without_a_place_in_its_certificate_is_told(tmp_path):
    for line in (
        "req -x509 -newkey rsa:2048 -nodes -days 9 -subj /CN=arm -keyout arm.key -out arm.pem",
        "req -x509 -newkey rsa:2048 -nodes -days 9 -subj /CN=ca -keyout ca.key -out ca.pem",
    ):
        subprocess.run(["openssl", *line.split()], cwd=tmp_path, check=True, capture_output=True)
    tls = Tls(tmp_path / "ca.pem", tmp_path / "arm.pem", tmp_path / "arm.key")
    with pytest.raises(InputError, match=r"arm.pem names no place \(subjectAltName\), so that nobody who calls would believe it: make one with"):
        Session(Link(f"tls/127.0.0.1:{free_port()}", tls=tls, access=Access(command=("ann",))))


@pytest.mark.parametrize(
    ("host", "called"), [("0.0.0.0", "arm.lan"), ("::", "arm.lan"), ("10.0.0.7", "10.0.0.7"), ("10.0.0.8", "arm.lan"), ("arm.lan", "arm.lan")]
)
def test_by_which_name_a_host_is_to_be_called(host, called):
    assert name_for(Certificate(3, ("arm",), ("*.hall.lan", "arm.lan", "10.0.0.7"), 0.0, 1e12), host) == called


def test_an_endpoint_to_call_is_told(tmp_path):
    assert made(tmp_path, "arm.lan").call("tls/0.0.0.0:7447") == "tls/arm.lan:7447"
    tls = Authority(tmp_path / "ca").issue("leg", "::1")
    assert Tls(**tls).call("tls/[::]:7447") == "tls/[0:0:0:0:0:0:0:1]:7447"
