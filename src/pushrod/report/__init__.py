"""A log as a page that people want to read: one HTML file that needs nothing else, or its figures as plain data.

found = report.find(log.read("runs/car-car_default.mcap"))
report.figures(found)["responses"]
report.page([found])                     HTML
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pushrod.report.figure import figures
    from pushrod.report.findings import Findings, find
    from pushrod.report.html_page import page

_HOMES = {"figures": "figure", "Findings": "findings", "find": "findings", "page": "html_page"}

__all__ = ["Findings", "figures", "find", "page"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"pushrod.report.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'pushrod.report' has no attribute {name!r}; it offers {', '.join(__all__)}")
