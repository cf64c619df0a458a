"""The two-motor pipeline, live: left and right, surge and differential."""

from collections.abc import Iterator
from typing import Any, ClassVar

from pushrod.core.purity import pure
from pushrod.live.pipeline import node
from pushrod.live.pipeline.act_parameters import read
from pushrod.live.pipeline.node import Outputs, PipelineNode, owner_words
from pushrod.live.pipeline.ownership import CODES
from pushrod.live.pipeline.request import AutopilotRequest, Heard, ManualRequest, TestRequest
from pushrod.pipeline import request
from pushrod.pipeline.act import Act, Params
from pushrod.pipeline.esc import to_pulse
from pushrod.pipeline.feedback import Pair, changed, free, less_achieved, mixed, to_flag
from pushrod.pipeline.names import NONE
from pushrod.pipeline.shaping import shape
from pushrod.pipeline.topic import Diagnostics, EscOutput, Loss, MixerFeedback
from pushrod.pipeline.two_motor_pipeline import TWO_MOTOR_PIPELINE, Known, Out, Sources, State, motors, seen


class Options(node.Options, frozen=True, forbid_unknown_fields=True):
    """motors: left, right. rc is calibrated by act.rc."""

    def wrong(self) -> Iterator[str]:
        if len(self.motors) != 2:
            yield f"motors = {list(self.motors)}: this pipeline drives two, left and right"
        yield from super().wrong()

    def params(self) -> Params:
        return Params(read(Act(), self.act, self.dt))


class TwoMotorNode(PipelineNode):
    options: ClassVar[type] = Options
    model = TWO_MOTOR_PIPELINE
    requests = (AutopilotRequest, ManualRequest, TestRequest)

    def neutral_requests(self, options: Any) -> dict[str, Heard]:
        rc = options.params().act.rc
        return {"AUTOPILOT": Heard((0.0, 0.0)), "MANUAL": Heard((rc.s.us_mid, rc.d.us_mid)), "TEST": Heard((0.0, 0.0))}

    def inputs(self, now: float, armed: bool) -> Sources:
        ap, man, test = self.heard["AUTOPILOT"], self.heard["MANUAL"], self.heard["TEST"]
        row = (CODES[self.mode], to_flag(armed), *ap.values, ap.age(now), *man.values, man.age(now), *test.values, test.age(now))
        asked = request.In._make(row)
        return Sources(asked, Known(*self.health, *self.measurements()))

    def measurements(self) -> Outputs:
        left, right = self.measured
        return (0.0, 0.0, 0.0) if left is None or right is None else (1.0, left, right)

    def outputs(self, y: Out) -> Outputs:
        return (y.esc.u_L, y.esc.u_R)

    def owner(self, u: Sources, y: Out) -> tuple[str, str]:
        return owner_words(y.req.src, y.req.reason)

    def as_done(self, u: Sources, y: Out, done: Outputs) -> Out:
        return as_done(self.stepper.params.act, y, u.known, *done)

    def state(self, done: Outputs) -> State:
        before = self.stepper.state
        return State(done[0], done[1], before.gone_L, before.gone_R)

    def topics(self, u: Sources, y: Out) -> Iterator[tuple[str, Any]]:
        yield "ACTUATOR_REQ", y.req
        yield "ACTUATOR_CMD", y.cmd
        yield "ACTUATOR_CMD", y.alloc
        yield "ESC_OUTPUT", y.esc
        yield "MIXER_FEEDBACK", y.fb
        yield "MIXER_FEEDBACK", y.diag


@pure
def less(loss: Loss, gone: float) -> Loss:
    """What the gate took, told with the clamps."""
    return Loss(loss.shaping, loss.envelope, loss.allocation, loss.fault, loss.clamp + gone, loss.dead_band, loss.slew)


@pure
def as_done(p: Act, y: Out, known: Known, u_L: float, u_R: float) -> Out:
    """What the step told, had its outputs been these."""
    at_rest = y.req.src == NONE
    m = motors(p, known, at_rest)
    shaped = shape(p.shp, p.sw, y.req)
    ach = mixed(m, u_L, u_R)
    net = free(m, u_L, u_R)
    before = free(m, y.esc.u_L, y.esc.u_R)
    gone = Pair(before.s - net.s, before.d - net.d)
    moved_L = changed(u_L, y.esc.u_L)
    moved_R = changed(u_R, y.esc.u_R)
    sat_L = y.fb.sat_L != 0.0 or moved_L
    sat_R = y.fb.sat_R != 0.0 or moved_R
    now = seen(m, u_L, u_R, known, 0.0)
    d = y.diag
    return Out(
        y.req,
        y.cmd,
        y.alloc,
        EscOutput(u_L, u_R, to_pulse(p.esc, u_L, p.esc.reverse_L), to_pulse(p.esc, u_R, p.esc.reverse_R)),
        MixerFeedback(
            ach.s,
            ach.d,
            to_flag(sat_L),
            to_flag(sat_R),
            to_flag(sat_L or sat_R),
            net.s - y.cmd.u_s_cmd,
            net.d - y.cmd.u_d_cmd,
            less_achieved(y.fb.aw_s_req, gone.s, shaped.s),
            less_achieved(y.fb.aw_d_req, gone.d, shaped.d),
            ach.s - net.s,
            ach.d - net.d,
        ),
        Diagnostics(
            d.sat_cmd_stage,
            d.sat_alloc,
            to_flag(d.sat_motor_stage != 0.0 or moved_L or moved_R),
            d.u_s_max_eff,
            d.u_d_max_pos_eff,
            d.u_d_max_neg_eff,
            d.u_LR_max_eff,
            d.u_LR_min_eff,
            less(d.loss_s, gone.s),
            less(d.loss_d, gone.d),
            now.resid_s,
            now.resid_d,
            d.gain,
            d.lost_s,
            d.lost_d,
            d.bad_dt,
            d.bad_known,
            d.optimality,
        ),
    )
