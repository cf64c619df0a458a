"""What a log says of itself: which machine and robot, when, with which versions."""

import time
from collections.abc import Mapping

from pushrod.log.versions import versions
from pushrod.runtime.clock import SteppedClock
from pushrod.runtime.runtime import Runtime


def about_runtime(rt: Runtime, more: Mapping[str, str], offset: int = 0) -> dict[str, str]:
    """Of a runtime; `started` is left out under the stepped clock, so that equal runs give equal files.

    `offset` [ns]: what was added to times of the runtime's clock, which some messages hold (`origin`, `expected_arrival`), to get those of the log.
    """
    stepped = isinstance(rt.clock, SteppedClock)
    made = {"kind": "stepped" if stepped else "live", "robot": rt.robot.name}
    if rt.machine is not None:
        made |= {"dt": repr(rt.machine.dt)}
    if not stepped:
        made |= {"started": time.strftime("%Y-%m-%dT%H:%M:%S%z"), "clock_offset": repr(offset * 1e-9)}
    return made | versions() | dict(more)
