"""From what a runtime says to the topics of a log: each kind of message has its topic and its schema, opened when the first of it comes.

    commands                 /actuator/<path>/command        joint states of actuators   /joint_states
    requests to a part       /<topic>/request
    transitions              /safety                         hardware errors             /safety/error
    operators that vanished  /operator
    changes of parameters    /param                          a pipeline                  ACTUATOR_REQ, ACTUATOR_CMD, ESC_OUTPUT, MIXER_FEEDBACK
    everything else          /<topic>/<Kind>
Records (NamedTuples of numbers with units) go as rows; the rest is encoded here, one small call each, so that the interpreter is never kept for long.

A message that cannot be written (text that UTF-8 cannot encode, a payload whose methods raise, nesting without end, more than LARGEST bytes) is
dropped and counted in `lost`. The first one is reported, in the log and in the log file; all others are written.
"""

import logging
import struct
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from operator import attrgetter
from typing import Any

import msgspec

from pushrod.core.record import is_record, numbers
from pushrod.log.encodable import encodable
from pushrod.log.row import Shape, shape_of
from pushrod.log.schema import topic_schema
from pushrod.pipeline.names import TOPICS
from pushrod.recording.events import WARNING, Events, stamp
from pushrod.recording.record import CountRecord, command_record, command_schema, loop_record, loop_schema
from pushrod.recording.schema import JOINT_STATES, LOG, Schema, struct_schema, titled, units_of
from pushrod.recording.sink import Sink
from pushrod.runtime.asked import SAFETY
from pushrod.runtime.cadence import Cadence
from pushrod.runtime.host import Host
from pushrod.runtime.message import Command, HardwareError, JointState, Message, OperatorVanished, Outcome, ParameterChanged, Requested, Transition
from pushrod.runtime.result import Refused, Result
from pushrod.runtime.stop import reason_text

Put = Callable[[int, Any], None]  # (time [ns], payload)
Rows = tuple[str, Any, Mapping[str, int], int]  # a topic, its record, the place of each of its numbers in the row, ns to add to the time
FIXED: dict[type, str] = {Transition: "/safety", HardwareError: "/safety/error", ParameterChanged: "/param", OperatorVanished: "/operator"}
TOLD = frozenset(FIXED)
LARGEST = 4 * 1024 * 1024  # bytes of one message
CHANNELS = 4096  # topics of one log; messages of further ones are dropped
LATEST = 2**63  # [ns]
log = logging.getLogger("pushrod.recording")
MEASURED = ("position", "velocity", "effort")
_encode = msgspec.json.Encoder(enc_hook=str).encode


class Topics:
    """`offset` [ns] makes the times of the runtime's clock those of the log. `skipped`: topics that somebody else writes."""

    def __init__(self, sink: Sink, hosts: Iterable[Host], offset: int, skipped: Iterable[str] = ()) -> None:
        self._sink = sink
        self._offset = offset
        self._skipped = frozenset(skipped)
        self._taken: set[str] = {"/events"}
        self.events = Events(sink, _units(LOG))
        self._hosts = {host.topic: host for host in hosts}
        self._joint_units = _joint_units(self._hosts.values())
        self._commands: dict[str, int] = {}
        self._puts: dict[tuple[tuple[str, ...], type], Put] = {}
        self._joints: int | None = None
        self._loops: int | None = None
        self._counts: int | None = None
        self._latest = max(offset, 0)  # [ns] of the message written last
        self.lost = 0  # messages that could not be written

    @property
    def written(self) -> int:
        """Messages so far."""
        return self._sink.count

    def ns(self, t: float) -> int:
        ns = round(t * 1e9) + self._offset
        if not 0 <= ns < LATEST:
            raise ValueError(f"the time {t!r} s is outside of what a log can hold")
        self._latest = ns
        return ns

    def message(self, message: Message) -> None:
        kind = type(message.payload)
        if kind is Outcome:
            return  # the gate has reported the command
        try:
            self._message(message, kind)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # SystemExit too: a payload's own methods may raise anything
            self._lose(f"a {kind.__name__} on {'/'.join(map(str, message.topic))}", error)
        if kind in TOLD or message.topic == SAFETY:
            try:
                if self.events.message(self.ns(message.time), message):
                    self._sink.flush()
            except Exception as error:
                self._lose(f"the event of a {kind.__name__}", error)

    def _message(self, message: Message, kind: type) -> None:
        ns = self.ns(message.time)
        put = self._puts.get((message.topic, kind))
        if put is None:
            if len(self._puts) >= CHANNELS:
                raise LookupError(f"a log holds at most {CHANNELS} topics")
            put = self._puts[message.topic, kind] = self._open(message.topic, kind)
        put(ns, message.payload)

    def command(self, host: Host, command: Command, result: Result, at: float) -> None:
        try:
            ns = self.ns(at)
            channel = self._commands.get(host.name)
            if channel is None:
                channel = self._commands[host.name] = self._channel(f"/actuator/{host.name}/command", command_schema(host))
            self._put(channel, ns, _encode(command_record(command, result)))
            if isinstance(result, Refused):
                self.events.refusal(self._latest, command, result)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            self._lose(f"a command to {host.name}", error)

    def _put(self, channel: int, ns: int, message: bytes) -> None:
        if len(message) > LARGEST:
            raise ValueError(f"{len(message)} bytes; a log takes messages up to {LARGEST} bytes")
        self._sink.put(channel, ns, message)

    def _lose(self, what: str, error: BaseException) -> None:
        """Count a message that cannot be written; report the first one."""
        self.lost += 1
        if self.lost > 1:
            return
        text = encodable(f"{what} cannot be written to the log and is dropped, as are others like it: {reason_text(error)}", 500)
        log.warning("%s", text)
        with suppress(Exception):
            self.events.put(self._latest, WARNING, "recording", text)

    def rows(self, parts: Iterable[Rows]) -> int:
        """Topics that are made out of one row of numbers; gives what `row` takes."""
        made = []
        for name, record, places, offset in parts:
            channel = self._channel(name, topic_schema(record, name.strip("/")))
            made.append((channel, _placed(shape_of(record), [places[leaf.path] for leaf in numbers(record)]), offset))
        return self._sink.open_rows(made)

    def row(self, rows: int, at: float, row: bytes) -> None:
        try:
            self._sink.put_row(rows, self.ns(at), row)
        except ValueError as error:
            self._lose("a tick", error)

    def loop(self, at: float, cadence: Cadence) -> None:
        if self._loops is None:
            self._loops = self._channel("/loops", loop_schema())
        try:
            self._put(self._loops, self.ns(at), _encode(loop_record(cadence)))
        except ValueError as error:
            self._lose("the timing of a loop", error)

    def counts(self, at: float, dropped: int, queued: int) -> None:
        if self._counts is None:
            self._counts = self._channel("/recording", struct_schema(CountRecord, {}, "recording"))
        self._sink.put(self._counts, self.ns(at), _encode(CountRecord(self.written + 1, dropped, queued)))

    def _open(self, topic: tuple[str, ...], kind: type) -> Put:
        """How messages of a kind at a topic are written."""
        name = FIXED.get(kind, f"/{'/'.join(topic)}" + ("" if kind is Requested else f"/{kind.__name__}"))
        name = "/safety/request" if topic == SAFETY else name
        if topic[-1:] and topic[-1] in TOPICS and topic[-1] not in self._taken:
            name = topic[-1]
            self._taken.add(name)
        if name in self._skipped:
            return _nothing
        if kind is JointState:
            return self._open_joints(name if topic[0] != "actuator" else "/joint_states")
        if is_record(kind) and (put := self._open_record(name, kind)):
            return put
        host = self._hosts.get(topic)
        schema = (
            struct_schema(kind, units_of(host.joint.kind if host else ""), name.strip("/"))
            if issubclass(kind, msgspec.Struct)
            else titled(name.strip("/"), {})
        )
        channel = self._channel(name, schema)
        return lambda ns, payload: self._put(channel, ns, _encode(_plain(payload)))

    def _open_record(self, name: str, kind: Any) -> Put | None:
        """Its numbers as a row; None for a tuple whose fields have no units."""
        try:
            paths = [leaf.path for leaf in numbers(kind)]
        except TypeError:
            return None
        rows = self.rows([(name, kind, {path: i for i, path in enumerate(paths)}, 0)])
        get, pack = attrgetter(*paths), struct.Struct(f"{len(paths)}d").pack
        if len(paths) == 1:
            return lambda ns, payload: self._sink.put_row(rows, ns, pack(get(payload)))
        return lambda ns, payload: self._sink.put_row(rows, ns, pack(*get(payload)))

    def _open_joints(self, name: str) -> Put:
        if name == "/joint_states" and self._joints is not None:
            channel = self._joints
        else:
            name.encode()  # as in `_channel`
            channel = self._sink.open(name, "foxglove.JointStates", JOINT_STATES, _told(self._joint_units))
            if name == "/joint_states":
                self._joints = channel

        def put(ns: int, payload: JointState) -> None:
            self._put(channel, ns, _encode({"timestamp": stamp(ns), "joints": _joints(payload)}))

        return put

    def _channel(self, topic: str, schema: Schema, name: str = "") -> int:
        topic.encode()  # raises here, where one message is lost, and not in the writer
        return self._sink.open(topic, name or schema["title"], schema, _units(schema))


def _joints(state: JointState) -> list[dict[str, Any]]:
    given = [(name, values) for name, values in (("position", state.positions), ("velocity", state.velocities), ("effort", state.efforts)) if values]
    return [{"name": joint, **{name: values[i] for name, values in given}} for i, joint in enumerate(state.names)]


def _placed(shape: Shape, places: list[int]) -> Shape:
    """The same object with its numbers elsewhere in the row."""
    return {name: places[at] if isinstance(at, int) else _placed(at, places) for name, at in shape.items()}


def _plain(payload: Any) -> Any:
    return payload._asdict() if is_record(type(payload)) else payload if isinstance(payload, (msgspec.Struct, dict)) else {"value": payload}


def _nothing(ns: int, payload: Any) -> None:
    return


def _joint_units(hosts: Iterable[Host]) -> dict[str, str]:
    """By "<joint>.position" and so on: the schema, which is the same for every robot, can only say "rad or m"."""
    return {f"{host.joint.name}.{name}": unit for host in hosts for name, unit in units_of(host.joint.kind).items() if name in MEASURED}


def _units(schema: Schema) -> dict[str, str]:
    """By the path of each number, as text: what a channel of a log says of its units."""
    found: dict[str, str] = {}

    def walk(properties: Schema, prefix: str) -> None:
        for name, one in properties.items():
            if "unit" in one:
                found[prefix + name] = one["unit"]
            walk(one.get("properties", {}), f"{prefix}{name}.")

    walk(schema["properties"], "")
    return _told(found)


def _told(units: Mapping[str, str]) -> dict[str, str]:
    """As metadata of a channel."""
    return {"units": msgspec.json.encode(units).decode()}
