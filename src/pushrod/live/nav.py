"""What a vessel measures of its own way: speed, heading and yaw rate, after every tick of the world it is in."""

from typing import Annotated as A
from typing import Any, ClassVar

import msgspec

from pushrod.core.quantity import Q
from pushrod.runtime.driver import Context


class Nav(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Speed ahead [m/s], heading [rad] and yaw rate [rad/s] as measured, both positive to port."""

    v: A[float, Q("m/s")] = 0.0
    psi: A[float, Q("rad")] = 0.0
    r: A[float, Q("rad/s")] = 0.0


class NavPort:
    """A sensor of a simulated world."""

    channels: ClassVar[tuple[str, ...]] = ()
    reads: ClassVar[tuple[str, ...]] = ("v_meas", "psi_meas", "r_meas")

    def __init__(self, place: Any) -> None:
        self.place = place

    def init(self, context: Context, options: Any) -> None:
        self.context = context
        self.place.attach(self)
        self.after_tick()

    def before_tick(self) -> None:
        return

    def after_tick(self) -> None:
        seen = self.place.all()
        self.context.publish(Nav(*(seen[name] for name in self.reads)))
