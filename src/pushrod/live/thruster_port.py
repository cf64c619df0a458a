"""A thruster of a simulated world behind the runtime: the thruster of `live.thruster`, whose output the world is told and whose rotor it measures.

Once told no more it comes to rest on its own way down, as that does, in steps of the world. ThrusterState is published after every tick.
"""

from typing import Any, ClassVar

from pushrod.live.thruster import Options, Thruster, ThrusterState
from pushrod.runtime.driver import Context


class ThrusterPort(Thruster):
    channels: ClassVar[tuple[str, ...]] = ("u",)
    reads: ClassVar[tuple[str, ...]] = ("u_meas", "health")

    def __init__(self, place: Any) -> None:
        self.place = place

    def init(self, context: Context, options: Options | None = None) -> None:
        super().init(context, options)
        self.place.attach(self)
        self.after_tick()

    def before_tick(self) -> None:
        """What the world is told holds from the start of the tick, which ends now."""
        self.place.write((self.u_at(self.context.now() - self.place.dt),))

    def after_tick(self) -> None:
        seen = self.place.all()
        self.context.publish(ThrusterState(seen["u_meas"], seen["health"]))

    def _publish(self, _: int) -> None:
        """It has published already."""
