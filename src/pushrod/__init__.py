"""Pushrod: the actuation stack for Python. Everything between "the controller asks" and "the machine moves".

The names below are brought in when first used, so that `import pushrod` stays quick.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pushrod.compiled.evaluate import evaluate
    from pushrod.compiled.result import Run
    from pushrod.compiled.rollout import batch, rollout
    from pushrod.compiled.stepper import Stepper
    from pushrod.core.check import check
    from pushrod.core.errors import PushrodError
    from pushrod.core.model import Model, Tick, World
    from pushrod.core.purity import pure
    from pushrod.core.quantity import Choice, Floats, Q, Table, flag
    from pushrod.core.ring import Ring
    from pushrod.sim.actuator_driver import ActuatorDriver
    from pushrod.sim.rigid_body import RigidBody
    from pushrod.sim.signal_set import SignalSet

_HOMES = {
    "ActuatorDriver": "pushrod.sim.actuator_driver",
    "Choice": "pushrod.core.quantity",
    "Floats": "pushrod.core.quantity",
    "Model": "pushrod.core.model",
    "PushrodError": "pushrod.core.errors",
    "Q": "pushrod.core.quantity",
    "RigidBody": "pushrod.sim.rigid_body",
    "Ring": "pushrod.core.ring",
    "Run": "pushrod.compiled.result",
    "SignalSet": "pushrod.sim.signal_set",
    "Stepper": "pushrod.compiled.stepper",
    "Table": "pushrod.core.quantity",
    "Tick": "pushrod.core.model",
    "World": "pushrod.core.model",
    "batch": "pushrod.compiled.rollout",
    "check": "pushrod.core.check",
    "evaluate": "pushrod.compiled.evaluate",
    "flag": "pushrod.core.quantity",
    "pure": "pushrod.core.purity",
    "rollout": "pushrod.compiled.rollout",
}

__all__ = [
    "ActuatorDriver",
    "Choice",
    "Floats",
    "Model",
    "PushrodError",
    "Q",
    "RigidBody",
    "Ring",
    "Run",
    "SignalSet",
    "Stepper",
    "Table",
    "Tick",
    "World",
    "batch",
    "check",
    "evaluate",
    "flag",
    "pure",
    "rollout",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'pushrod' has no attribute {name!r}; it offers {', '.join(__all__)}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
