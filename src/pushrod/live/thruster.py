"""A simulated thruster that takes `Throttle`: it gives at once what it is told, and comes to rest on its own way down where it is told no more.

    Throttle(u)           u at once
    Stop("immediate")     rest at once
    Stop("decelerate")    rest within `neutral_time`, at a constant rate
    disarmed              as Stop("decelerate"): in the words of EN 60204-1 a stop of category 1

u(t) = u_0 - sign(u_0) min(|u_0|, (t - t_0) / neutral_time)        t_0 when it was told no more, u_0 what it gave then

ThrusterState is published `feedback_hz` times a second. Requests: "u" gives what it gives now.
"""

from typing import Annotated as A
from typing import Any, ClassVar

import msgspec

from pushrod.core.errors import InputError
from pushrod.core.quantity import Q
from pushrod.core.scalar import sign
from pushrod.live.payload import Throttle
from pushrod.live.publishing import Publishing
from pushrod.runtime.driver import Context
from pushrod.runtime.message import Command
from pushrod.runtime.payload import Payload, Stop
from pushrod.runtime.simulated.reach import Reach

_thrusters: "Reach[Thruster]" = Reach()


class ThrusterState(msgspec.Struct, frozen=True, gc=False, tag=True):
    """What a thruster gives, -1 to 1, as it measured it; and what share of its output it says it still has, where it can tell."""

    u: A[float, Q("-")]
    health: A[float, Q("-")] | None = None


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """neutral_time: from full ahead or astern to rest once it is told no more [s], 0 for at once. feedback_hz: 0 for none."""

    neutral_time: float = 1.0
    feedback_hz: float = 0.0


class Thruster(Publishing):
    disarm: ClassVar[str] = "pushrod.live.thruster:disarm"
    options: ClassVar[type] = Options
    command_payloads: ClassVar[tuple[type[Payload], ...]] = (Throttle, Stop)

    def init(self, context: Context, options: Options | None = None) -> None:
        # what it gave, and when it was told no more, None while it is told; replaced as a whole, so that a stop needs no lock
        self._course: tuple[float, float | None] = (0.0, 0.0)
        self.begin(context, options or Options())
        _thrusters.add(self)

    def handle_options(self, context: Context, options: Options) -> None:
        if not 0.0 <= options.neutral_time <= 60.0:
            raise InputError(f"neutral_time = {options.neutral_time!r} s: allowed are 0 (at once) to 60")
        super().handle_options(context, options)

    def handle_command(self, payload: Any, command: Command) -> None:
        if type(payload) is Throttle:
            self._course = payload.u, None
        else:
            self._rest(payload.mode == "immediate")

    def handle_request(self, request: Any) -> Any:
        if request == "u":
            return self.u
        raise LookupError(f"a simulated thruster answers 'u', got {request!r}")

    @property
    def u(self) -> float:
        """What it gives now."""
        return self.u_at(self.context.now())

    def u_at(self, now: float) -> float:
        given, since = self._course
        if since is None:
            return given
        gone = max(now - since, 0.0)
        left = abs(given) - (gone / self.settings.neutral_time if self.settings.neutral_time > 0.0 else 1.0)
        return sign(given) * left if left > 0.0 else 0.0

    def make_safe(self) -> None:
        self._rest(at_once=False)

    def _rest(self, at_once: bool) -> None:
        given, since = self._course
        if at_once or since is None:  # on its way already: asked twice it does not begin anew
            self._course = 0.0 if at_once else given, self.context.now()

    def _publish(self, _: int) -> None:
        self.context.publish(ThrusterState(self.u))


def disarm(options: dict[str, Any]) -> None:
    """Take every simulated thruster of this process that the options mean to rest, by robot and path."""
    _thrusters.make_safe(options)
