"""From a recording to parameters one can believe.

one = identify.trial(world, log.read("servo.csv"), inputs={"goal": "goal [deg]"}, outputs={"q": "position [deg]"})
problem = identify.Problem(world, [one], free=["lag.T", "bus.delay"])
found = identify.fit(problem)
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pushrod.identify.experiment import Trial, trial
    from pushrod.identify.problem import Problem
    from pushrod.identify.search import Fit, fit

_HOMES = {"Fit": "search", "Problem": "problem", "Trial": "experiment", "fit": "search", "trial": "experiment"}

__all__ = ["Fit", "Problem", "Trial", "fit", "trial"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"pushrod.identify.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'pushrod.identify' has no attribute {name!r}; it offers {', '.join(__all__)}")
