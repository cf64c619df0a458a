"""A simulated machine: one world that moves in steps, and drivers that are ports into it."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol


class Machine(Protocol):
    """The runtime calls `step` once every `dt` seconds, with all gates closed, so that commands sent as one are seen in the same step.

    In real time it calls `warm` before anything is live: whatever takes long the first time is to be done there.
    """

    dt: float
    drivers: Mapping[str, Callable[[], Any]]  # by actuator, and by sensor where it has some

    def step(self) -> None: ...

    def warm(self) -> None: ...
