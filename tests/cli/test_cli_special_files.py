"""A FIFO, socket, device or folder as an input file is refused at once, by every verb that reads one; nothing is read from it."""

import io
import os
import socket
import threading
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pushrod.cli.main import app
from pushrod.core import input_file

pytestmark = pytest.mark.timeout(120)
MACHINE = "machine: m\nworld: car\nscenario: s.yaml\n"
SCENARIO = "scenario: s\nmachine: car\nduration: 1 s\ndt: 10 ms\n"
VERBS = {
    "check": ("check", "FILE.yaml"),
    "check a URDF file": ("check", "FILE.urdf"),
    "check for a machine": ("check", "s.yaml", "--machine", "FILE.yaml"),
    "run": ("run", "FILE.yaml"),
    "run a scenario": ("run", "car", "FILE.yaml"),
    "replay": ("replay", "FILE.mcap"),
    "replay with a machine": ("replay", "FILE.mcap", "--machine", "FILE.yaml"),
    "report": ("report", "FILE.mcap"),
    "report a CSV file": ("report", "FILE.csv"),
    "report two": ("report", "good.csv", "FILE.csv"),
    "log": ("log", "FILE.mcap"),
    "log of CSV": ("log", "FILE.csv"),
    "log of MATLAB": ("log", "FILE.mat"),
    "log of JSON": ("log", "FILE.json"),
    "log of a bag": ("log", "FILE.db3"),
    "fit": ("fit", "FILE.csv", "--model", "servo", "--output", "q", "--free", "lag.T"),
    "fit a model": ("fit", "good.csv", "--model", "FILE.yaml", "--output", "q", "--free", "lag.T"),
    "excite": ("excite", "FILE.yaml"),
    "excite in a scenario": ("excite", "servo", "--scenario", "FILE.yaml", "--input", "torque_req=1", "--output", "q=0.1"),
    "export": ("export", "FILE.yaml", "--to", "mujoco"),
    "sweep": ("sweep", "FILE.yaml"),
    "layout": ("layout", "foxglove", "FILE.yaml"),
    "layout of a log": ("layout", "foxglove", "FILE.mcap"),
    "urdf": ("urdf", "FILE.yaml"),
    "urdf of URDF": ("urdf", "FILE.urdf"),
    "schema": ("schema", "scenario", "--machine", "FILE.yaml"),
    "new": ("new", "machine", "other", "--like", "FILE.yaml"),
    "serve": ("serve", "FILE.yaml"),
    "serve a URDF file": ("serve", "FILE.urdf"),
    "verify": ("verify", "FILE.json"),
    "verify CSV": ("verify", "FILE.csv"),
}
NAMES = {word.removeprefix("FILE") for words in VERBS.values() for word in words if word.startswith("FILE")}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.yaml").write_text(MACHINE)
    (tmp_path / "s.yaml").write_text(SCENARIO)
    (tmp_path / "good.csv").write_text("t [s],q\n" + "".join(f"{k * 0.01},{k}\n" for k in range(50)))
    return tmp_path


def call(*args):
    """Run a verb; a verb that blocks would never come back, so it runs in a thread of its own."""
    results = []
    thread = threading.Thread(target=lambda: results.append(CliRunner().invoke(app, [str(a) for a in args])), daemon=True)
    thread.start()
    thread.join(30.0)
    assert results, f"{args} is still running"
    return results[0]


def make(kind: str, file: Path) -> None:
    if kind == "FIFO":
        os.mkfifo(file)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(file.name)  # a full path may be too long
    elif kind == "directory":
        file.mkdir()
    else:
        file.symlink_to("/dev/zero")


@pytest.mark.parametrize("kind", ["FIFO", "socket", "character device", "directory"])
def test_every_verb_refuses_it_at_once(folder, kind):
    for suffix in NAMES:
        make(kind, folder / f"FILE{suffix}")
    for verb, words in VERBS.items():
        if verb == "serve" and kind == "directory":
            continue  # a folder is no robot file, nor a machine
        got = call(*words)
        assert got.exit_code == 2, f"{verb}: {got.output}"
        lines = [line for line in got.output.splitlines() if line.strip()]
        assert len(lines) == 1, f"{verb}: {got.output}"
        if kind != "directory" and not verb.startswith("verify"):
            assert f"is a {kind}; give a regular file" in lines[0], f"{verb}: {lines}"


def test_every_verb_refuses_a_file_that_does_not_fit_into_memory(folder):
    """Sparse files, which take no room on the disk."""
    for suffix in NAMES:
        (folder / f"FILE{suffix}").touch()
        os.truncate(folder / f"FILE{suffix}", 2**40)
    for verb, words in VERBS.items():
        got = call(*words)
        assert got.exit_code == 2, f"{verb}: {got.output}"
        assert isinstance(got.exception, SystemExit), f"{verb}: {got.exception!r}"
        if ".mcap" not in str(words) and ".db3" not in str(words) and verb != "verify CSV":  # recordings that are read piece by piece
            assert f"too large: {2**40} bytes; allowed are" in got.output, f"{verb}: {got.output}"


def test_files_that_other_files_name_are_limited_in_size_too(folder):
    for name in ("large.csv", "large.yaml"):
        (folder / name).touch()
        os.truncate(folder / name, 2**40)
    for text in (
        "machine: m\nworld: servo\nparameters: {include: large.yaml}\n",
        "machine: m\nworld: arm\nrobot: large.yaml\n",
        "machine: m\nworld: servo\nscenario: large.yaml\n",
        "machine: m\nworld: car\nparameters: {vehicle: {accel_map: large.csv}}\n",
    ):
        (folder / "m.yaml").write_text(text)
        got = call("check", "m.yaml")
        assert got.exit_code == 2, text
        assert "too large" in got.output
    (folder / "s.yaml").write_text(SCENARIO + "signals: {accel: [{recorded: {file: large.csv}}]}\n")
    assert call("check", "s.yaml").exit_code == 2


def test_exhausted_memory_is_a_message(folder, monkeypatch):
    def exhausted(*_):
        raise MemoryError

    monkeypatch.setattr("pushrod.config.yaml_file.parse", exhausted)
    got = call("check", "m.yaml")
    assert (got.exit_code, got.output) == (2, "error: not enough memory. Give less input, or use a computer with more\n")
    monkeypatch.setattr("pushrod.log.csv_file.decoded", exhausted)
    got = call("log", "good.csv")
    assert got.exit_code == 2
    assert "good.csv: does not fit into memory" in got.output


def test_files_that_other_files_name_are_refused_too(folder):
    os.mkfifo(folder / "pipe.csv")
    os.mkfifo(folder / "pipe.yaml")
    os.mkfifo(folder / "pipe.py")
    for text in (
        "machine: m\nworld: servo\nparameters: {include: pipe.yaml}\n",
        "machine: m\nworld: arm\nrobot: pipe.yaml\n",
        "machine: m\nworld: pipe.py:W\n",
        "machine: m\nworld: servo\nscenario: pipe.yaml\n",
        "machine: m\nworld: car\nparameters: {vehicle: {accel_map: pipe.csv}}\n",
    ):
        (folder / "m.yaml").write_text(text)
        got = call("check", "m.yaml", "--trust")
        assert got.exit_code == 2, text
        assert "pipe." in got.output
    (folder / "s.yaml").write_text(SCENARIO + "signals: {accel: [{recorded: {file: pipe.csv}}]}\n")
    got = call("check", "s.yaml")
    assert got.exit_code == 2


def test_a_pipe_inside_a_ros_bag_or_a_folder_of_results_is_refused(folder):
    (folder / "bag").mkdir()
    (folder / "bag" / "metadata.yaml").write_text("rosbag2_bagfile_information: {}\n")
    os.mkfifo(folder / "bag" / "bag_0.db3")
    got = call("log", "bag")
    assert got.exit_code == 2
    assert "is a FIFO" in got.output
    (folder / "results").mkdir()
    os.mkfifo(folder / "results" / "study.json")
    assert call("sweep", "report", "results").exit_code == 2


def test_a_pipe_where_a_new_file_would_be(folder):
    for name in ("new_car_default.yaml", "test_new_car.py"):
        os.mkfifo(folder / name)
    assert call("new", "machine", "new_car").exit_code == 2


def test_a_regular_file_by_way_of_a_link_or_stdin_is_read(folder):
    (folder / "link.yaml").symlink_to("m.yaml")
    assert call("check", "link.yaml").exit_code in (0, 2)
    assert input_file.read_text(folder / "link.yaml") == MACHINE
    with (folder / "m.yaml").open("rb") as file:
        assert input_file.read_bytes(f"/dev/fd/{file.fileno()}") == MACHINE.encode()


def test_a_fifo_is_refused_though_a_writer_waits(folder):
    os.mkfifo(folder / "p")
    handle = os.open(folder / "p", os.O_RDWR)
    os.write(handle, b"machine: m\n")
    for read in (input_file.read_bytes, input_file.read_text, input_file.open_binary, input_file.open_text):
        with pytest.raises(input_file.SpecialFileError, match="is a FIFO; give a regular file"):
            read(folder / "p")
    assert os.read(handle, 100) == b"machine: m\n"
    os.close(handle)


def test_no_reader_opens_input_files_by_itself():
    """Files that a user names are opened in one place; the exceptions are files of the package and of the program itself."""
    import re

    source = Path(input_file.__file__).parents[1]
    allowed = {
        "core/input_file.py", "core/running.py",  # /proc
        "compiled/module.py", "compiled/verified_cache.py",  # the cache
        "report/html_page.py", "dash/page.py", "replay/rebuilding.py",  # files of the package
        "guard/locating.py", "guard/record.py", "guard/record_file.py", "guard/child.py", "log/child.py", "sim/run.py",
        "cli/nearby.py", "drivers/dynamixel/servo.py",  # the folder of running robots; registers
        "sim/files.py", "cli/new.py", "log/steady_file.py",  # shipped robots; templates; the log that is written
    }  # fmt: skip
    pattern = re.compile(r"(?<!input_file)\.(read_text|read_bytes)\(|\.open\((\"rb\"|newline|encoding)|(?<!def )(?<![\w.])open\(")
    found = {str(file.relative_to(source)) for file in source.rglob("*.py") if pattern.search(file.read_text())}
    assert sorted(found - allowed) == []


def test_io_is_what_it_was(folder):
    with input_file.open_text(folder / "m.yaml") as file:
        assert isinstance(file, io.TextIOWrapper)
        assert file.read() == MACHINE
