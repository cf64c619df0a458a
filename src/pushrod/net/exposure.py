"""A runtime, served to the network: `with expose(rt):` takes commands and answers them with the same typed results as within the process.

Callbacks of the network check the name of a request and the access of its operator before anything is allocated for it, then sort it into lanes: one
for each actuator, so that no driver holds up another; disarm and e-stop each have one. The threads of the lanes that stop a robot exist from the
start: a robot that can be armed can be stopped, though no thread can be started any more.
On a stepped clock everything waits for the tick of its commander (`in_step.py`), so that a run repeats.
"""

import logging
import secrets
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import zenoh
from msgspec import structs
from zenoh.handlers import Callback

from pushrod.core.errors import InputError
from pushrod.net import key, told
from pushrod.net.access import Access
from pushrod.net.bus import ZenohBus
from pushrod.net.commands import Commands
from pushrod.net.inbox import Inbox
from pushrod.net.lane import HELD, SHARE, Lane
from pushrod.net.link import LinkError
from pushrod.net.operators import Operators
from pushrod.net.quiet import Quiet
from pushrod.net.request_size import LARGEST_COMMAND, LARGEST_REQUEST, NOTHING, read_payload
from pushrod.net.service import NAME, Service, failure
from pushrod.net.stop_request import STOPS, read_stop
from pushrod.net.wire import Answer, Answered, AskHead, BatchAsk, CommandAsk, Reply, SentRefused, Value, decode, encode, pack, sent_result
from pushrod.robot.path import find
from pushrod.runtime.clock import SteppedClock
from pushrod.runtime.gaps import Gaps
from pushrod.runtime.host import Host
from pushrod.runtime.payload import Stop
from pushrod.runtime.result import refused
from pushrod.runtime.runtime import Runtime

log = logging.getLogger("pushrod.net")
KNOWN = 10_000  # keys that are remembered
REQUESTS = 64  # requests of one operator that may wait in one lane
QUESTIONS = 1024  # of all observers together that may wait
QUIET = 1.0  # [s] between two log lines about one operator's commands that cannot be read


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
        self._stops = {what: Lane(f"net {what}", start=True, share=REQUESTS) for what in STOPS}
        self._actuators = {host.name: Lane(f"net {host.name}", start=True) for host in rt.hosts.values()}
        self._clearing = Lane("net operators", start=True)
        self._observing = Lane("net info", start=True, share=QUESTIONS)
        self._lanes: dict[str, Lane] = {}  # of other requests, by names that the host knows
        self._quiet = Quiet(QUIET)
        self._known: dict[str, tuple[str, Host]] = {}  # by the key of a command: who commands what
        self._answers: dict[tuple[str, str], zenoh.Publisher] = {}  # by operator and session
        bus.glance.start()
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
        for lane in (*self._stops.values(), *self._actuators.values(), self._clearing, self._observing, *list(self._lanes.values())):
            lane.close()

    def _serve(self, session: zenoh.Session, name: str, call: Callable[[zenoh.Query], None]) -> Any:
        def guarded(query: zenoh.Query) -> None:
            try:
                if query.parameters.get(key.HOST) not in (None, self.instance):
                    query.drop()  # type: ignore[no-untyped-call]
                else:
                    call(query)
            except BaseException as error:  # SystemExit of a driver, too: the operator is answered, and the thread serves the next
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
        name = str(sample.key_expr)
        words = key.below(name, self._robot)
        if len(words) != 3:
            if self._quiet.is_due("token"):
                log.warning("%s: ignored a malformed token of an operator, %.200s; allowed is operator/OPERATOR/SESSION", self._robot, name)
            return
        _, operator, session = words
        if not key.is_for(session, self.instance):
            return  # it is with another host of this name, perhaps the one before this
        if sample.kind == zenoh.SampleKind.PUT:
            self.operators.came(operator, session)  # before anything it asks for
        else:
            self._answers.pop((operator, session), None)
            self._clearing.put(self.operators.went(operator, session), operator)

    def _another(self, sample: zenoh.Sample) -> None:
        """Each of two hosts of one name tells in its log of the other."""
        _, instance = key.below(str(sample.key_expr), self._robot)
        if sample.kind == zenoh.SampleKind.PUT and instance != self.instance and self._quiet.is_due("host"):
            what = "another host of a robot of this name is on the network: nobody can arm or command either of them, only stop both"
            log.warning("%s: %s; end one of them, or give it another name", self._robot, what)

    def _command(self, sample: zenoh.Sample) -> None:
        name = str(sample.key_expr)
        try:
            operator, host = self._known.get(name) or self._addressed(name)
            largest = LARGEST_REQUEST if self.operators.not_allowed(operator) else LARGEST_COMMAND
            body = read_payload(sample.payload, largest)
            ask: CommandAsk = decode(body, CommandAsk)
            if not key.is_for(ask.session, self.instance):
                return
        except Exception as error:  # there is no session to answer to
            if self._quiet.is_due(key.below(name, self._robot)[1:2]):
                log.warning("a command under %.200s cannot be read: %.200s", name, error)
            return
        kind, size = ask.payload.kind, len(body)
        is_stop = kind == Stop.__name__
        if is_stop and size > LARGEST_REQUEST:  # stops are not counted against their operator's share, so they are small
            ask, size = structs.replace(ask, payload=pack(Stop())), 0

        def tell(answer: Answer, epoch: int) -> None:
            self._tell(operator, ask, answer, epoch)

        def job() -> None:
            try:
                self.commands.one(operator, host, ask, tell)
            except BaseException as error:  # as above
                tell(failure(error), 0)

        waiting = self._actuators[host.name] if self.inbox is None else self.inbox
        why = self.operators.why_not(operator, ask.session)
        if why:
            host.gate.count("access")
            tell(sent_result(self.commands.noted(operator, refused("access", host.name, kind, why))), host.gate.epoch)
        elif not waiting.put(job, operator, is_stop, size):
            host.gate.count("busy")
            held = f"{SHARE} others of {operator}, or {HELD >> 20} MiB, wait for it"
            tell(sent_result(refused("busy", host.name, kind, held)), host.gate.epoch)

    def _addressed(self, name: str) -> tuple[str, Host]:
        _, operator, _, *words = key.below(name, self._robot)
        found = operator, self.rt.hosts[find(self._paths, words)[-1]]
        if len(self._known) < KNOWN:
            self._known[name] = found
        return found

    def _info(self, query: zenoh.Query) -> None:
        _, what, *_ = key.below(str(query.key_expr), self._robot)
        self.service.check_question(what)
        body = read_payload(query.payload, LARGEST_REQUEST)

        def tell() -> None:
            self._gaps.wait()  # an observer can wait for a gap between the calls of control loops
            arguments = decode(body, dict[str, Any])
            self._say(query, Reply(Value(self.service.tell(what, arguments))))

        self._into(self._observing, query, tell, "")

    def _ask(self, query: zenoh.Query) -> None:
        """Names and access come from the key, so both are checked before the body is read."""
        name = str(query.key_expr)
        if "*" in name:
            raise InputError("a request is for one robot, by one operator: the key has a wildcard. Name both.")
        _, operator, group, *words = key.below(name, self._robot)
        what = words[0] if group == "do" and words else group
        if group == "do" and what in STOPS:
            self._stop(query, operator, what)
        elif group == "join":
            self._say(query, Reply(Value(self.operators.seat(operator, _head(query).session))))
        elif group == "send":
            self._batch(query, operator)
        elif group == "do" and what == "leave":
            session = _head(query).session
            self._sort(query, self._lane("leave"), operator, lambda: self._say(query, self._leave(operator, session)))
        elif group == "do" and words:
            self._request(query, operator, words)
        else:
            raise InputError(f"{group[:NAME]!r} is no group of requests; see pushrod.net.key.")

    def _batch(self, query: zenoh.Query, operator: str) -> None:
        if self._is_refused(query, operator, "send", self.operators.not_allowed(operator)):
            return
        body = read_payload(query.payload, LARGEST_COMMAND)
        batch: BatchAsk = decode(body, BatchAsk)
        if not self._is_refused(query, operator, "send", self.operators.why_not(operator, batch.session), batch.session):
            self._sort(query, self._lane("send"), operator, lambda: self._say(query, self._several(operator, batch)), len(body))

    def _request(self, query: zenoh.Query, operator: str, words: list[str]) -> None:
        what = words[0]
        self.service.check_name(what)
        part = self._part(words[1]) if what == "request" and len(words) > 1 else ""
        if self._is_refused(query, operator, what, self.operators.not_allowed(operator)):
            return
        ask = _head(query)
        if not self._is_refused(query, operator, what, self.operators.why_not(operator, ask.session), ask.session):
            self._sort(query, self._lane(f"{what} {part}".strip()), operator, lambda: self._say(query, self._do(operator, what, ask)))

    def _stop(self, query: zenoh.Query, operator: str, what: str) -> None:
        """An operator on the list stops the robot, connected or not, whatever its name is and whatever else the request holds."""
        if self._is_refused(query, operator, what, self.operators.no_access(operator)):
            return
        try:
            body = read_payload(query.payload, LARGEST_REQUEST)
        except Exception as error:
            request = read_stop(what, NOTHING, str(error))
        else:
            request = read_stop(what, body)
        source = self.operators.stop_source(operator, request.session)

        def stop() -> None:
            host = {"instance": self.instance, "where": told.where()}
            self._say(query, Reply(Value(self.service.stop(what, source, request) | host)))

        self._sort(query, self._stops[what], operator, stop)

    def _is_refused(self, query: zenoh.Query, operator: str, what: str, why: str, session: str = "") -> bool:
        """Answer a request of an operator or a connection that may not command: `why` is the reason, or ""."""
        if why:
            seat = self.operators.seat(operator, session) or operator
            self._say(query, Reply(sent_result(self.commands.noted(seat, refused("access", self._robot, what, why)))))
        return bool(why)

    def _part(self, name: str) -> str:
        """Return the name of a controller, sensor or actuator; UnknownNameError where there is none."""
        return name if name in self.rt.nodes else find(self._paths, name)[-1]

    def _sort(self, query: zenoh.Query, lane: Lane, operator: str, job: Callable[[], None], size: int = 0) -> None:
        self._into(lane if self.inbox is None else self.inbox, query, job, operator, size)

    def _into(self, where: Lane | Inbox, query: zenoh.Query, job: Callable[[], None], owner: str, size: int = 0) -> None:
        def guarded() -> None:
            try:
                job()
            except BaseException as error:  # SystemExit of a driver, too: the operator is answered, and the thread serves the next
                self._say(query, Reply(failure(error)))

        if not where.put(guarded, owner, size=size):
            detail = "too many requests wait, or no thread can be started"
            self._say(query, Reply(SentRefused("busy", self._robot, "request", "send it again later", detail)))

    def _lane(self, name: str) -> Lane:
        return self._lanes.get(name) or self._lanes.setdefault(name, Lane(f"net {name}", share=REQUESTS))  # several threads may come first

    # in the lanes

    def _several(self, operator: str, ask: BatchAsk) -> Reply:
        return Reply(Value([sent_result(result) for result in self.commands.several(operator, ask)]))

    def _leave(self, operator: str, session: str) -> Reply:
        self.operators.leave(operator, session)
        return Reply(Value())

    def _do(self, operator: str, what: str, ask: AskHead) -> Reply:
        seat = self.operators.seat(operator, ask.session) or operator
        problem = self.operators.time_problem(ask.sent, ask.doubt)
        if problem:
            return Reply(sent_result(self.commands.noted(seat, refused(problem[0], self._robot, what, problem[1]))))
        last = self.operators.newest(ask.session, what, ask.number)
        if last:
            return Reply(sent_result(refused("sequence", self._robot, what, f"got number {ask.number} of session {ask.session} after {last}")))
        return Reply(Value(self.service.do(what, seat, decode(ask.arguments, dict[str, Any]))))

    def _tell(self, operator: str, ask: CommandAsk, answer: Answer, epoch: int) -> None:
        try:
            body = encode(Answered(ask.number, answer, epoch))
            publisher = self._answers.get((operator, ask.session))
            if publisher is None and self.operators.seat(operator, ask.session):
                publisher = self._answers[operator, ask.session] = self._answer_to(operator, ask.session)
            if publisher is not None:
                publisher.put(body)
            else:  # nothing is kept for a session that is not connected
                name = key.of(self._robot, "answer", key.word(operator), key.word(ask.session))
                self.bus.session.zenoh.put(name, body, congestion_control=zenoh.CongestionControl.DROP, allowed_destination=zenoh.Locality.REMOTE)
        except Exception as error:  # the session is closed
            log.debug("the answer was not sent: %s", error)

    def _answer_to(self, operator: str, session: str) -> zenoh.Publisher:
        """Its operator never has more commands on their way than there is room for answers, so none is dropped while it listens."""
        return self.bus.session.zenoh.declare_publisher(
            key.of(self._robot, "answer", key.word(operator), key.word(session)),
            priority=zenoh.Priority.INTERACTIVE_HIGH,
            congestion_control=zenoh.CongestionControl.DROP,
            allowed_destination=zenoh.Locality.REMOTE,
        )

    def _say(self, query: zenoh.Query, what: Any, name: str = "") -> None:
        try:
            with query:
                query.reply(name or query.key_expr, encode(what), express=True)
        except Exception as error:  # whoever asked is gone, or the session is closed
            log.debug("nobody hears the answer: %s", error)


def _head(query: zenoh.Query) -> AskHead:
    return decode(read_payload(query.payload, LARGEST_REQUEST), AskHead)  # type: ignore[no-any-return]
