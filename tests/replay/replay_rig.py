"""Logs to be replayed: of a scenario, straight through the world or through the runtime, and of a machine that somebody commands."""

import asyncio
import itertools
from pathlib import Path

import msgspec
from typer.testing import CliRunner

from pushrod.cli.main import app
from pushrod.live.machine import SimulatedMachine
from pushrod.log.writer import Attachment
from pushrod.recording import Recording
from pushrod.runtime.clock import SteppedClock
from pushrod.runtime.run import run
from pushrod.runtime.runtime import Runtime
from pushrod.sim import machine


def log_of(name: str, how: str | None, folder: Path, duration: str, live: bool = False, settings: tuple[str, ...] = ()) -> Path:
    """As `pushrod run` writes it."""
    options = [*(["--live"] if live else []), *(word for text in settings for word in ("--set", text))]
    before = set(folder.glob("*.mcap"))
    got = CliRunner().invoke(app, ["run", name, *([how] if how else []), "--duration", duration, "--out", str(folder), *options])
    assert got.exit_code in (0, 1), got.output
    (made,) = set(folder.glob("*.mcap")) - before
    return made


def commanded(name: str, folder: Path, dt: float, seconds: float, tick, stepped: bool, arm: bool = True, prepare=lambda live: None) -> Path:
    """A machine that is recorded while `tick(rt, k)` commands it."""
    what = machine.load(name)
    live = SimulatedMachine(what, dt=dt)
    prepare(live)
    live.warm()
    clock = SteppedClock() if stepped else None
    rt = Runtime(live.robot, machine=live, clock=clock, guard=False) if clock is not None else Runtime(live.robot, machine=live, guard=False)
    files = [Attachment("machine.yaml", "application/yaml", what.document.text)]

    async def through() -> Path:
        with Recording(rt, folder, about={"machine": what.name, "world": live.world.name}, attachments=files) as recording:
            async with rt:
                if arm:
                    assert rt.arm().ok
                rt.loop(hz=1.0 / dt, name="user")(lambda k: tick(rt, k))
                await asyncio.sleep(seconds)
                rt.disarm("over")
        assert recording.file is not None
        return recording.file

    return run(through(), clock) if clock is not None else asyncio.run(through())


def copied(
    file: Path,
    how: str,
    *,
    metadata=lambda entries: entries,
    attachment=lambda name, data: data,
    message=lambda topic, data: data,
    more: dict[str, bytes] | None = None,
) -> Path:
    """A copy of a log with its metadata, its files or its messages changed and more files attached, with sound checksums."""
    from mcap.reader import make_reader
    from mcap.writer import Writer

    target = file.with_name(f"{how}-{file.name}")
    with file.open("rb") as source, target.open("wb") as out:
        reader, writer = make_reader(source), Writer(out)
        writer.start(profile="pushrod")
        for item in reader.iter_metadata():
            writer.add_metadata(item.name, metadata(dict(item.metadata)))
        for item in reader.iter_attachments():
            data = attachment(item.name, item.data)
            if data is not None:
                writer.add_attachment(0, 0, item.name, item.media_type, data)
        for name, data in (more or {}).items():
            writer.add_attachment(0, 0, name, "application/yaml", data)
        channels = {}
        for schema, channel, one in reader.iter_messages():
            if channel.id not in channels:
                id = writer.register_schema(schema.name, schema.encoding, schema.data)
                channels[channel.id] = writer.register_channel(channel.topic, channel.message_encoding, id, channel.metadata)
            writer.add_message(channels[channel.id], one.log_time, message(channel.topic, one.data), one.publish_time)
        writer.finish()
    return target


def rewritten(file: Path, topic: str, row: int, change) -> Path:
    """A copy of a log in which one message of a topic was changed."""
    rows = itertools.count()

    def message(on: str, data: bytes) -> bytes:
        if on != topic or next(rows) != row:
            return data
        made = msgspec.json.decode(data)
        change(made)
        return msgspec.json.encode(made)

    return copied(file, "changed", message=message)


def repacked(file: Path, attachment=lambda name, data: data, metadata=lambda entries: entries) -> Path:
    """A copy of a log with its files or its metadata changed."""
    return copied(file, "repacked", attachment=attachment, metadata=metadata)


def with_file(file: Path, name: str, data: bytes) -> Path:
    """A copy of a log with one more file beside its others."""
    return copied(file, "with", more={name: data})
