"""Modes, sources, silence, disarming, aborts, thieves of motors, dying drivers and new parameters in any order.

Whatever happens: outputs stay within their bounds, there is one owner at most, and without a request all that obeys is at rest in time.
"""

import asyncio
import math
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from pipeline_rig import ACT, DT, Boat, boat

from counts import examples
from pushrod.core.errors import ParameterError
from pushrod.pipeline.names import MODES, SOURCES
from pushrod.pipeline.topic import ActuatorReq, EscOutput
from pushrod.runtime import Runtime, State, SteppedClock

MOTORS = ("left", "right")
SPEAKER = {"autopilot": "AUTOPILOT", "manual": "MANUAL", "test": "TEST"}
TIMEOUT = 0.5  # of every source
SETTLING = 0.4  # the longest there is in here
number = st.one_of(st.floats(-2.0, 2.0), st.sampled_from([math.nan, math.inf, -1e300]))
pulse = st.sampled_from([0.0, 799.0, 1000.0, 1500.0, 1900.0, 2000.0, 2500.0, math.nan])


class AnyOrder(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.clock = SteppedClock()
        self.runner = asyncio.Runner(loop_factory=self.clock.loop_factory)
        self.rt = Runtime(boat(), clock=self.clock)
        self.mode = "idle"
        self.asked: dict[str, tuple[float, bool]] = {}  # source -> when, and whether it was a request at all
        self.stolen: set[str] = set()
        self.rest_from: float | None = 0.0  # since when nothing may push
        self.seen = 0

    @initialize()
    def start(self) -> None:
        self.runner.run(self.rt.__aenter__())
        self.b = Boat(self.rt)

    def teardown(self) -> None:
        self.runner.run(self.rt.__aexit__(None, None, None))
        self.runner.close()

    def note(self) -> None:
        """Something was done: may the pipeline push from now on?"""
        time, sound = self.asked.get(SPEAKER.get(self.mode, ""), (-math.inf, False))
        armed = all(self.rt.hosts[name].gate.epoch for name in MOTORS)
        pushes = armed and not self.stolen and sound and self.clock.now() - time <= TIMEOUT
        if pushes:
            self.rest_from = None
        elif self.rest_from is None:
            self.rest_from = self.clock.now()

    @rule(ticks=st.one_of(st.integers(1, 5), st.integers(20, 100)))
    def wait(self, ticks: int) -> None:
        self.runner.run(asyncio.sleep(ticks * DT))
        if self.rest_from is None:
            time, _ = self.asked[SPEAKER[self.mode]]
            self.rest_from = time + TIMEOUT if self.clock.now() > time + TIMEOUT else None

    @rule(mode=st.sampled_from(MODES), by=st.sampled_from(["operator", "pilot", "anybody"]))
    def switch(self, mode: str, by: str) -> None:
        self.b.helm.by = by
        answer = self.b.helm.switch(mode)
        assert answer.ok == (answer.mode == mode)
        assert answer.ok or answer.mode == self.mode
        assert answer.ok or mode != "abort"
        self.mode = answer.mode
        self.note()

    @rule(s=number, d=number, source=st.sampled_from(["autopilot", "test"]))
    def ask(self, s: float, d: float, source: str) -> None:
        getattr(self.b.helm, source)(s, d)
        self.asked[source.upper()] = (self.clock.now(), abs(s) <= 2.0 and abs(d) <= 2.0)
        self.note()

    @rule(mode=st.sampled_from(list(SPEAKER)), s=st.floats(-1.0, 1.0), d=st.floats(-1.0, 1.0))
    def drive(self, mode: str, s: float, d: float) -> None:
        """Long enough for the motors to run."""
        self.arm()
        self.switch(mode, "operator")
        for _ in range(30):
            if mode == "manual":
                self.sticks(1500.0 + 500.0 * s, 1500.0 + 500.0 * d)
            else:
                self.ask(s, d, mode)
            self.wait(1)

    @rule(s=pulse, d=pulse)
    def sticks(self, s: float, d: float) -> None:
        self.b.helm.manual(s, d)
        self.asked["MANUAL"] = (self.clock.now(), 800.0 <= s <= 2200.0 and 800.0 <= d <= 2200.0)
        self.note()

    @rule()
    def arm(self) -> None:
        self.rt.arm()
        self.note()

    @rule()
    def disarm(self) -> None:
        self.rt.disarm()
        self.note()

    @rule()
    def stop_for_an_emergency_and_reset(self) -> None:
        self.rt.estop("button")
        self.note()
        self.rt.reset()

    @rule(name=st.sampled_from(MOTORS))
    def steal(self, name: str) -> None:
        if self.rt.handle(name, "person").take_lease(priority=5):
            self.stolen.add(name)
            self.note()

    @rule(name=st.sampled_from(MOTORS))
    def give_back(self, name: str) -> None:
        self.rt.handle(name, "person").release_lease()
        if name in self.stolen and self.rest_from is not None:
            self.rest_from = self.clock.now()  # it is where the other left it, and comes to rest from now on
        self.stolen.discard(name)
        self.note()

    @rule(name=st.sampled_from(MOTORS))
    def kill(self, name: str) -> None:
        self.rt.hosts[name].part.fail(OSError("wire cut"))
        self.runner.run(asyncio.sleep(0.0))
        self.note()
        if self.rt.state is State.ERROR:
            self.rt.force_disarm()

    @rule(health=st.sampled_from([(1.0, 1.0), (0.5, 1.0), (0.0, 1.0), (0.0, 0.0)]))
    def announce(self, health: tuple[float, float]) -> None:
        self.b.helm.announce(*health)

    @rule(
        policy=st.sampled_from(["ALLOC_SPEED_PRIORITY", "ALLOC_YAW_PRIORITY", "ALLOC_WEIGHTED", "ALLOC_NONE"]),
        up=st.floats(0.0, 5.0),
        neutral=st.floats(0.05, SETTLING),
    )
    def change_parameters(self, policy: str, up: float, neutral: float) -> None:
        before = dict(self.rt.parameters.snapshot())
        new = {"act.alloc.policy": policy, "act.slew.up": up, "act.slew.neutral_time": neutral}
        try:
            self.rt.parameters.set_many(new)
        except ParameterError:
            assert policy == "ALLOC_NONE"
            assert dict(self.rt.parameters.snapshot()) == before
        else:
            assert policy != "ALLOC_NONE"

    @invariant()
    def bounds_hold(self) -> None:
        if not hasattr(self, "b"):
            return
        outputs: list[Any] = self.b.heard(EscOutput)
        for esc in outputs[self.seen :]:
            assert ACT.hw.u_LR_min <= esc.u_L <= ACT.hw.u_LR_max
            assert ACT.hw.u_LR_min <= esc.u_R <= ACT.hw.u_LR_max
        self.seen = len(outputs)
        assert all(-1.0 <= u <= 1.0 for u in self.b.gives())
        assert not self.rt.nodes["pipeline"].part.stopped

    @invariant()
    def one_owner_at_most(self) -> None:
        requests: list[Any] = self.b.heard(ActuatorReq) if hasattr(self, "b") else []
        if requests and self.b.helm.status is not None:
            status = self.b.helm.status
            assert SOURCES[int(requests[-1].src)] == status.owner
            assert status.owner in ("NONE", SPEAKER.get(status.mode))
            assert (status.owner == "NONE") == (status.reason != "none")

    @invariant()
    def at_rest_in_time(self) -> None:
        if self.rest_from is not None and self.clock.now() > self.rest_from + SETTLING + 3.0 * DT:
            obeying = [u for name, u in zip(MOTORS, self.b.gives(), strict=True) if name not in self.stolen]
            assert not any(obeying), (obeying, self.b.helm.status)


AnyOrder.TestCase.settings = settings(max_examples=examples(20), stateful_step_count=30, deadline=None)
TestAnyOrder = AnyOrder.TestCase
