"""A runtime, served to the network: `with expose(rt):` takes commands and answers them with the same typed results as within the process.

Callbacks of the network only sort what comes into lanes: one for each actuator, so that what one driver does holds up no other; stops have theirs.
On a stepped clock everything waits for the tick of its commander (`in_step.py`), so that a run repeats.
"""

import logging
import secrets
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import zenoh
from zenoh.handlers import Callback

from pushrod.core.errors import InputError
from pushrod.net import key, told
from pushrod.net.bus import ZenohBus
from pushrod.net.commands import Commands
from pushrod.net.inbox import Inbox
from pushrod.net.lane import ROOM, Lane
from pushrod.net.link import Access, LinkError
from pushrod.net.operators import Operators
from pushrod.net.service import Service, failure
from pushrod.net.wire import Answer, Answered, Ask, BatchAsk, CommandAsk, Reply, Value, decode, encode, sent_result
from pushrod.robot.path import find
from pushrod.runtime.clock import SteppedClock
from pushrod.runtime.gaps import Gaps
from pushrod.runtime.host import Host
from pushrod.runtime.result import refused
from pushrod.runtime.runtime import Runtime

log = logging.getLogger("pushrod.net")
NOTHING = b"\x80"  # an empty map
KNOWN = 10_000  # keys that are remembered


def expose(rt: Runtime, access: Access | None = None) -> "Exposure":
    """Serve a runtime that is on a ZenohBus. `access` says who may command where its link does not, as where it meets its operators at a router."""
    if not isinstance(rt.bus, ZenohBus):
        raise InputError("only a runtime on the network can be exposed: Runtime(robot, ..., bus=ZenohBus(Link('tcp/127.0.0.1:7447')))")
    access = access or rt.bus.link.access
    if access is None and not rt.bus.link.is_local:
        raise LinkError("access", "this link reaches other machines", "say who may command, expose(rt, access=Access(command=('ann',)))", ("access",))
    return Exposure(rt, rt.bus, access)


class Exposure:
    def __init__(self, rt: Runtime, bus: ZenohBus, access: Access | None) -> None:
        self.rt = rt
        self.bus = bus
        self._gaps = bus.glance.gaps = Gaps(lambda: rt.cadences)
        self.instance = secrets.token_hex(8)
        self.operators = Operators(rt, access, bus.link.lease)
        self.commands = Commands(rt, self.operators)
        self.service = Service(rt, self.operators)
        self.inbox = Inbox() if isinstance(rt.clock, SteppedClock) else None
        self.endings: list[Callable[[], None]] = []  # what is still to be told before it closes
        self._robot = rt.robot.name
        self._paths = {name: host.path for name, host in rt.hosts.items()}
        self._lanes: dict[str, Lane] = {}
        self._known: dict[str, tuple[str, Host]] = {}  # by the key of a command: who commands what
        self._answers: dict[tuple[str, str], zenoh.Publisher] = {}  # by operator and session
        session = bus.session.zenoh
        live = session.liveliness()
        commands: Callback[zenoh.Sample] = Callback(self._command, indirect=False)
        self._declared: list[Any] = [
            self._serve(session, key.hello(self._robot), self._hello),
            self._serve(session, key.of(self._robot, "clock"), self._clock),
            self._serve(session, key.of(self._robot, "info", key.BELOW), self._info),
            self._serve(session, key.of(self._robot, "ask", key.BELOW), self._ask),
            session.declare_subscriber(key.of(self._robot, "ask", key.ANY, "actuator", key.BELOW), commands, allowed_origin=zenoh.Locality.REMOTE),
            live.declare_subscriber(key.of(self._robot, "operator", key.BELOW), Callback(self._operator, indirect=False), history=True),
            live.declare_subscriber(key.of(self._robot, "host", key.ANY), Callback(self._another, indirect=False), history=True),
            live.declare_token(key.of(self._robot, "host", self.instance)),
        ]

    def __enter__(self) -> "Exposure":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        for end in self.endings:
            end()
        declared, self._declared = self._declared, []
        for one in reversed(declared):
            with suppress(zenoh.ZError):  # the session may be closed already
                one.undeclare()
        for lane in list(self._lanes.values()):
            lane.close()

    def _serve(self, session: zenoh.Session, name: str, call: Callable[[zenoh.Query], None]) -> Any:
        def guarded(query: zenoh.Query) -> None:
            try:
                if query.parameters.get(key.HOST) not in (None, self.instance):
                    query.drop()  # type: ignore[no-untyped-call]
                else:
                    call(query)
            except Exception as error:
                self._say(query, Reply(failure(error)))

        ask: Callback[zenoh.Query] = Callback(guarded, indirect=False)
        return session.declare_queryable(name, ask, allowed_origin=zenoh.Locality.REMOTE)

    # on the network's own threads: nothing waits

    def _hello(self, query: zenoh.Query) -> None:
        self._say(query, told.hello(self.rt, self.instance), key.hello(self._robot))

    def _clock(self, query: zenoh.Query) -> None:
        came = self.rt.clock.now()
        self._say(query, (came, self.rt.clock.now()))

    def _operator(self, sample: zenoh.Sample) -> None:
        _, operator, session = key.below(str(sample.key_expr), self._robot)
        if not key.is_for(session, self.instance):
            return  # it is with another host of this name, perhaps the one before this
        if sample.kind == zenoh.SampleKind.PUT:
            self.operators.came(operator, session)  # before anything it asks for
        else:
            self._answers.pop((operator, session), None)
            self._lane("operators").put(self.operators.went(operator, session))

    def _another(self, sample: zenoh.Sample) -> None:
        """Each of two hosts of one name tells in its log of the other."""
        _, instance = key.below(str(sample.key_expr), self._robot)
        if sample.kind == zenoh.SampleKind.PUT and instance != self.instance:
            what = "another host of a robot of this name is on the network: nobody can arm or command either of them, only stop both"
            log.warning("%s: %s; end one of them, or give it another name", self._robot, what)

    def _command(self, sample: zenoh.Sample) -> None:
        name = str(sample.key_expr)
        try:
            operator, host = self._known.get(name) or self._addressed(name)
            ask: CommandAsk = decode(sample.payload.to_bytes(), CommandAsk)
            if not key.is_for(ask.session, self.instance):
                return
        except Exception as error:  # nobody can be told: it does not even say who wants to know
            log.warning("a command under %s cannot be understood: %s", name, error)
            return

        def tell(answer: Answer, epoch: int) -> None:
            self._tell(operator, ask, answer, epoch)

        def job() -> None:
            try:
                self.commands.one(operator, host, ask, tell)
            except Exception as error:
                tell(failure(error), 0)

        if self.inbox is not None:
            self.inbox.put(job)
        elif not self._lane(host.name).put(job):
            host.gate.count("busy")
            tell(sent_result(refused("busy", host.name, ask.payload.kind, f"{ROOM} others wait for it")), host.gate.epoch)

    def _addressed(self, name: str) -> tuple[str, Host]:
        _, operator, _, *words = key.below(name, self._robot)
        found = operator, self.rt.hosts[find(self._paths, words)[-1]]
        if len(self._known) < KNOWN:
            self._known[name] = found
        return found

    def _info(self, query: zenoh.Query) -> None:
        _, what = key.below(str(query.key_expr), self._robot)
        body = _body(query)

        def tell() -> None:
            self._gaps.wait()  # whoever looks on is in no hurry
            self._say(query, Reply(Value(self.service.tell(what, decode(body, dict[str, Any])))))

        self._into(self._lane("info"), query, tell)

    def _ask(self, query: zenoh.Query) -> None:
        name, body = str(query.key_expr), _body(query)
        if "*" in name:
            raise InputError(f"{name}: what is to be done is asked of one robot, by one operator")
        _, operator, group, *words = key.below(name, self._robot)

        def reply(answer: Reply) -> None:
            self._say(query, answer)

        if group == "join":
            reply(Reply(Value(self.operators.seat(operator, decode(body, Ask).session))))
        elif group == "send":
            self._sort(query, "send", lambda: reply(self._several(operator, decode(body, BatchAsk))))
        elif group != "do" or not words:
            raise InputError(f"{name}: nothing is asked for under this key; see pushrod.net.key")
        else:
            self._sort(query, " ".join(words), lambda: reply(self._do(operator, words[0], decode(body, Ask))))

    def _sort(self, query: zenoh.Query, lane: str, job: Callable[[], None]) -> None:
        if self.inbox is not None:
            self._into(self.inbox, query, job)
        elif not self._into(self._lane(lane), query, job):
            self._say(query, Reply(sent_result(refused("busy", lane, "command", f"{ROOM} others wait for it"))))

    def _into(self, where: Lane | Inbox, query: zenoh.Query, job: Callable[[], None]) -> bool:
        def guarded() -> None:
            try:
                job()
            except Exception as error:
                self._say(query, Reply(failure(error)))

        return where.put(guarded)

    def _lane(self, name: str) -> Lane:
        return self._lanes.get(name) or self._lanes.setdefault(name, Lane(f"net {name}"))  # several threads may come first

    # in the lanes

    def _several(self, operator: str, ask: BatchAsk) -> Reply:
        return Reply(Value([sent_result(result) for result in self.commands.several(operator, ask)]))

    def _do(self, operator: str, what: str, ask: Ask) -> Reply:
        if what == "leave":
            self.operators.leave(operator, ask.session)
            return Reply(Value())
        why, seat = self.operators.why_not(operator, ask.session), self.operators.seat(operator, ask.session) or operator
        if why:
            return Reply(sent_result(self.commands.noted(seat, refused("access", self._robot, what, why))))
        late = "" if what in ("disarm", "estop") else self.operators.late(ask.sent, ask.doubt)
        if late:
            return Reply(sent_result(self.commands.noted(seat, refused("stale", self._robot, what, late))))
        last = self.operators.newest(ask.session, what, ask.number)
        if last:
            return Reply(sent_result(refused("sequence", self._robot, what, f"got number {ask.number} of session {ask.session} after {last}")))
        return Reply(Value(self.service.do(what, seat, ask)))

    def _tell(self, operator: str, ask: CommandAsk, answer: Answer, epoch: int) -> None:
        try:
            publisher = self._answers.get((operator, ask.session))
            if publisher is None:
                publisher = self._answer_to(operator, ask.session)
            publisher.put(encode(Answered(ask.number, answer, epoch)))
        except Exception as error:  # the session is closed
            log.debug("nobody hears the answer: %s", error)

    def _answer_to(self, operator: str, session: str) -> zenoh.Publisher:
        """Its operator never has more commands on their way than there is room for answers, so none is dropped while it listens."""
        publisher = self.bus.session.zenoh.declare_publisher(
            key.of(self._robot, "answer", key.word(operator), key.word(session)),
            priority=zenoh.Priority.INTERACTIVE_HIGH,
            congestion_control=zenoh.CongestionControl.DROP,
            allowed_destination=zenoh.Locality.REMOTE,
        )
        if self.operators.seat(operator, session):
            self._answers[operator, session] = publisher
        return publisher

    def _say(self, query: zenoh.Query, what: Any, name: str = "") -> None:
        try:
            with query:
                query.reply(name or query.key_expr, encode(what), express=True)
        except Exception as error:  # whoever asked is gone, or the session is closed
            log.debug("nobody hears the answer: %s", error)


def _body(query: zenoh.Query) -> bytes:
    return query.payload.to_bytes() if query.payload is not None else NOTHING
