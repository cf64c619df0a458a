"""What is written of a runtime that no message says by itself: a command and what became of it, a loop and its timing, the recording's own counts."""

from typing import Any

from msgspec import Struct

from pushrod.recording.schema import Schema, properties, struct_schema, units_of
from pushrod.runtime.cadence import Cadence
from pushrod.runtime.host import Host
from pushrod.runtime.message import Command
from pushrod.runtime.result import Clamped, Refused, Result


class CommandRecord(Struct, frozen=True, gc=False):
    """A command, whichever way it came, and what became of it: accepted, clamped to `done`, or refused for a reason."""

    kind: str
    payload: Any
    source: str
    origin: float
    validity: float
    sequence: int
    priority: int
    id: str | None
    epoch: int
    result: str
    done: Any
    reason: str | None
    detail: str | None
    info: Any


class LoopRecord(Struct, frozen=True, gc=False):
    """How a loop has kept its time so far: how late its calls began, periods without a call, the longest wait, how long its calls took."""

    name: str
    ticks: int
    missed: int
    p50: float
    p99: float
    worst: float
    delay: float
    call_p99: float
    bins: dict[str, int]


class CountRecord(Struct, frozen=True, gc=False):
    """Messages that were handed to the writer, that found no room and are not in the log, and that wait."""

    written: int
    dropped: int
    queued: int


def command_record(command: Command, result: Result) -> CommandRecord:
    kind = type(result)
    refused = kind is Refused
    return CommandRecord(
        type(command.payload).__name__,
        command.payload,
        command.source,
        command.origin,
        command.validity,
        command.sequence,
        command.priority,
        command.id,
        command.epoch,
        "refused" if refused else "clamped" if kind is Clamped else "accepted",
        result.done if isinstance(result, Clamped) else None,
        result.reason if isinstance(result, Refused) else None,
        result.detail if isinstance(result, Refused) else None,
        None if isinstance(result, Refused) else result.info,
    )


def command_schema(host: Host) -> Schema:
    """With all that its driver takes, in the units of its joint."""
    units = units_of(host.joint.kind)
    fields: Schema = {}
    for kind in sorted(host.gate.payloads, key=lambda kind: kind.__name__):
        fields |= properties(kind, units)
    made = struct_schema(CommandRecord, units, f"{host.name} command")
    payload = {"type": "object", "properties": fields}
    made["properties"] |= {"payload": payload, "done": payload, "result": {"type": "string", "enum": ["accepted", "clamped", "refused"]}}
    return made


def loop_record(cadence: Cadence) -> LoopRecord:
    t = cadence.timing()
    bins = {f"{edge * 1e-3:.6g}": n for edge, n in cadence.late.filled()}
    return LoopRecord(t.name, t.ticks, t.missed, t.p50, t.p99, t.worst, t.delay, t.call_p99, bins)


def loop_schema() -> Schema:
    made = struct_schema(LoopRecord, units_of(), "loops")
    made["properties"]["bins"] = {"type": "object", "description": "how many calls began how late: upper edge [us] and count"}
    return made
