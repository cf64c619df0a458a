"""Put a vehicle somewhere else while it runs.

The commands in its queues stay on their way. A mechanical steering forgets its motion: rate, PID, dead-zone latch, stored torques and
clock; it keeps the last tyre command.
"""

from collections.abc import Mapping
from typing import Any

from pushrod.core.errors import InputError
from pushrod.core.names import did_you_mean
from pushrod.vehicles.mechanical import forgetful


def set_state(s: Any, values: Mapping[str, float]) -> Any:
    """The state with the named numbers (x, y, yaw, vx, steer, accx ...) replaced."""
    plain = [name for name in s._fields if isinstance(getattr(s, name), (int, float))]
    for name in values:
        if name not in plain:
            raise InputError(f"{name!r} is no number of this vehicle's state; {did_you_mean(plain, name)} known: {', '.join(plain)}")
    s = s._replace(**{name: float(x) for name, x in values.items()})
    return s._replace(mechanical=forgetful(s.mechanical, s.steer)) if hasattr(s, "mechanical") else s
