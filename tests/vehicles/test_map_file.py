"""Map files: what is taken, and that every fault is named by file, row and column."""

from pathlib import Path

import pytest

from pushrod.core.check import check
from pushrod.core.errors import MapError
from pushrod.vehicles.map_file import FALL, LOADERS, RISE, load_accel_map, load_acceleration_map, load_brake_map, load_steer_map, read, unordered
from pushrod.vehicles.pedal_map import AccelerationMap, AccelMap, BrakeMap
from pushrod.vehicles.steer_map import SteerMap

GOOD = "default,0,5\n0,1.0,2.0\n0.5,2.0,3.0\n"


def write(folder: Path, text: str) -> Path:
    file = folder / "accel.csv"
    file.write_bytes(text.encode())
    return file


def test_a_map_is_axes_and_a_grid_row_by_row(tmp_path: Path) -> None:
    m = load_accel_map(write(tmp_path, "default,0,5,10\n0,1,2,3\n0.5,2,3,4\n"))
    assert m == AccelMap((0.0, 0.5), (0.0, 5.0, 10.0), (1.0, 2.0, 3.0, 2.0, 3.0, 4.0))
    check(m)


@pytest.mark.parametrize(
    "text",
    [
        GOOD.replace("\n", "\r\n"),
        GOOD.replace("\n", ",\n"),
        "\n" + GOOD.replace("\n", "\n\n"),
        GOOD.rstrip("\n"),
        GOOD.replace(",", " ,  "),
        GOOD.replace("1.0", "+1.").replace("2.0", "2e0").replace("default", ""),
    ],
    ids=["crlf", "trailing comma", "blank lines", "no end of line", "spaces", "spellings of numbers"],
)
def test_harmless_spellings_are_taken(tmp_path: Path, text: str) -> None:
    assert load_accel_map(write(tmp_path, text)) == AccelMap((0.0, 0.5), (0.0, 5.0), (1.0, 2.0, 2.0, 3.0))


@pytest.mark.parametrize(
    ("text", "kind", "row", "column"),
    [
        ("", "file", 1, 1),
        ("\n\n", "file", 1, 1),
        ("default,\n0,\n", "shape", 1, 2),
        ("default,0,5\n0,1,2\n0.5,2\n", "shape", 3, 3),
        ("default,0,5\n0,1,2,3\n0.5,2,3\n", "shape", 2, 4),
        ("default,0,5\n0,1,2\n   \n0.5,2,3\n", "shape", 3, 2),
        ("default,0,5\n0,1,2\n0.5,,3\n", "number", 3, 2),
        ("default,0,5\n\n0,1,2\n0.5,abc,3\n", "number", 4, 2),
        ("default,0,5\n0,1.0x,2\n0.5,2,3\n", "number", 2, 2),
        ("default,0,5\n0,1_0,2\n0.5,20,3\n", "number", 2, 2),
        ("default,0,nan\n0,1,2\n0.5,2,3\n", "number", 1, 3),
        ("default,0,5\n0,1,2\n0.5,2,1e999\n", "number", 3, 3),
        ("default,0,5\n0,1,2\nhalf,2,3\n", "number", 3, 1),
        ("default,5,0\n0,1,2\n0.5,2,3\n", "axis", 1, 3),
        ("default,0,5\n0.5,1,2\n0,2,3\n", "axis", 3, 1),
        ("default,0,5\n0,1,2\n\n0,2,3\n", "axis", 4, 1),
        ("default,0\n0,1\n0.5,2\n", "axis", 1, 2),
        ("default,0,5\n0,1,2\n", "axis", 2, 1),
        ("default,0,5\n", "axis", 2, 1),
        ("default,0,5\n0,1,2\n0.5,2,2\n", "order", 3, 3),
        ("default,0,5\n0,1,2\n0.5,1,3\n1,3,4\n", "order", 3, 2),
    ],
)
def test_every_fault_is_named_by_file_row_and_column(tmp_path: Path, text: str, kind: str, row: int, column: int) -> None:
    file = write(tmp_path, text)
    with pytest.raises(MapError) as caught:
        load_accel_map(file)
    assert caught.value.kind == kind
    assert str(caught.value).startswith(f"{file}: row {row}, column {column}: ")


def test_a_file_that_is_not_there_or_a_folder(tmp_path: Path) -> None:
    for path in (tmp_path / "none.csv", tmp_path):
        with pytest.raises(MapError, match="cannot be opened") as caught:
            load_brake_map(path)
        assert caught.value.kind == "file"
        assert str(path) in str(caught.value)


def test_a_file_that_is_not_text_is_a_map_error_too(tmp_path: Path) -> None:
    file = tmp_path / "binary.csv"
    file.write_bytes(bytes(range(256)))
    with pytest.raises(MapError):
        load_accel_map(file)


def test_accel_and_steer_rise_brake_falls(tmp_path: Path) -> None:
    rising = write(tmp_path, GOOD)
    falling = tmp_path / "brake.csv"
    falling.write_text("default,0,5\n0,1,2\n0.5,0,-1\n")
    assert load_steer_map(rising) == SteerMap(*load_accel_map(rising))
    assert load_brake_map(falling) == BrakeMap((0.0, 0.5), (0.0, 5.0), (1.0, 2.0, 0.0, -1.0))
    for load, file, word in ((load_brake_map, rising, "fall"), (load_accel_map, falling, "rise"), (load_steer_map, falling, "rise")):
        with pytest.raises(MapError, match=f"must {word} strictly down every column"):
            load(file)
        load(file, validate=False)
    assert load_acceleration_map(falling) == AccelerationMap(*load_brake_map(falling))


def test_the_last_of_several_cells_in_disorder_is_named_as_well(tmp_path: Path) -> None:
    file = write(tmp_path, "default,0,5\n0,1,2\n0.5,0,3\n1,3,3\n")
    assert unordered(read(file), RISE) == [(1, 0), (2, 1)]
    assert unordered(read(file), FALL) == [(1, 1), (2, 0), (2, 1)]
    with pytest.raises(MapError, match=r"row 3, column 2: .* 0 follows 1 \(2 such cells, the last at row 4, column 3\)"):
        load_accel_map(file)


@pytest.mark.parametrize("record", LOADERS, ids=lambda record: record.__name__)
def test_each_record_has_its_loader_and_a_sound_default(record: type, golden: Path) -> None:
    name = {AccelMap: "accel", BrakeMap: "brake", SteerMap: "steer", AccelerationMap: "acceleration"}[record]
    m = LOADERS[record](golden / "vehicle" / "maps" / f"{name}_map.csv")
    assert type(m) is record
    check(m)
    check(record())
