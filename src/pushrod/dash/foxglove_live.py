"""`python -m pushrod.dash.foxglove_live`: a robot for Foxglove to connect to, from a process of its own at the far end of the bus.

It only tells: joint states, commands and their outcome, outputs of a simulated world, pipeline topics, safety, events. Foxglove commands nothing.
"""

import asyncio
import logging
import sys
from collections.abc import Iterable
from typing import Any

import msgspec

from pushrod.core.errors import InputError, PushrodError
from pushrod.core.outlet import protect_streams, unblock_streams
from pushrod.dash.foxglove_sink import FoxgloveSink
from pushrod.dash.settings import Settings
from pushrod.dash.watch import HEARD, KINDS
from pushrod.live.world_sensor import WorldNow, WorldTold
from pushrod.net import RemoteRobot, connect
from pushrod.recording.record import CommandRecord, command_record
from pushrod.recording.schema import quantity, struct_schema, titled, units_of
from pushrod.recording.topics import Topics
from pushrod.runtime.message import BeginMotion, EndMotion, HardwareError, JointState, LeaseChanged, Message, Outcome, ParameterChanged, Transition
from pushrod.runtime.result import Refused

TYPES = (JointState, Outcome, Transition, HardwareError, ParameterChanged, LeaseChanged, BeginMotion, EndMotion, *HEARD)
PORT = 8765
AS = "foxglove"
QUEUE = 8192
_encode = msgspec.json.Encoder(enc_hook=str).encode


class Telling:
    """Messages of the bus, as topics of a log; times are those of the wall clock."""

    def __init__(self, sink: FoxgloveSink) -> None:
        self._sink = sink
        self._topics: Topics | None = None
        self._world: tuple[int, tuple[str, ...]] | None = None
        self._commands: dict[tuple[str, ...], int] = {}

    def take(self, message: Message) -> None:
        if self._topics is None:
            self._topics = Topics(self._sink, (), round((message.wall_time - message.time) * 1e9))
        kind, ns = type(message.payload), self._topics.ns(message.time)
        if kind is WorldTold:
            self._open_world(message.payload)
        elif kind is WorldNow:
            if self._world is not None and len(self._world[1]) == len(message.payload.values):
                self._sink.put(self._world[0], ns, _encode(nested(self._world[1], message.payload.values)))
        elif kind is Outcome:
            self._command(ns, message)
        else:
            self._topics.message(message)

    def _open_world(self, told: WorldTold) -> None:
        leaves = (quantity(unit, about) for unit, about in zip(told.units, told.abouts, strict=True))
        channel = self._sink.open("/out", "out", titled("out", objects(nested(told.names, leaves)), f"outputs of {told.world}"), {})
        self._world = channel, told.names

    def _command(self, ns: int, message: Message) -> None:
        outcome: Outcome = message.payload
        if message.topic not in self._commands:
            name = f"/actuator/{'/'.join(message.topic[1:])}/command"
            self._commands[message.topic] = self._sink.open(name, "command", struct_schema(CommandRecord, units_of(), "command"), {})
        self._sink.put(self._commands[message.topic], ns, _encode(command_record(outcome.command, outcome.result)))
        if isinstance(outcome.result, Refused) and self._topics is not None:
            self._topics.events.refusal(ns, outcome.command, outcome.result)


def nested(names: Iterable[str], values: Iterable[Any]) -> dict[str, Any]:
    """{"left": {"F": 1.0}} of left.F."""
    made: dict[str, Any] = {}
    for name, value in zip(names, values, strict=True):
        *groups, last = name.split(".")
        place = made
        for group in groups:
            place = place.setdefault(group, {})
        place[last] = value
    return made


def objects(tree: dict[str, Any]) -> dict[str, Any]:
    """The properties of a schema nested like this, whose leaves are schemas."""
    return {name: part if "type" in part else {"type": "object", "properties": objects(part)} for name, part in tree.items()}


async def tell(settings: Settings) -> None:
    """Until its standard input ends: whoever started it is gone then."""
    remote = await connect(settings.robot, settings.link, operator="" if settings.tls else AS, kinds=KINDS)
    try:
        sink = FoxgloveSink(settings.robot, settings.port)
    except Exception as error:
        await remote.close()
        raise InputError(f"Foxglove cannot connect at 127.0.0.1:{settings.port}: {error}; choose another with --foxglove-port, 0 for any") from error
    print(f"ws://127.0.0.1:{sink.port}", flush=True)
    hearing = asyncio.create_task(_hear(remote, Telling(sink)))
    try:
        await asyncio.to_thread(sys.stdin.read)
    finally:
        hearing.cancel()
        sink.close()
        await remote.close()


async def _hear(remote: RemoteRobot, telling: Telling) -> None:
    async for message in remote.subscribe((), TYPES, QUEUE, latched=True):
        try:
            telling.take(message)
        except Exception:
            logging.getLogger("pushrod.dash").exception("a message at %s could not be told", "/".join(message.topic))


def main() -> int:
    protect_streams()
    unblock_streams()
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    try:
        asyncio.run(tell(msgspec.json.decode(sys.argv[1], type=Settings)))
    except PushrodError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
