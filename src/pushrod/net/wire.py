"""What is sent: msgpack of the same structs that travel within a process, each with the name of its type.

Whoever receives knows types by name (`Kinds`); it never imports what a sender names. What it does not know arrives as `Foreign`.
"""

from collections.abc import Callable, Iterable
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Raw, Struct

from pushrod.runtime import message as messages
from pushrod.runtime.message import Command, Message, Outcome
from pushrod.runtime.payload import Payload, Waypoint
from pushrod.runtime.result import Accepted, Clamped, Refused, Result

PLAIN = {kind.__name__: kind for kind in (dict, list, str, int, float, bool, bytes, type(None))}


LARGEST_BATCH = 1024  # commands
Name = Annotated[str, Meta(max_length=128)]  # what a table is keyed by is bounded: types, sessions, buses
Id = Annotated[str, Meta(max_length=1024)]


class Foreign(Struct, frozen=True):
    """Something of a type this program does not know: its name, and what it holds as plain data."""

    kind: str
    data: Any


class Packed(Struct, frozen=True, gc=False, array_like=True):
    kind: Name
    data: Raw


class SentAccepted(Struct, frozen=True, gc=False, array_like=True, tag="a"):
    info: Any = None


class SentClamped(Struct, frozen=True, gc=False, array_like=True, tag="c"):
    asked: Packed
    done: Packed
    info: Any = None


class SentRefused(Struct, frozen=True, gc=False, array_like=True, tag="r"):
    reason: str
    actuator: str
    command: str
    advice: str
    detail: str = ""


class Failure(Struct, frozen=True, gc=False, array_like=True, tag="e"):
    """An error that the host raised: its class, its text, and its list of problems where it has one."""

    kind: str
    text: str
    problems: tuple[str, ...] = ()


class Value(Struct, frozen=True, gc=False, array_like=True, tag="v"):
    value: Any = None


SentResult = SentAccepted | SentClamped | SentRefused
Answer = SentAccepted | SentClamped | SentRefused | Failure | Value


class Reply(Struct, frozen=True, gc=False, array_like=True):
    """The answer to a query."""

    answer: Answer


class Answered(Struct, frozen=True, gc=False, array_like=True):
    """The answer to a command; `epoch` is the arming of the actuator, so that who asks next can say under which arming."""

    number: int
    answer: Answer
    epoch: int = 0


class CommandAsk(Struct, frozen=True, gc=False, array_like=True):
    """A command for one actuator. `number` counts what its session asked for; `sent` and `origin` are in the host's clock, within `doubt` [s]."""

    session: Name
    number: int
    sent: float
    doubt: float
    payload: Packed
    origin: float
    validity: float
    sequence: int
    priority: int
    epoch: int
    id: Id | None
    announce: bool
    timeout: float


class BatchAsk(Struct, frozen=True, gc=False, array_like=True):
    """Several commands as one: (address, payload, id)."""

    session: Name
    number: int
    sent: float
    doubt: float
    commands: Annotated[tuple[tuple[str, Packed, Id | None], ...], Meta(max_length=LARGEST_BATCH)]
    validity: float

    @property
    def origin(self) -> float:
        return self.sent


class Ask(Struct, frozen=True, array_like=True):
    """Anything else: what, and with which arguments, as plain data."""

    session: Name
    number: int
    sent: float
    doubt: float
    arguments: dict[str, Any] = {}


class AskHead(Struct, frozen=True, gc=False, array_like=True):
    """An `Ask` as its host reads it: the arguments stay encoded until the request is carried out."""

    session: Name
    number: int
    sent: float
    doubt: float
    arguments: Raw = Raw(b"\x80")


class SentOutcome(Struct, frozen=True, gc=False, array_like=True):
    payload: Packed
    source: str
    origin: float
    validity: float
    sequence: int
    priority: int
    epoch: int
    id: str | None
    result: SentResult


class Frame(Struct, frozen=True, gc=False, array_like=True):
    """A message; its robot, type and topic are in its key. `n` counts what `bus` sent under that key."""

    bus: Name
    n: int
    time: float
    wall_time: float
    source: str
    frame: str
    body: Raw


class Hello(Struct, frozen=True):
    """Who is there. `told` is a Description, to whoever speaks the same schema; `where` the host's computer and process, for people."""

    schema: int
    version: str
    robot: str
    fingerprint: str
    instance: str
    told: Raw = Raw(b"\xc0")
    where: str = ""


def _other(x: Any) -> Any:
    """What msgpack has no word for: numbers and arrays of numpy, sets, and the text of all else."""
    if callable(tolist := getattr(x, "tolist", None)):
        return tolist()
    return list(x) if isinstance(x, (set, frozenset)) else repr(x)


_encoder = msgspec.msgpack.Encoder(enc_hook=_other)
encode = _encoder.encode
_decoders: dict[Any, msgspec.msgpack.Decoder[Any]] = {}


UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)  # what bytes of any content may raise


def decode(data: bytes | Raw, kind: Any) -> Any:
    """One of UNREADABLE where it is not of this type."""
    decoder = _decoders.get(kind)
    if decoder is None:
        decoder = _decoders[kind] = msgspec.msgpack.Decoder(kind)
    return decoder.decode(data)


def pack(x: Any) -> Packed:
    return Packed(type(x).__name__, Raw(encode(x)))


class Kinds:
    """Types by name: the runtime's own, every payload class this program has loaded, and those it was told of.

    A name that two payload classes have means neither, unless it was told of one.
    """

    def __init__(self, told: Iterable[type] = ()) -> None:
        own = [x for x in vars(messages).values() if isinstance(x, type) and issubclass(x, Struct) and x is not Struct]
        self._known: dict[str, Any] = PLAIN | {kind.__name__: kind for kind in own} | {"Waypoint": Waypoint}
        self.add(told)

    def add(self, kinds: Iterable[type]) -> None:
        self._known |= {kind.__name__: kind for kind in kinds}

    def find(self, name: str) -> Any:
        found = self._known.get(name)
        if found is None and len(loaded := [kind for kind in _below(Payload) if kind.__name__ == name]) == 1:
            found = self._known[name] = loaded[0]
        return found

    def unpack(self, packed: Packed) -> Any:
        return self.read(packed.kind, packed.data)

    def read(self, name: str, data: bytes | Raw) -> Any:
        """What was sent, as its type; as Foreign where that is not known or is another one here."""
        kind = self.find(name)
        if kind is Outcome:
            return self._outcome(decode(data, SentOutcome))
        try:
            if kind is not None:
                return decode(data, kind)
        except msgspec.ValidationError:
            pass
        return Foreign(name, decode(data, Any))

    def result(self, sent: SentResult, own: type | None = None) -> Result:
        """`own` is the type of what was sent, which a clamped one most likely is of too."""
        if type(sent) is SentAccepted:
            return Accepted(sent.info)
        if type(sent) is SentClamped:
            kinds = self if own is None or self._known.get(own.__name__) is own else Kinds([own])
            return Clamped(kinds.unpack(sent.asked), kinds.unpack(sent.done), sent.info)
        assert type(sent) is SentRefused
        return Refused(sent.reason, sent.actuator, sent.command, sent.advice, sent.detail)

    def message(self, frame: Frame, robot: str, kind: str, topic: tuple[str, ...]) -> Message:
        return Message(self.read(kind, frame.body), topic, frame.time, frame.wall_time, robot, frame.source, frame.frame)

    def _outcome(self, o: SentOutcome) -> Outcome:
        command = Command(self.unpack(o.payload), o.source, o.origin, o.validity, o.sequence, o.priority, o.epoch, o.id)
        return Outcome(command, self.result(o.result))


def sent_result(result: Result) -> SentResult:
    if type(result) is Accepted:
        return SentAccepted(result.info)
    if type(result) is Clamped:
        return SentClamped(pack(result.asked), pack(result.done), result.info)
    assert type(result) is Refused
    return SentRefused(result.reason, result.actuator, result.command, result.advice, result.detail)


def body_of(payload: Any) -> bytes:
    """A message's payload."""
    if type(payload) is not Outcome:
        return encode(payload)
    c = payload.command
    return encode(SentOutcome(pack(c.payload), c.source, c.origin, c.validity, c.sequence, c.priority, c.epoch, c.id, sent_result(payload.result)))


def _below(kind: Any) -> Iterable[Any]:
    for child in kind.__subclasses__():
        yield child
        yield from _below(child)


Find = Callable[[str], Any]
