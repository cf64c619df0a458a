"""All parameters of the two-motor pipeline under their dotted names: `act.hw.u_LR_min` is the field u_LR_min of hw of act.

    act.hw.u_LR_min <= act.sw.u_LR_min <= act.sw.u_LR_max <= act.hw.u_LR_max

A set is checked as a whole (`core.check.check`), with every reason; who holds it keeps the old one when a new one is refused.
"""

from collections.abc import Iterator
from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.quantity import Choice, Q, flag
from pushrod.core.record import numbers
from pushrod.pipeline.names import POLICIES


class Hw(NamedTuple):
    """What a motor can take."""

    u_LR_min: A[float, Q("-", -10.0, 10.0)] = -1.0
    u_LR_max: A[float, Q("-", -10.0, 10.0)] = 1.0


class Sw(NamedTuple):
    """What we let it have: motors, surge, differential."""

    u_LR_min: A[float, Q("-", -10.0, 10.0)] = -1.0
    u_LR_max: A[float, Q("-", -10.0, 10.0)] = 1.0
    u_s_min: A[float, Q("-", -10.0, 10.0)] = -1.0
    u_s_max: A[float, Q("-", -10.0, 10.0)] = 1.0
    u_d_max_neg: A[float, Q("-", 0.0, 10.0, "greatest differential to starboard, as a positive number")] = 1.0
    u_d_max_pos: A[float, Q("-", 0.0, 10.0, "greatest differential to port")] = 1.0


class Ap(NamedTuple):
    u_s_scale: A[float, Q("-", 0.0, 10.0)] = 1.0
    u_d_scale: A[float, Q("-", 0.0, 10.0)] = 1.0


class Man(NamedTuple):
    u_s_scale: A[float, Q("-", 0.0, 10.0)] = 1.0
    u_d_scale: A[float, Q("-", 0.0, 10.0)] = 1.0
    deadband: A[float, Q("-", 0.0, 0.9, "of the request; what lies beyond is stretched, so that there is no jump")] = 0.0
    expo: A[float, Q("-", 0.0, 1.0, "0 straight, 1 all cubic")] = 0.0


class Shp(NamedTuple):
    ap: Ap = Ap()
    man: Man = Man()


class Alloc(NamedTuple):
    policy: A[float, Choice(POLICIES, "what gives way when the motors cannot do both")] = 0.0
    w_s: A[float, Q("-", 1e-6, 1e6, "weight of the surge error")] = 1.0
    w_d: A[float, Q("-", 1e-6, 1e6, "weight of the differential error")] = 1.0
    slew_aware: A[float, flag("the allocator knows how far each motor can move in this tick")] = 0.0
    gain_max: A[float, Q("-", 2.0, 1e3, "most a weak motor is asked for, per what a well one would be; one that would need more is not asked")] = 10.0


class Trim(NamedTuple):
    gain_L: A[float, Q("-", 0.1, 10.0)] = 1.0
    gain_R: A[float, Q("-", 0.1, 10.0)] = 1.0
    offset_L: A[float, Q("-", -1.0, 1.0)] = 0.0
    offset_R: A[float, Q("-", -1.0, 1.0)] = 0.0


class Motor(NamedTuple):
    deadband: A[float, Q("-", 0.0, 1.0, "smaller outputs become 0, where 0 is allowed")] = 0.0


class Slew(NamedTuple):
    up: A[float, Q("1/s", 0.0, 1e9, "greatest rate of a rising output")] = 1e9
    down: A[float, Q("1/s", 0.0, 1e9, "greatest rate of a falling output")] = 1e9
    neutral_time: A[float, Q("s", 1e-3, 60.0, "from any output to rest at most, whatever the rates above say")] = 1.0


class Channel(NamedTuple):
    """Calibration of one RC channel."""

    us_min: A[float, Q("us", 500.0, 2500.0, "stick at one end")] = 1000.0
    us_mid: A[float, Q("us", 500.0, 2500.0, "stick released")] = 1500.0
    us_max: A[float, Q("us", 500.0, 2500.0, "stick at the other end")] = 2000.0
    us_dead: A[float, Q("us", 0.0, 500.0, "to either side of us_mid")] = 0.0
    expo: A[float, Q("-", 0.0, 1.0, "0 straight, 1 all cubic")] = 0.0
    reverse: A[float, flag()] = 0.0

    def flaws(self, dt: float | None) -> Iterator[str]:
        if not self.us_min + self.us_dead < self.us_mid:
            yield f"us_mid = {self.us_mid:g} us leaves no travel below it: us_min + us_dead = {self.us_min + self.us_dead:g} us must lie under it"
        if not self.us_mid + self.us_dead < self.us_max:
            yield f"us_max = {self.us_max:g} us leaves no travel above us_mid + us_dead = {self.us_mid + self.us_dead:g} us; it must lie above"


class Rc(NamedTuple):
    s: Channel = Channel()
    d: Channel = Channel()
    us_lost_below: A[float, Q("us", 0.0, 2500.0, "a shorter pulse is none")] = 800.0
    us_lost_above: A[float, Q("us", 0.0, 1e5, "a longer pulse is none")] = 2200.0

    def flaws(self, dt: float | None) -> Iterator[str]:
        for name, channel in (("s", self.s), ("d", self.d)):
            if channel.us_min < self.us_lost_below:
                yield f"us_lost_below = {self.us_lost_below:g} us cuts into the travel of {name}: {name}.us_min = {channel.us_min:g} us lies below"
            if channel.us_max > self.us_lost_above:
                yield f"us_lost_above = {self.us_lost_above:g} us cuts into the travel of {name}: {name}.us_max = {channel.us_max:g} us lies above"


class Timeouts(NamedTuple):
    """How old a request may be before it counts as lost."""

    ap: A[float, Q("s", 0.0, 60.0)] = 0.5
    man: A[float, Q("s", 0.0, 60.0)] = 0.5
    test: A[float, Q("s", 0.0, 60.0)] = 0.5


class Esc(NamedTuple):
    """From a normalised output to a pulse width."""

    us_min: A[float, Q("us", 500.0, 2500.0, "at u = -1; us_min = us_mid: a motor that turns one way")] = 1100.0
    us_mid: A[float, Q("us", 500.0, 2500.0, "at rest")] = 1500.0
    us_max: A[float, Q("us", 500.0, 2500.0, "at u = 1")] = 1900.0
    reverse_L: A[float, flag("the left motor turns the other way round")] = 0.0
    reverse_R: A[float, flag("the right motor turns the other way round")] = 0.0

    def flaws(self, dt: float | None) -> Iterator[str]:
        if self.us_min > self.us_mid:
            yield f"us_min = {self.us_min:g} us lies above us_mid = {self.us_mid:g} us; it must not"
        if not self.us_mid < self.us_max:
            yield f"us_max = {self.us_max:g} us does not lie above us_mid = {self.us_mid:g} us; it must"
        for side in ("reverse_L", "reverse_R"):
            if getattr(self, side) == 1.0 and self.us_min >= self.us_mid:
                yield f"{side} is set, but a motor that turns one way (us_min >= us_mid) cannot be turned round; clear it or lower us_min"


class Act(NamedTuple):
    hw: Hw = Hw()
    sw: Sw = Sw()
    shp: Shp = Shp()
    alloc: Alloc = Alloc()
    trim: Trim = Trim()
    motor: Motor = Motor()
    slew: Slew = Slew()
    rc: Rc = Rc()
    timeout: Timeouts = Timeouts()
    esc: Esc = Esc()

    def flaws(self, dt: float | None) -> Iterator[str]:
        hw, sw = self.hw, self.sw
        if not hw.u_LR_min < hw.u_LR_max:
            yield f"hw.u_LR_max = {hw.u_LR_max:g} does not lie above hw.u_LR_min = {hw.u_LR_min:g}; it must"
        if sw.u_LR_min < hw.u_LR_min:
            yield f"sw.u_LR_min = {sw.u_LR_min:g} lies below hw.u_LR_min = {hw.u_LR_min:g}; what we allow must lie within what the motor can take"
        if sw.u_LR_max > hw.u_LR_max:
            yield f"sw.u_LR_max = {sw.u_LR_max:g} lies above hw.u_LR_max = {hw.u_LR_max:g}; what we allow must lie within what the motor can take"
        if sw.u_LR_min > sw.u_LR_max:
            yield f"sw.u_LR_min = {sw.u_LR_min:g} lies above sw.u_LR_max = {sw.u_LR_max:g}; swap them"
        if sw.u_s_min > sw.u_s_max:
            yield f"sw.u_s_min = {sw.u_s_min:g} lies above sw.u_s_max = {sw.u_s_max:g}; swap them"
        if self.esc.us_min >= self.esc.us_mid and hw.u_LR_min < 0.0:
            yield (
                f"esc.us_min = {self.esc.us_min:g} us is no less than esc.us_mid = {self.esc.us_mid:g} us, a motor that turns one way, "
                f"but hw.u_LR_min = {hw.u_LR_min:g} asks for reverse; set it to 0 or lower esc.us_min"
            )


class Params(NamedTuple):
    act: Act = Act()


PARAMETERS = tuple(leaf.path for leaf in numbers(Params))
