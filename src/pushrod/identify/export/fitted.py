"""What is exported: the file that a fit wrote, or any machine with its parameters.

model: servo_bench                 what was fitted, by the name that `subject` knows
parameters: {drive: {kp: 0.6}}     nested as its records; what is not mentioned keeps the value of the model
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pushrod.config import yaml_file
from pushrod.core.errors import ConfigError
from pushrod.identify.subject import subject
from pushrod.sim import machine as machines
from pushrod.sim.machine import Machine


def fitted(name: str, overrides: Iterable[str] = ()) -> Machine:
    """The machine that a file of a fit describes; of any other name the machine, world or model itself."""
    file = Path(name)
    if file.suffix not in (".yaml", ".yml") or not machines.is_there(file):
        return subject(name, overrides)
    said = yaml_file.load(file)
    if "model" not in said.data:
        return subject(name, overrides)
    if not isinstance(said.data["model"], str) or not isinstance(said.data.get("parameters"), dict):
        raise ConfigError([f"{file}: a fit has `model: NAME` and `parameters:` with values; this file has not"])
    document = subject(said.data["model"]).document
    for path, value in _values(said.data["parameters"], ()):
        document.override(("parameters", *path), value, str(file))
    return machines.build(document, overrides)


def _values(data: dict[str, Any], path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    for key, value in data.items():
        if isinstance(value, dict):
            yield from _values(value, (*path, key))
        else:
            yield (*path, key), value
