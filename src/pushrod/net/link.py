"""How a program is joined to the network: where it listens, whom it calls, with which certificate, and who may do what.

Link("tcp/127.0.0.1:7447")                                 listens to programs of this machine
Link(connect="unixsock-stream//run/arm.sock")              calls one
Link("tls/0.0.0.0:7447", tls=Tls(...), access=Access(...)) listens to other machines: not without certificates and an access list
"""

import ipaddress
import logging
import ssl
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pushrod.core.errors import InputError
from pushrod.net import certificate
from pushrod.net.access import Access, access_control
from pushrod.net.certificate import Certificate

log = logging.getLogger("pushrod.net")
LARGEST = 64 * 2**20  # bytes of one message; a receiver keeps its fragments in memory
PROTOCOLS = ("tcp", "tls", "unixsock-stream")


class LinkError(InputError):
    """A link that cannot be. `field` is where, `what` the mistake, `needs` what would mend it ("tls/", "tls", "access"), so that a program can say it
    in words of its own; `advice` says it in those of Python."""

    def __init__(self, field: str, what: str, advice: str = "", needs: tuple[str, ...] = ()) -> None:
        self.field, self.what, self.needs = field, what, needs
        super().__init__(f"{field}: {what}{f': {advice}' if advice else ''}")


@dataclass(frozen=True)
class Tls:
    """Files in PEM: the authority that signed everybody's certificates, and this program's own certificate and key."""

    authority: str | Path
    certificate: str | Path
    key: str | Path

    def __post_init__(self) -> None:
        for field in ("authority", "certificate", "key"):
            file = Path(getattr(self, field))
            if not file.is_file():
                raise LinkError(f"tls.{field}", f"there is no file {str(file)!r}; give the path of a PEM file")

    def check(self, listen: Iterable[str] = ()) -> None:
        """What the other end would only notice at the handshake, or never tell. LinkError says which file is wrong. `listen`: where it is shown."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        try:
            context.load_verify_locations(cafile=str(self.authority))
        except (OSError, ValueError) as error:
            raise LinkError("tls.authority", f"{self.authority} cannot be read as certificates: {_said(error)}") from error
        _ = self.name
        wrong = certificate.flaw(self.read())
        if wrong:
            raise LinkError("tls.certificate", f"{self.certificate} {wrong}")
        wrong = certificate.out_of_date(certificate.read(self.authority))
        if wrong:
            raise LinkError("tls.authority", f"{self.authority} {wrong}")
        for end in listen:
            self._check_place(end)
        try:
            context.load_cert_chain(str(self.certificate), str(self.key), password=lambda: b"")  # else it would ask at the terminal
        except (OSError, ValueError) as error:
            if "MISMATCH" in str(error):
                what = f"{self.key} does not belong to the certificate {self.certificate}"
                raise LinkError("tls.key", f"{what}: give the key it was made with") from error
            raise LinkError("tls.key", f"{self.key} cannot be read as a key without a password: {_said(error)}") from error

    @property
    def name(self) -> str:
        """The common name in the certificate: who this is, to all others."""
        names = self.read().names
        if not names:
            raise LinkError("tls.certificate", f"{self.certificate} has no common name, by which others would know this program: make one that has")
        return names[0]

    def read(self) -> Certificate:
        try:
            return certificate.read(self.certificate)
        except Exception as error:
            raise LinkError("tls.certificate", f"{self.certificate} cannot be read as a certificate: {error}") from error

    def call(self, end: str) -> str:
        """The endpoint by which others call who listens at this one with this certificate."""
        protocol, _, address = end.partition("/")
        host, _, port = _place(address).rpartition(":")
        name = certificate.name_for(self.read(), host.strip("[]"))
        return f"{protocol}/{f'[{name}]' if ':' in name else name}:{port}"

    def _check_place(self, end: str) -> None:
        """Whoever calls compares the name it called with those in the certificate, and hangs up without a word."""
        protocol, _, address = end.partition("/")
        host, found = _place(address).rpartition(":")[0].strip("[]"), self.read()
        if protocol != "tls" or certificate.is_for(found, host):
            return
        if not found.places:
            what = "names no place (subjectAltName), so that nobody who calls would believe it"
            raise LinkError("tls.certificate", f"{self.certificate} {what}: make one with 'subjectAltName=DNS:arm.lan,IP:192.168.1.20'")
        places = ", ".join(found.places)
        if _is_name(host):
            raise LinkError("tls.certificate", f"{self.certificate} is for {places}, not for {host}, where this listens: make one that names it")
        if host not in certificate.EVERYWHERE:
            log.warning("%s is for %s: whoever calls %s by its address hangs up; call it by one of these", self.certificate, places, end)


@dataclass(frozen=True)
class Link:
    """Endpoints are 'tcp/HOST:PORT', 'tls/HOST:PORT' or 'unixsock-stream/PATH'; one or several.

    patience   [s] to reach what `connect` names before it is an error; 0: go on without, and keep trying
    lease      [s] of silence after which the other end counts as gone
    """

    listen: str | tuple[str, ...] = ()
    connect: str | tuple[str, ...] = ()
    tls: Tls | None = None
    access: Access | None = None
    patience: float = 3.0
    lease: float = 0.5

    def __post_init__(self) -> None:
        for field in ("listen", "connect"):
            ends = getattr(self, field)
            ends = (ends,) if isinstance(ends, str) else tuple(ends)
            object.__setattr__(self, field, ends)
            for end in ends:
                self._check(field, end)
        if not (isinstance(self.lease, (int, float)) and 0.1 <= self.lease <= 60.0):
            raise InputError(f"lease = {self.lease!r} s: allowed are 0.1 to 60")
        if not (isinstance(self.patience, (int, float)) and 0.0 <= self.patience <= 3600.0):
            raise InputError(f"patience = {self.patience!r} s: allowed are 0 (do not wait) to 3600")

    @property
    def is_local(self) -> bool:
        """Whether nothing of it leaves this machine."""
        return all(is_local(end) for end in (*self.listen, *self.connect))

    @property
    def names_are_proven(self) -> bool:
        """Whether whoever comes here shows a certificate. Elsewhere a list is of names that people give themselves, and only the host looks at it."""
        return self.tls is not None and bool(self.listen)

    def config(self, router: bool = False) -> dict[str, Any]:
        """What zenoh is told, by path."""
        # a router passes nothing on between peers, who are meant to know each other; but a client cannot start before whom it calls, nor call two
        mode = "router" if router else "client" if not self.listen and len(self.connect) == 1 and self.patience > 0.0 else "peer"
        lease = round(self.lease * 1e3)
        tx = "transport/link/tx"
        told: dict[str, Any] = {
            "mode": mode,
            "listen/endpoints": list(self.listen),
            "connect/endpoints": list(self.connect),
            "connect/timeout_ms": round(self.patience * 1e3) if self.patience > 0.0 else -1,
            "connect/exit_on_failure": self.patience > 0.0,
            "connect/retry": {"period_init_ms": 100, "period_max_ms": 500, "period_increase_factor": 2},
            "scouting/multicast/enabled": False,
            "scouting/gossip/enabled": router,
            "scouting/delay": 1,
            "transport/link/protocols": sorted({end.partition("/")[0] for end in (*self.listen, *self.connect)} or {"tcp"}),
            "transport/shared_memory/enabled": False,  # its threads and files outlive a killed process
            f"{tx}/lease": lease,
            # a host that was stopped takes a call and says nothing; whoever calls it again cannot be closed before that is given up
            "transport/unicast/open_timeout": max(1000, 2 * lease),
            # a silent connection occupies one of the pending places until the timeout
            "transport/unicast/accept_timeout": 2000,
            "transport/unicast/accept_pending": 4000,
            f"{tx}/keep_alive": 4,
            "transport/link/rx/max_message_size": LARGEST,
            # nobody who publishes ever waits for the network; whoever commands, no longer than it takes to see that the host is gone
            f"{tx}/queue/congestion_control/drop/wait_before_drop": 0,
            f"{tx}/queue/congestion_control/block/wait_before_close": lease * 1000,
            f"{tx}/queue/size/data": 16,
            f"{tx}/queue/size/interactive_high": 16,  # commands and answers
        }
        if self.tls is not None:
            told["transport/link/tls"] = {
                "root_ca_certificate": str(self.tls.authority),
                "listen_certificate": str(self.tls.certificate),
                "listen_private_key": str(self.tls.key),
                "connect_certificate": str(self.tls.certificate),
                "connect_private_key": str(self.tls.key),
                "enable_mtls": True,
                "verify_name_on_connect": True,
            }
        if self.access is not None and self.names_are_proven:
            told["access_control"] = access_control(self.access)
        return told

    def _check(self, field: str, end: Any) -> None:
        protocol, slash, address = end.partition("/") if isinstance(end, str) else ("", "", "")
        if protocol not in PROTOCOLS or not slash or not address:
            raise LinkError(field, f"{end!r} is no endpoint; write 'tcp/127.0.0.1:7447', 'tls/HOST:PORT' or 'unixsock-stream/PATH'")
        if protocol != "unixsock-stream":
            _, colon, port = _place(address).rpartition(":")
            if not colon or not port.isascii() or not port.isdigit() or not (0 if field == "listen" else 1) <= int(port) <= 65535:
                raise LinkError(field, f"{end!r} has no port from 1 to 65535 at its end; write '{protocol}/HOST:7447'")
        if protocol == "tls" and self.tls is None:
            raise LinkError(field, f"{end!r} needs certificates", "give tls=Tls(authority, certificate, key)", ("tls",))
        if is_local(end):
            return
        if protocol != "tls":
            how = "listen with tls/ and give tls=Tls(...) and access=Access(...)" if field == "listen" else "call it with tls/ and give tls=Tls(...)"
            what = f"{end!r} is open to other machines, where anyone could command or overhear"
            needs = ("tls/", "tls", "access") if field == "listen" else ("tls/", "tls")
            raise LinkError(field, what, f"{how}, or stay on 127.0.0.1", needs)
        if field == "listen" and self.access is None:
            what = f"{end!r} is open to other machines without a list of who may"
            raise LinkError(field, what, "give access=Access(command=(...), watch=(...))", ("access",))


def is_local(end: str) -> bool:
    """Whether an endpoint stays within this machine."""
    protocol, _, address = end.partition("/")
    if protocol == "unixsock-stream":
        return True
    host = _place(address).rpartition(":")[0].strip("[]")
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_name(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return True
    return False


def _place(address: str) -> str:
    """HOST:PORT, without what else zenoh may be told."""
    return address.partition("?")[0].partition("#")[0]


def _said(error: Exception) -> str:
    return str(getattr(error, "reason", "") or getattr(error, "strerror", "") or error)
