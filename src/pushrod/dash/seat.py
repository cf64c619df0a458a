"""One browser: whoever sits there may watch, and stop; one at a time may take control, and then is an operator of the robot by a name of its own.

Control is a connection of its own to the host, with the lease of every actuator that nobody else holds. It ends when it is given back, and with the
browser: one that closes, or is not heard of for a second, is to the host an operator that vanished, whose leases end and whose watchdogs act.
"""

import asyncio
import logging
import secrets
import time
from functools import partial
from typing import Any

from pushrod.core.errors import InputError, NetworkError
from pushrod.dash.event import result_told
from pushrod.dash.watch import KINDS, Noted, Watch, abandon
from pushrod.net import RemoteRobot, connect
from pushrod.net.wire import Answered, Failure
from pushrod.runtime.payload import Payload, Stop
from pushrod.runtime.result import Refused, refused

log = logging.getLogger("pushrod.dash")
SILENCE = 1.0  # [s] without a sign of the browser, or of it at the host, after which its control ends
PERIOD = SILENCE / 10.0  # [s] between two looks at whoever has control
VALIDITY = 0.5  # [s] of a command from a slider
TIMEOUT = 2.0  # [s]
KEPT = 100  # seats of which it is known why they lost control
BROWSER_GONE = "the connection between this browser and the page was interrupted, or the page was loaded anew"
BEFORE_THE_GATE = ("access", "sequence", "stale", "unsupported", "malformed")  # refusals that no topic tells of


class Desk:
    """All browsers of this page. `holder`: who has control."""

    def __init__(self, watch: Watch, operator: str) -> None:
        self.watch = watch
        self.holder: Seat | None = None
        self._operator = operator
        self._count = 0
        self._seats: dict[int, Seat] = {}
        self._lost: dict[str, str] = {}  # why control was lost, by the key of the seat

    def sit(self) -> "Seat":
        self._count += 1
        name = self._operator if self.watch.link.tls is not None else f"dash/{self._operator}-{self._count}"
        seat = self._seats[self._count] = Seat(self, self._count, name)
        return seat

    def leave(self, seat: "Seat") -> None:
        self._seats.pop(seat.number, None)

    def lose(self, seat: "Seat", why: str) -> None:
        """Its browser is told, also where its page is loaded anew."""
        seat.lost = self._lost[seat.key] = f"Control as {seat.name} was lost: {why}"
        for key in list(self._lost)[:-KEPT]:
            del self._lost[key]

    def why_lost(self, key: str) -> str | None:
        """Of the seat that a browser had before; None while that one has control."""
        if self.holder is not None and self.holder.key == key:
            return None
        return self._lost.get(key, "Control was lost: the page was started anew")

    @property
    def seats(self) -> int:
        """Browsers that are there: whoever only fetched the page, or has gone, is none."""
        return sum(seat.here for seat in self._seats.values())

    async def run(self) -> None:
        """For ever: whoever has control and is not heard of any more loses it."""
        before = time.monotonic()
        while True:
            await asyncio.sleep(PERIOD)
            now = time.monotonic()
            passed, before = min(now - before, 2.0 * PERIOD), now  # while this process stood still nobody could be heard
            holder = self.holder
            if holder is not None and holder.is_gone(passed):
                await holder.vanish(holder.why_gone)

    async def estop(self, who: str) -> str:
        """By whoever: what is told of it."""
        remote = self.watch.remote
        if remote is None:
            raise NetworkError("the robot is not connected: use the button on it")
        cause = f"e-stop by {who}"
        try:
            answer = await remote.estop(cause)
        except (NetworkError, TimeoutError):  # a link that was silent for a while is given up by the host: once more, by one of its own
            async with await connect(self.watch.robot, self.watch.link, operator=self.watch.name, timeout=TIMEOUT) as fresh:
                answer = await fresh.estop(cause)
        failed = "; ".join(f"{path}: {why}" for path, why in answer.failures.items())
        return f"not everything is proven safe: {failed}" if failed else "all actuators are safe"


class Seat:
    def __init__(self, desk: Desk, number: int, name: str) -> None:
        self.desk = desk
        self.watch = desk.watch
        self.number = number
        self.name = name
        self.key = secrets.token_hex(4)  # by which its browser is known again
        self.lost = ""  # why it has no control any more, until that is read or control taken again
        self.remote: RemoteRobot | None = None  # while it has control
        self.denied: dict[str, str] = {}  # actuators that somebody else holds, and who
        self._taken = False  # whether it had a lease
        self._unheard = 0.0  # [s] since the last sign of the browser
        self._unknown = 0.0  # [s] since the host last knew it
        self.here = False  # whether a browser shows the page
        self._busy = asyncio.Lock()

    @property
    def in_control(self) -> bool:
        return self.remote is not None and self.remote.alive

    @property
    def busy(self) -> bool:
        """Taking control, or giving it back."""
        return self._busy.locked()

    def holds(self, actuator: str) -> bool:
        return self.remote is not None and self.remote.alive and self.watch.leases.get(actuator) == self.remote.seat

    def beat(self) -> None:
        """A sign of the browser."""
        self.here = True
        self._unheard = 0.0

    def is_gone(self, passed: float) -> bool:
        """Whether the browser has been silent for too long, or the host, though it is there, has not known this operator for so long: it was
        started anew, or took a link that was silent for a while for lost, and the leases with it. So much time has `passed` since this was asked."""
        self._unheard += passed
        if self.remote is None or not self.watch.alive or (self.remote.alive and (not self._taken or self._has_a_lease)):
            self._unknown = 0.0
        else:
            self._unknown += passed
        return max(self._unheard, self._unknown) > SILENCE

    @property
    def why_gone(self) -> str:
        if self._unheard > self._unknown:
            return f"this browser was not heard for {SILENCE:g} s"
        return "the host took the link for lost, or was started anew"

    @property
    def _has_a_lease(self) -> bool:
        return self.remote is not None and any(owner == self.remote.seat for owner in self.watch.leases.values())

    async def take(self) -> str:
        """Take control; "" or why not."""
        async with self._busy:
            if self.remote is not None:
                return ""
            other = self.desk.holder
            if other is not None and other is not self:
                return f"{other.name} has control; it can be taken when that browser gives it back or goes away"
            self.desk.holder = self
            self.lost = ""
            self._unheard = self._unknown = 0.0
            try:
                self.remote = await connect(self.watch.robot, self.watch.link, operator=self.name, kinds=KINDS, timeout=TIMEOUT)
                await self._take_leases(self.remote)
            except BaseException:
                self.desk.holder = None
                await self._drop(goodbye=False)
                raise
            return ""

    async def _take_leases(self, remote: RemoteRobot) -> None:
        self.denied = {}
        self._taken = False
        for told in (one for one in remote.description.actuators if not one.driven_by):
            answer = await remote["/".join(told.path)].take_lease()
            if answer:
                self.watch.note_lease(told.name, remote.seat)
                self._taken = True
            else:
                self.denied[told.name] = str(answer)

    async def clear_watchdog(self, address: str) -> None:
        """Let an actuator take commands again, from this browser: the watchdog had its lease."""
        async with self._busy:
            remote = self.must_control()
            await remote.clear_watchdog(address)
            await self._take_leases(remote)

    async def take_again(self) -> None:
        """What somebody else had meanwhile, and has let go."""
        async with self._busy:
            await self._take_leases(self.must_control())

    async def give_back(self) -> None:
        async with self._busy:
            await self._drop(goodbye=True)

    async def vanish(self, why: str = BROWSER_GONE) -> None:
        """The browser is gone, or nobody knows it any more."""
        async with self._busy:
            if self.remote is not None:
                log.warning("%s has gone without giving back control: %s", self.name, why)
                self.desk.lose(self, why)
            await self._drop(goodbye=False)

    async def _drop(self, goodbye: bool) -> None:
        remote, self.remote = self.remote, None
        if self.desk.holder is self:
            self.desk.holder = None
        if remote is not None and goodbye:
            await remote.close()
        elif remote is not None:
            await abandon(remote)

    async def do(self, what: str, **arguments: Any) -> Any:
        """A deed of the robot (arm, reset ...) as this operator. InputError where it has no control, AccessError where the host does not let it."""
        return await getattr(self.must_control(), what)(**arguments)

    async def set_parameters(self, values: dict[str, Any]) -> None:
        await self.must_control().parameters.set_many(values)

    async def request(self, part: str, request: Any) -> Any:
        return await self.must_control().request(part, request, TIMEOUT)

    def must_control(self) -> RemoteRobot:
        """InputError where it does not."""
        if self.remote is None:
            raise InputError("this browser only watches: take control first")
        return self.remote

    def send(self, actuator: str, payload: Payload, validity: float = 0.0) -> None:
        """A command; what becomes of it is shown on the card. A stop needs no control."""
        remote = self.remote or (self.watch.remote if type(payload) is Stop else None)
        if remote is None:
            self._settle(actuator, refused("lease", actuator, type(payload).__name__, "this browser only watches: take control first"))
            return
        handle, loop = remote[actuator], asyncio.get_running_loop()

        def done(answered: Answered | Exception) -> None:
            loop.call_soon_threadsafe(partial(self._answered, actuator, handle, type(payload), answered))

        number = handle.start(payload, {"validity": validity}, True, TIMEOUT, done)
        if isinstance(number, Refused):
            self._settle(actuator, number)
        else:
            loop.call_later(TIMEOUT + 0.25, remote.courier.expire, number)

    def _answered(self, actuator: str, handle: Any, kind: type, answered: Answered | Exception) -> None:
        """What the gate said comes on the topic too, so that all browsers see it; here only what never came to the gate."""
        if isinstance(answered, Exception):
            self._settle(actuator, refused("gone", actuator, kind.__name__, str(answered)))
            return
        if isinstance(answered.answer, Failure):
            self._settle(actuator, refused("driver_error", actuator, kind.__name__, answered.answer.text))
            return
        result = handle.result(answered, kind)
        if isinstance(result, Refused) and result.reason in BEFORE_THE_GATE:
            self._settle(actuator, result)

    def _settle(self, actuator: str, result: Refused) -> None:
        self.watch.note(actuator, Noted(time.time(), self.name, result))
        found = result_told(actuator, self.name, result)
        if found is not None:
            self.watch.events.add(time.time(), *found)
