"""What the process of the page is told when it is started, as one line of JSON: where the robot is, and where browsers find the page."""

import ipaddress
from pathlib import Path

import msgspec

from pushrod.core.errors import InputError
from pushrod.net import Link, Tls

PORT = 8321
LOOPBACK = "127.0.0.1"


class Settings(msgspec.Struct, frozen=True):
    """`connect` are endpoints of the robot, `tls` the files for it. `port` 0: any that is free. `operator`: who commands, in leases and logs."""

    robot: str
    connect: tuple[str, ...]
    tls: tuple[str, str, str] | None = None
    host: str = LOOPBACK
    port: int = PORT
    operator: str = ""
    option: str = "--dash-port"  # by which the verb that starts it takes the port, for what is said of it

    @property
    def link(self) -> Link:
        return Link(connect=self.connect, tls=None if self.tls is None else Tls(*map(Path, self.tls)))

    @property
    def local(self) -> bool:
        """Whether only this machine can reach the page."""
        return is_loopback(self.host)

    def check(self) -> None:
        if not 0 <= self.port <= 65535:
            raise InputError(f"{self.option} {self.port}: a port is a number from 0 (any that is free) to 65535")


def is_loopback(host: str) -> bool:
    """A name or an address that leads back to this machine and nowhere else."""
    name = host.strip("[]").lower()
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"
