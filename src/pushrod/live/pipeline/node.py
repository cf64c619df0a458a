"""A pipeline that runs: a controller node that takes requests, steps the pipeline's model at a fixed rate and drives the motors through their gates.

In every tick
    the sources and their ages, the mode and the arming go in;  the compiled step of the model gives the outputs
    all motors are sent their `Throttle` as one: all of them or none
    what the gates made of it goes into the achieved values, which are published with all else

Nothing is sent to a motor that is not armed: its disarm function takes it to rest, and the pipeline's own outputs go to rest beside it. After
arming the pipeline starts from rest. Where a gate refuses (another commander holds a motor), the whole pipeline goes to rest, motor by motor as
far as they obey, and stays there until all obey again. When whoever switched last from elsewhere has vanished, the mode is idle.
"""

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import msgspec

from pushrod.compiled.stepper import Stepper
from pushrod.core.errors import InputError, ParameterError
from pushrod.core.model import Model
from pushrod.core.names import find, unknown
from pushrod.core.record import flat, unflat
from pushrod.live.payload import Throttle
from pushrod.live.pipeline.ownership import Rules, switch
from pushrod.live.pipeline.request import ASKING, Announce, Heard, Status, Switch, Switched, values_of
from pushrod.live.plain_request import understood
from pushrod.live.thruster import ThrusterState
from pushrod.pipeline.names import REASONS, SOURCES
from pushrod.runtime.bus import topic_of
from pushrod.runtime.driver import Context, Forsaken
from pushrod.runtime.message import Message
from pushrod.runtime.result import Clamped, Refused, Result

log = logging.getLogger("pushrod.pipeline")
Outputs = tuple[float, ...]


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """motors: their addresses, in the order of the outputs. hz: ticks a second. act: parameters, as far as they are not the defaults.

    topics: where each source is heard, if not at ACTUATOR_REQ/<source>. rules: who may switch. lease: nobody else may command the motors.
    """

    motors: tuple[str, ...]
    hz: float = 100.0
    act: dict[str, Any] = {}
    topics: dict[str, str] = {}
    rules: Rules = Rules()
    lease: bool = True

    def __post_init__(self) -> None:
        wrong = [*self.wrong()]
        if wrong:
            raise ValueError("\n".join(wrong))

    def wrong(self) -> Iterator[str]:
        """All that is wrong with them."""
        if not 0.0 < self.hz <= 1e4:
            yield f"hz = {self.hz!r}: allowed are numbers above 0, up to 10000"
        for source in self.topics:
            if source not in ASKING:
                yield unknown(dict.fromkeys(ASKING), source, "source")
        yield from refusal(self.params)

    @property
    def dt(self) -> float | None:
        return 1.0 / self.hz if 0.0 < self.hz <= 1e4 else None

    def params(self) -> Any:
        """The parameters of the model; ParameterError says all that is wrong with them."""
        raise NotImplementedError


def refusal(read: Callable[[], object]) -> tuple[str, ...]:
    """What is said against parameters when they are read; nothing where they are sound."""
    try:
        read()
    except ParameterError as e:
        return e.problems
    return ()


class PipelineNode(ABC):
    """What pipelines of two and of n motors have in common. `u` and `y` are records of the model."""

    model: ClassVar[Model]
    requests: ClassVar[tuple[type, ...]]
    rests_when_forsaken: ClassVar[bool] = True

    @staticmethod
    def tick_hz(options: Options) -> float:
        return options.hz

    @staticmethod
    def drives(options: Options) -> list[tuple[tuple[str | int, ...], str]]:
        """The actuators it commands, by where its options name them."""
        return [(("motors", i), address) for i, address in enumerate(options.motors)]

    @abstractmethod
    def neutral_requests(self, options: Any) -> dict[str, Heard]:
        """What each source is taken to ask before it has asked."""

    @abstractmethod
    def inputs(self, now: float, armed: bool) -> Any: ...

    @abstractmethod
    def outputs(self, y: Any) -> Outputs: ...

    @abstractmethod
    def owner(self, u: Any, y: Any) -> tuple[str, str]:
        """Whose request it is, and why it is neutral."""

    @abstractmethod
    def as_done(self, u: Any, y: Any, done: Outputs) -> Any:
        """What the step told, with these outputs in the place of its own."""

    @abstractmethod
    def state(self, done: Outputs) -> Any: ...

    @abstractmethod
    def topics(self, u: Any, y: Any) -> Iterator[tuple[str, Any]]: ...

    def init(self, context: Context, options: Any) -> None:
        self.context = context
        self.settings = options
        self.mode = "idle"
        self.heard = self.neutral_requests(options)
        self.health: Outputs = (1.0,) * len(options.motors)
        self.measured: list[float | None] = [None] * len(options.motors)
        self._motors = [context.actuator(address) for address in options.motors]
        self._check_motors()
        self.stepper = Stepper(self.model, options.params(), dt=1.0 / options.hz)
        self.stepper.warm()  # not in its first tick, while the robot is live
        self._epochs: tuple[int, ...] = (0,) * len(self._motors)
        self._done: Outputs = (0.0,) * len(self._motors)
        self._held = ""  # what a gate said, until all motors obey again
        self._status: Status | None = None
        self._miscounted = ""  # what was said last of a request with too few or too many numbers
        self._strays: set[tuple[str, str]] = set()  # topics and kinds of messages that are no requests, each told once
        self._at = {source: topic_of(options.topics.get(source, f"ACTUATOR_REQ/{source}")) for source in ASKING}
        for topic in self._at.values():
            context.listen(topic)
        for motor in self._motors:
            context.listen(motor.topic, (ThrusterState,), latched=True)
        context.publish(Switched(True, self.mode), "MODE")

    def handle_options(self, context: Context, options: Any) -> None:
        """A parameter has changed, and the set was checked as a whole. Called between two ticks: the next one runs with the new set."""
        if (options.hz, options.motors) != (self.settings.hz, self.settings.motors):
            log.warning("%s: motors and hz stay as they were when it was started", "/".join(context.path))
        self.context = context
        self.settings = options
        self.stepper.set_params(options.params())

    def handle_message(self, topic: tuple[str, ...], message: Message) -> None:
        payload = message.payload
        if type(payload) is ThrusterState:
            for j, motor in enumerate(self._motors):
                if motor.topic == topic:
                    self.measured[j] = payload.u
                    if payload.health is not None:
                        self.health = (*self.health[:j], payload.health, *self.health[j + 1 :])
        elif type(payload) in self.requests and payload.source in self._at and topic[: len(at := self._at[payload.source])] == at:
            now = self.context.now()
            self._hear(payload, now if message.time > now else message.time)  # a clock that is ahead makes no request last longer
        else:
            self._ignore(topic, payload)

    def handle_request(self, request: Any) -> Any:
        """A request of a source, a Switch, an Announce, or "status"; from elsewhere as plain data."""
        request = understood(request, (*self.requests, Switch, Announce))
        if type(request) is Switch:
            answer = switch(self.settings.rules, self.mode, request)
            return self._enter(answer, request.by)
        if type(request) is Forsaken:
            return self._forsaken(request.operator)
        if type(request) is Announce:
            if len(request.health) != len(self._motors) or not all(0.0 <= k <= 1.0 for k in request.health):
                raise InputError(f"health = {request.health!r}: one number from 0 to 1 for each of {', '.join(self.settings.motors)}")
            self.health = tuple(map(float, request.health))
            return None
        if request == "status":
            return self._status
        if type(request) in self.requests:
            find(self.heard, request.source, "source")
            if miscount := self._miscount(request):
                raise InputError(f"{miscount}; nothing was changed")
            self._hear(request, self.context.now())
            return None
        known = ", ".join(kind.__name__ for kind in (*self.requests, Switch, Announce))
        raise LookupError(f"a pipeline answers {known} and 'status', got {request!r}")

    def tick(self, now: float) -> None:
        epochs = tuple(motor.host.gate.epoch for motor in self._motors)
        armed = all(epochs)
        if armed and epochs != self._epochs:
            self._start()
        self._epochs = epochs
        u = self.inputs(now, armed and not self._held)
        stepper = self.stepper
        stepper.u[:] = flat(u, self.model.In)
        stepper.advance()
        y = unflat(self.model.Out, stepper.y.tolist())
        wanted = self.outputs(y)
        owner, reason = self.owner(u, y)
        done = self._drive(wanted, at_rest=owner == "NONE")
        if done != wanted:
            y = self.as_done(u, y, done)
            stepper.state = self.state(done)
        self._done = done
        for topic, record in self.topics(u, y):
            self.context.publish(record, topic)
        self._tell(Status(self.mode, owner, reason, armed, self._held))

    def _check_motors(self) -> None:
        for motor, address in zip(self._motors, self.settings.motors, strict=True):
            if Throttle not in motor.host.gate.payloads:
                raise InputError(
                    f"{address}: its driver takes no Throttle, so no pipeline can drive it; simulated, give it pushrod.live.thruster:Thruster"
                )
            if motor.host.slot is not None:
                raise InputError(f"{address}: its driver blocks, so it cannot act in the same tick as others; no pipeline can drive it")

    def _start(self) -> None:
        """Newly armed: from rest, and as the only commander."""
        self.stepper.state = self.model.State()
        self._done = (0.0,) * len(self._motors)
        self._held = ""
        if self.settings.lease:
            for motor in self._motors:
                motor.take_lease()

    def _drive(self, wanted: Outputs, at_rest: bool) -> Outputs:
        """Send the outputs; what the motors really do comes back."""
        if all(self._epochs):
            results = self.context.send(list(zip(self.settings.motors, map(Throttle, wanted), strict=True)))
            refused = [result for result in results if type(result) is Refused]
            if not refused:
                settled = wanted == self._done
                self._held = "" if at_rest and settled else self._held
                return tuple(map(_acted, results, wanted, wanted))
            self._hold(refused)
            if not at_rest:
                return tuple(map(_acted, results, wanted, self._done))
        # on the way to rest each goes alone: one that does not obey must not keep the others from it
        return tuple(
            _acted(motor.direct.send(Throttle(x)), x, last) if epoch else x
            for motor, epoch, x, last in zip(self._motors, self._epochs, wanted, self._done, strict=True)
        )

    def _hold(self, refused: list[Refused]) -> None:
        said = str(next((result for result in refused if result.reason != "batch"), refused[0]))
        if not self._held:
            log.warning("%s goes to rest: %s", "/".join(self.context.path), said)
            self.context.report_error(said)
        self._held = said

    def _miscount(self, request: Any) -> str:
        """What is wrong with the number of numbers of a request, if anything."""
        got, expected = len(values_of(request)), len(self.heard[request.source].values)
        what = "channels [us]" if request.source == "MANUAL" else "numbers"
        return "" if got == expected else f"{request.source} asks with {expected} {what}, one an axis, in their order; got {got}"

    def _hear(self, request: Any, time: float) -> None:
        values = values_of(request)
        if miscount := self._miscount(request):
            if miscount != self._miscounted:
                self.context.report_error(miscount)
            values = ()  # none of them is known to be meant for its axis
        self._miscounted = miscount
        expected = len(self.heard[request.source].values)
        self.heard[request.source] = Heard((*values, *(float("nan"),) * expected)[:expected], time)

    def _ignore(self, topic: tuple[str, ...], payload: Any) -> None:
        """Told once, but for what whoever asks tells besides, under a topic of its own below that of its requests."""
        place, kind = "/".join(topic), type(payload).__name__
        if type(payload) not in self.requests and topic not in self._at.values():
            return
        if (place, kind) not in self._strays:
            self._strays.add((place, kind))
            source = next((source for source, at in self._at.items() if topic[: len(at)] == at), "")
            meant = [request for request in self.requests if getattr(request, "source", "") == source] or self.requests
            self.context.report_error(f"a {kind} on {place} is no request of {source} and is ignored; send {meant[0].__name__}")

    def _enter(self, answer: Switched, by: str) -> Switched:
        if answer.ok and answer.mode != self.mode:
            log.info("%s: from %s to %s, by %s", "/".join(self.context.path), self.mode, answer.mode, by)
            self.mode = answer.mode
            self.context.publish(answer, "MODE")
        return answer

    def _forsaken(self, operator: str) -> bool:
        """Whether there was something to end. No rule is asked: nobody is there any more who could be told that he may not."""
        if self.mode in ("idle", "abort"):
            return False
        self._enter(Switched(True, "idle", f"{operator} has vanished"), operator)
        return True

    def _tell(self, status: Status) -> None:
        """What has changed."""
        old = self._status
        if status == old:
            return
        self._status = status
        self.context.publish(status, "STATUS")
        if status.reason in ("not_finite", "timeout", "no_pulse") and (old is None or old.reason != status.reason):
            what = f"the request of mode {status.mode} is neutral: {status.reason.replace('_', ' ')}"
            log.warning("%s: %s", "/".join(self.context.path), what)
            if status.reason == "not_finite":
                self.context.report_error(what)


def _acted(result: Result, wanted: float, last: float) -> float:
    """What a motor does after this answer."""
    if type(result) is Clamped:
        return float(result.done.u)
    return last if type(result) is Refused else wanted


def owner_words(src: float, reason: float) -> tuple[str, str]:
    return SOURCES[int(src)], REASONS[int(reason)]
