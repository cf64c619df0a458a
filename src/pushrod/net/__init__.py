"""The runtime's bus over a network (extra `net`, zenoh): the same topics, commands and typed results between processes and machines.

with ZenohBus(Link("tcp/127.0.0.1:7447")) as bus:                        the host
    async with Runtime(robot, bus=bus) as rt:
        with expose(rt): ...
async with await connect("arm", Link(connect="tcp/127.0.0.1:7447")) as arm:   an operator
    await arm["shoulder_motor"].sync.set_position(0.5)
"""

try:
    import zenoh as _zenoh  # noqa: F401
except ImportError as _error:
    raise ImportError("the network needs zenoh: pip install 'pushrod[net]'") from _error

from pushrod.net.access import Access
from pushrod.net.bus import ZenohBus
from pushrod.net.caller import HostGoneError
from pushrod.net.connecting import SeveralHostsError, connect, robots
from pushrod.net.exposure import Exposure, expose
from pushrod.net.in_step import in_step
from pushrod.net.key import SCHEMA
from pushrod.net.link import Link, LinkError, Tls
from pushrod.net.offset import Offset
from pushrod.net.remote import AccessError, RemoteRobot
from pushrod.net.remote_actuator import RemoteActuator
from pushrod.net.session import Session, router
from pushrod.net.stopping import HostStop, stop
from pushrod.net.told import Description, Overview, fingerprint
from pushrod.net.wire import Foreign, Hello

__all__ = [
    "SCHEMA",
    "Access",
    "AccessError",
    "Description",
    "Exposure",
    "Foreign",
    "Hello",
    "HostGoneError",
    "HostStop",
    "Link",
    "LinkError",
    "Offset",
    "Overview",
    "RemoteActuator",
    "RemoteRobot",
    "Session",
    "SeveralHostsError",
    "Tls",
    "ZenohBus",
    "connect",
    "expose",
    "fingerprint",
    "in_step",
    "robots",
    "router",
    "stop",
]
