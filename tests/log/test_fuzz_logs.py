"""Whatever hands, disks and strangers do to a recording: reading it ends in a sound table or in an error of ours, soon and in little memory.

A failure says its seed and the number of its example; PUSHROD_FUZZ_SEED=n runs the same ones again. In the soak there are 10,000 of each kind.
"""

import csv
import io
import os
import random
import struct
import tracemalloc
from contextlib import contextmanager

import numpy as np
import pytest
from mcap.writer import CompressionType, Writer

from counts import examples
from patience import soon
from pushrod.core.errors import PushrodError
from pushrod.layout.page import of_table
from pushrod.log import read
from pushrod.log.csv_file import write as write_csv
from pushrod.log.table import Table
from pushrod.replay import replay
from pushrod.sim import machine, scenario
from pushrod.sim.recording import record
from pushrod.sim.run import simulate

SEED = int(os.environ.get("PUSHROD_FUZZ_SEED") or random.randrange(10**6))
PATIENCE = 20.0  # [s] for one example
ROOM = 60e6  # [B] that reading a file of less than 200 kB may take
HUGE = (2**64 - 1, 2**63, 2**40, 2**32 - 1, 2**31, 2**24, 0)


@contextmanager
def told(what, number, measured):
    """Say which example it was, where something is wrong, takes too long, or takes too much."""

    if measured:
        tracemalloc.start()
    try:
        with soon(PATIENCE):
            yield
        if measured:
            _, peak = tracemalloc.get_traced_memory()
            assert peak < ROOM, f"{peak / 1e6:.0f} MB"
    except BaseException as e:
        e.add_note(f"{what}, example {number}, PUSHROD_FUZZ_SEED={SEED}")
        raise
    finally:
        tracemalloc.stop()


def sound(table: Table) -> None:
    for channel in table.channels.values():
        assert channel.t.shape == channel.values.shape
        assert np.all(np.diff(channel.t) >= 0.0)
        assert channel.values.dtype == np.float64
    for topic in list(table.topics)[:3]:
        sum(1 for _ in table.messages(topic))
    of_table(table)
    write_csv(list(table.channels.values())[:3], io.StringIO())


def bare(compression, chunked):
    """A log without checksums, so that damage reaches what is inside."""
    out = io.BytesIO()
    writer = Writer(out, chunk_size=600, compression=compression, use_chunking=chunked, enable_crcs=False)
    writer.start(profile="pushrod")
    writer.add_metadata("pushrod", {"machine": "servo", "dt": "0.001", "seed": "1", "ticks": "5", "override 1": "--set lag.T=1"})
    schema = writer.register_schema(
        "servo.out", "jsonschema", b'{"properties": {"x": {"type": "number", "unit": "m"}, "l": {"items": {"unit": "s"}}}}'
    )
    topics = [writer.register_channel(name, "json", schema, {"units": '{"x":"m"}'}) for name in ("/in", "/out", "/joints")]
    topics.append(writer.register_channel("/cdr", "cdr", writer.register_schema("std_msgs/msg/Float64", "ros2msg", b"float64 data\n")))
    for k in range(30):
        row = f'{{"x": {k}.5, "l": [1, {k}], "j": [{{"name": "a", "q": {k}}}], "$inf": {{"x": -1}}}}'.encode()
        data = row if k % 4 != 3 else b"\x00\x01\x00\x00" + struct.pack("<d", k)
        writer.add_message(topics[k % 4], k * 10**6, data, k * 10**6)
    writer.add_attachment(0, 0, "machine.yaml", "application/yaml", machine.shipped()["servo"].read_bytes())
    writer.finish()
    return out.getvalue()


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    servo = machine.load("servo")
    real = record(simulate(servo, scenario.load(None, servo, "0.1 s")), tmp_path_factory.mktemp("logs"))
    none = CompressionType.NONE
    return [real.read_bytes(), bare(none, False), bare(none, True), bare(CompressionType.ZSTD, True), bare(CompressionType.LZ4, True)]


def heads(data):
    """Where records begin, as far as that goes."""
    at, found = 8, []
    while at + 9 < len(data) and len(found) < 500:
        found.append(at)
        at += 9 + min(int.from_bytes(data[at + 1 : at + 9], "little"), len(data))
    return found


def spoilt(data, others, rng):
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4, 16))):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(10)
        if kind == 0 and data:
            data[min(at, len(data) - 1)] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del data[at:]
        elif kind == 2:
            data[at:] = bytes(rng.choice((0, 1, 100, 5000)))
        elif kind == 3:
            data[at:at] = rng.randbytes(rng.choice((1, 8, 100)))
        elif kind == 4:
            del data[at : at + rng.choice((1, 2, 9, 300))]
        elif kind == 5:
            data[at : at + 8] = rng.choice(HUGE).to_bytes(8, "little")
        elif kind == 6 and (found := heads(data)):
            start = rng.choice(found)
            data[start + 1 : start + 9] = rng.choice((*HUGE, rng.randrange(1000))).to_bytes(8, "little")
        elif kind == 7 and (found := heads(data)):
            data[rng.choice(found)] = rng.randrange(256)
        elif kind == 8:
            other = rng.choice(others)
            start = rng.randrange(len(other))
            data[at:at] = other[start : start + rng.choice((10, 500, 20000))]
        elif (found := heads(data)) and len(found) > 1:
            a, b = sorted(rng.sample(range(len(found)), 2))
            data[found[a] : found[b]] = data[found[a] : found[b]] * rng.choice((0, 2, 3))
        data = data[:200_000]
    return bytes(data)


def test_mcap(logs, tmp_path):
    file = tmp_path / "a.mcap"
    print(f"PUSHROD_FUZZ_SEED={SEED}")
    read_any = 0
    for number in range(examples(500)):
        rng = random.Random(f"{SEED} mcap {number}")
        file.write_bytes(spoilt(rng.choice(logs), logs, rng))
        with told("mcap", number, measured=number % 5 == 0):
            try:
                table = read(file)
                sound(table)
                read_any += 1
            except PushrodError as e:
                assert str(file) in str(e)  # noqa: PT017
                continue
        if number % 10 == 0:
            with told("replay of mcap", number, measured=False):
                try:
                    replay(table)
                except PushrodError as e:
                    assert str(e)  # noqa: PT017
    assert read_any > 0.5 * examples(500)


CSVS = (
    "t [s],steer [rad],v [m/s],note\n" + "".join(f"{k / 10},{k * 0.1},{-k},x\n" for k in range(20)),
    "time;a;b\ns;rad;m\n" + "".join(f"{k};{k},5;1e-{k}\n" for k in range(20)),
    "stamp\tx\n" + "".join(f"2026-01-31T12:00:{k:02d}Z\t{k}\n" for k in range(20)),
    "".join(f"{k},{k * k}\n" for k in range(20)),
    '# "quoted"\n"t","a ""b""",c\n' + "".join(f'{k},"{k}",true\n' for k in range(20)),
)
WORDS = (
    "",
    "nan",
    "inf",
    "-inf",
    "1e400",
    "-1e400",
    "1,5",
    "1.5.2",
    "0x10",
    "1_000",
    "true",
    "text",
    '"',
    '""',
    "'",
    "\r",
    "\r\n",
    "\n",
    ";",
    ",",
    "\t",
    "#",
    "%",
)
WORDS += (
    "2026-01-31T12:00:00",
    "9999-99-99",
    "0001-01-01T00:00:00",
    "t [ms]",
    "[",
    "]",
    "[s]",
    "(",
    "\ufeff",
    "\0",
    "ü",
    "速",
    "\u2028",
    "9" * 400,
    "a" * 5000,
    "," * 300,
)


def test_csv(tmp_path):
    file = tmp_path / "a.csv"
    print(f"PUSHROD_FUZZ_SEED={SEED}")
    for number in range(examples(500)):
        rng = random.Random(f"{SEED} csv {number}")
        text = rng.choice(CSVS)
        for _ in range(rng.choice((1, 1, 2, 3, 8))):
            at, length = rng.randrange(len(text) + 1), rng.choice((0, 0, 1, 3, 40))
            text = text[:at] + rng.choice(WORDS) + text[at + length :]
            if rng.random() < 0.1:
                lines = text.splitlines(keepends=True) or [""]
                rng.shuffle(lines)
                text = "".join(lines)
        raw = text.encode("utf-8", "surrogatepass")
        if rng.random() < 0.1:
            raw = rng.choice((b"\xff\xfe", b"\xfe\xff", b"\xff", b"")) + raw[: rng.randrange(len(raw) + 1)] + rng.choice((b"", b"\xff", b"\0"))
        file.write_bytes(raw)
        with told("csv", number, measured=number % 5 == 0):
            try:
                sound(read(file))
            except PushrodError as e:
                assert str(file) in str(e)  # noqa: PT017
    assert csv.field_size_limit() > 0
