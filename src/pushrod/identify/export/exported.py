"""What an exporter is asked for, and what it gives."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pushrod.sim.machine import Machine


@dataclass(frozen=True)
class Wanted:
    """`name` of files and models, `joint` of what is driven, `span` of its positions where it has ends [rad or m]."""

    machine: Machine
    name: str
    joint: str = "joint"
    span: tuple[float, float] | None = None


@dataclass(frozen=True)
class Exported:
    """The texts of files by name, and in words what the target cannot be told."""

    files: Mapping[str, str]
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class Target:
    name: str
    about: str
    export: Callable[[Wanted], Exported]
