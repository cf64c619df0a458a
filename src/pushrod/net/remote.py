"""A robot that another process hosts, as one operator sees it.

async with await net.connect("arm", Link(connect="tcp/127.0.0.1:7447"), operator="ann") as arm:
    await arm.arm()
    print(await arm["shoulder_motor"].sync.set_position(0.5))
"""

import asyncio
import logging
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from time import monotonic
from typing import Any, Literal, TypeVar

import zenoh

from pushrod.core.errors import InputError, NetworkError
from pushrod.net import key
from pushrod.net.arming_answer import armed, disarmed
from pushrod.net.bus import ZenohBus
from pushrod.net.caller import Caller, HostGoneError
from pushrod.net.courier import Courier
from pushrod.net.following import exchange_time, follow, follow_steps
from pushrod.net.offset import Estimate, Offset
from pushrod.net.remote_actuator import RemoteActuator
from pushrod.net.remote_motion import await_end
from pushrod.net.remote_parameters import RemoteParameters
from pushrod.net.service import raised
from pushrod.net.stop_request import REASON, stop_body, usable_limit
from pushrod.net.told import Description, Overview
from pushrod.net.wire import Answer, Ask, BatchAsk, Failure, Hello, Reply, SentResult, Value, decode, encode, pack
from pushrod.robot import path as paths
from pushrod.robot.description import Robot
from pushrod.robot.urdf_file import read_urdf
from pushrod.robot.xml_file import parse
from pushrod.runtime.bus import Policy, Subscription
from pushrod.runtime.deciding import Armed, Disarmed
from pushrod.runtime.delivery import TIMEOUT
from pushrod.runtime.message import EndMotion, Transition
from pushrod.runtime.payload import Payload
from pushrod.runtime.result import Refused, Result
from pushrod.runtime.stop import LIMIT
from pushrod.safety.state import State

log = logging.getLogger("pushrod.net")
Address = str | Sequence[str]
A = TypeVar("A", bound=Armed | Disarmed)
EXCHANGES = 8  # of the time, before the first command
GOODBYE = 3.0  # [s] for a host that is there to answer it
QUIET = 1.0  # [s] between two lines in the log about commands that were not answered


class AccessError(NetworkError):
    """The host does not let this operator do that; `answer` says why."""

    def __init__(self, answer: Refused) -> None:
        self.answer = answer
        super().__init__(str(answer))


class RemoteRobot:
    """Made by `connect`. Times of messages are those of the host's clock; `host_time` turns this program's monotonic time into it."""

    def __init__(self, bus: ZenohBus, hello: Hello, operator: str) -> None:
        self.bus = bus
        self.hello = hello
        self.robot = hello.robot
        self.operator = operator
        self.seat = operator  # how the host calls this connection: the operator, or operator/2 where another one of that name came first
        self.description: Description = decode(hello.told, Description)
        self.session_id = key.session(hello.instance)
        self.caller = Caller(bus.session, self.robot)
        self.courier = Courier(self.robot)
        self.parameters = RemoteParameters(self)
        self.host_changed: list[Callable[[bool], None]] = []  # who is told when the host vanishes or is back
        self.unanswered = 0  # published commands of which nothing was heard again
        self._estimate = Estimate()
        self._tick_time = 0.0
        self._logged = float("-inf")
        self._state = State.DISARMED
        self.unsure = False  # it was gone, and has not been asked since: its state may have changed unheard
        self._handles: dict[str, RemoteActuator] = {}
        self._told = {one.name: one for one in self.description.actuators}
        self._declared: list[Any] = []
        self._closing = threading.Event()
        self._waking = threading.Event()  # whoever follows the host has something to do

    async def __aenter__(self) -> "RemoteRobot":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<{self.robot}, elsewhere, as {self.seat!r}: {self.state}, {len(self._told)} actuators>"

    def __getitem__(self, address: Address) -> RemoteActuator:
        path = paths.find({name: one.path for name, one in self._told.items()}, address)
        if path[-1] not in self._handles:
            self._handles[path[-1]] = RemoteActuator(self, self._told[path[-1]])
        return self._handles[path[-1]]

    @property
    def alive(self) -> bool:
        """Whether its host is there, as far as is known: one that dies, hangs or is cut off is seen to be gone within a second."""
        return self.caller.alive and not self.bus.session.closed

    @property
    def state(self) -> State | Literal["gone"]:
        """The last one heard of; "gone" while its host is not there, and until one that is back has been asked: nobody knows then."""
        return self._state if self.alive and not self.unsure else "gone"

    @property
    def offset(self) -> Offset:
        """How far the host's clock is ahead of this program's, and within what that is known."""
        return self._estimate.at(monotonic())

    @property
    def waiting(self) -> int:
        """Commands and questions that are not answered yet."""
        return self.caller.waiting + self.courier.waiting

    def host_time(self, time: float) -> tuple[float, float]:
        """A time of this program's monotonic clock in the host's, and within what that is known [s]."""
        if self.description.stepped:
            return self._tick_time, 0.0
        offset = self.offset
        return time + offset.seconds, offset.doubt

    async def arm(self) -> Armed:
        return self._now(armed(await self.do("arm")))

    async def disarm(self, why: str = REASON, limit: float = LIMIT) -> Disarmed:
        """Disarm. An argument that cannot be used is replaced by its default, with a warning in the log."""
        wait = usable_limit(limit) or LIMIT
        return self._now(disarmed(await self.stop("disarm", wait + TIMEOUT, why=why, limit=limit)))

    async def force_disarm(self, limit: float = LIMIT) -> Disarmed | Armed:
        """Leave the error state. A limit that cannot be used is replaced by its default."""
        limit = usable_limit(limit) or LIMIT
        told = await self.do("force_disarm", _timeout=limit + TIMEOUT, limit=limit)
        return self._now(disarmed(told) if "failures" in told else armed(told))

    async def estop(self, cause: Any = None) -> Disarmed:
        return self._now(disarmed(await self.stop("estop", LIMIT + TIMEOUT, cause=cause)))

    async def reset(self) -> Armed:
        return self._now(armed(await self.do("reset", _timeout=LIMIT + TIMEOUT)))

    async def clear_watchdog(self, address: Address) -> bool:
        return bool(await self.do("clear_watchdog", address=self[address].name))

    async def acknowledge(self) -> list[str]:
        """Somebody has looked at the robot after its guard had disarmed it. Gives what had been recorded."""
        return list(await self.do("acknowledge"))

    async def missing(self) -> list[str]:
        """What must be there before it can be armed."""
        return list(await self.tell("missing"))

    async def described(self) -> Robot:
        """Its description, as its host has it."""
        return read_urdf(parse(await self.tell("robot"), self.robot))

    async def send(
        self, commands: Iterable[tuple[Address, Payload] | tuple[Address, Payload, str]], validity: float = 0.0, timeout: float = TIMEOUT
    ) -> list[Result]:
        """Several commands as one, each (address, payload) or (address, payload, id): all act at once, or none does."""
        asked = tuple((self[address].name, pack(payload), id[0] if id else None) for address, payload, *id in commands)
        self._look()
        ask = BatchAsk(self.session_id, self.courier.next_number(), *self.host_time(monotonic()), asked, validity)
        name = self._at(key.ask(self.robot, self.operator, "send"))
        sent: list[Any] = self._value(decode(await self.caller.call(name, encode(ask), timeout), Reply).answer)
        return [self.bus.kinds.result(decode(encode(one), SentResult)) for one in sent]

    async def motion(self, address: Address, command_id: str, timeout: float | None = None) -> EndMotion:
        """Wait for the end of the motion that this command began. HostGoneError where its host vanishes meanwhile."""
        return await await_end(self, self[address], command_id, timeout)

    async def request(self, part: str, request: Any, timeout: float = TIMEOUT) -> Any:
        """Ask an actuator, sensor or controller something that is its own business. Plain data both ways."""
        return await self.do("request", part, _timeout=timeout + TIMEOUT, part=part, request=request, timeout=timeout)

    async def overview(self) -> Overview:
        """All there is to see of it now, in one answer."""
        reply = await self._info("overview")
        self._value(reply.answer)
        assert type(reply.answer) is Value
        return decode(encode(reply.answer.value), Overview)  # type: ignore[no-any-return]

    def subscribe(
        self,
        prefix: str | Iterable[str] = (),
        types: Iterable[type] = (),
        size: int = 1024,
        policy: Policy = "drop_oldest",
        latched: bool = False,
        glance: bool = False,
    ) -> Subscription:
        """What this robot publishes at a topic or below; `bus.subscribe` hears all robots. `glance`: of what comes again and again the newest, fifty
        times a second, which costs the robot next to nothing."""
        return self.bus.subscribe(prefix, types, size, policy, latched, self.robot, glance=glance)

    async def in_step(self, tick: Callable[[int], Any]) -> int:
        """Command a robot on a stepped clock: `tick(k)` is called, and awaited if it gives something to await, in every tick the host makes with this
        operator; time goes on when it is done. Gives how many ticks there were, once the host ends."""
        if not self.description.stepped:
            raise InputError(f"{self.robot} runs on the wall clock, which waits for nobody: command it with a loop of your own")
        return await follow_steps(self, tick)

    def at_tick(self, time: float) -> None:
        """What the host's clock says in the tick it makes now."""
        self._tick_time = time

    async def close(self) -> None:
        """Take one's leave: leases end."""
        self._closing.set()
        self._waking.set()
        if self.alive:
            try:
                await self.do("leave", _timeout=GOODBYE)
            except (NetworkError, TimeoutError) as error:
                log.debug("%s was left without a goodbye: %s", self.robot, error)
        await asyncio.to_thread(self.bus.close)

    # for the parts of a remote robot

    async def do(self, what: str, *more: str, _timeout: float = TIMEOUT, **arguments: Any) -> Any:
        """Send a request that only an operator who may command can send. AccessError where the host refuses it."""
        ask = Ask(self.session_id, self.courier.next_number(), *self.host_time(monotonic()), arguments)
        name = self._at(key.ask(self.robot, self.operator, "do", what, *more))
        self._look()
        return self._value(decode(await self.caller.call(name, encode(ask), _timeout), Reply).answer)

    async def stop(self, what: str, timeout: float, **arguments: Any) -> Mapping[str, Any]:
        """Disarm or e-stop: sent also where the host seems to be gone, and whatever the arguments are."""
        name = self._at(key.ask(self.robot, self.operator, "do", what))
        body = stop_body(self.session_id, arguments)
        answer: Mapping[str, Any] = self._value(decode(await self.caller.call(name, body, timeout, zenoh.Priority.REAL_TIME), Reply).answer)
        for ignored in answer.get("ignored", ()):
            log.warning("%s: %s ignored %s", self.robot, what, ignored)
        return answer

    async def tell(self, what: str, **arguments: Any) -> Any:
        """Something that whoever may watch can ask for."""
        return self._value((await self._info(what, **arguments)).answer)

    def result(self, answer: Answer, own: type | None = None) -> Result:
        """`own` is the type of the payload that is answered."""
        if isinstance(answer, Failure):
            raise raised(answer)
        return self.bus.kinds.result(answer, own)  # type: ignore[arg-type]

    def lost(self, error: Exception) -> None:
        """Nothing was heard of a published command."""
        self.unanswered += 1
        now = monotonic()
        if now >= self._logged + QUIET:
            self._logged = now
            log.warning("a command to %s: %s (%d so far)", self.robot, error, self.unanswered)

    async def _info(self, what: str, **arguments: Any) -> Reply:
        self._look()
        name = self._at(key.of(self.robot, "info", what))
        return decode(await self.caller.call(name, encode(arguments), TIMEOUT), Reply)  # type: ignore[no-any-return]

    def _look(self) -> None:
        if not self.alive:
            raise NetworkError(self.why_gone)

    def _at(self, name: str) -> str:
        return key.at(name, self.hello.instance)

    @property
    def why_gone(self) -> str:
        if self.caller.followed:
            return f"the host of {self.robot} was started again: connect anew; what this connection knew of it is over"
        return f"the host of {self.robot} is not there any more: see whether it runs and the network is up, then connect again"

    def _value(self, answer: Answer) -> Any:
        if isinstance(answer, Value):
            return answer.value
        result = self.result(answer)
        assert isinstance(result, Refused)
        raise AccessError(result)

    async def join(self, timeout: float) -> None:
        """Be seen by the host, and know its clock and its state."""
        session, end = self.bus.session.zenoh, monotonic() + timeout
        token = key.of(self.robot, "operator", key.word(self.operator), self.session_id)
        self._declared.append(session.liveliness().declare_token(token))
        answers = key.of(self.robot, "answer", key.word(self.operator), self.session_id)
        self._declared.append(self.courier.listen(session, answers))
        self.caller.changed = self._host_changed
        self._declared.append(self.caller.watch(self.hello.instance))
        while not (self.alive and self._seated(await self.caller.call(*self._joining(), timeout))):
            if monotonic() >= end:
                raise NetworkError(f"the host of {self.robot} answers, but has not seen {self.operator!r} come within {timeout:g} s: see its log")
            await asyncio.sleep(0.005)
        if not self.description.stepped:
            await asyncio.to_thread(exchange_time, session, self._at(key.of(self.robot, "clock")), self._estimate, EXCHANGES)
        following = (self, self._estimate, self._closing, self._waking)
        threading.Thread(target=follow, args=following, name=f"pushrod following {self.robot}", daemon=True).start()
        states = self.bus.subscribe("state_machine", (Transition,), robot=self.robot, notify=lambda: self._heard(states))
        self._state = State((await self.overview()).state)

    def _now(self, answer: A) -> A:
        """The answer may be here before what the topic tells."""
        self._state, self.unsure = answer.state, False
        for handle in self._handles.values():
            handle.epoch = 0  # a command from here on is sent in knowledge of it
        return answer

    def _host_changed(self, alive: bool) -> None:
        if not alive:
            self.unsure = True
            self.courier.fail(HostGoneError(f"the host of {self.robot} vanished while it was asked: look whether it acted, and connect again"))
        self._waking.set()
        for told in self.host_changed:
            told(alive)

    def look_again(self) -> None:
        """Ask a host that was away for its state, and for this connection's seat."""
        if self.unsure and self.alive:
            self.caller.ask(self._at(key.of(self.robot, "info", "overview")), encode({}), TIMEOUT, self._seen_again)
            self.caller.ask(*self._joining(), TIMEOUT, self._seated_again)

    def _seen_again(self, answer: bytes | Exception) -> None:
        told = None if isinstance(answer, Exception) else decode(answer, Reply).answer
        if isinstance(told, Value):
            self._state, self.unsure = State(told.value["state"]), False

    def _seated_again(self, answer: bytes | Exception) -> None:
        self._seated(answer)

    def _joining(self) -> tuple[str, bytes]:
        return self._at(key.ask(self.robot, self.operator, "join")), encode(Ask(self.session_id, 0, 0.0, 0.0))

    def _seated(self, answer: bytes | Exception) -> bool:
        """Whether the host has seen this connection come; it says by which name."""
        told = None if isinstance(answer, Exception) else decode(answer, Reply).answer
        if isinstance(told, Value) and told.value:
            self.seat = str(told.value)
            return True
        return False

    def _heard(self, states: Subscription) -> None:
        while (message := states.poll()) is not None:
            self._state = State(message.payload.to)
            for handle in self._handles.values():
                handle.epoch = 0  # a command from here on is sent in knowledge of it
