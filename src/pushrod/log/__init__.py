"""Logs: the schema of a topic from its record, the MCAP writer, and readers of recordings of any kind.

The names below are brought in when first used, so that the process that writes a log is there quickly.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pushrod.log.reader import read
    from pushrod.log.table import Attached, Channel, Table, TopicInfo

_HOMES = {
    "Attached": "pushrod.log.table",
    "Channel": "pushrod.log.table",
    "Table": "pushrod.log.table",
    "TopicInfo": "pushrod.log.table",
    "read": "pushrod.log.reader",
}

__all__ = ["Attached", "Channel", "Table", "TopicInfo", "read"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'pushrod.log' has no attribute {name!r}; it offers {', '.join(__all__)}")
