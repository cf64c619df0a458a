"""Parameters of the pipeline behind the runtime, and descriptions of it that are wrong."""

import asyncio
from typing import Any

import pytest
from pipeline_rig import ACT, DT, Boat, boat, run, under_way

from pushrod.core.errors import ParameterError, UnknownNameError
from pushrod.live.thruster import Thruster
from pushrod.pipeline import n_act
from pushrod.pipeline.act import Act, Params, Sw
from pushrod.pipeline.topic import EscOutput
from pushrod.runtime import Position, Runtime, SteppedClock, Stop
from pushrod.runtime import run as run_on
from pushrod.runtime.part import DriverError


def test_a_bad_set_is_refused_whole_with_every_reason() -> None:
    async def body(b: Boat) -> None:
        await under_way(b)
        before = dict(b.rt.parameters.snapshot())
        with pytest.raises(ParameterError) as refusal:
            b.rt.parameters.set_many({"act.sw.u_LR_max": 2.0, "act.sw.u_s_min": 3.0, "act.alloc.policy": "ALLOC_SPEEDY", "act.slew.up": 1.0})
        for text in ("act.sw.u_LR_max = 2 lies above hw.u_LR_max = 1", "act.sw.u_s_min = 3 lies above sw.u_s_max", "ALLOC_SPEEDY"):
            assert text in str(refusal.value)
        with pytest.raises(ParameterError, match="at least 0"):
            b.rt.parameters.set("act.shp.man.u_d_scale", -1.0)
        with pytest.raises(UnknownNameError, match="u_s_max"):
            b.rt.parameters.set("act.sw.u_s_mx", 1.0)
        with pytest.raises(ParameterError) as refusal:
            b.rt.parameters.set_many(
                {"act.sw.u_LR_max": 20.0, "act.sw.u_s_min": 3.0, "act.sw.u_s_mx": 1.0, "act.slew.up": "x", "act.alloc.policy": "x"}
            )
        for text in (
            "act.sw.u_LR_max: must be at most 10",
            "act.sw.u_LR_max = 20 lies above hw.u_LR_max = 1",
            "act.sw.u_s_min = 3 lies above sw.u_s_max",
            "act.sw.u_s_mx: unknown parameter",
            "act.slew.up: 'x' is not a number",
            "act.alloc.policy = 'x': allowed are",
        ):
            assert str(refusal.value).count(text) == 1
        assert "legal range" not in str(refusal.value)  # told by the store already
        assert "nan" not in str(refusal.value)
        assert dict(b.rt.parameters.snapshot()) == before
        assert b.rt.nodes["pipeline"].part.driver.driver.stepper.params == Params(ACT)

    run(body)


def test_limits_follow_a_parameter_while_it_runs() -> None:
    async def body(b: Boat) -> None:
        await under_way(b)
        b.rt.parameters.set_many({"act.sw.u_LR_max": 0.5, "act.alloc.policy": "ALLOC_YAW_PRIORITY", "act.esc.reverse_L": True})
        for _ in range(60):
            b.helm.autopilot(0.6, 0.3)
            await asyncio.sleep(DT)
        assert b.gives() == pytest.approx((-0.1, 0.5))
        assert b.heard(EscOutput)[-1].pulse_L == pytest.approx(1540.0)

    run(body)


def test_every_parameter_of_the_record_is_in_the_store_under_its_name() -> None:
    from pushrod.pipeline.act import PARAMETERS

    async def body(b: Boat) -> None:
        assert [entry.parameter.path for entry in b.rt.parameters.list("act")] == list(PARAMETERS)

    run(body)


@pytest.mark.parametrize(
    ("robot", "said"),
    [
        (lambda: boat(motors=("left", "right", "mid")), "this pipeline drives two"),
        (lambda: boat(n_act.Act(), motors=("left", "right")), "act.hw.u_min says that there are 4"),
        (lambda: boat(topics={"AUTOPLIOT": "x"}), "did you mean 'AUTOPILOT'"),
        (lambda: boat(rules={"may_switch": {"x": ["maual"]}}), "did you mean 'manual'"),
        (lambda: boat(Act(sw=Sw(u_s_min=2.0))), "act.sw.u_s_min = 2 lies above sw.u_s_max = 1"),
    ],
)
def test_a_description_that_cannot_work_is_refused_before_anything_starts(robot: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Runtime(robot())


def test_motors_that_take_no_throttle_are_told_of() -> None:
    class Servo(Thruster):
        command_payloads = (Position, Stop)

    async def main() -> None:
        async with Runtime(boat(), {"left": Servo}):
            pass

    with pytest.raises(DriverError, match="left: its driver takes no Throttle"):
        run_on(main(), SteppedClock())
