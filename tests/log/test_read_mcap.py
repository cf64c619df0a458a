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

from counts import examples
from pushrod.core.errors import UnknownNameError
from pushrod.core.quantity import Choice, Q
from pushrod.core.record import numbers
from pushrod.log import read
from pushrod.log.writer import Attachment, Topic, write


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
