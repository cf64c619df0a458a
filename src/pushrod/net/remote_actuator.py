"""An actuator of a robot elsewhere: the same verbs and the same typed answers.

sync      awaits the host's answer
publish   sends; the outcome comes on the topic
direct    refuses: there is no way to it but the network
"""

from collections.abc import Awaitable
from time import monotonic
from typing import TYPE_CHECKING, Any

import zenoh

from pushrod.core.errors import InputError
from pushrod.net import key
from pushrod.net.told import ActuatorTold
from pushrod.net.wire import CommandAsk, Reply, decode, encode, pack
from pushrod.runtime.bus import Subscription
from pushrod.runtime.delivery import TIMEOUT, Verbs
from pushrod.runtime.gate import envelope_problem
from pushrod.runtime.message import Command, JointState
from pushrod.runtime.payload import Stop
from pushrod.runtime.result import Accepted, Refused, Result, refused

if TYPE_CHECKING:
    from pushrod.net.caller import Done
    from pushrod.net.remote import RemoteRobot

WINDOW = 512  # commands of one connection that may be on their way, so that none ever waits for room
ON_ITS_WAY = Accepted("on its way; the outcome comes on the topic")


class RemoteActuator:
    """As one operator sees it."""

    def __init__(self, remote: "RemoteRobot", told: ActuatorTold) -> None:
        self.remote = remote
        self.told = told
        self.path = told.path
        self.name = "/".join(told.path)
        self.topic = ("actuator", *told.path)
        self.source = remote.operator
        self.sync = RemoteSync(self)
        self.publish = RemotePublish(self)
        self.direct = RemoteDirect(self)
        self.epoch = 0  # of the last answer; a command sent under an arming that is over is refused
        self._key = key.ask(remote.robot, remote.operator, "actuator", *told.path)
        self._states: Subscription | None = None
        self._state: JointState | None = None

    def __repr__(self) -> str:
        return f"<actuator {self.name} of {self.remote.robot}, elsewhere, as {self.source!r}: {'there' if self.remote.alive else 'gone'}>"

    @property
    def joint_state(self) -> JointState | None:
        """What its driver reported last, in joint space. It is listened to from the first time this is asked for; None until something came."""
        if self._states is None:
            self._states = self.remote.subscribe(self.topic, (JointState,), size=1, latched=True)
        while (message := self._states.poll()) is not None:
            self._state = message.payload
        return self._state

    async def take_lease(self, seconds: float = float("inf"), priority: int = 0) -> bool:
        """Become the only commander for a while, or until this connection ends or breaks."""
        return bool(await self.remote.do("take_lease", address=self.name, seconds=float(seconds), priority=priority))

    async def release_lease(self) -> bool:
        return bool(await self.remote.do("release_lease", address=self.name))

    async def request(self, request: Any, timeout: float = TIMEOUT) -> Any:
        """A call that is not a command: what a driver answers to is its own business. Plain data both ways."""
        return await self.remote.request(self.name, request, timeout)

    def start(self, payload: Any, envelope: dict[str, Any], announce: bool, timeout: float, done: "Done") -> Refused | None:
        """Send a command; `done` is told the answer. Refused where it was not sent."""
        remote, kind = self.remote, type(payload).__name__
        if not remote.alive:
            return refused("gone", self.name, kind, f"the host of {remote.robot} vanished")
        if remote.waiting >= WINDOW:
            return refused("busy", self.name, kind, f"{WINDOW} commands are on their way and not answered")
        now = monotonic()
        asked = Command(payload, self.source, **{"origin": now, **{name: value for name, value in envelope.items() if value is not None}})
        problem, validity = envelope_problem(asked), asked.validity
        if problem:
            return refused("malformed", self.name, kind, problem)
        sent, doubt = remote.host_time(now)
        if validity and doubt >= validity:
            return refused("stale", self.name, kind, f"valid for {validity:g} s, but the host's clock is known within {doubt:.2g} s only")
        try:
            packed = pack(payload)
            with remote.numbering:  # so that they are numbered in the order they are sent in
                ask = CommandAsk(
                    remote.session_id,
                    remote.number(self.name),
                    sent,
                    doubt,
                    packed,
                    asked.origin + (sent - now),
                    validity,
                    asked.sequence,
                    asked.priority,
                    self.epoch,
                    asked.id,
                    announce,
                    timeout,
                )
                urgent = zenoh.Priority.REAL_TIME if type(payload) is Stop else zenoh.Priority.INTERACTIVE_HIGH
                remote.caller.ask(self._key, encode(ask), timeout, done, urgent)
        except (TypeError, ValueError) as error:
            return refused("malformed", self.name, kind, f"it cannot be sent: {error}")
        return None

    def result(self, answer: bytes) -> Result:
        reply: Reply = decode(answer, Reply)
        self.epoch = reply.epoch
        return self.remote.result(reply.answer)


class RemoteSync(Verbs[Awaitable[Result]]):
    def __init__(self, actuator: RemoteActuator) -> None:
        self._actuator = actuator

    async def send(self, payload: Any, *, timeout: float = TIMEOUT, **envelope: Any) -> Result:
        """HostGoneError or CommandTimeout where no answer came: the outcome is not known then."""
        _check(envelope)
        if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not timeout >= 0.0:
            raise InputError(f"timeout must be a number of seconds, not negative, got {timeout!r}")
        actuator, refusals = self._actuator, []

        def start(done: "Done") -> None:
            refusal = actuator.start(payload, envelope, False, float(timeout), done)
            if refusal is not None:
                refusals.append(refusal)
                done(b"")

        answer = await actuator.remote.caller.answer(start)
        return refusals[0] if refusals else actuator.result(answer)


class RemotePublish(Verbs[Result]):
    def __init__(self, actuator: RemoteActuator) -> None:
        self._actuator = actuator

    def send(self, payload: Any, **envelope: Any) -> Result:
        """Accepted means that it was sent."""
        _check(envelope)
        return self._actuator.start(payload, envelope, True, TIMEOUT, self._came) or ON_ITS_WAY

    def _came(self, answer: bytes | Exception) -> None:
        if isinstance(answer, Exception):
            self._actuator.remote.lost(answer)
        else:
            self._actuator.result(answer)


class RemoteDirect(Verbs[Result]):
    def __init__(self, actuator: RemoteActuator) -> None:
        self._actuator = actuator

    def send(self, payload: Any, **envelope: Any) -> Result:
        return refused("remote", self._actuator.name, type(payload).__name__, f"{self._actuator.remote.robot} is hosted by another process")


def _check(envelope: dict[str, Any]) -> None:
    known = {"validity", "origin", "sequence", "priority", "id"}
    if not envelope.keys() <= known:
        raise TypeError(f"on an envelope go {', '.join(sorted(known))}; got {', '.join(sorted(envelope.keys() - known))}")
