"""Who is connected, and what becomes of what they left behind.

Leases and "commanded last" belong to a connection, not to a name. Every connection has a seat: `ann` is the first of ann's, `ann/2` one that came
while the first was there. The seat is the source of its commands and the owner of its leases; what it may do is looked up by the operator's name.

One that takes its leave gives its leases back, and its watchdogs wait for silence as ever. One that vanishes loses its leases, and the watchdogs of
what it commanded last bite at once, whoever else of that name is there; controllers that it asked last, and that know how to, go to rest.
"""

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from typing import Any

from pushrod.net.access import Access
from pushrod.net.quiet import Quiet
from pushrod.net.sent_time import time_problem
from pushrod.runtime.driver import Forsaken
from pushrod.runtime.message import OperatorVanished
from pushrod.runtime.runtime import Runtime
from pushrod.safety.lease import WATCHDOG

log = logging.getLogger("pushrod.net")
REST = 1.0  # [s] in which a controller goes to rest
BITE = 0.1  # [s] in which a watchdog that was told to has bitten
REMEMBERED = 1024  # sessions whose numbers and seats are still known after they have gone
CONNECTIONS = 64  # of one operator at a time, those included whose leases have not ended yet
ALL_CONNECTIONS = 1024
LONGEST_NAME = 128  # characters of an operator's name or a session
QUIET = 10.0  # [s] between two log lines of one kind about connections that are not admitted


Who = tuple[str, str]  # operator and session: nobody's session is ended by another


@dataclass
class Connection:
    seat: str
    since: float  # [s] of the runtime's clock
    left: list[str] | None = None  # the leases that ended when it said goodbye; None: it has not


class Operators:
    """`longest` is how long what is asked for may be on its way [s]: it may have lain in the buffers of a host that was stopped."""

    def __init__(self, rt: Runtime, access: Access | None, longest: float) -> None:
        self._rt = rt
        self._access = access
        self._longest = longest
        self._lock = threading.Lock()
        self._here: dict[Who, Connection] = {}
        self._kept: dict[str, Who] = {}  # seats of those that have gone, until their leases have ended or a watchdog has them
        self._sat: OrderedDict[Who, str] = OrderedDict()  # the seat each had last: who was cut off and is back sits there again
        self._numbers: OrderedDict[str, dict[str, int]] = OrderedDict()  # by session, what it asked last of what
        self._refused = Quiet(QUIET)
        self._asked: dict[str, tuple[str, float]] = {}  # by controller, who asked something of it last, and when [s]
        # nobody may pass for what commands inside the robot
        self._taken = {WATCHDOG, "local", "runtime", *rt.hosts, *rt.nodes}

    @property
    def seats(self) -> tuple[str, ...]:
        """Of all that are connected."""
        with self._lock:
            return tuple(sorted(one.seat for one in self._here.values()))

    def came(self, operator: str, session: str) -> None:
        """Seat a connection. One beyond the limits is not seated, so that every table here is bounded."""
        with self._lock:
            who = operator, session
            if who in self._here:
                return
            if problem := self._connection_problem(operator, session):
                if self._refused.is_due(problem):
                    log.warning("%s: a connection of %.60s was refused: %s", self._rt.robot.name, operator, problem)
                return
            one = self._here[who] = Connection(self._free(who), self._rt.clock.now())
            self._sat[who] = one.seat
            self._numbers.setdefault(session, {})
        log.info("%s: operator %s is connected", self._rt.robot.name, one.seat)

    def leave(self, operator: str, session: str) -> None:
        """It says goodbye before it goes; its leases end before it is answered."""
        with self._lock:
            one = self._here.get((operator, session))
            if one is None or one.left is not None:
                return
            one.left = freed = []
        freed += [host.name for host in self._rt.hosts.values() if host.release_lease(one.seat)]

    def went(self, operator: str, session: str) -> Callable[[], None]:
        """It is not here any more, from now on. Gives what is to be done about what it left behind, which may take its time."""
        who = operator, session
        with self._lock:
            one = self._here.pop(who, None)
            if one is None:
                return lambda: None
            connected = {session for _, session in self._here}
            _shorten(self._numbers, connected)
            _shorten(self._sat, self._here.keys())
            self._kept[one.seat] = who
        return lambda: self._clear_up(who, one)

    def seat(self, operator: str, session: str) -> str:
        """Of a connection; "" where it is not here."""
        one = self._here.get((operator, session))
        return "" if one is None else one.seat

    def stop_source(self, operator: str, session: str) -> str:
        """Return the name under which a stop is reported. A stop is carried out whatever its operator is named; the report blames no part for it."""
        seat = self.seat(operator, session) or operator
        return f"operator {seat}" if operator in self._taken else seat

    def asked(self, seat: str, node: str) -> None:
        """It has asked a controller to do something."""
        with self._lock:
            self._asked[node] = seat, self._rt.clock.now()

    def why_not(self, operator: str, session: str) -> str:
        """Return why this connection may not command, or ""."""
        why = self.not_allowed(operator)
        return why or (
            "" if self.seat(operator, session) else f"no session {session:.{LONGEST_NAME}} of {operator} is connected: connect first, or again"
        )

    def no_access(self, operator: str) -> str:
        """Return why the access list keeps this operator from commanding, or ""."""
        if self._access is not None and operator not in self._access.command:
            known = operator in self._access.watch
            return f"{operator} may only watch; {_those(self._access)}" if known else f"{operator} is on no list; {_those(self._access)}"
        return ""

    def not_allowed(self, operator: str) -> str:
        """Return why this operator may not command, connected or not, or ""."""
        if why := self.no_access(operator):
            return why
        if operator in self._taken:
            return f"{operator!r} is the name of a part of the robot; choose another operator's name"
        return ""

    def time_problem(self, sent: float, doubt: float) -> tuple[str, str] | None:
        """Return the reason of a refusal and its detail, or None."""
        return time_problem(sent, doubt, self._rt.clock.now(), self._longest)

    def newest(self, session: str, of: str, number: int) -> int:
        """0 where this is newer than all this session asked of it, and then counts; else the number it would have to pass."""
        with self._lock:
            numbers = self._numbers.setdefault(session, {})
            last = numbers.get(of, 0)
            if number <= last:
                return last
            numbers[of] = number
            return 0

    def _clear_up(self, who: Who, one: Connection) -> None:
        rt, seat = self._rt, one.seat
        bitten = [] if one.left is not None else rt.watching.forsake(seat, f"its operator {seat} has vanished", one.since)
        freed = (one.left or []) + [host.name for host in rt.hosts.values() if host.name not in bitten and host.release_lease(seat)]
        if bitten:
            rt.clock.later(BITE, partial(self._free_again, seat, who, bitten))  # a watchdog takes them over, and lets no other in between
        else:
            self._free_again(seat, who, [])
        if one.left is not None:
            log.info("%s: operator %s has left%s", rt.robot.name, seat, f"; its leases end: {', '.join(freed)}" if freed else "")
            return
        gone = OperatorVanished(seat, tuple(freed), tuple(bitten), self._rest(seat, one.since))
        log.warning("%s: %s", rt.robot.name, gone)
        if gone.freed or gone.bitten or gone.rested:
            rt.report_vanished(gone)

    def _rest(self, seat: str, since: float) -> tuple[str, ...]:
        """The controllers that rest because whoever asked them last is gone."""
        with self._lock:
            names = [name for name, (by, when) in self._asked.items() if by == seat and when >= since]
            for name in names:
                del self._asked[name]
        rested = []
        for name in names:
            part = self._rt.nodes[name].part
            if not getattr(part.driver.driver, "rests_when_forsaken", False):
                continue
            try:
                if part.request(Forsaken(seat)).result(REST):
                    rested.append(name)
            except Exception as error:  # it tells of its own failures; the others shall rest all the same
                log.warning("%s: %s did not go to rest: %s", self._rt.robot.name, name, error)
        return tuple(rested)

    def _connection_problem(self, operator: str, session: str) -> str:
        """Return why there is no seat for a connection, or ""."""
        if max(len(operator), len(session)) > LONGEST_NAME:
            return f"the name of the operator or the session is too long; allowed are {LONGEST_NAME} characters"
        taken = [name for name, _ in (*self._here, *self._kept.values())]
        if len(taken) < ALL_CONNECTIONS and taken.count(operator) < CONNECTIONS:
            return ""
        return f"too many connections; allowed are {CONNECTIONS} for each operator and {ALL_CONNECTIONS} in all"

    def _free(self, who: Who) -> str:
        taken = {one.seat for one in self._here.values()} | {seat for seat, owner in self._kept.items() if owner != who}
        before = self._sat.get(who, "")
        if before and before not in taken:
            return before
        seat, n = who[0], 1
        while seat in taken or (n > 1 and seat in self._taken):
            n += 1
            seat = f"{who[0]}/{n}"
        return seat

    def _free_again(self, seat: str, who: Who, bitten: list[str]) -> None:
        """Its leases have ended, or a watchdog has them. One that is back by now keeps what it has taken since."""
        with self._lock:
            if self._kept.get(seat) == who:
                del self._kept[seat]
            if any(one.seat == seat for one in self._here.values()):
                return
        for host in self._rt.hosts.values():
            if host.name in bitten:
                host.release_lease(seat)


def _shorten(table: OrderedDict[Any, Any], kept: Collection[Any]) -> None:
    """Drop the oldest entries beyond REMEMBERED; those of connections stay."""
    gone = [entry for entry in table if entry not in kept] if len(table) > REMEMBERED + len(kept) else []
    for entry in gone[: len(table) - REMEMBERED]:
        del table[entry]


def _those(access: Access) -> str:
    return f"who may command: {', '.join(access.command) or 'nobody'}"
