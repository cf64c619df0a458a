"""MATLAB files give channels wherever there are times for them: beside the vectors, above them, or in structs as Simulink writes them."""

import numpy as np
import pytest
from scipy.io import savemat

from pushrod.core.errors import LogError
from pushrod.log import read

T = np.linspace(0.0, 1.0, 11)


def table_of(tmp_path, data, **more):
    savemat(tmp_path / "a.mat", data, **more)
    return read(tmp_path / "a.mat")


@pytest.mark.parametrize("compressed", [False, True])
def test_vectors_and_matrices_beside_their_times(tmp_path, compressed):
    table = table_of(tmp_path, {"t": T, "x": np.sin(T), "m": np.column_stack([T, 2 * T]), "name": "run", "gain": 3.0}, do_compression=compressed)
    assert list(table.channels) == ["x", "m.0", "m.1"]
    assert table["x"].values.tobytes() == np.sin(T).tobytes()
    assert table["m.1"].t.tolist() == T.tolist()
    assert (table.format, table.torn) == ("mat", "")


def test_structs_with_times_of_their_own(tmp_path):
    slow = np.linspace(0.0, 1.0, 3)
    data = {
        "time": T,
        "steer": {"time": slow, "values": slow**2, "unit": "rad"},
        "logs": {"wheel": {"speed": T + 1.0}, "n": np.arange(11)},
        "out": {"time": slow, "signals": [{"label": "v", "values": slow + 5.0}, {"label": "w", "values": slow + 6.0}]},
    }
    table = table_of(tmp_path, data)
    assert (table["steer"].unit, table["steer"].t.tolist(), table["steer"].values.tolist()) == ("rad", slow.tolist(), (slow**2).tolist())
    assert table["logs.wheel.speed"].values.tolist() == (T + 1.0).tolist()
    assert table["logs.n"].values.tolist() == list(range(11))
    assert table["out.signals.v"].values.tolist() == (slow + 5.0).tolist()


def test_a_file_without_times_says_what_it_has(tmp_path):
    with pytest.raises(LogError, match=r"no vector with times .* among x \(11,\); name the vector of times t or time"):
        table_of(tmp_path, {"x": T})


def test_what_has_another_length_is_told(tmp_path):
    assert table_of(tmp_path, {"t": T, "x": T, "y": T[:5]}).notes == ("y (5,) is left out: t has 11 times",)


def test_version_7_3_and_damaged_files_are_refused_clearly(tmp_path):
    (tmp_path / "new.mat").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    with pytest.raises(LogError, match="version 7.3 .* '-v7'"):
        read(tmp_path / "new.mat")
    savemat(tmp_path / "a.mat", {"t": T, "x": T}, do_compression=True)
    whole = (tmp_path / "a.mat").read_bytes()
    (tmp_path / "a.mat").write_bytes(whole[:-30])
    with pytest.raises(LogError, match="no MATLAB file that can be read"):
        read(tmp_path / "a.mat")
