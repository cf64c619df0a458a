"""What is asked of a pipeline that runs: requests of its sources, changes of its mode, news of its motors; and what it answers.

A request is a message on the topic of its source (ACTUATOR_REQ/AUTOPILOT, ACTUATOR_REQ/MANUAL, ACTUATOR_REQ/TEST) or handed over by `Helm`.
What is not a number in it is kept as NaN: it is for the pipeline to make it neutral and to say so.
"""

import math
from typing import Annotated as A
from typing import Any, ClassVar, NamedTuple

import msgspec

from pushrod.core.quantity import Q
from pushrod.pipeline.names import SOURCES

NEVER = 1e9  # [s] the age of what was never heard
ASKING = SOURCES[1:]


class AutopilotRequest(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Of the speed and the yaw loop [-]."""

    source: ClassVar[str] = "AUTOPILOT"
    u_s_raw: A[float, Q("-")] = 0.0
    u_d_raw: A[float, Q("-")] = 0.0


class ManualRequest(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Two channels of a receiver [us]."""

    source: ClassVar[str] = "MANUAL"
    rc_s: A[float, Q("us")] = 1500.0
    rc_d: A[float, Q("us")] = 1500.0


class TestRequest(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Of a test on the bench [-]."""

    __test__: ClassVar[bool] = False  # no class of tests
    source: ClassVar[str] = "TEST"
    u_s_test: A[float, Q("-")] = 0.0
    u_d_test: A[float, Q("-")] = 0.0


class AxesRequest(msgspec.Struct, frozen=True, tag=True):
    """To a pipeline of n effectors: one number an axis; of MANUAL, one channel an axis [us]."""

    source: str
    values: tuple[float, ...]


class Switch(msgspec.Struct, frozen=True, tag=True):
    """Go to a mode: idle, manual, autopilot, test or abort. `by` says who asks."""

    mode: str
    by: str


class Announce(msgspec.Struct, frozen=True, tag=True):
    """What share of its output each motor still gives, 0 dead to 1 well, in the order of the motors."""

    health: tuple[float, ...]


class Switched(msgspec.Struct, frozen=True, tag=True):
    """The answer to a Switch: the mode now, and why it is not the one asked for."""

    ok: bool
    mode: str
    why: str = ""


class Status(msgspec.Struct, frozen=True, tag=True):
    """Who owns the motors. `owner` is NONE and `reason` says why where the request is neutral; `detail` what a gate said."""

    mode: str
    owner: str
    reason: str
    armed: bool
    detail: str = ""


class Heard(NamedTuple):
    """The newest request of one source, and when it was made [s]."""

    values: tuple[float, ...]
    time: float = -math.inf

    def age(self, now: float) -> float:
        return min(max(now - self.time, 0.0), NEVER)


def values_of(request: Any) -> tuple[float, ...]:
    """The numbers of a request; NaN for what is none."""
    given = request.values if isinstance(request, AxesRequest) else tuple(getattr(request, name) for name in request.__struct_fields__)
    return tuple(map(_number, given))


def _number(x: Any) -> float:
    try:
        return math.nan if isinstance(x, (bool, str)) else float(x)
    except (TypeError, ValueError, OverflowError):
        return math.nan
