"""What a log says of itself: which machine and robot, when, with which versions."""

import time
from collections.abc import Mapping

from pushrod.log.versions import versions
from pushrod.runtime.clock import SteppedClock
from pushrod.runtime.runtime import Runtime


def about_live(rt: Runtime, more: Mapping[str, str]) -> dict[str, str]:
    """Of a runtime; `started` is left out under the stepped clock, so that equal runs give equal files."""
    stepped = isinstance(rt.clock, SteppedClock)
    made = {"kind": "stepped" if stepped else "live", "robot": rt.robot.name}
    if rt.machine is not None:
        made |= {"dt": repr(rt.machine.dt)}
    if not stepped:
        made["started"] = time.strftime("%Y-%m-%dT%H:%M:%S%z")
    return made | versions() | dict(more)
