"""The pipeline of n effectors and m axes, live. Its sources ask with one number an axis; MANUAL with one RC channel an axis.

The channels are calibrated alike (`sources: {rc: {channel: ...}}`), but for what `channels`, axis by axis, says otherwise.
"""

from collections.abc import Iterator
from typing import Annotated as A
from typing import Any, ClassVar, NamedTuple

import msgspec

from pushrod.core.errors import ParameterError
from pushrod.core.quantity import Q
from pushrod.live.pipeline import node
from pushrod.live.pipeline.act_parameters import read
from pushrod.live.pipeline.node import Outputs, PipelineNode, owner_words
from pushrod.live.pipeline.request import AxesRequest, Heard
from pushrod.pipeline.act import Channel, Rc, Timeouts
from pushrod.pipeline.allocate.axes import N_MOST, Axes, Effectors, Health, axis_line, effector_line, from_effectors, to_axes, to_pulses
from pushrod.pipeline.allocate.solve import effect
from pushrod.pipeline.feedback import changed, less_achieved, to_flag
from pushrod.pipeline.n_act import Act, law
from pushrod.pipeline.n_act import Params as ModelParams
from pushrod.pipeline.n_feedback import free, minus, pulses, residual
from pushrod.pipeline.n_motor_pipeline import N_MOTOR_PIPELINE, State, healths
from pushrod.pipeline.n_shaping import felt
from pushrod.pipeline.n_topic import In, Losses, Out
from pushrod.pipeline.names import AUTOPILOT, BY_ABORT, BY_DISARM, BY_IDLE, BY_NO_PULSE, BY_NOT_FINITE, BY_TIMEOUT, FINE, MANUAL, NONE, TEST
from pushrod.pipeline.request import finite, heard, stick
from pushrod.runtime.driver import Context

SPEAKS = {"autopilot": ("AUTOPILOT", AUTOPILOT), "manual": ("MANUAL", MANUAL), "test": ("TEST", TEST)}


class Receiver(NamedTuple):
    """The RC channels of all axes."""

    channel: Channel = Channel()
    us_lost_below: A[float, Q("us", 0.0, 2500.0, "a shorter pulse is none")] = 800.0
    us_lost_above: A[float, Q("us", 0.0, 1e5, "a longer pulse is none")] = 2200.0


class Sources(NamedTuple):
    """What the model does not know of: how sources are read."""

    rc: Receiver = Receiver()
    timeout: Timeouts = Timeouts()


class Options(node.Options, frozen=True, forbid_unknown_fields=True):
    """motors: effector by effector. sources: calibration of all RC channels and timeouts. channels: what differs from it, axis by axis."""

    sources: dict[str, Any] = msgspec.field(default_factory=dict)
    channels: tuple[dict[str, Any], ...] = ()

    def wrong(self) -> Iterator[str]:
        yield from super().wrong()
        yield from node.refusal(self.readings)
        if not node.refusal(self.params):
            n = len(self.params().act.hw.u_min)
            if len(self.motors) != n:
                yield f"motors = {list(self.motors)}: act.hw.u_min says that there are {n}"
            if not node.refusal(self.readings):
                yield from self._wrong_channels()

    def _wrong_channels(self) -> Iterator[str]:
        m, rc = len(self.params().act.sw.a_min), self.readings().rc
        if len(self.channels) > m:
            yield f"channels: got {len(self.channels)}, at most one for each of {m} axes"
        found = node.refusal(self.sticks)
        yield from found
        for i, c in enumerate(() if found else self.sticks()):
            if c.us_min < rc.us_lost_below or c.us_max > rc.us_lost_above:
                yield (
                    f"channels[{i}]: its travel, {c.us_min:g} to {c.us_max:g} us, must lie within sources.rc.us_lost_below = {rc.us_lost_below:g} us "
                    f"and sources.rc.us_lost_above = {rc.us_lost_above:g} us, or its ends count as lost"
                )

    def params(self) -> ModelParams:
        return ModelParams(read(Act(), self.act, self.dt))

    def readings(self) -> Sources:
        found: Sources = read(Sources(), self.sources, self.dt, "sources")
        return found

    def sticks(self) -> tuple[Channel, ...]:
        """The calibration of the channel of each axis."""
        m, all_alike = len(self.params().act.sw.a_min), self.readings().rc.channel
        wrong: list[str] = []
        made: list[Channel] = []
        for i, data in enumerate((*self.channels, *({},) * (m - len(self.channels)))):
            try:
                made.append(read(all_alike, data, self.dt, f"channels[{i}]"))
            except ParameterError as e:
                wrong += e.problems
        if wrong:
            raise ParameterError(wrong)
        return tuple(made[:m])


class NMotorNode(PipelineNode):
    options: ClassVar[type] = Options
    model = N_MOTOR_PIPELINE
    requests = (AxesRequest,)

    def init(self, context: Context, options: Options) -> None:
        self.readings, self.sticks = options.readings(), options.sticks()
        super().init(context, options)

    def handle_options(self, context: Context, options: Options) -> None:
        self.readings, self.sticks = options.readings(), options.sticks()
        super().handle_options(context, options)

    def neutral_requests(self, options: Any) -> dict[str, Heard]:
        m = len(options.params().act.sw.a_min)
        mid = tuple(channel.us_mid for channel in options.sticks())
        return {"AUTOPILOT": Heard((0.0,) * m), "MANUAL": Heard(mid), "TEST": Heard((0.0,) * m)}

    def inputs(self, now: float, armed: bool) -> In:
        values, src, reason = self._asked(now, armed)
        k = Health(*self.health, *(1.0,) * (N_MOST - len(self.health)))
        measured = [x for x in self.measured if x is not None]
        known = len(measured) == len(self.measured)
        return In(Axes(*values), src, reason, k, to_flag(known), Effectors(*measured) if known else Effectors())

    def _asked(self, now: float, armed: bool) -> tuple[Outputs, float, float]:
        """As stage 0 of the two-motor pipeline, axis by axis."""
        if self.mode == "abort" or not armed or self.mode == "idle":
            return (), NONE, BY_ABORT if self.mode == "abort" else BY_DISARM if not armed else BY_IDLE
        source, src = SPEAKS[self.mode]
        asked, readings = self.heard[source], self.readings
        values = asked.values
        if src == MANUAL:
            rc = readings.rc
            if not all(heard(Rc(us_lost_below=rc.us_lost_below, us_lost_above=rc.us_lost_above), us) for us in values):
                return (), NONE, BY_NO_PULSE
            values = tuple(map(stick, self.sticks, values))
        t = readings.timeout
        if not asked.age(now) <= {"AUTOPILOT": t.ap, "MANUAL": t.man, "TEST": t.test}[source]:
            return (), NONE, BY_TIMEOUT
        return (values, src, FINE) if all(map(finite, values)) else ((), NONE, BY_NOT_FINITE)

    def outputs(self, y: Out) -> Outputs:
        return y.u[: len(self.settings.motors)]

    def owner(self, u: In, y: Out) -> tuple[str, str]:
        return owner_words(u.src, y.reason)

    def as_done(self, u: In, y: Out, done: Outputs) -> Out:
        return as_done(self.stepper.params.act, u, y, Effectors(*done))

    def state(self, done: Outputs) -> State:
        return State(Effectors(*done), self.stepper.state.lost)

    def topics(self, u: In, y: Out) -> Iterator[tuple[str, Any]]:
        yield "ACTUATOR_REQ", u
        yield "ACTUATOR_CMD", y.cmd
        yield "ESC_OUTPUT", y.u
        yield "MIXER_FEEDBACK", y


def as_done(p: Act, u: In, y: Out, done: Effectors) -> Out:
    """What the step told, had its outputs been these."""
    n, m = len(p.hw.u_min), len(p.sw.a_min)
    at_rest = u.src == NONE
    k = healths(effector_line.empty(), u.health, p.alloc.gain_max, n)
    line = from_effectors(effector_line.empty(), done)
    net = free(p, line, k, at_rest, n, m)
    before = free(p, from_effectors(effector_line.empty(), y.u), k, at_rest, n, m)
    ach = to_axes(effect(axis_line.empty(), law(p), line, k, n, m))
    moved = [changed(a, b) for a, b in zip(done, y.u, strict=True)]
    sat = Effectors(*(to_flag(was != 0.0 or now) for was, now in zip(y.sat, moved, strict=True)))
    gone = minus(before, net)
    loss: Losses = y.loss._replace(clamp=minus(y.loss.clamp, minus(net, before)))
    feels = [felt(p, x, u.src, i) for i, x in enumerate(u.req[:m])]
    aw_req = Axes(*(less_achieved(aw, lost, feel) for aw, lost, feel in zip(y.aw_req, gone, feels, strict=False)))
    return y._replace(
        u=done,
        ach=ach,
        aw=minus(net, y.cmd),
        aw_req=aw_req,
        trim=minus(ach, net),
        resid=residual(p, net, u, k, at_rest, n, m),
        sat=sat,
        sat_any=to_flag(any(x != 0.0 for x in sat)),
        sat_motor_stage=to_flag(y.sat_motor_stage != 0.0 or any(moved)),
        loss=loss,
        pulse=to_pulses(pulses(effector_line.empty(), p, line, n)),
    )
