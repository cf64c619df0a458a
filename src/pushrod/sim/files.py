"""The files a run was made from, for its log: those of the machine and the scenario, the robot, and every file these name beside them."""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from pushrod.config.yaml_file import Document
from pushrod.core import input_file
from pushrod.log.writer import Attachment
from pushrod.sim.machine import Machine, is_there
from pushrod.sim.scenario import Scenario

KINDS = {".yaml": "application/yaml", ".yml": "application/yaml", ".csv": "text/csv", ".urdf": "application/xml", ".py": "text/x-python"}
MOST = 16 * 1024 * 1024  # bytes of one of them


def files_of(machine: Machine, scenario: Scenario | None = None) -> list[Attachment]:
    """Each under the name it has in the file that names it."""
    found = {"machine.yaml": machine.document.text}
    if scenario is not None:
        found["scenario.yaml"] = scenario.document.text
    robot = machine.document.data.get("robot")
    if machine.robot is not None and isinstance(robot, str):
        from pushrod.sim.machine_robot import shipped

        if robot in shipped():
            found["robot.yaml"] = shipped()[robot].read_text(encoding="utf-8")
    for document in (machine.document, *(() if scenario is None else (scenario.document,))):
        found = dict(named_files(document)) | found
    return [Attachment(name, KINDS.get(PurePosixPath(name).suffix.lower(), "text/plain"), text) for name, text in found.items()]


def named_files(document: Document) -> Iterator[tuple[str, str]]:
    """What a document names beside itself or below, by name."""
    for value in dict.fromkeys(_texts(document.data)):
        name = value.rpartition(":")[0] if ".py:" in value else value
        path = PurePosixPath(name)
        if path.suffix.lower() not in KINDS or path.is_absolute() or ".." in path.parts or not is_there(file := document.folder / name):
            continue
        text = text_of(file)
        if text is not None:
            yield name, text


def _texts(data: Any) -> Iterator[str]:
    if isinstance(data, dict):
        for value in data.values():
            yield from _texts(value)
    elif isinstance(data, list):
        for value in data:
            yield from _texts(value)
    elif isinstance(data, str) and len(data) < 1000:
        yield data


def text_of(file: Path) -> str | None:
    """What a file says; None where it is too long, or no text."""
    try:
        return input_file.read_text(file) if file.stat().st_size <= MOST else None
    except (OSError, UnicodeDecodeError):
        return None
