"""A robot from a file, by what its name ends in."""

from pathlib import Path

from pushrod.config import yaml_file
from pushrod.config.yaml_file import Document
from pushrod.core.errors import ConfigError
from pushrod.robot import xml_file
from pushrod.robot.description import Robot
from pushrod.robot.robot_file import read_yaml
from pushrod.robot.urdf_file import read_with_lines


def load(file: str | Path) -> Robot:
    """From .yaml (or .yml) or .urdf; ConfigError names everything wrong with it, by file, line and path."""
    return load_with_lines(Path(file))[0]


def load_with_lines(file: Path) -> tuple[Robot, Document]:
    """Return the robot of a file, and the document with the line of each path."""
    suffix = file.suffix.lower()
    if suffix in (".yaml", ".yml"):
        document = yaml_file.load(file, hold=True)
        return read_yaml(document), document
    if suffix == ".urdf":
        return read_with_lines(xml_file.load(file), str(file))
    raise ConfigError([f"{file}: a robot file ends in .yaml or .urdf, got {suffix or 'no ending'!r}"])
