"""Run a log again: the recorded inputs through the same machine, compared bit for bit with what was recorded.

found = pushrod.replay.replay("runs/car-car_default.mcap")
found.identical, found.difference
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pushrod.replay.difference import Deviation, Difference
    from pushrod.replay.run import Replay, replay

_HOMES = {"Deviation": "difference", "Difference": "difference", "Replay": "run", "replay": "run"}

__all__ = ["Deviation", "Difference", "Replay", "replay"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"pushrod.replay.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'pushrod.replay' has no attribute {name!r}; it offers {', '.join(__all__)}")
