"""A log written by us and read with the plain mcap library: values, times, units, metadata and files come back."""

import json
import math
from typing import Annotated as A
from typing import NamedTuple

import numpy as np
import pytest
from mcap.reader import make_reader

from full_disk import full_after
from pushrod.core.errors import LogError
from pushrod.core.quantity import Choice, Floats, Q, Table
from pushrod.core.record import numbers
from pushrod.log import read as read_table
from pushrod.log import writer
from pushrod.log.schema import topic_schema
from pushrod.log.writer import Attachment, Recorder, Topic, TopicWriter, write


class Wheel(NamedTuple):
    speed: A[float, Q("rad/s", 0.0, 50.0, "turning speed")] = 0.0
    gear: A[float, Choice(("low", "high"))] = 0.0
    table: A[Floats, Table("-")] = (1.0, 2.0)


class Car(NamedTuple):
    x: A[float, Q("m", about="way")] = 0.0
    left: Wheel = Wheel()
    right: Wheel = Wheel()


def topic(n=50, name="/car"):
    t = np.arange(1, n + 1) * 0.01
    return Topic(name, Car, t, {leaf.path: np.sin(t * (j + 1)) for j, leaf in enumerate(numbers(Car))}, "car.out")


def read(file):
    reader = make_reader(file.open("rb"))
    return reader, list(reader.iter_messages())


def test_values_and_times_come_back_exactly(tmp_path):
    sent = topic()
    assert write(tmp_path / "a.mcap", [sent]) == 50
    _, got = read(tmp_path / "a.mcap")
    assert [m.log_time for _, _, m in got] == [round(t * 1e9) for t in sent.t]
    rows = [json.loads(m.data) for _, _, m in got]
    assert [row["x"] for row in rows] == sent.columns["x"].tolist()
    assert [row["right"]["gear"] for row in rows] == sent.columns["right.gear"].tolist()
    assert set(rows[0]["left"]) == {"speed", "gear"}


def test_a_recorder_takes_one_record_at_a_time_and_writes_the_same_file(tmp_path):
    sent = topic()
    write(tmp_path / "a.mcap", [sent])
    with Recorder(tmp_path / "b.mcap") as log:
        car = log.topic("/car", Car, "car.out")
        for k, t in enumerate(sent.t):
            row = {path: float(column[k]) for path, column in sent.columns.items()}
            car.put(t, Car(row["x"], Wheel(row["left.speed"], row["left.gear"]), Wheel(row["right.speed"], row["right.gear"])))
    assert (tmp_path / "a.mcap").read_bytes() == (tmp_path / "b.mcap").read_bytes()


def test_every_signal_has_its_unit_in_the_schema_and_in_the_channel(tmp_path):
    write(tmp_path / "a.mcap", [topic()])
    _, got = read(tmp_path / "a.mcap")
    schema, channel, _ = got[0]
    assert (schema.encoding, schema.name, channel.message_encoding, channel.topic) == ("jsonschema", "car.out", "json", "/car")
    assert json.loads(channel.metadata["units"]) == {leaf.path: leaf.meta.unit for leaf in numbers(Car)}
    speed = json.loads(schema.data)["properties"]["left"]["properties"]["speed"]
    assert speed == {"type": "number", "unit": "rad/s", "description": "turning speed [rad/s]", "minimum": 0.0, "maximum": 50.0}


def test_topics_are_merged_in_order_of_time(tmp_path):
    one, two = topic(20, "/one"), topic(20, "/two")
    write(tmp_path / "a.mcap", [one, two._replace(t=two.t - 0.005)])
    _, got = read(tmp_path / "a.mcap")
    assert [channel.topic for _, channel, _ in got] == ["/two", "/one"] * 20


def test_a_lone_scalar_is_the_field_y(tmp_path):
    write(tmp_path / "a.mcap", [Topic("/y", A[float, Q("V")], np.array([0.1]), {"y": np.array([3.5])})])
    _, ((schema, _, message),) = read(tmp_path / "a.mcap")
    assert json.loads(message.data) == {"y": 3.5}
    assert json.loads(schema.data)["properties"]["y"]["unit"] == "V"


def test_what_is_not_finite_is_null_and_where_it_is_infinite_says_so(tmp_path):
    write(tmp_path / "a.mcap", [Topic("/y", A[float, Q("V")], np.arange(3.0), {"y": np.array([math.nan, math.inf, 1.0])})])
    _, got = read(tmp_path / "a.mcap")
    assert [json.loads(m.data) for _, _, m in got] == [{"y": None}, {"y": None, "$inf": {"y": 1}}, {"y": 1.0}]


def test_metadata_and_files_come_back(tmp_path):
    write(tmp_path / "a.mcap", [topic()], {"pushrod": {"seed": "7"}}, [Attachment("m.yaml", "application/yaml", "machine: é\n")])
    reader, _ = read(tmp_path / "a.mcap")
    assert [(m.name, m.metadata) for m in reader.iter_metadata()] == [("pushrod", {"seed": "7"})]
    assert [(a.name, a.data.decode()) for a in reader.iter_attachments()] == [("m.yaml", "machine: é\n")]


def test_equal_runs_give_equal_files(tmp_path):
    for name in ("a.mcap", "b.mcap"):
        write(tmp_path / name, [topic()], {"pushrod": {"seed": "7"}})
    assert (tmp_path / "a.mcap").read_bytes() == (tmp_path / "b.mcap").read_bytes()


def test_a_file_that_is_there_is_not_touched(tmp_path):
    (tmp_path / "a.mcap").write_text("mine")
    with pytest.raises(LogError, match="not touched"):
        write(tmp_path / "a.mcap", [topic()])
    assert (tmp_path / "a.mcap").read_text() == "mine"


def test_wrong_data_is_refused_before_a_file_is_made(tmp_path):
    good = topic()
    for bad, why in (
        (good._replace(columns={"x": good.t}), "no values for left.speed"),
        (good._replace(t=good.t[:-1]), "50 values for 49 times"),
        (good._replace(t=good.t[::-1]), "times must not fall"),
    ):
        with pytest.raises(LogError, match=why):
            write(tmp_path / "a.mcap", [bad])
    with pytest.raises(LogError, match="cannot be written"):
        write(tmp_path / "gone" / "a.mcap", [good])
    assert not (tmp_path / "a.mcap").exists()


def test_a_choice_is_described_by_its_names():
    assert topic_schema(Wheel, "w")["properties"]["gear"]["description"] == "0 (low) | 1 (high) [-]"


def test_what_is_stopped_half_way_leaves_nothing_that_looks_like_a_log(tmp_path, monkeypatch):
    put = TopicWriter.put_row

    def stop(self, t, row):
        if t > 0.25:
            raise KeyboardInterrupt
        put(self, t, row)

    monkeypatch.setattr(TopicWriter, "put_row", stop)
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / "a.mcap", [topic()])
    assert list(tmp_path.iterdir()) == []


def test_many_rows_are_written_block_by_block_in_the_same_order(tmp_path, monkeypatch):
    topics = [topic(), topic(30, "/other")]
    write(tmp_path / "a.mcap", topics)
    monkeypatch.setattr(writer, "BLOCK", 7)
    write(tmp_path / "b.mcap", topics)
    assert (tmp_path / "a.mcap").read_bytes() == (tmp_path / "b.mcap").read_bytes()


def noise(n):
    """Numbers that do not compress to nothing."""
    rng = np.random.default_rng(1)
    return Topic("/car", Car, np.arange(n) * 1e-3, {leaf.path: rng.uniform(size=n) for leaf in numbers(Car)}, "car.out")


def test_a_full_disk_is_one_error_and_leaves_nothing(tmp_path, capfd, monkeypatch):
    monkeypatch.setattr(writer, "BLOCK", 500)
    asked = []
    with full_after(100_000), pytest.raises(LogError, match=r"a\.mcap: cannot be written to its end: File too large"):
        write(tmp_path / "a.mcap", [noise(20_000)], going=lambda done, total: bool(asked.append(done)) or True)
    assert not list(tmp_path.iterdir())
    assert max(asked) < 15_000  # it does not go on to the end for nothing
    assert capfd.readouterr() == ("", "")


def test_a_disk_that_is_full_for_the_last_chunk_alone_is_told_of_too(tmp_path):
    write(tmp_path / "a.mcap", [noise(300)])
    with full_after((tmp_path / "a.mcap").stat().st_size - 10), pytest.raises(LogError, match="cannot be written to its end"):
        write(tmp_path / "b.mcap", [noise(300)])
    assert [file.name for file in tmp_path.iterdir()] == ["a.mcap"]


def test_what_a_recorder_wrote_before_the_disk_was_full_can_be_read(tmp_path):
    sent = noise(20_000)
    with full_after(200_000):
        log = Recorder(tmp_path / "a.mcap")
        car = log.topic("/car", Car, "car.out")
        for k, t in enumerate(sent.t):
            car.put_row(t, [float(column[k]) for column in sent.columns.values()])
        with pytest.raises(LogError, match="cannot be written to its end"):
            log.close()
    table = read_table(tmp_path / "a.mcap")
    assert table.torn
    assert table["car.x"].values.tolist() == sent.columns["x"][: len(table["car.x"].values)].tolist()
    assert len(table["car.x"].values) > 1000
