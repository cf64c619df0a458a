"""A running pipeline as one who asks sees it: plain calls, from a loop, a thread or a coroutine, answered in place."""

from typing import Any

from pushrod.core.errors import InputError
from pushrod.live.pipeline.node import PipelineNode
from pushrod.live.pipeline.request import Announce, AutopilotRequest, AxesRequest, ManualRequest, Status, Switch, Switched, TestRequest
from pushrod.runtime.delivery import TIMEOUT
from pushrod.runtime.runtime import Runtime


class Helm:
    """`name` is that of the controller; `by` says who switches."""

    def __init__(self, rt: Runtime, name: str = "pipeline", by: str = "operator") -> None:
        node = rt.nodes.get(name)
        if node is None or not isinstance(node.part.driver.driver, PipelineNode):
            raise InputError(f"{rt.robot.name} runs no pipeline {name!r}; it runs {', '.join(rt.nodes) or 'no controllers'}")
        self._part = node.part
        self.by = by

    def switch(self, mode: str) -> Switched:
        """Go to idle, manual, autopilot, test or abort."""
        answer: Switched = self._ask(Switch(mode, self.by))
        return answer

    def abort(self) -> Switched:
        """To rest, whoever owns the motors; by everybody."""
        return self.switch("abort")

    def autopilot(self, *raw: float) -> None:
        """What the loops ask: u_s_raw and u_d_raw; of a pipeline of n effectors one number an axis."""
        self._speak(AutopilotRequest, raw)

    def manual(self, *pulses: float) -> None:
        """Pulses of RC channels [us]: rc_s and rc_d; of a pipeline of n effectors one an axis."""
        self._speak(ManualRequest, pulses)

    def test(self, *asked: float) -> None:
        """What a test asks: u_s_test and u_d_test; of a pipeline of n effectors one number an axis."""
        self._speak(TestRequest, asked)

    def axes(self, source: str, *values: float) -> None:
        """To a pipeline of n effectors: one number an axis; of MANUAL, one pulse an axis [us]."""
        self._ask(AxesRequest(source, values))

    def announce(self, *health: float) -> None:
        """What share of its output each motor still gives, 0 dead to 1 well."""
        self._ask(Announce(health))

    @property
    def status(self) -> Status | None:
        """As of the last tick; None before the first."""
        status: Status | None = self._ask("status")
        return status

    def _speak(self, kind: Any, values: tuple[float, ...]) -> None:
        if AxesRequest in self._part.driver.driver.requests:
            self.axes(kind.source, *values)
            return
        names = kind.__struct_fields__
        if len(values) != len(names):
            raise InputError(f"{kind.source} asks with {len(names)} numbers, {' and '.join(names)}; got {len(values)}; nothing was changed")
        self._ask(kind(*values))

    def _ask(self, request: Any) -> Any:
        return self._part.request(request, self.by).result(TIMEOUT)
