"""Recorded robots, and their logs as the plain mcap library reads them; as a program, a machine at 1 kHz that is recorded until it is killed.

python tests/recorded_run.py FOLDER
"""

import asyncio
import faulthandler
import itertools
import json
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from mcap.reader import make_reader
from mcap.records import Channel, Message, Schema
from mcap.stream_reader import StreamReader

from pushrod.core.running import is_running
from pushrod.guard.settings import Guard
from pushrod.recording import Recording
from pushrod.robot import Actuator, Joint, Limits, Parameter, Robot
from pushrod.runtime import Runtime

HZ = 1000.0
SENT = "sent"  # beside the log: what the process that is killed has sent
ROOM = 100_000  # commands


def made_safe(options: dict[str, Any]) -> None:
    """Nothing to switch off."""


class Plain:
    """Takes everything and says nothing."""

    disarm = "recorded_run:made_safe"

    def init(self, context: Any, options: Any) -> None:
        return

    def handle_command(self, payload: Any, command: Any) -> None:
        return


def robot(name: str = "lift") -> Robot:
    limits = Limits(-3.0, 3.0, velocity=1.0, acceleration=2.0, effort=10.0)
    return Robot(
        name,
        links=("base", "arm"),
        joints=(Joint("shoulder", "revolute", "base", "arm", limits=limits),),
        actuators=(Actuator("motor", "shoulder"),),
        parameters=(Parameter("gain", float, 0.5, 0.0, 1.0),),
    )


def recorded(folder: Path, body: Callable[[Runtime, Recording], Awaitable[Any]], drivers: dict[str, Any] | None = None, **how: Any) -> Recording:
    """A robot on the wall clock, recorded, until the body is done."""

    async def main() -> Recording:
        rt = Runtime(robot(), drivers, simulation=drivers is None, guard=Guard(limit=10.0))
        with Recording(rt, folder, **how) as recording:
            async with rt:
                await body(rt, recording)
        return recording

    return asyncio.run(main())


class Said(NamedTuple):
    topic: str
    schema: str
    ns: int
    data: Any


class Log(NamedTuple):
    said: list[Said]
    about: dict[str, str]
    files: dict[str, str]
    schemas: dict[str, Any]
    encodings: set[tuple[str, str]]

    def of(self, topic: str) -> list[Any]:
        return [one.data for one in self.said if one.topic == topic]

    @property
    def topics(self) -> set[str]:
        return {one.topic for one in self.said}


def read(file: Path) -> Log:
    """A whole log."""
    with file.open("rb") as stream:
        reader = make_reader(stream, validate_crcs=True)
        said, schemas, encodings = [], {}, set()
        for schema, channel, message in reader.iter_messages():
            assert schema is not None
            said.append(Said(channel.topic, schema.name, message.log_time, json.loads(message.data)))
            schemas[channel.topic] = json.loads(schema.data)
            encodings.add((schema.encoding, channel.message_encoding))
        (about,) = [m.metadata for m in reader.iter_metadata()]
        return Log(said, about, {a.name: a.data.decode() for a in reader.iter_attachments()}, schemas, encodings)


def read_torn(file: Path) -> list[Said]:
    """What is whole of a log whose end is missing."""
    schemas: dict[int, Schema] = {}
    channels: dict[int, Channel] = {}
    said: list[Said] = []
    with file.open("rb") as stream:
        try:
            for record in StreamReader(stream, skip_magic=False).records:
                if isinstance(record, Schema):
                    schemas[record.id] = record
                elif isinstance(record, Channel):
                    channels[record.id] = record
                elif isinstance(record, Message):
                    channel = channels[record.channel_id]
                    said.append(Said(channel.topic, schemas[channel.schema_id].name, record.log_time, json.loads(record.data)))
        except Exception:  # whatever the library makes of an end that is none
            return said
    return said


class Killed(NamedTuple):
    """A log whose process was killed at `at` [s of the wall clock], and what that process had done by then: when it sent which command, in order."""

    log: Log
    at: float
    sent: list[tuple[float, float]]  # wall clock [s], position [rad]

    @property
    def commands(self) -> list[float]:
        return [one["payload"]["position"] for one in self.log.of("/actuator/base/shoulder/shoulder_motor/command")]

    @property
    def missing(self) -> float:
        """How much of its time is not in the log [s]: since the first command that it has not, or since the last step of the machine."""
        begin = self.sent[0][0]
        unlogged = self.sent[len(self.commands)][0] if len(self.commands) < len(self.sent) else self.at
        stepped = max((one.ns * 1e-9 for one in self.log.said if one.topic == "/out"), default=begin)
        return self.at - min(unlogged, stepped)


def killed_after(seconds: float, folder: Path) -> Killed:
    """A machine at 1 kHz whose process is killed so long after it was armed."""
    process = subprocess.Popen([sys.executable, __file__, str(folder)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    file, writer = process.stdout.readline().split()
    time.sleep(seconds)
    process.kill()
    killed = time.time()
    process.wait()
    end = time.monotonic() + 20.0
    while is_running(int(writer)):
        assert time.monotonic() < end, "the writer does not end"
        time.sleep(0.01)
    sent = np.memmap(folder / SENT, np.float64, "r", shape=(ROOM, 2))
    return Killed(read(Path(file)), killed, [(at, x) for at, x in sent.tolist() if at])


async def _run(folder: Path) -> None:
    from pushrod.live.machine import SimulatedMachine
    from pushrod.sim import machine

    arm = SimulatedMachine(machine.load("arm"), dt=1.0 / HZ)
    rt = Runtime(arm.robot, machine=arm, guard=Guard(limit=10.0))
    with Recording(rt, folder) as recording:
        async with rt:
            rt.arm()
            direct, seen = rt["shoulder_motor"].direct, asyncio.Event()
            loop = asyncio.get_running_loop()
            sent, n = np.memmap(folder / SENT, np.float64, "w+", shape=(ROOM, 2)), itertools.count()  # outlives this process

            def tick(k: int) -> None:
                x, i = 0.001 * (k % 500), next(n)
                sent[i] = time.time(), x  # before it is sent: the log cannot have more
                assert direct.set_position(x).ok
                if i >= 20 and not seen.is_set():
                    loop.call_soon_threadsafe(seen.set)

            rt.loop(hz=HZ)(tick)
            await seen.wait()
            print(recording.file, recording.pid, flush=True)
            await asyncio.sleep(60.0)


if __name__ == "__main__":
    faulthandler.dump_traceback_later(60.0, exit=True)  # says where it hangs
    asyncio.run(_run(Path(sys.argv[1])))
