"""The autopilot of a vessel as a controller node: it keeps a `Course` with the loops of `pipeline.control.autopilot`.

    hears      Nav of a sensor; MIXER_FEEDBACK, mode and STATUS of the pipeline; whether the robot is armed
    publishes  every tick an AutopilotRequest, which the pipeline hears on the topic controller/<its name>, and what its loops did, as `Steering`
    requests   a Course, to be kept from now on;  "course" gives the one it keeps

When whoever set the course from elsewhere has vanished, it asks for no speed, at the heading there is.
While it does not own the motors its integrals are empty. Limits it knows by MIXER_FEEDBACK alone; `feedback: false` keeps even that from it.
"""

from typing import Annotated as A
from typing import Any, ClassVar, NamedTuple

import msgspec

from pushrod.core.errors import InputError, ParameterError
from pushrod.core.quantity import Q, flag
from pushrod.live.nav import Nav
from pushrod.live.pipeline.act_parameters import read
from pushrod.live.pipeline.request import AutopilotRequest, Status, Switched
from pushrod.live.plain_request import understood
from pushrod.pipeline.control.autopilot import In, Out, Params, State, step
from pushrod.pipeline.topic import MixerFeedback
from pushrod.runtime.driver import Context, Forsaken
from pushrod.runtime.message import Message, Transition
from pushrod.runtime.payload import number


class Course(msgspec.Struct, frozen=True, gc=False, tag=True):
    """What is to be kept: speed [m/s] and heading [rad]."""

    v_req: A[float, Q("m/s")] = 0.0
    psi_req: A[float, Q("rad")] = 0.0


class Steering(NamedTuple):
    """What the autopilot was asked, saw and did in a tick."""

    active: A[float, flag("it owns the motors")] = 0.0
    v_req: A[float, Q("m/s")] = 0.0
    psi_req: A[float, Q("rad")] = 0.0
    v: A[float, Q("m/s", about="measured")] = 0.0
    psi: A[float, Q("rad", about="measured")] = 0.0
    r: A[float, Q("rad/s", about="measured")] = 0.0
    out: Out = Out()


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """hz: ticks a second. control: gains of the loops, as far as they are not the defaults. feedback: whether MIXER_FEEDBACK is heeded.

    nav: the topic it hears Nav at, or below. pipeline: the name of the controller it asks.
    """

    hz: float = 50.0
    control: dict[str, Any] = {}
    feedback: bool = True
    nav: str = "sensor"
    pipeline: str = "pipeline"

    def __post_init__(self) -> None:
        if not 0.0 < self.hz <= 1e4:
            raise ValueError(f"hz = {self.hz!r}: allowed are numbers above 0, up to 10000")
        try:
            self.params()
        except ParameterError as e:
            raise ValueError(str(e)) from e

    def params(self) -> Params:
        found: Params = read(Params(), self.control, 1.0 / self.hz, "control")
        return found


class Autopilot:
    options: ClassVar[type] = Options
    rests_when_forsaken: ClassVar[bool] = True

    @staticmethod
    def tick_hz(options: Options) -> float:
        return options.hz

    def init(self, context: Context, options: Options) -> None:
        self.state = State()
        self.course = Course()
        self.nav = Nav()
        self.fb = MixerFeedback()
        self.mode, self.held, self.armed = "idle", "", False
        self.handle_options(context, options)
        context.listen(options.nav, (Nav,), latched=True)
        context.listen(("controller", options.pipeline), (MixerFeedback, Switched, Status), latched=True)
        context.listen("state_machine", (Transition,), latched=True)

    def handle_options(self, context: Context, options: Options) -> None:
        self.context = context
        self.settings = options
        self.params = options.params()

    def handle_message(self, topic: tuple[str, ...], message: Message) -> None:
        said = message.payload
        if type(said) is Nav:
            self.nav = said
        elif type(said) is MixerFeedback:
            self.fb = said
        elif type(said) is Switched:
            self.mode = said.mode
        elif type(said) is Status:
            self.held = said.detail
        else:
            self.armed = said.to == "armed"

    def handle_request(self, request: Any) -> Any:
        request = understood(request, (Course,))
        if type(request) is Course:
            wrong = number("v_req", request.v_req) or number("psi_req", request.psi_req)
            if wrong:
                raise InputError(f"{wrong}; the course is as it was")
            self.course = request
            return None
        if type(request) is Forsaken:
            self.course = Course(0.0, self.nav.psi)
            return True
        if request == "course":
            return self.course
        raise LookupError(f"an autopilot answers Course and 'course', got {request!r}")

    def tick(self, now: float) -> None:
        active = float(self.mode == "autopilot" and self.armed and not self.held)
        to, seen = self.course, self.nav
        fb = self.fb if self.settings.feedback else MixerFeedback()
        u = In(to.v_req, to.psi_req, seen.v, seen.psi, seen.r, fb, active)
        self.state, y = step(self.params, self.state, u, 1.0 / self.settings.hz)
        self.context.publish(AutopilotRequest(y.u_s_raw, y.u_d_raw))
        self.context.publish(Steering(active, to.v_req, to.psi_req, seen.v, seen.psi, seen.r, y), "STEERING")
