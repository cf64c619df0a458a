"""CSV as people and tools write it becomes channels with units; what cannot be meant is refused with line and column."""

import io
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counts import examples
from pushrod.core.errors import LogError
from pushrod.log import Channel, read
from pushrod.log.csv_file import write


@pytest.fixture
def csv(tmp_path):
    def make(text, name="a.csv"):
        file = tmp_path / name
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    return make


@pytest.mark.parametrize(
    "text",
    [
        "t [s],steer [rad],v (m/s)\n0,0.25,1\n0.5,-0.5,2\n",
        "t;steer;v\ns;rad;m/s\n0;0,25;1\n0,5;-0,5;2\n",
        "# made by hand\nsteer [rad]\tt [ms]\tv [m/s]\n0.25\t0\t1\n-0.5\t500\t2\n",
        '"time [s]", "steer [rad]", "v [m/s]",\r\n0, 0.25, 1,\r\n0.5, -0.5, 2,\r\n',
        "\ufefft [s],steer [rad],v [m/s],remark\n0,0.25,1,fine\n\n0.5,-0.5,2,\n",
        "timestamp,steer [rad],v [m/s]\n2026-01-31T12:00:00Z,0.25,1\n2026-01-31T12:00:00.500Z,-0.5,2\n",
        "v [m/s],steer [rad],time [s]\n1,0.25,1700000000\n2,-0.5,1700000000.5\n",
        "t;steer [rad];v\ns;rad;m/s\n0;0.25;1\n0.5;-0.5;2\n",
    ],
    ids=[
        "units in brackets",
        "line of units, decimal commas",
        "tabs and milliseconds",
        "quotes",
        "a mark and text",
        "dates",
        "time of day",
        "units above and below",
    ],
)
def test_what_people_write_is_the_same_table(csv, text):
    table = read(csv(text))
    assert set(table.channels) == {"steer", "v"}
    steer = table["steer"]
    assert (steer.unit, table["v"].unit) == ("rad", "m/s")
    assert steer.t.tolist() == pytest.approx([0.0, 0.5])
    assert steer.values.tolist() == [0.25, -0.5]
    assert table["v"].values.tolist() == [1.0, 2.0]
    assert table.torn == ""


def test_times_since_1970_count_from_the_first(csv):
    table = read(csv("t,x\n1700000000.25,1\n1700000001.25,2\n"))
    assert table.start == 1_700_000_000_250_000_000
    assert table["x"].t.tolist() == [0.0, 1.0]


def test_without_a_head_the_first_column_is_the_time(csv):
    table = read(csv("0,1\n1,2\n"))
    assert table["column2"].values.tolist() == [1.0, 2.0]


def test_an_empty_cell_is_no_value_and_nan_is_one(csv):
    x = read(csv("t,x,y\n0,1,\n1,,5\n2,nan,inf\n"))["x"]
    assert x.t.tolist() == [0.0, 2.0]
    assert x.values[0] == 1.0
    assert math.isnan(x.values[1])
    assert read(csv("t,on\n0,true\n1,False\n"))["on"].values.tolist() == [1.0, 0.0]


def test_a_last_line_that_is_cut_is_left_out_and_told(csv):
    table = read(csv("t,x,y\n0,1,2\n1,2,3\n2,3"))
    assert table["y"].t.tolist() == [0.0, 1.0]
    assert "line 4, the last one, is cut: 2 cells of 3" in table.torn


def test_equal_names_are_told_apart_and_text_columns_are_told(csv):
    table = read(csv("t,x,x,who\n0,1,2,me\n"))
    assert list(table.channels) == ["x", "x_2"]
    assert table.notes == ("the column 'who' holds text and is left out",)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("t,x\n0,1\n1,one\n", r"line 3, column 2 \(x\): 'one' is no number"),
        ("t,x\n0,1\n2,1\n1,1\n", r"line 4, column 1 \(t\), the time: it falls from 2 s to 1 s"),
        ("t,x\n0,1,5\n1,2,5\n", "line 2: 3 cells where the head has 2; if the numbers have decimal commas, write ; between"),
        ("t,x\n0,1\nnan,2\n", "line 3, column 1 .* not finite"),
        ("t,x\nlater,2\n", "line 2, .* 'later' is neither a number nor a date"),
        ("t [kg],x\n0,2\n", "its unit 'kg' is none of time"),
        ("t,5\n0,2\n", "line 1: names and numbers are mixed"),
        ("", "is empty"),
        ("\n , ,\n", "nothing but empty cells"),
        (b"t,x\n0,\x00\xff\n", "byte 6 is 0; is it a binary file"),
        ("t;x [rad]\ns;deg\n0;1\n1;2\n", "line 2: x is in 'rad' by the line of names and in 'deg' by the one below it"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_place(csv, text, why):
    with pytest.raises(LogError, match=why):
        read(csv(text))


def test_other_files_are_refused_by_name(csv, tmp_path):
    with pytest.raises(LogError, match="of no kind that can be read; known are .mcap, .csv"):
        read(csv("hello", "a.doc"))
    with pytest.raises(LogError, match="cannot be read: No such file"):
        read(tmp_path / "gone.csv")
    with pytest.raises(LogError, match="no ROS 2 bag"):
        read(tmp_path)


FLOATS = st.floats(allow_nan=False)
SAMPLES = st.lists(st.tuples(st.floats(-1e6, 1e6), FLOATS), max_size=12).map(lambda rows: sorted(rows, key=lambda row: row[0]))


@given(a=SAMPLES, b=SAMPLES)
@settings(max_examples=examples(60))
def test_what_is_written_comes_back_to_the_last_bit(a, b, tmp_path_factory):
    sent = [
        Channel(name, unit, "", np.array([t for t, _ in rows], float), np.array([x for _, x in rows], float))
        for name, unit, rows in (("steer, left", "rad", a), ("v", "", b))
    ]
    text = io.StringIO()
    write(sent, text)
    file = tmp_path_factory.getbasetemp() / "round.csv"
    file.write_text(text.getvalue())
    table = read(file)
    for channel in sent:
        got = table[channel.name]
        assert got.unit == channel.unit
        assert np.array_equal(got.t, channel.t)
        assert got.values.tobytes() == channel.values.tobytes()
