"""What the pipeline behind the runtime tells: what its gates did, the topics of the contract tick by tick, and all of it in real time."""

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pipeline_rig import ACT, DT, Boat, boat, rates, run, under_way

from counts import examples
from pushrod.live.pipeline import Helm, Status
from pushrod.live.pipeline.two_motor import as_done
from pushrod.pipeline.act import Act, Hw, Params, Slew, Sw
from pushrod.pipeline.feedback import CHANGED
from pushrod.pipeline.names import ABORT, IN_AUTOPILOT
from pushrod.pipeline.request import In as Asked
from pushrod.pipeline.topic import ActuatorCmd, ActuatorReq, Diagnostics, EscOutput, Loss, MixerFeedback
from pushrod.pipeline.two_motor_pipeline import TWO_MOTOR_PIPELINE, Known, Sources, State
from pushrod.runtime import HardwareError, Runtime, WallClock
from pushrod.runtime import run as run_on


def losses(out: Any, axis: str) -> float:
    loss: Loss = getattr(out.diag, f"loss_{axis}")
    return loss.allocation + loss.fault + loss.clamp + loss.dead_band + loss.slew


def test_what_the_gates_clamp_is_missing_in_what_was_achieved() -> None:
    """The parameters let a motor go to 1.5, its gate to 1."""

    async def body(b: Boat) -> None:
        b.helm.switch("test")
        for _ in range(100):
            b.helm.test(1.3, 0.0)
            await asyncio.sleep(DT)
        out = b.outs()[-1]
        assert b.gives() == (1.0, 1.0)
        assert out.esc[:2] == (1.0, 1.0)
        assert (out.fb.u_s_ach, out.fb.sat_L, out.fb.sat_R, out.diag.sat_motor_stage) == (1.0, 1.0, 1.0, 1.0)
        assert out.fb.aw_s == pytest.approx(-0.3, abs=1e-12)
        assert out.diag.loss_s.clamp > 0.0
        assert losses(out, "s") == pytest.approx(out.cmd.u_s_cmd - out.fb.u_s_ach, abs=1e-12)
        b.helm.test(0.9, 0.0)  # the slew goes on from what the motors do
        await asyncio.sleep(DT)
        assert b.heard(EscOutput)[-1].u_L == pytest.approx(0.97)

    run(body, boat(Act(Hw(-1.5, 1.5), Sw(-1.5, 1.5, -1.5, 1.5), slew=Slew(2.0, 3.0, 0.4))))


def test_a_motor_that_another_commander_holds_takes_all_to_rest_as_far_as_they_obey() -> None:
    async def body(b: Boat) -> None:
        errors = b.rt.subscribe("safety/error", (HardwareError,))
        await under_way(b)
        person = b.rt.handle("left", "person")
        assert person.take_lease(seconds=1.0, priority=5)
        b.helm.autopilot(0.6, 0.3)
        await asyncio.sleep(DT)
        for _ in range(40):
            b.helm.autopilot(0.6, 0.3)
            await asyncio.sleep(DT)
        assert b.gives() == pytest.approx((0.3, 0.0))  # the left one does what it was told last
        out = b.outs()[-1]
        assert (out.esc.u_L, out.esc.u_R) == pytest.approx((0.3, 0.0))
        assert (out.fb.u_s_ach, out.fb.u_d_ach) == pytest.approx((0.15, -0.15))
        assert losses(out, "d") == pytest.approx(0.15, abs=1e-12)
        status = b.helm.status
        assert status is not None
        assert (status.owner, status.armed) == ("NONE", True)
        assert "leased by person" in status.detail
        message = errors.poll()
        assert message is not None
        assert "leased by person" in message.payload.error
        for _ in range(120):  # the lease ends
            b.helm.autopilot(0.6, 0.3)
            await asyncio.sleep(DT)
        assert b.gives() == pytest.approx((0.3, 0.9))
        assert b.helm.status == Status("autopilot", "AUTOPILOT", "none", True)
        assert max(rates(b)) <= 3.0 * DT + 1e-12

    run(body)


def test_all_motors_act_or_none() -> None:
    """A gate that rejects what is beyond its limits: the other motor does not go ahead alone."""

    async def body(b: Boat) -> None:
        b.helm.switch("test")
        for _ in range(200):
            b.helm.test(0.7, 0.4)
            await asyncio.sleep(DT)
            left, right = b.gives()
            assert right <= 1.0
            assert abs(left - b.heard(EscOutput)[-1].u_L) < 1e-12
            assert abs(right - b.heard(EscOutput)[-1].u_R) < 1e-12
        assert any("limits" in status.detail for status in b.heard(Status))
        right = [esc.u_R for esc in b.heard(EscOutput)]
        peak = right.index(max(right))
        rest = right.index(0.0, peak)
        assert sorted(right[peak:rest], reverse=True) == right[peak:rest]  # all the way to rest before it is tried again
        assert max(right[rest:]) > 0.5

    run(body, boat(Act(Hw(-1.5, 1.5), Sw(-1.5, 1.5, -1.5, 1.5), slew=Slew(2.0, 3.0, 0.4)), policy="reject"))


any_u = st.tuples(st.floats(-1.0, 1.0), st.floats(-1.0, 1.0))


@settings(max_examples=examples(50))
@given(any_u, any_u, any_u, st.sampled_from([IN_AUTOPILOT, ABORT]), st.sampled_from([1.0, 0.4, 0.0]))
def test_what_was_done_instead_is_told_as_the_step_tells_it(
    request: tuple[float, float], last: tuple[float, float], done: tuple[float, float], mode: float, k: float
) -> None:
    act = ACT._replace(trim=ACT.trim._replace(gain_L=0.9, offset_R=0.05))
    asked = Asked(mode, 1.0, *request)
    known = Known(health_L=k)
    _, y = TWO_MOTOR_PIPELINE.step(Params(act), State(*last), Sources(asked, known), DT)
    same = as_done(act, y, known, *y.esc[:2])
    for name in ("u_s_ach", "u_d_ach", "sat_L", "sat_R", "aw_s", "aw_d", "aw_s_req", "aw_d_req", "trim_s", "trim_d"):
        assert getattr(same.fb, name) == pytest.approx(getattr(y.fb, name), abs=1e-12)
    other = as_done(act, y, known, *done)
    assert other.esc[:2] == done
    assert (other.req, other.cmd, other.alloc) == (y.req, y.cmd, y.alloc)
    assert losses(other, "s") == pytest.approx(y.cmd.u_s_cmd - (other.fb.u_s_ach - other.fb.trim_s), abs=1e-12)
    assert losses(other, "d") == pytest.approx(y.cmd.u_d_cmd - (other.fb.u_d_ach - other.fb.trim_d), abs=1e-12)
    for axis in ("s", "d"):  # the slope is 1 here
        asked_for, commanded = getattr(y.req, f"u_{axis}_req"), getattr(y.cmd, f"u_{axis}_cmd")
        assert getattr(other.fb, f"aw_{axis}_req") == pytest.approx(getattr(other.fb, f"aw_{axis}") + commanded - asked_for, abs=1e-12)
    if abs(done[0] - y.esc.u_L) > CHANGED:
        assert other.fb.sat_L == other.fb.sat_any == 1.0


def test_the_topics_carry_the_fields_of_the_contract_every_tick() -> None:
    limits = {"u_s_max_eff", "u_d_max_pos_eff", "u_d_max_neg_eff", "u_LR_max_eff", "u_LR_min_eff"}
    contract: list[tuple[str, type, set[str]]] = [
        ("ACTUATOR_REQ", ActuatorReq, {"u_s_req", "u_d_req"}),
        ("ACTUATOR_CMD", ActuatorCmd, {"u_s_cmd", "u_d_cmd"}),
        ("ESC_OUTPUT", EscOutput, {"u_L", "u_R"}),
        ("MIXER_FEEDBACK", MixerFeedback, {"u_s_ach", "u_d_ach", "sat_L", "sat_R", "sat_any"}),
        ("MIXER_FEEDBACK", Diagnostics, {"sat_cmd_stage", "sat_alloc", "sat_motor_stage"} | limits),
    ]

    async def body(b: Boat) -> None:
        queues = [(b.rt.subscribe(("controller", "pipeline", topic), (kind,)), fields) for topic, kind, fields in contract]
        await asyncio.sleep(9.5 * DT)
        for queue, fields in queues:
            assert queue.statistics().received == 10
            message = queue.poll()
            assert message is not None
            assert fields <= set(message.payload._fields)

    run(body)


def test_a_measurement_that_differs_is_told_as_a_residual() -> None:
    async def body(b: Boat) -> None:
        await under_way(b)
        assert b.heard(Diagnostics)[-1].resid_s == pytest.approx(0.0, abs=1e-12)
        b.rt["left"].direct.stop()  # nobody told the pipeline
        await asyncio.sleep(0.015)
        b.helm.autopilot(0.6, 0.3)
        assert b.heard(Diagnostics)[-1].resid_s != 0.0

    run(body, boat(feedback_hz=1000.0))


def test_an_announced_failure_is_made_up_for_at_once() -> None:
    async def body(b: Boat) -> None:
        b.helm.switch("autopilot")
        b.helm.announce(0.5, 1.0)
        for _ in range(60):
            b.helm.autopilot(0.3, 0.0)
            await asyncio.sleep(DT)
        assert b.gives() == pytest.approx((0.6, 0.3))

    run(body)


def test_it_runs_in_real_time() -> None:
    async def main() -> None:
        clock = WallClock()
        async with Runtime(boat(), clock=clock) as rt:
            rt.arm()
            helm, seen = Helm(rt), rt.subscribe("controller/pipeline/ESC_OUTPUT")
            assert helm.switch("autopilot").ok
            while (await seen.get()).payload.u_L < 0.1:
                helm.autopilot(0.2, 0.0)
            helm.abort()
            while (await seen.get()).payload.u_L > 0.0:
                pass

    run_on(main())
