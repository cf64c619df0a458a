"""An MCAP log is read back as it was written, and where it is torn everything before that, with a word on what is missing."""

import math
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated as A
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcap.writer import CompressionType, Writer

from counts import examples
from pushrod.core.errors import LogError, UnknownNameError
from pushrod.core.quantity import Choice, Q
from pushrod.core.record import numbers
from pushrod.log import read
from pushrod.log.writer import Attachment, Recorder, Topic, write


class Wheel(NamedTuple):
    speed: A[float, Q("rad/s", 0.0, 50.0, "turning speed")] = 0.0
    gear: A[float, Choice(("low", "high"))] = 0.0


class Car(NamedTuple):
    x: A[float, Q("m", about="way")] = 0.0
    left: Wheel = Wheel()


def topic(n, name, phase=0.0):
    t = np.arange(1, n + 1) * 0.01
    return Topic(name, Car, t, {leaf.path: np.sin(t * (j + 1) + phase) for j, leaf in enumerate(numbers(Car))}, "car")


@pytest.fixture
def log(tmp_path):
    write(
        tmp_path / "a.mcap",
        [topic(9000, "/out"), topic(500, "/in", 1.0), topic(20, "ACTUATOR_CMD", 2.0)],
        {"pushrod": {"machine": "car", "seed": "7"}},
        [Attachment("machine.yaml", "application/yaml", "machine: é\n")],
    )
    return tmp_path / "a.mcap"


def test_channels_come_back_to_the_last_bit_with_units_and_times(log):
    table = read(log)
    sent = topic(9000, "/out")
    assert list(table.channels) == [f"{p}{path}" for p in ("", "in.", "ACTUATOR_CMD.") for path in ("x", "left.speed", "left.gear")]
    for path, column in sent.columns.items():
        assert table[path].values.tobytes() == column.tobytes()
    assert np.array_equal(table["x"].t, np.round(sent.t * 1e9) / 1e9)
    speed = table["left.speed"]
    assert (speed.unit, speed.about, speed.source) == ("rad/s", "turning speed", "/out")
    assert speed.rate == pytest.approx(100.0)
    assert table["in.x"].values.tobytes() == topic(500, "/in", 1.0).columns["x"].tobytes()
    assert (table.torn, table.notes, table.start) == ("", (), 0)
    assert table.span == (0.01, 90.0)


def test_whoever_reads_a_log_is_told_how_far_he_has_come(log):
    told = []
    read(log, lambda done, of: told.append((done, of)))
    size = log.stat().st_size
    assert {of for _, of in told} == {size}
    assert [done for done, _ in told] == sorted({done for done, _ in told})
    assert len(told) > 3
    assert 0.9 * size < told[-1][0] <= size


def test_a_log_that_was_cut_in_the_middle_has_what_was_before(log, tmp_path):
    whole = log.read_bytes()
    (tmp_path / "cut.mcap").write_bytes(whole[: len(whole) // 2])
    table = read(tmp_path / "cut.mcap")
    assert table.torn
    assert len(table["x"]) > 3000


def test_metadata_files_and_messages_come_back(log):
    table = read(str(log))
    assert table.about == {"machine": "car", "seed": "7"}
    assert table.attachments["machine.yaml"].text == "machine: é\n"
    assert {name: info.messages for name, info in table.topics.items()} == {"/out": 9000, "/in": 500, "ACTUATOR_CMD": 20}
    first, *rest = table.messages("ACTUATOR_CMD")
    assert first == (0.01, {"x": math.sin(0.01 + 2.0), "left": {"speed": math.sin(0.02 + 2.0), "gear": math.sin(0.03 + 2.0)}})
    assert len(rest) == 19
    with pytest.raises(UnknownNameError, match="did you mean 'left.speed'"):
        table["left.sped"]
    with pytest.raises(UnknownNameError, match="no topic named"):
        table.messages("/nothing")


@given(rows=st.lists(st.tuples(*[st.floats(allow_nan=True, allow_infinity=True, allow_subnormal=True)] * 3), min_size=1, max_size=20))
@settings(max_examples=examples(30))
def test_any_number_comes_back_to_the_last_bit(rows):
    columns = dict(zip((leaf.path for leaf in numbers(Car)), np.array(rows).T, strict=True))
    with TemporaryDirectory() as folder:
        file = Path(folder) / "a.mcap"
        write(file, [Topic("/out", Car, np.arange(len(rows)) * 0.5, columns)])
        table = read(file)
    for path, column in columns.items():
        assert np.array_equal(table[path].values, column, equal_nan=True)
        there = ~np.isnan(column)
        assert np.array_equal(np.signbit(table[path].values[there]), np.signbit(column[there]))


def lengths(table):
    return {name: len(channel) for name, channel in table.channels.items() if name in ("x", "in.x")}


def boundaries(file):
    """Where each record begins, by walking heads alone."""
    data, at = file.read_bytes(), 8
    while at < len(data) - 8:
        yield at
        at += 9 + int.from_bytes(data[at + 1 : at + 9], "little")
    yield at


def chunks(file):
    data = file.read_bytes()
    return [at for at in boundaries(file) if data[at] == 6]


@pytest.fixture
def small(tmp_path):
    """Some chunks with few messages each, as a recorder that is flushed often writes them."""
    import foxglove
    from foxglove.mcap import MCAPWriteOptions

    file = tmp_path / "small.mcap"
    context = foxglove.Context()
    writer = foxglove.open_mcap(file, context=context, writer_options=MCAPWriteOptions(profile="pushrod", chunk_size=256))
    writer.write_metadata("pushrod", {"machine": "car"})
    writer.attach(log_time=0, create_time=0, name="machine.yaml", media_type="text", data=b"machine: car\n")
    channel = foxglove.Channel("/out", schema={"type": "object"}, context=context)
    for k in range(30):
        channel.log({"x": 0.5 * k}, log_time=k * 10**7)
    writer.close()
    return file


def test_cut_anywhere_everything_whole_before_it_is_there(small, tmp_path):
    """At every boundary of records and around it, and at random bytes; in the soak at every byte."""
    whole = small.read_bytes()
    starts = chunks(small)
    ends = [at + 9 + int.from_bytes(whole[at + 1 : at + 9], "little") for at in starts]
    messages = [len(read_prefix(whole, end, tmp_path)) for end in ends]
    torn = tmp_path / "torn.mcap"
    near = {at + more for at in boundaries(small) for more in (-1, 0, 1, 9)}
    sizes = near | set(np.random.default_rng(2).integers(8, len(whole), examples(40)).tolist())
    for size in sorted(size for size in sizes if 8 <= size < len(whole)):
        torn.write_bytes(whole[:size])
        table = read(torn)
        assert table.torn, size
        values = table["x"].values if "x" in table else []
        done = sum(end <= size for end in ends)
        assert len(values) == (messages[done - 1] if done else 0), size
        assert list(values) == [0.5 * k for k in range(len(values))]


def read_prefix(whole, size, folder):
    (folder / "part.mcap").write_bytes(whole[:size])
    return read(folder / "part.mcap")["x"].values


def test_a_tail_of_zeros_is_told_and_nothing_else_is_lost(small, tmp_path):
    whole, end = small.read_bytes(), chunks(small)[-1]
    (tmp_path / "zeros.mcap").write_bytes(whole[:end] + bytes(5000))
    table = read(tmp_path / "zeros.mcap")
    assert f"zeros, or no record, from byte {end}" in table.torn
    assert len(table["x"]) == len(read_prefix(whole, end, tmp_path))
    assert table.attachments["machine.yaml"].text == "machine: car\n"


def test_a_damaged_chunk_is_left_out_by_its_times_and_the_others_are_there(small):
    data, (first, second, *_) = bytearray(small.read_bytes()), chunks(small)
    before = read(small)["x"]
    data[second + 70] ^= 0x10
    small.write_bytes(data)
    table = read(small)
    assert f"the chunk at byte {second}, " in table.torn
    assert "is damaged and left out" in table.torn
    lost = set(before.values) - set(table["x"].values)
    assert 0 < len(lost) < 30
    assert sorted(lost) == [x for x in before.values.tolist() if min(lost) <= x <= max(lost)]
    assert first < second


def test_a_flipped_bit_anywhere_is_noticed_or_changes_nothing(small):
    whole = small.read_bytes()
    before = read(small)
    rng = np.random.default_rng(1)
    for place in rng.choice(len(whole), examples(150), replace=examples(150) > len(whole)):
        data = bytearray(whole)
        data[place] ^= 1 << rng.integers(8)
        small.write_bytes(data)
        try:
            table = read(small)
        except LogError:
            continue
        same = lengths(table) == lengths(before) and np.array_equal(table["x"].values, before["x"].values)
        assert table.torn or (same and table.about == before.about and table.attachments == before.attachments), place


@pytest.mark.parametrize("kind", [1, 3, 4, 5, 6, 9, 12, 77])
def test_a_record_that_claims_to_be_huge_takes_no_memory(small, kind):
    import tracemalloc

    whole, at = small.read_bytes(), chunks(small)[2]
    small.write_bytes(whole[:at] + bytes([kind]) + (2**62).to_bytes(8, "little") + b"x" * 100)
    tracemalloc.start()
    table = read(small)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert "cut within a record" in table.torn
    assert len(table["x"]) > 0
    assert peak < 20e6


@pytest.mark.parametrize("compression", ["zstd", "lz4", ""])
def test_a_chunk_that_claims_to_hold_more_than_it_does_takes_no_memory(tmp_path, compression):
    import struct
    import tracemalloc

    import lz4.frame
    import zstandard

    packed = {"zstd": zstandard.compress, "lz4": lz4.frame.compress, "": bytes}[compression](bytes(300_000_000 if compression else 1000))
    for claimed in (2**40, 100):
        body = struct.pack("<QQQII", 0, 1, claimed, 0, len(compression)) + compression.encode() + len(packed).to_bytes(8, "little") + packed
        head = b"\x01" + (8).to_bytes(8, "little") + bytes(8)
        (tmp_path / "bomb.mcap").write_bytes(b"\x89MCAP0\r\n" + head + b"\x06" + len(body).to_bytes(8, "little") + body)
        tracemalloc.start()
        table = read(tmp_path / "bomb.mcap")
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert "the chunk at byte 25" in table.torn
        assert peak < 20e6


def test_json_of_other_tools_is_read_as_far_as_there_are_numbers(tmp_path):
    file = tmp_path / "other.mcap"
    with file.open("wb") as out:
        writer = Writer(out, compression=CompressionType.LZ4)
        writer.start(profile="x")
        schema = writer.register_schema("s", "jsonschema", b'{"properties": {"v": {"type": "number", "description": "speed [m/s]"}}}')
        topic = writer.register_channel("/robot/state", "json", schema)
        strange = writer.register_channel("/image", "protobuf", 0)
        rows = [
            b'{"v": 1, "who": "me", "list": [1, 2], "arms": [{"name": "left", "q": 3}, {"name": "right", "q": 4}], "on": true}',
            b'{"v": null, "list": [5], "deep": {"er": {"z": 1e400}}}',
            b'{"v": 2.5, "name": ["a", "b"], "position": [7, 8]}',
            b"not json",
            b"[" * 100_000,
        ]
        for k, row in enumerate(rows):
            writer.add_message(topic, k * 10**9, row, k * 10**9)
        writer.add_message(strange, 0, b"\x00", 0)
        writer.finish()
    table = read(file)
    assert (table["robot/state.v"].unit, table["robot/state.v"].about) == ("m/s", "speed")
    assert table["robot/state.v"].t.tolist() == [0.0, 1.0, 2.0]
    assert math.isnan(table["robot/state.v"].values[1])
    assert table["robot/state.deep.er.z"].values.tolist() == [math.inf]
    assert table["robot/state.list.0"].values.tolist() == [1.0, 5.0]
    assert table["robot/state.list.1"].t.tolist() == [0.0]
    assert (table["robot/state.arms.right.q"].values[0], table["robot/state.b.position"].values[0]) == (4.0, 8.0)
    assert table["robot/state.on"].values.tolist() == [1.0]
    assert table.torn == "2 messages of /robot/state cannot be read"
    assert table.notes == ("/image: 1 message in 'protobuf', not read",)
    assert not table.topics["/image"].read


def test_what_is_no_mcap_is_refused(tmp_path):
    (tmp_path / "a.mcap").write_bytes(b"hello, world")
    with pytest.raises(LogError, match="is no MCAP file"):
        read(tmp_path / "a.mcap")
    (tmp_path / "b.mcap").touch()
    with pytest.raises(LogError, match=r"b\.mcap: is empty"):
        read(tmp_path / "b.mcap")


def test_the_clock_of_a_live_log_is_told_and_times_count_from_its_start(tmp_path):
    start = 1_700_000_000_123_456_789
    t = np.arange(5) * 0.001
    with Recorder(tmp_path / "a.mcap") as log:
        car = log.topic("/car", Car)
        for k in range(5):
            car._channel.log(b'{"x": 1.0}', log_time=start + k * 10**6)
    table = read(tmp_path / "a.mcap")
    assert table.start == start
    assert np.array_equal(table["car.x"].t, t)
