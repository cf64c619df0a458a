"""A scenario of the boat through its nodes: its signals told to autopilot and pipeline, what they publish put together to the outputs of the boat.

    v_req, psi_req          a Course for the autopilot        mode      a Switch, where it changes
    rc_s, rc_d              a ManualRequest                   armed     arms and disarms the robot
    u_s_test, u_d_test      a TestRequest

All of it in every tick, before the nodes tick. The world `hull` and the nodes do the arithmetic of the world `boat` in its order: the outputs are
those of a rollout, to the last bit. What no world does, a runtime may: an abort ends in idle alone, and a motor that is disarmed comes to rest by
itself, not by the pipeline; there they may differ.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pushrod.compiled.result import Run
from pushrod.core.errors import InputError
from pushrod.core.model import World
from pushrod.core.record import flat, numbers
from pushrod.live.autopilot import Course, Steering
from pushrod.live.payload import Throttle
from pushrod.live.pipeline import Helm
from pushrod.live.pipeline.request import ManualRequest, TestRequest
from pushrod.pipeline.names import MODES
from pushrod.pipeline.topic import ActuatorCmd, ActuatorReq, Allocated, Diagnostics, EscOutput, MixerFeedback
from pushrod.runtime.message import Outcome
from pushrod.runtime.result import Clamped, Refused
from pushrod.runtime.runtime import Runtime
from pushrod.sim.scenario import Scenario

Array = NDArray[np.float64]
UNSAID = ("age",)  # through the runtime a request is as old as it is
RECORDS = {"req": ActuatorReq, "cmd": ActuatorCmd, "alloc": Allocated, "esc": EscOutput, "fb": MixerFeedback, "diag": Diagnostics, "": Steering}


class Sent(NamedTuple):
    """What became of the commands to a motor."""

    sent: int = 0
    clamped: int = 0
    refused: int = 0
    first: Refused | None = None

    def and_this(self, result: Any) -> "Sent":
        refused = isinstance(result, Refused)
        first = self.first if self.first is not None or not refused else result
        return Sent(self.sent + 1, self.clamped + isinstance(result, Clamped), self.refused + refused, first)


class Sailing:
    """`told`: every channel of the boat at every tick."""

    def __init__(self, scenario: Scenario, told: Mapping[str, Array]) -> None:
        for channel in UNSAID:
            if channel in scenario.tracks:
                what = "through the runtime a request is as old as it is, and cannot be told to be older: leave it out, or run without --live"
                scenario.document.add(("signals", channel), what)
        scenario.document.raise_problems()
        self.told = {channel: values.tolist() for channel, values in told.items()}
        self.rows: dict[type, list[list[float]]] = {kind: [] for kind in RECORDS.values()}
        self.sent: dict[str, Sent] = {}
        self.refused_switches: list[str] = []

    def begin(self, rt: Runtime) -> None:
        self.rt = rt
        self.helm = Helm(rt)
        self.autopilot, self.pipeline = (rt.nodes[name].part for name in ("autopilot", "pipeline"))  # what is told in every tick stands in /in
        self.sent = dict.fromkeys(rt.hosts, Sent())
        self._said = rt.subscribe("controller", RECORDS.values())
        self._sent = rt.subscribe("actuator", (Throttle,))
        self._mode, self._armed = "", 1.0

    def tick(self, k: int) -> None:
        self.collect()
        at = {channel: values[k] for channel, values in self.told.items()}
        self._arm(at["armed"])
        mode = MODES[int(at["mode"])]
        if mode != self._mode:
            self._mode = mode
            answer = self.helm.switch(mode)
            if not answer.ok:
                self.refused_switches.append(f"to {mode} in tick {k}: {answer.why}")
        self.autopilot.request(Course(at["v_req"], at["psi_req"])).result()
        self.pipeline.request(ManualRequest(at["rc_s"], at["rc_d"])).result()
        self.pipeline.request(TestRequest(at["u_s_test"], at["u_d_test"])).result()

    def collect(self) -> None:
        """What was published since the last time."""
        while (message := self._said.poll()) is not None:
            self.rows[type(message.payload)].append(flat(message.payload))
        while (message := self._sent.poll()) is not None:
            name = message.frame
            if type(message.payload) is Outcome and self.sent[name].sent < len(self.told["mode"]):  # at the very end one more is sent
                self.sent[name] = self.sent[name].and_this(message.payload.result)

    def run(self, world: World, hull: Run, state: Any) -> Run:
        """As a rollout of the whole boat gives it; `hull` is the run and `state` the last state of the world behind the ports."""
        self.collect()
        n = hull.ticks
        told = {channel: np.array(values[:n]) for channel, values in self.told.items()}
        found = {prefix: self._columns(prefix, n) for prefix in RECORDS}
        s = found.pop("")
        on = s["active"] != 0.0
        y = {f"{prefix}.{name}": column for prefix, columns in found.items() for name, column in columns.items()}
        y |= {name: hull[name] for name in ("v", "psi", "r", "X", "N", "x", "y", "sway")}
        y |= {f"{name}_{side[0].upper()}": hull[f"{side}.{name}"] for side in ("left", "right") for name in ("F", "n")}
        y |= {f"{side}_fault": hull[f"{side}.reported"] for side in ("left", "right")}
        y |= {f"{name}_meas": s[name] for name in ("v", "psi", "r")}
        y |= {"I_s": s["out.I_s"], "I_d": s["out.I_d"]}
        y["v_req"] = np.where(on, told["v_req"], y["v"])
        y["psi_req"] = np.where(on, s["psi"] + s["out.e_psi"], y["psi"])
        y["r_req"] = np.where(on, s["out.r_d"], y["r"])
        names = tuple(leaf.path for leaf in numbers(world.Out))
        last = [s[f"out.{name}"][-1] for name in ("I_s", "I_psi", "I_d")]
        last_state = self.pipeline.driver.driver.stepper.state
        esc = [y["esc.u_L"][-1], y["esc.u_R"][-1], last_state.gone_L, last_state.gone_R]
        rows = [*last, *(column[-1] for column in found["fb"].values()), *esc, *flat(state)]
        return Run(world, hull.dt, 0, n, 1, names, np.stack([y[name] for name in names], axis=1)[:, :, None], np.array([rows]).T)

    def _columns(self, prefix: str, n: int) -> dict[str, Array]:
        kind: Any = RECORDS[prefix]
        rows = self.rows[kind][:n]
        if len(rows) < n:
            raise InputError(f"{kind.__name__} was published in {len(rows)} of {n} ticks: a controller has failed; see its log")
        table = np.array(rows)
        return {leaf.path: table[:, j] for j, leaf in enumerate(numbers(kind))}

    def _arm(self, wanted: float) -> None:
        if wanted == self._armed:
            return
        self._armed = wanted
        if wanted == 0.0:
            self.rt.disarm("the scenario says so")
        elif not (armed := self.rt.arm()).ok:
            raise InputError(f"{self.rt.robot.name} cannot be armed: {armed.refusal} {'; '.join(armed.missing)}")
