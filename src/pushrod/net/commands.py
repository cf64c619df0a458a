"""Commands that came over the network, on their way to the gate: read, refused where the network has something against them, and answered.

    on the list -> connected -> newer than the last -> of a declared type -> the gate

`tell` is handed to whoever answers, now or from the thread of a driver that blocks; it is called once.
"""

import logging
from collections.abc import Callable
from typing import Any

import msgspec

from pushrod.net.operators import Operators
from pushrod.net.quiet import Quiet
from pushrod.net.sent_time import AHEAD, duration_problem
from pushrod.net.wire import Answer, BatchAsk, CommandAsk, Failure, Packed, decode, sent_result
from pushrod.robot.path import find
from pushrod.runtime.host import Host
from pushrod.runtime.message import Command
from pushrod.runtime.payload import Hold, Stop
from pushrod.runtime.result import Refused, Result, refused
from pushrod.runtime.runtime import Runtime

log = logging.getLogger("pushrod.net")
QUIET = 1.0  # [s] between two lines in the log about one operator's refusals of one kind
WAIT = 3600.0  # [s] that a driver may be waited for
Tell = Callable[[Answer, int], None]  # with the epoch of the actuator


class Commands:
    def __init__(self, rt: Runtime, operators: Operators) -> None:
        self._rt = rt
        self._operators = operators
        self._quiet = Quiet(QUIET)

    def one(self, operator: str, host: Host, ask: CommandAsk, tell: Tell) -> None:
        seat = self._operators.seat(operator, ask.session) or operator
        refusal = self._refusal(ask, operator, seat, host, ask.payload.kind)
        payload = refusal or self._payload(ask.payload, host)
        if isinstance(payload, Refused):
            host.gate.count(payload.reason)
            tell(sent_result(payload), host.gate.epoch)
            return
        epoch, now = ask.epoch or host.gate.epoch, self._rt.clock.now()
        if ask.payload.kind == Stop.__name__:  # it acts whatever times its envelope holds
            command = Command(payload, seat, now, 0.0, ask.sequence, ask.priority, epoch, ask.id)
        else:
            command = Command(payload, seat, _origin(ask), ask.validity, ask.sequence, ask.priority, epoch, ask.id)
        if host.slot is None:
            _settle(ask, host, command, host.gate(command), tell)
        else:
            self._wait(ask, host, command, tell)

    def several(self, operator: str, ask: BatchAsk) -> list[Result]:
        paths = {name: host.path for name, host in self._rt.hosts.items()}
        hosts = [self._rt.hosts[find(paths, address)[-1]] for address, _, _ in ask.commands]
        age, seat = self._rt.clock.now() - _origin(ask), self._operators.seat(operator, ask.session) or operator
        read: list[Any] = []
        first: set[str] = set()  # actuators that a command before this one is for
        for host, (_, packed, _) in zip(hosts, ask.commands, strict=True):
            stale = _known(ask, refused("stale", host.name, packed.kind, f"{age:.3f} s old, valid for {ask.validity:g} s"))
            late = stale if ask.validity and age > ask.validity else None
            read.append(self._refusal(ask, operator, seat, host, packed.kind, host.name in first) or late or self._payload(packed, host))
            first.add(host.name)
        wrong = next((one for one in read if isinstance(one, Refused)), None)
        if wrong is not None:
            others = f"{wrong.actuator} was refused"
            for host, one in zip(hosts, read, strict=True):
                if isinstance(one, Refused):
                    host.gate.count(one.reason)
            return [
                one if isinstance(one, Refused) else refused("batch", host.name, type(one).__name__, others)
                for host, one in zip(hosts, read, strict=True)
            ]
        ids = [id for _, _, id in ask.commands]
        told: list[Any] = [(host.path, one, id)[: 2 if id is None else 3] for host, one, id in zip(hosts, read, ids, strict=True)]
        return self._rt.send(told, seat, ask.validity - age if ask.validity else 0.0)

    def noted(self, who: str, answer: Refused) -> Refused:
        """Log a refusal, once per operator, reason and kind of command within QUIET, and return it."""
        if self._quiet.is_due((who, answer.reason, answer.command)):
            log.warning("operator %s: %s", who, answer)
        return answer

    def _refusal(self, ask: CommandAsk | BatchAsk, operator: str, seat: str, host: Host, kind: str, again: bool = False) -> Refused | None:
        """`again`: it is not the first of one batch for this actuator."""
        why = self._operators.why_not(operator, ask.session)
        if why:
            return self.noted(seat, refused("access", host.name, kind, why))
        last = 0 if again else self._operators.newest(ask.session, host.name, ask.number)
        if last and kind != Stop.__name__:  # a late stop acts
            return self.noted(seat, refused("sequence", host.name, kind, f"got number {ask.number} of session {ask.session} after {last}"))
        if kind == Stop.__name__:
            return None
        problem = self._operators.time_problem(ask.sent, ask.doubt)
        if problem:
            return self.noted(seat, refused(problem[0], host.name, kind, problem[1]))
        invalid = duration_problem("validity", ask.validity)
        if isinstance(ask, CommandAsk) and not ask.timeout >= 0.0:
            invalid = f"timeout = {ask.timeout!r} s; allowed are times that are not negative"
        if invalid:
            return self.noted(seat, refused("malformed", host.name, kind, invalid))
        now = self._rt.clock.now()
        if ask.validity and not ask.origin - ask.doubt <= now + AHEAD:
            ahead = f"dated {ask.origin - now:.3f} s ahead of the host's clock"
            return self.noted(seat, _known(ask, refused("stale", host.name, kind, ahead)))
        return None

    def _payload(self, packed: Packed, host: Host) -> Any:
        """As the type of that name which the driver declares; nothing else is ever made of what came in."""
        kinds = {kind.__name__: kind for kind in host.gate.payloads}
        if packed.kind not in kinds:
            return refused("unsupported", host.name, packed.kind, f"it accepts {', '.join(sorted(kinds))}")
        try:
            return decode(packed.data, kinds[packed.kind])
        except msgspec.DecodeError as error:
            return refused("malformed", host.name, packed.kind, str(error))

    def _wait(self, ask: CommandAsk, host: Host, command: Command, tell: Tell) -> None:
        """A driver that blocks: the answer comes from its thread, or when the time is up."""
        slot, given = host.slot, [False]
        assert slot is not None

        def answer(result: Result) -> None:
            late, given[0] = given[0], True
            if not late:
                _settle(ask, host, command, result, tell)
            elif ask.announce:
                host.announce(command, result)

        permit = host.gate.permit
        entry = slot.put(permit, host.gate.prepare(command), answer)

        def time_is_up() -> None:
            assert entry is not None
            if given[0]:
                return
            if slot.withdraw(entry):
                answer(host.gate.refuse("withdrawn", command, f"not started within {ask.timeout:g} s"))
            elif not given[0]:
                given[0] = True
                what = f"{host.name} has not come back from {ask.payload.kind} within {ask.timeout:g} s"
                tell(Failure("CommandTimeout", f"{what}: the outcome is unknown; look at the actuator, or disarm"), host.gate.epoch)

        if entry is not None:
            self._rt.clock.later(min(ask.timeout, WAIT), time_is_up)


def _settle(ask: CommandAsk, host: Host, command: Command, result: Result, tell: Tell) -> None:
    """Refusals, stops and holds concern everybody who looks on, whoever asked and how: a page that repeats a command must see that it was ended."""
    if ask.announce or type(result) is Refused or type(command.payload) in (Stop, Hold):
        host.announce(command, result)
    tell(sent_result(_known(ask, result) if type(result) is Refused and result.reason == "stale" else result), host.gate.epoch)


def _known(ask: CommandAsk | BatchAsk, stale: Refused) -> Refused:
    """With how well the clocks are known to agree."""
    detail = f"{stale.detail}, with the clocks known to agree within {ask.doubt:.2g} s"
    return Refused(stale.reason, stale.actuator, stale.command, stale.advice, detail)


def _origin(ask: CommandAsk | BatchAsk) -> float:
    """In doubt it is the older."""
    return ask.origin - max(ask.doubt, 0.0) if ask.validity else ask.origin
