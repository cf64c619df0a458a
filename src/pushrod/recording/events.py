"""What a person wants to read of a run, a line each: transitions, errors, refusals, changes of parameters, what the recording itself has to say."""

from typing import Any

import msgspec

from pushrod.log.encodable import encodable
from pushrod.recording.schema import LOG
from pushrod.recording.sink import Sink
from pushrod.runtime.asked import SAFETY, safety_request_text
from pushrod.runtime.message import Command, HardwareError, Message, OperatorVanished, ParameterChanged, Requested, Transition
from pushrod.runtime.result import Refused

INFO, WARNING, ERROR = 2, 3, 4  # levels of foxglove.Log
LONGEST = 4000  # characters of a line
QUIET = 10**9  # [ns] between two lines about refusals of one actuator for one reason
ALARMING = ("error", "estopped")
_encode = msgspec.json.Encoder().encode


def stamp(ns: int) -> dict[str, int]:
    return {"sec": ns // 10**9, "nsec": ns % 10**9}


class Events:
    """The topic /events. It must be the first topic of a log."""

    def __init__(self, sink: Sink, metadata: dict[str, str]) -> None:
        self._sink = sink
        self._channel = sink.open("/events", "foxglove.Log", LOG, metadata)
        self._told: dict[tuple[str, str], tuple[int, int]] = {}  # of refusals: when [ns], and how many were not told since

    def put(self, ns: int, level: int, name: str, text: str) -> None:
        """Write a line. Foreign texts are made encodable first: a lone surrogate must not lose the event."""
        event = {"timestamp": stamp(ns), "level": level, "message": encodable(text, LONGEST), "name": encodable(name, LONGEST), "file": "", "line": 0}
        self._sink.put(self._channel, ns, _encode(event))

    def message(self, ns: int, message: Message) -> bool:
        """Whether it is one that must be on the disk at once."""
        payload: Any = message.payload
        if type(payload) is Transition:
            why = f": {payload.why}" if payload.why else ""
            self.put(ns, ERROR if payload.to in ALARMING else INFO, "safety", f"{payload.from_} -> {payload.to}{why}")
        elif type(payload) is HardwareError:
            self.put(ns, ERROR, "/".join(payload.path), payload.error)
        elif type(payload) is Requested and message.topic == SAFETY:
            self.put(ns, INFO if payload.result == "accepted" else WARNING, "safety", safety_request_text(payload))
        elif type(payload) is OperatorVanished:
            self.put(ns, WARNING, "operator", payload.told)
        elif type(payload) is ParameterChanged:
            self.put(ns, INFO, payload.path, f"{payload.path}: {payload.old!r} -> {payload.new!r}, by {payload.source}")
            return False
        return True

    def refusal(self, ns: int, command: Command, result: Refused) -> None:
        key = result.actuator, result.reason
        then, unsaid = self._told.get(key, (-QUIET, 0))
        if ns - then < QUIET:
            self._told[key] = then, unsaid + 1
            return
        self._told[key] = ns, 0
        more = f" ({unsaid} more since the last such line)" if unsaid else ""
        self.put(ns, WARNING, result.actuator, f"{result} (sent by {command.source}){more}")
