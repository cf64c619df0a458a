"""An actuator as one commander sees it: three deliveries, what it reported last, and who may command it."""

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from pushrod.core.errors import InputError
from pushrod.robot import path as paths
from pushrod.robot.parameter import real, whole
from pushrod.runtime.delivery import TIMEOUT, Direct, Publish, Sync
from pushrod.runtime.host import Host, HostStatistics
from pushrod.runtime.leasing import Taken
from pushrod.runtime.message import JointState
from pushrod.runtime.part import answered
from pushrod.runtime.watching import WATCHDOG_PRIORITY
from pushrod.runtime.well_formed import text
from pushrod.safety.lease import WATCHDOG, Lease

HANDLES = 1024  # that are remembered; beyond that the one that was used longest ago is forgotten


class Handle(NamedTuple):
    host: Host
    source: str
    direct: Direct
    sync: Sync
    publish: Publish

    def __repr__(self) -> str:
        """Short: who it is, as whom it is commanded, and how it is."""
        gate, state = self.host.gate, self.host.joint_state
        how = gate.stopped or ("armed" if gate.epoch else "not armed")
        at = f", at {state.positions[0]:g}" if state is not None and state.positions else ""
        return f"<actuator {self.host.name} of {self.host.robot}, as {self.source!r}: {how}{at}>"

    @property
    def path(self) -> tuple[str, ...]:
        return self.host.path

    @property
    def topic(self) -> tuple[str, ...]:
        return self.host.topic

    @property
    def joint_state(self) -> JointState | None:
        """What its driver reported last, in joint space; None before the first report."""
        return self.host.joint_state

    @property
    def position(self) -> float:
        """The joint's last reported position [rad or m]; LookupError before the first report."""
        return self._reported("positions")

    @property
    def velocity(self) -> float:
        """The joint's last reported velocity [rad/s or m/s]; LookupError where none was reported."""
        return self._reported("velocities")

    @property
    def lease(self) -> Lease | None:
        """Who may command it now, if not everybody."""
        lease = self.host.gate.lease
        return None if lease is None or self.host.clock.now() >= lease.until else lease

    def take_lease(self, seconds: float = float("inf"), priority: int = 0) -> Taken:
        """Become the only commander for a while. One of higher priority takes over from one of lower; all see it on the topic.

        The answer is true where it was taken; else it says whose it is.
        """
        seconds, priority = real(seconds), whole(priority)
        if type(seconds) is not float or not seconds >= 0.0:
            raise InputError(f"a lease lasts 0 s or longer, got {seconds!r}; release_lease ends one")
        if type(priority) is not int or abs(priority) >= WATCHDOG_PRIORITY:
            raise InputError(f"the priority of a lease is a whole number below {WATCHDOG_PRIORITY}, got {priority!r}")
        return self.host.take_lease(Lease(self.source, priority, self.host.clock.now() + seconds))

    def release_lease(self) -> bool:
        return self.host.release_lease(self.source)

    async def request(self, request: Any, timeout: float = TIMEOUT) -> Any:
        """A call that is not a command: what a driver answers to is its own business."""
        return await answered(self.host.part, request, timeout, self.source)

    def _reported(self, what: str) -> float:
        state = self.host.joint_state
        values: tuple[float, ...] = () if state is None else getattr(state, what)
        if not values:
            raise LookupError(f"{self.host.name} has reported no {what} yet; its driver publishes them as JointState")
        return values[0]

    def statistics(self) -> HostStatistics:
        return self.host.statistics()


class Handles:
    """The handles of a runtime by address and source: the same object every time, as long as no more than HANDLES are in use."""

    def __init__(self, hosts: Mapping[str, Host]) -> None:
        self._hosts = hosts
        self._paths = {name: host.path for name, host in hosts.items()}
        self._handles: OrderedDict[tuple[Any, str], Handle] = OrderedDict()
        self._adding = threading.Lock()

    def get(self, address: str | Sequence[str], source: str) -> Handle:
        key = (address if isinstance(address, str) else tuple(address), source)
        handle = self._handles.get(key)
        if handle is None:
            return self._add(key, address, source)
        with suppress(KeyError):  # another thread may have displaced it meanwhile
            self._handles.move_to_end(key)
        return handle

    def _add(self, key: tuple[Any, str], address: str | Sequence[str], source: str) -> Handle:
        if source == WATCHDOG:
            raise InputError(f"the source {WATCHDOG!r} is reserved: choose another name")
        if problem := text("source", source):
            raise InputError(problem)
        host = self._hosts[paths.find(self._paths, address)[-1]]
        with self._adding:
            handle = self._handles.get(key)
            if handle is None:
                handle = self._handles[key] = Handle(host, source, host.direct(source), host.sync(source), host.publish(source))
                if len(self._handles) > HANDLES:
                    self._handles.popitem(last=False)
            return handle
