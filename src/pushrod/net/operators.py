"""Who is connected, and what becomes of what they left behind.

An operator is there while one of its sessions is. One that takes its leave gives its leases back, and its watchdogs wait for silence as ever. One
that vanishes loses its leases, and the watchdogs of what it commanded last bite at once.
"""

import logging
import threading
from collections import OrderedDict
from functools import partial

from pushrod.net.link import Access
from pushrod.runtime.runtime import Runtime
from pushrod.safety.lease import WATCHDOG

log = logging.getLogger("pushrod.net")
BITE = 0.1  # [s] in which a watchdog that was told to has bitten
REMEMBERED = 1024  # sessions whose numbers are still known after they have gone


class Operators:
    """`longest` is how long what is asked for may be on its way [s]: it may have lain in the buffers of a host that was stopped."""

    def __init__(self, rt: Runtime, access: Access | None, longest: float) -> None:
        self._rt = rt
        self._access = access
        self._longest = longest
        self._lock = threading.Lock()
        self._sessions: dict[str, set[str]] = {}  # by operator
        self._left: dict[str, list[str]] = {}  # sessions that said goodbye, and whose leases have ended with it
        self._numbers: OrderedDict[str, dict[str, int]] = OrderedDict()  # by session, what it asked last of what
        # nobody may pass for what commands inside the robot
        self._taken = {WATCHDOG, "local", "runtime", *rt.hosts, *rt.nodes}

    @property
    def names(self) -> tuple[str, ...]:
        with self._lock:
            return tuple(sorted(self._sessions))

    def came(self, operator: str, session: str) -> None:
        with self._lock:
            new = operator not in self._sessions
            self._sessions.setdefault(operator, set()).add(session)
            self._numbers.setdefault(session, {})
        if new:
            log.info("%s: operator %s is connected", self._rt.robot.name, operator)

    def leave(self, operator: str, session: str) -> None:
        """It says goodbye before it goes; its leases end before it is answered."""
        with self._lock:
            sessions = self._sessions.get(operator, set())
            if session not in sessions:
                return
            self._left[session] = freed = []
            if sessions - self._left.keys():
                return  # it is still here by another
        freed += [host.name for host in self._rt.hosts.values() if host.release_lease(operator)]

    def went(self, operator: str, session: str) -> None:
        with self._lock:
            sessions = self._sessions.get(operator, set())
            if session not in sessions:
                return
            sessions.discard(session)
            left = self._left.pop(session, None)
            if sessions:
                return  # it is still here by another
            del self._sessions[operator]
            while len(self._numbers) > REMEMBERED:
                self._numbers.popitem(last=False)
        rt = self._rt
        bitten = [] if left is not None else rt.watching.forsake(operator, f"its operator {operator} has vanished")
        freed = (left or []) + [host.name for host in rt.hosts.values() if host.name not in bitten and host.release_lease(operator)]
        for host in (host for host in rt.hosts.values() if host.name in bitten):
            rt.clock.later(BITE, partial(host.release_lease, operator))  # a watchdog takes it over, and lets no other in between
        what = "has vanished" if left is None else "has left"
        then = "; ".join(f"{text} {', '.join(names)}" for text, names in (("its leases end:", freed), ("watchdogs act on", bitten)) if names)
        log.log(logging.WARNING if left is None else logging.INFO, "%s: operator %s %s%s", rt.robot.name, operator, what, f"; {then}" if then else "")

    def knows(self, operator: str, session: str) -> bool:
        return session in self._sessions.get(operator, ())

    def why_not(self, operator: str, session: str) -> str:
        """Why this operator may not command, or ""."""
        if self._access is not None and operator not in self._access.command:
            known = operator in self._access.watch
            return f"{operator} may only watch; {_those(self._access)}" if known else f"{operator} is on no list; {_those(self._access)}"
        if operator in self._taken:
            return f"nobody may call himself {operator!r} here: it is a part of the robot; choose another operator's name"
        return "" if self.knows(operator, session) else f"no session {session} of {operator} is connected: connect first, or again"

    def late(self, sent: float, doubt: float) -> str:
        """What is wrong with what took so long to come, or ""."""
        took = self._rt.clock.now() - sent - max(doubt, 0.0)
        return f"{took:.3f} s on its way, which may take {self._longest:g} s" if took > self._longest else ""

    def newest(self, session: str, of: str, number: int) -> int:
        """0 where this is newer than all this session asked of it, and then counts; else the number it would have to pass."""
        with self._lock:
            numbers = self._numbers.setdefault(session, {})
            last = numbers.get(of, 0)
            if number <= last:
                return last
            numbers[of] = number
            return 0


def _those(access: Access) -> str:
    return f"who may command: {', '.join(access.command) or 'nobody'}"
