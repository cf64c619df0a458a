"""Whatever a machine or scenario file holds, reading and running it ends in something sound or in an error of ours that says where."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from edits import edited, examples, told
from typer.testing import CliRunner

from pushrod.cli.main import app
from pushrod.core.errors import ConfigError, PushrodError
from pushrod.sim import machine, scenario

pytestmark = pytest.mark.soak

SHIPPED = {"machine": machine.shipped(), "scenario": scenario.shipped()}


def write(file: Path, text: str) -> None:
    file.write_bytes(text.encode("utf-8", "surrogatepass"))


def machine_of(text: str) -> str:
    """The machine a scenario was written for."""
    found = re.search(r"^machine: (\w+)", text, re.MULTILINE)
    assert found is not None
    return found[1]


def says_where(e: PushrodError, folder: Path) -> None:
    """Every problem names a file of the folder, or the shipped scenario that a machine names, and a line in it."""
    for text in e.problems if isinstance(e, ConfigError) else (str(e),):
        assert re.match(rf"({re.escape(str(folder))}|{re.escape(str(scenario.FOLDER))})/[\w/.-]+:[1-9]\d*: .", text), text


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The shipped machines and scenarios, to be spoilt."""
    shutil.copytree(machine.FOLDER, tmp_path / "files")
    for file in scenario.FOLDER.glob("*.yaml"):
        shutil.copy(file, tmp_path / "files")
    return tmp_path / "files"


@pytest.mark.parametrize("name", SHIPPED["machine"])
def test_a_machine_file(name: str, folder: Path) -> None:
    file = folder / f"{name}.yaml"
    whole = file.read_text()
    for number, rng in examples(f"machine {name}", 600):
        text = edited(whole, number, rng)
        with told(f"machine {name}", number, text):
            write(file, text)
            try:
                made = machine.load(str(file))
                scenario.load(None, made)
            except PushrodError as e:
                says_where(e, folder)


@pytest.mark.parametrize("name", SHIPPED["scenario"])
def test_a_scenario_file(name: str, folder: Path) -> None:
    file = folder / f"{name}.yaml"
    whole = file.read_text()
    made = machine.load(str(folder / f"{machine_of(whole)}.yaml"))
    for number, rng in examples(f"scenario {name}", 600):
        text = edited(whole, number, rng)
        with told(f"scenario {name}", number, text):
            write(file, text)
            try:
                scenario.load(str(file), made)
            except PushrodError as e:
                says_where(e, folder)


def call(*args: Any) -> Any:
    got = CliRunner().invoke(app, [str(a) for a in args])
    assert got.exception is None or isinstance(got.exception, SystemExit), got.exception
    assert got.exit_code in (0, 1, 2), got.output
    if got.exit_code == 2:
        assert got.stderr.startswith("error: ")
    return got


@pytest.mark.parametrize("kind", SHIPPED)
def test_the_commands(kind: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    for number, rng in examples(f"commands {kind}", 400):
        name = rng.choice(list(SHIPPED[kind]))
        file = folder / f"{name}.yaml"
        whole = file.read_text()
        text = edited(whole, number, rng)
        with told(f"commands {kind}", number, text):
            write(file, text)
            checked = call("check", file)
            on = () if kind == "machine" else (machine_of(whole),)
            got = call("run", *on, file, "--duration", "0.1", "--no-log")
            # what is refused when checked is refused when run, but for the machine and the duration, which are given here, and what comes after it
            assert checked.exit_code in (0, 2), checked.output
            assert (
                got.exit_code == 2
                or checked.exit_code == 0
                or "duration" in checked.stderr
                or " reaches " in checked.stderr
                or ": machine: " in checked.stderr
            ), checked.output
        file.write_text(whole)
