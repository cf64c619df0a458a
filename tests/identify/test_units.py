"""Units of columns count alike in every kind of file, also for a channel that takes a signal of any unit."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fit_rig import recorded, rich

from pushrod import identify, log
from pushrod.core.errors import LogError
from pushrod.models.first_order import FIRST_ORDER

DT = 0.002
U = rich(600, DT)
DATA = recorded(FIRST_ORDER, FIRST_ORDER.Params(0.08, 1.7), {"u": U}, DT, ("y",), noise=0.001)
Columns = dict[str, tuple[str, np.ndarray]]
FACTOR = {"%": 0.01, "percent": 0.01, "deg": np.pi / 180.0, "mm": 1e-3, "counts": 1.0, "-": 1.0, "": 1.0}


def csv_file(folder: Path, columns: Columns) -> Any:
    with (folder / "a.csv").open("w", newline="") as file:
        sheet = csv.writer(file)
        sheet.writerow(["t [ms]", *(f"{name} [{unit}]" if unit else name for name, (unit, _) in columns.items())])
        sheet.writerows(zip(1e3 * DATA["t"], *(values for _, values in columns.values()), strict=True))
    return log.read(folder / "a.csv")


def json_file(folder: Path, columns: Columns) -> Any:
    named = {f"{name} [{unit}]" if unit not in ("", "counts") else name: values.tolist() for name, (unit, values) in columns.items()}
    (folder / "a.json").write_text(json.dumps({"t [ms]": (1e3 * DATA["t"]).tolist(), **named}))
    return log.read(folder / "a.json")


def mat_file(folder: Path, columns: Columns) -> Any:
    from scipy.io import savemat

    structs = {name: {"time": DATA["t"], "values": values} | ({"unit": unit} if unit else {}) for name, (unit, values) in columns.items()}
    savemat(folder / "a.mat", structs)
    return log.read(folder / "a.mat")


def mat_by_name(folder: Path, columns: Columns) -> Any:
    """Vectors side by side, and a struct with their units, as a script writes them."""
    from scipy.io import savemat

    units = {"t": "ms"} | {name: unit for name, (unit, _) in columns.items() if unit}
    savemat(folder / "a.mat", {"t": 1e3 * DATA["t"], "units": units} | {name: values for name, (_, values) in columns.items()})
    return log.read(folder / "a.mat")


def mcap_file(folder: Path, columns: Columns) -> Any:
    """JSON messages of another tool, with units in their schema."""
    from mcap.writer import Writer

    with (folder / "a.mcap").open("wb") as file:
        writer = Writer(file)
        writer.start()
        fields = {name: {"type": "number"} | ({"unit": unit} if unit else {}) for name, (unit, _) in columns.items()}
        schema = writer.register_schema("bench", "jsonschema", json.dumps({"type": "object", "properties": fields}).encode())
        channel = writer.register_channel("/", "json", schema)
        for k, t in enumerate(DATA["t"]):
            row = {name: float(values[k]) for name, (_, values) in columns.items()}
            writer.add_message(channel, round(1e9 * t), json.dumps(row).encode(), round(1e9 * t))
        writer.finish()
    return log.read(folder / "a.mcap")


def bag_folder(folder: Path, columns: Columns) -> Any:
    """Messages of ROS 2 have no units: they are given with the name of the column."""
    pytest.importorskip("rosbags", reason="the extra `ros` is not installed")
    from rosbags.rosbag2 import Writer
    from rosbags.typesys import Stores, get_typestore

    store, kind = get_typestore(Stores.ROS2_HUMBLE), "std_msgs/msg/Float64"
    with Writer(folder / "bag", version=9) as bag:
        topics = {name: bag.add_connection(f"/{name}", kind, typestore=store) for name in columns}
        for k, t in enumerate(DATA["t"]):
            for name, (_, values) in columns.items():
                bag.write(topics[name], round(1e9 * t), store.serialize_cdr(store.types[kind](float(values[k])), kind))
    return log.read(folder / "bag")


def arrays(folder: Path, columns: Columns) -> Any:
    return {"t [ms]": 1e3 * DATA["t"], **{f"{name} [{unit}]" if unit else name: values for name, (unit, values) in columns.items()}}


@pytest.mark.parametrize("unit", FACTOR)
@pytest.mark.parametrize("kind", [csv_file, json_file, mat_file, mat_by_name, mcap_file, bag_folder, arrays])
def test_a_signal_of_any_unit_is_taken_in_si(kind: Callable[[Path, Columns], Any], unit: str, tmp_path: Path) -> None:
    made = kind(tmp_path, {"command": ("", DATA["in_u"]), "seen": (unit, DATA["y"] / FACTOR[unit])})
    seen = f"seen [{unit}]" if kind is bag_folder and unit else "seen"
    one = identify.trial(FIRST_ORDER, made, inputs={"u": "command"}, outputs={"y": seen})
    assert one.dt == pytest.approx(DT)
    assert one.outputs["y"].value == pytest.approx(DATA["y"][1:], rel=1e-12)


def test_a_gain_between_percent_and_a_number_is_1_7_and_not_170(tmp_path: Path) -> None:
    made = csv_file(tmp_path, {"command": ("", DATA["in_u"]), "seen": ("%", 100.0 * DATA["y"])})
    one = identify.trial(FIRST_ORDER, made, inputs={"u": "command"}, outputs={"y": "seen"})
    fitted = identify.fit(identify.Problem(FIRST_ORDER, [one], ["T", "K"]), seeds=1, generations=20)
    assert fitted.values == pytest.approx({"T": 0.08, "K": 1.7}, rel=0.01)


def test_a_unit_that_is_said_goes_over_that_of_the_file(tmp_path: Path) -> None:
    made = csv_file(tmp_path, {"command": ("", DATA["in_u"]), "seen": ("mm", 100.0 * DATA["y"])})
    one = identify.trial(FIRST_ORDER, made, inputs={"u": "command"}, outputs={"y": "seen [%]"})
    assert one.outputs["y"].value == pytest.approx(DATA["y"][1:], rel=1e-12)


@pytest.mark.parametrize("head", ["seen [%]", "seen (%)", "seen[%]", "seen [ % ]"])
@pytest.mark.parametrize("kind", ["csv", "json"])
def test_brackets_of_either_shape_hold_a_unit(head: str, kind: str, tmp_path: Path) -> None:
    file = tmp_path / f"a.{kind}"
    if kind == "csv":
        lines = (f"{t!r},{u!r},{100.0 * y!r}" for t, u, y in zip(*(DATA[name].tolist() for name in ("t", "in_u", "y")), strict=True))
        file.write_text("\n".join(["t (s),command," + head, *lines]) + "\n")
    else:
        file.write_text(json.dumps({"t (s)": DATA["t"].tolist(), "command": DATA["in_u"].tolist(), head: (100.0 * DATA["y"]).tolist()}))
    one = identify.trial(FIRST_ORDER, log.read(file), inputs={"u": "command"}, outputs={"y": "seen"})
    assert one.outputs["y"].value == pytest.approx(DATA["y"][1:], rel=1e-12)


def test_a_unit_of_the_times_that_is_none_is_named(tmp_path: Path) -> None:
    from scipy.io import savemat

    savemat(tmp_path / "a.mat", {"t": DATA["t"], "y": DATA["y"], "units": {"t": "kg"}})
    with pytest.raises(LogError, match=r"a\.mat: unit of t: 'kg' is no unit of time; write s, ms"):
        log.read(tmp_path / "a.mat")
