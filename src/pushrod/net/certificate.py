"""What is wrong with a certificate that the other end of a link would not take, without a word: its version, its dates, the places it is for."""

import ipaddress
import ssl
import time
from pathlib import Path
from typing import Any, NamedTuple

VERSION = 3  # X.509; without extensions openssl makes version 1
EVERYWHERE = ("0.0.0.0", "::")


class Certificate(NamedTuple):
    """names: its common names. places: DNS names and addresses its owner may be called by. Times in seconds since 1970."""

    version: int
    names: tuple[str, ...]
    places: tuple[str, ...]
    begins: float
    ends: float


def read(file: str | Path) -> Certificate:
    """The first one of a PEM file. ssl.SSLError, OSError or ValueError where there is none."""
    told: Any = ssl._ssl._test_decode_cert(str(file))  # type: ignore[attr-defined]
    names = tuple(value for group in told["subject"] for field, value in group if field == "commonName")
    places = tuple(str(value) for kind, value in told.get("subjectAltName", ()) if kind in ("DNS", "IP Address"))
    return Certificate(told["version"], names, places, *(float(ssl.cert_time_to_seconds(told[x])) for x in ("notBefore", "notAfter")))


def flaw(found: Certificate) -> str:
    """Why nobody would take it, or ""."""
    if found.version != VERSION:
        return f"is of version {found.version}, which nobody takes: make one of version {VERSION}, with an extension such as subjectAltName"
    return out_of_date(found)


def out_of_date(found: Certificate, now: float | None = None) -> str:
    now = time.time() if now is None else now
    if now < found.begins:
        return f"is valid from {_date(found.begins)} on, and this computer's clock says {_date(now)}: set the clock, or make another one"
    return f"has expired on {_date(found.ends)}: make another one" if now > found.ends else ""


def is_for(found: Certificate, host: str) -> bool:
    """Whether its owner may be called by this name or address."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return any(_matches(place, host.lower()) for place in found.places)
    return any(address == _address(place) for place in found.places)


def name_for(found: Certificate, host: str) -> str:
    """By which to call its owner, who listens at a host."""
    names = [place for place in found.places if not place.startswith("*")]
    return host if host not in EVERYWHERE and is_for(found, host) else (names or [host])[0]


def _matches(place: str, host: str) -> bool:
    """`*.lan` is any one word before `.lan`."""
    place = place.lower()
    return place == host or (place.startswith("*.") and host.partition(".")[2] == place[2:])


def _address(place: str) -> Any:
    try:
        return ipaddress.ip_address(place)
    except ValueError:
        return None


def _date(t: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(t))
