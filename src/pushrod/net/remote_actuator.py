"""An actuator of a robot elsewhere: the same verbs and the same typed answers.

sync      awaits the host's answer
publish   sends; the outcome comes on the topic
direct    refuses: there is no way to it but the network
"""

import asyncio
from collections.abc import Awaitable
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any

import zenoh

from pushrod.core.errors import InputError
from pushrod.net import key
from pushrod.net.caller import GRACE, settle
from pushrod.net.request_size import LARGEST_COMMAND, size_problem
from pushrod.net.told import ActuatorTold
from pushrod.net.wire import Answered, CommandAsk, encode, pack
from pushrod.runtime.bus import Subscription
from pushrod.runtime.delivery import TIMEOUT, Verbs
from pushrod.runtime.envelope import plain_envelope
from pushrod.runtime.leasing import Taken
from pushrod.runtime.message import Command, JointState
from pushrod.runtime.payload import Payload, Stop
from pushrod.runtime.result import Accepted, Refused, Result, refused

if TYPE_CHECKING:
    from pushrod.net.courier import Done
    from pushrod.net.remote import RemoteRobot

WINDOW = 2048  # commands of one connection that may be on their way, so that none waits for room in a buffer
ON_ITS_WAY = Accepted("on its way; the outcome comes on the topic")


class RemoteActuator:
    """As one operator sees it."""

    def __init__(self, remote: "RemoteRobot", told: ActuatorTold) -> None:
        self.remote = remote
        self.told = told
        self.path = told.path
        self.name = "/".join(told.path)
        self.topic = ("actuator", *told.path)
        self.sync = RemoteSync(self)
        self.publish = RemotePublish(self)
        self.direct = RemoteDirect(self)
        self.epoch = 0  # of the last answer; a command sent under an arming that is over is refused
        name = key.ask(remote.robot, remote.operator, "actuator", *told.path)
        self._publisher = _publisher(remote, name, zenoh.Priority.INTERACTIVE_HIGH)
        self._urgent = _publisher(remote, name, zenoh.Priority.REAL_TIME)  # a stop overtakes all else
        self._states: Subscription | None = None
        self._state: JointState | None = None

    def __repr__(self) -> str:
        return f"<actuator {self.name} of {self.remote.robot}, elsewhere, as {self.source!r}: {'there' if self.remote.alive else 'gone'}>"

    @property
    def source(self) -> str:
        """Who commands it, to all others."""
        return self.remote.seat

    @property
    def joint_state(self) -> JointState | None:
        """What its driver reported last, in joint space. It is listened to from the first time this is asked for; None until something came."""
        if self._states is None:
            self._states = self.remote.subscribe(self.topic, (JointState,), size=1, latched=True)
        while (message := self._states.poll()) is not None:
            self._state = message.payload
        return self._state

    async def take_lease(self, seconds: float = float("inf"), priority: int = 0) -> Taken:
        """Become the only commander for a while, or until this connection ends or breaks. The answer is true, or says whose it is."""
        return Taken(**await self.remote.do("lease", address=self.name, seconds=float(seconds), priority=priority))

    async def release_lease(self) -> bool:
        return bool(await self.remote.do("release_lease", address=self.name))

    async def request(self, request: Any, timeout: float = TIMEOUT) -> Any:
        """A call that is not a command: what a driver answers to is its own business. Plain data both ways."""
        return await self.remote.request(self.name, request, timeout)

    def start(self, payload: Any, envelope: dict[str, Any], announce: bool, timeout: float, done: "Done") -> Refused | int:
        """Send a command; `done` is told the answer. Its number, or Refused where it was not sent."""
        remote, kind, now = self.remote, type(payload).__name__, monotonic()
        asked = Command(payload, self.source, **{"origin": now, **{name: value for name, value in envelope.items() if value is not None}})
        asked, problem = plain_envelope(asked)
        validity = asked.validity
        if problem:
            return refused("malformed", self.name, kind, problem)
        if not remote.alive:
            return refused("gone", self.name, kind, remote.why_gone)
        if remote.courier.waiting >= WINDOW:
            remote.courier.sweep()
            return refused("busy", self.name, kind, f"{WINDOW} commands are on their way and not answered")
        sent, doubt = remote.host_time(now)
        if validity and doubt >= validity:
            return refused("stale", self.name, kind, f"valid for {validity:g} s, but the host's clock is known within {doubt:.2g} s only")

        def make(number: int) -> bytes:
            plain = payload.plain() if isinstance(payload, Payload) else payload
            packed, origin, c = pack(plain), asked.origin + (sent - now), asked
            body = encode(
                CommandAsk(
                    remote.session_id, number, sent, doubt, packed, origin, c.validity, c.sequence, c.priority, self.epoch, c.id, announce, timeout
                )
            )
            if problem := size_problem(len(body), LARGEST_COMMAND):  # the host would drop it, without an answer
                raise ValueError(problem)
            return body

        try:
            return remote.courier.send(self._urgent if type(payload) is Stop else self._publisher, make, timeout, done)
        except (TypeError, ValueError, OverflowError) as error:
            return refused("malformed", self.name, kind, f"it cannot be sent: {error}")
        except zenoh.ZError as error:
            return refused("gone", self.name, kind, f"the connection is closed: {error}")

    def result(self, answered: Answered, own: type) -> Result:
        self.epoch = answered.epoch
        return self.remote.result(answered.answer, own)


class RemoteSync(Verbs[Awaitable[Result]]):
    def __init__(self, actuator: RemoteActuator) -> None:
        self._actuator = actuator

    async def send(self, payload: Any, *, timeout: float = TIMEOUT, **envelope: Any) -> Result:
        """HostGoneError or CommandTimeout where no answer came: the outcome is not known then."""
        _check(envelope)
        if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not timeout >= 0.0:
            raise InputError(f"timeout must be a number of seconds, not negative, got {timeout!r}")
        actuator, loop = self._actuator, asyncio.get_running_loop()
        future: asyncio.Future[Answered] = loop.create_future()

        def done(answered: Answered | Exception) -> None:
            with suppress(RuntimeError):  # its loop has ended: nobody waits any more
                loop.call_soon_threadsafe(settle, future, answered)

        number = actuator.start(payload, envelope, False, float(timeout), done)
        if isinstance(number, Refused):
            return number
        alarm = loop.call_later(timeout + GRACE, actuator.remote.courier.expire, number)
        try:
            return actuator.result(await future, type(payload))
        finally:
            alarm.cancel()


class RemotePublish(Verbs[Result]):
    def __init__(self, actuator: RemoteActuator) -> None:
        self._actuator = actuator

    def send(self, payload: Any, **envelope: Any) -> Result:
        """Accepted means that it was sent."""
        _check(envelope)
        number = self._actuator.start(payload, envelope, True, TIMEOUT, self._came)
        return number if isinstance(number, Refused) else ON_ITS_WAY

    def _came(self, answered: Answered | Exception) -> None:
        if isinstance(answered, Exception):
            self._actuator.remote.lost(answered)
        else:
            self._actuator.epoch = answered.epoch


class RemoteDirect(Verbs[Result]):
    def __init__(self, actuator: RemoteActuator) -> None:
        self._actuator = actuator

    def send(self, payload: Any, **envelope: Any) -> Result:
        return refused("remote", self._actuator.name, type(payload).__name__, f"{self._actuator.remote.robot} is hosted by another process")


def _check(envelope: dict[str, Any]) -> None:
    known = {"validity", "origin", "sequence", "priority", "id"}
    if not envelope.keys() <= known:
        raise TypeError(f"on an envelope go {', '.join(sorted(known))}; got {', '.join(sorted(envelope.keys() - known))}")


def _publisher(remote: "RemoteRobot", name: str, priority: zenoh.Priority) -> zenoh.Publisher:
    return remote.bus.session.zenoh.declare_publisher(
        name, priority=priority, congestion_control=zenoh.CongestionControl.BLOCK, allowed_destination=zenoh.Locality.REMOTE
    )
