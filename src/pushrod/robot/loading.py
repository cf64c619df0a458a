"""A robot from a file, by what its name ends in."""

from pathlib import Path

from pushrod.core.errors import ConfigError
from pushrod.robot.description import Robot
from pushrod.robot.robot_file import load_yaml
from pushrod.robot.urdf_file import load_urdf


def load(file: str | Path) -> Robot:
    """From .yaml (or .yml) or .urdf; ConfigError names everything wrong with it, by file, line and path."""
    file = Path(file)
    suffix = file.suffix.lower()
    if suffix in (".yaml", ".yml"):
        return load_yaml(file)
    if suffix == ".urdf":
        return load_urdf(file)
    raise ConfigError([f"{file}: a robot file ends in .yaml or .urdf, got {suffix or 'no ending'!r}"])
