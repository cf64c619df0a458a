"""The pipeline behind the runtime: who owns the motors, how they come to rest, what gates refuse, what is published, what may be changed."""

import asyncio
import itertools
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pipeline_rig import ACT, DT, Boat, boat, run

from counts import examples
from pushrod.core.errors import InputError, ParameterError, PushrodError, UnknownNameError
from pushrod.live.payload import Throttle
from pushrod.live.pipeline import AutopilotRequest, AxesRequest, Helm, ManualRequest, Status, Switch
from pushrod.live.pipeline.ownership import Rules, switch
from pushrod.live.pipeline.two_motor import as_done
from pushrod.live.thruster import Thruster
from pushrod.pipeline import n_act
from pushrod.pipeline.act import Act, Hw, Params, Slew, Sw
from pushrod.pipeline.feedback import CHANGED
from pushrod.pipeline.names import ABORT, BY_NOT_FINITE, IN_AUTOPILOT, MODES, NONE
from pushrod.pipeline.request import In as Asked
from pushrod.pipeline.topic import ActuatorCmd, ActuatorReq, Diagnostics, EscOutput, Loss, MixerFeedback
from pushrod.pipeline.two_motor_pipeline import TWO_MOTOR_PIPELINE, Known, Sources, State, settling
from pushrod.runtime import HardwareError, Message, Position, Runtime, SteppedClock, Stop, WallClock
from pushrod.runtime import run as run_on
from pushrod.runtime.part import DriverError

SETTLING = settling(Params(ACT))


async def under_way(b: Boat, seconds: float = 0.6) -> None:
    """On autopilot, asked for every tick."""
    assert b.helm.switch("autopilot").ok
    for _ in range(round(seconds / DT)):
        b.helm.autopilot(0.6, 0.3)
        await asyncio.sleep(DT)
    assert b.gives() == pytest.approx((0.3, 0.9))


def rates(b: Boat) -> list[float]:
    """Greatest change of an output from tick to tick."""
    esc = [(0.0, 0.0), *((e.u_L, e.u_R) for e in b.heard(EscOutput))]
    return [max(abs(b - a) for a, b in zip(*pair, strict=True)) for pair in itertools.pairwise(esc)]


# ---- the way to rest


def test_a_source_that_falls_silent_is_brought_to_rest_slewed_and_in_time() -> None:
    async def body(b: Boat) -> None:
        await under_way(b)
        last = b.rt.clock.now() - DT  # the last request
        while b.gives() != (0.0, 0.0):
            assert b.rt.clock.now() <= last + ACT.timeout.ap + SETTLING + 2.0 * DT + 1e-9
            await asyncio.sleep(DT)
        assert b.rt.clock.now() > last + ACT.timeout.ap
        assert b.helm.status == Status("autopilot", "NONE", "timeout", True)
        assert max(rates(b)) <= 3.0 * DT + 1e-12

    run(body)


@pytest.mark.parametrize("ahead", [0.3, 30.0, math.inf])
def test_a_request_from_a_clock_that_is_ahead_lasts_no_longer(ahead: float) -> None:
    async def body(b: Boat) -> None:
        await under_way(b)
        now = b.rt.clock.now()
        b.rt.bus.publish(Message(AutopilotRequest(0.6, 0.3), ("ACTUATOR_REQ", "AUTOPILOT"), now + ahead, 0.0, b.rt.robot.name, "planner"))
        await asyncio.sleep(ACT.timeout.ap + SETTLING + 3.0 * DT)
        assert b.gives() == (0.0, 0.0)
        assert b.helm.status == Status("autopilot", "NONE", "timeout", True)

    run(body)


def test_what_is_no_request_on_a_topic_of_requests_is_told_once() -> None:
    async def body(b: Boat) -> None:
        errors = b.rt.subscribe("safety/error", [HardwareError])
        for payload in ("full ahead", ManualRequest(), AutopilotRequest(0.1, 0.0), "full ahead"):
            now = b.rt.clock.now()
            b.rt.bus.publish(Message(payload, ("ACTUATOR_REQ", "AUTOPILOT"), now, 0.0, b.rt.robot.name, "planner"))
        b.rt.bus.publish(Message("my loops", ("ACTUATOR_REQ", "AUTOPILOT", "LOOPS"), b.rt.clock.now(), 0.0, b.rt.robot.name, "planner"))  # no mistake
        await asyncio.sleep(2.0 * DT)
        told = []
        while (message := errors.poll()) is not None:
            told.append(message.payload.error)
        assert told == [
            f"a {kind} on ACTUATOR_REQ/AUTOPILOT is no request of AUTOPILOT and is ignored; send AutopilotRequest"
            for kind in ("str", "ManualRequest")
        ]

    run(body)


@pytest.mark.parametrize("who", ["operator", "pilot", "anybody"])
def test_everybody_may_abort_and_it_stays_until_it_is_cleared(who: str) -> None:
    async def body(b: Boat) -> None:
        await under_way(b)
        assert Helm(b.rt, by=who).abort().ok
        for _ in range(math.ceil(SETTLING / DT) + 1):
            b.helm.autopilot(0.6, 0.3)
            await asyncio.sleep(DT)
        assert b.gives() == (0.0, 0.0)
        assert max(rates(b)) <= 3.0 * DT + 1e-12
        assert not b.helm.switch("autopilot").ok
        assert not b.pilot.switch("idle").ok
        assert b.helm.status == Status("abort", "NONE", "abort", True)
        assert b.helm.switch("idle").ok
        assert b.helm.switch("autopilot").ok

    run(body)


def test_disarmed_the_motors_come_to_rest_by_themselves_and_the_pipeline_beside_them() -> None:
    async def body(b: Boat) -> None:
        await under_way(b)
        b.rt.disarm()
        start = b.rt.clock.now()
        last = b.gives()
        while b.gives() != (0.0, 0.0):
            await asyncio.sleep(DT)
            assert all(0.0 <= was - now <= DT / 0.4 + 1e-9 for was, now in zip(last, b.gives(), strict=True))
            last = b.gives()
        assert b.rt.clock.now() - start <= 0.4 + DT
        assert b.heard(EscOutput)[-1][:2] == (0.0, 0.0)
        assert b.helm.status == Status("autopilot", "NONE", "disarmed", False)

    run(body)


def test_armed_again_it_starts_from_rest() -> None:
    async def body(b: Boat) -> None:
        await under_way(b)
        b.rt.disarm()
        assert b.rt.arm().ok  # before the pipeline has had a tick to see that
        b.helm.autopilot(0.6, 0.3)
        await asyncio.sleep(DT)
        assert max(b.heard(EscOutput)[-1][:2]) <= 2.0 * DT + 1e-12

    run(body)


def test_a_motor_whose_driver_dies_takes_the_other_one_to_rest() -> None:
    async def body(b: Boat) -> None:
        await under_way(b)
        b.rt.hosts["left"].part.fail(OSError("wire cut"))
        for _ in range(math.ceil(SETTLING / DT) + 2):
            b.helm.autopilot(0.6, 0.3)
            await asyncio.sleep(DT)
        assert b.gives() == (0.0, 0.0)
        assert b.helm.status is not None
        assert b.helm.status.reason == "disarmed"
        assert b.rt.arm().ok
        await under_way(b)

    run(body)


def test_a_pipeline_that_dies_and_is_started_again_owns_nothing() -> None:
    async def body(b: Boat) -> None:
        await under_way(b)
        b.rt.nodes["pipeline"].part.fail(RuntimeError("a mistake"))
        for _ in range(3):
            await asyncio.sleep(DT)
        assert b.gives() == (0.0, 0.0)
        assert b.helm.status == Status("idle", "NONE", "idle", True)
        await under_way(b)

    run(body)


def test_nothing_is_sent_before_arming() -> None:
    async def body(b: Boat) -> None:
        b.helm.switch("test")
        b.helm.test(1.0, 0.0)
        await asyncio.sleep(0.3)
        assert b.gives() == (0.0, 0.0)
        assert b.rt["left"].statistics().acted == 0
        assert b.rt["left"].statistics().refused == {}  # nor tried

    run(body, arm=False)


# ---- what is asked


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e300, "fast", None])
def test_what_is_no_number_gives_rest_and_a_report(value: Any) -> None:
    async def body(b: Boat) -> None:
        errors = b.rt.subscribe("safety/error", (HardwareError,))
        await under_way(b)
        b.helm.autopilot(value, 0.1)
        await asyncio.sleep(DT)
        assert b.heard(ActuatorReq)[-1] == ActuatorReq(0.0, 0.0, NONE, BY_NOT_FINITE)
        await asyncio.sleep(SETTLING + DT)
        assert b.gives() == (0.0, 0.0)
        message = errors.poll()
        assert message is not None
        assert "not finite" in message.payload.error
        assert errors.poll() is None  # once
        await under_way(b)

    run(body)


def test_sticks_are_read_through_their_calibration_and_a_lost_pulse_is_rest() -> None:
    async def body(b: Boat) -> None:
        assert b.pilot.switch("manual").ok
        for _ in range(100):
            b.helm.manual(1750.0, 1400.0)
            await asyncio.sleep(DT)
        assert b.gives() == pytest.approx((0.5 + 0.2, 0.5 - 0.2))
        b.helm.manual(0.0, 1400.0)
        await asyncio.sleep(SETTLING + 2.0 * DT)
        assert b.gives() == (0.0, 0.0)
        assert b.helm.status == Status("manual", "NONE", "no_pulse", True)

    run(body)


def test_requests_come_as_messages_on_the_topics_of_their_sources() -> None:
    async def body(b: Boat) -> None:
        def say(payload: Any, topic: tuple[str, ...]) -> None:
            now = b.rt.clock.now()
            b.rt.bus.publish(Message(payload, topic, now, now, "boat", "loops"))

        b.helm.switch("autopilot")
        for _ in range(50):
            say(AutopilotRequest(0.4, 0.0), ("nav", "loops"))  # where this boat's autopilot speaks
            say(AutopilotRequest(-1.0, 0.0), ("ACTUATOR_REQ", "AUTOPILOT"))  # not here
            say(AutopilotRequest(-1.0, 0.0), ("ACTUATOR_REQ", "MANUAL"))  # nor for another
            say(ManualRequest(2000.0, 1500.0), ("ACTUATOR_REQ", "MANUAL"))  # heard, but not the owner
            await asyncio.sleep(DT)
        assert b.gives() == pytest.approx((0.4, 0.4))
        b.pilot.switch("manual")
        await asyncio.sleep(DT)
        assert b.heard(ActuatorReq)[-1].u_s_req == 1.0

    run(body, boat(topics={"AUTOPILOT": "nav/loops"}))


def test_what_nobody_understands_is_the_callers_mistake() -> None:
    async def body(b: Boat) -> None:
        with pytest.raises(LookupError, match="a pipeline answers AutopilotRequest.*got 'faster'"):
            await b.rt.request("pipeline", "faster")
        with pytest.raises(InputError, match="one number from 0 to 1 for each of left, right"):
            b.helm.announce(1.0)
        with pytest.raises(LookupError):
            b.helm.axes("AUTOPILOT", 1.0, 0.0)
        with pytest.raises(InputError, match="MANUAL asks with 2 numbers, rc_s and rc_d; got 1"):
            b.helm.manual(1500.0)
        assert (await b.rt.request("pipeline", Switch("warp", "operator"))).why.startswith("there is no mode named 'warp'")
        assert not b.rt.nodes["pipeline"].part.stopped

    run(body)


# ---- who owns the motors


@given(st.lists(st.tuples(st.sampled_from(MODES), st.sampled_from(["operator", "pilot", "autopilot"])), max_size=20))
def test_modes_change_by_the_rules(asked: list[tuple[str, str]]) -> None:
    rules, mode = Rules(), "idle"
    for to, by in asked:
        answer = switch(rules, mode, Switch(to, by))
        if to in ("abort", mode):
            assert answer.ok
        elif mode == "abort":
            assert answer.ok == (to == "idle" and by == "operator")
        else:
            assert answer.ok == (by == "operator" or (by == "pilot" and to in ("idle", "manual")))
        assert answer.mode == (to if answer.ok else mode)
        assert bool(answer.why) != answer.ok
        mode = answer.mode


def test_the_pipeline_is_the_only_commander_of_its_motors() -> None:
    async def body(b: Boat) -> None:
        await under_way(b)
        assert b.rt["left"].direct.send(Throttle(-1.0)).reason == "lease"
        assert b.rt["left"].direct.stop().ok  # a stop needs no lease

    run(body)


# ---- what a gate does is told


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
        assert "held by person" in status.detail
        message = errors.poll()
        assert message is not None
        assert "held by person" in message.payload.error
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


# ---- topics


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


# ---- parameters


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


# ---- descriptions that are wrong


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


# ---- n effectors, and real time


def test_n_effectors_come_to_rest_too_and_are_told_what_a_gate_did() -> None:
    from pushrod.pipeline.n_topic import Out

    names = ("m0", "m1", "m2", "m3")

    async def body(b: Boat) -> None:
        b.helm.switch("test")
        for _ in range(100):
            b.helm.axes("TEST", 2.0, 0.0, 0.0, 0.5)
            await asyncio.sleep(DT)
        assert min(b.gives()) > 0.0
        assert b.rt.handle("m2", "person").take_lease(priority=5)
        for _ in range(60):
            b.helm.axes("TEST", 2.0, 0.0, 0.0, 0.5)
            await asyncio.sleep(DT)
        out = b.heard(Out)[-1]
        assert [u != 0.0 for u in b.gives()] == [False, False, True, False]
        assert out.u[:4] == b.gives()
        total = sum(getattr(out.loss, name).a0 for name in ("allocation", "fault", "clamp", "dead_band", "slew"))
        assert total == pytest.approx(out.cmd.a0 - out.ach.a0, abs=1e-12)
        assert out.ach.a0 != 0.0
        with pytest.raises(InputError, match=r"MANUAL asks with 4 channels \[us\], one an axis, in their order; got 2"):
            b.helm.manual(1500.0, 1500.0)
        b.helm.switch("manual")
        await asyncio.sleep(DT)
        assert b.helm.status is not None
        assert (b.helm.status.owner, b.helm.status.reason) == ("NONE", "disarmed")  # a motor is still held
        b.rt.handle("m2", "person").release_lease()
        for pulses, reason in (((1500.0, 1500.0, 1500.0, 700.0), "no_pulse"), ((1500.0,) * 4, "none")):
            for _ in range(40):
                b.helm.manual(*pulses)
                await asyncio.sleep(DT)
            assert b.helm.status is not None
            assert b.helm.status.reason == reason
        with pytest.raises(UnknownNameError, match="AUTOPILOT"):
            await b.rt.request("pipeline", AxesRequest("AUTOPLIOT", (0.0,)))

    act = n_act.Act(slew=n_act.Slew((2.0,) * 4, (3.0,) * 4, 0.4))
    run(body, boat(act, names))


def test_rc_channels_of_n_axes_have_a_calibration_each() -> None:
    from pushrod.pipeline.n_topic import In

    names = ("m0", "m1", "m2", "m3")

    async def body(b: Boat) -> None:
        b.helm.switch("manual")
        for _ in range(3):
            b.helm.manual(1750.0, 1500.0, 1320.0, 1600.0)
            await asyncio.sleep(DT)
        req = b.heard(In)[-1].req
        assert req[:4] == pytest.approx((0.5, 0.0, 0.4, (0.5 * 0.5 + 0.5 * 0.5**3)))
        b.helm.test(0.1, 0.2, 0.3, 0.4)
        b.helm.autopilot(0.0, 0.0, 0.0, 0.0)

    channels = [{}, {"us_dead": 20.0}, {"us_mid": 1520.0, "us_min": 1020.0, "us_max": 2020.0, "reverse": True}, {"us_max": 1700.0, "expo": 0.5}]
    run(body, boat(n_act.Act(), names, channels=channels))
    wrong = [{"us_mid": 2400.0}, {}, {"us_mix": 1.0}, {"us_min": 700.0}]
    for text in (r"channels\[0\]\.us_max = 2000 us leaves no travel", "us_mix"):
        with pytest.raises(PushrodError, match=text):
            run(body, boat(n_act.Act(), names, channels=wrong))
    with pytest.raises(PushrodError, match=r"channels\[3\]: its travel, 700 to 2000 us"):
        run(body, boat(n_act.Act(), names, channels=[{}, {}, {}, {"us_min": 700.0}]))
    with pytest.raises(PushrodError, match="got 5, at most one for each of 4 axes"):
        run(body, boat(n_act.Act(), names, channels=[{}] * 5))


def test_a_message_with_too_few_numbers_is_neutral_and_says_what_it_lacks() -> None:
    async def body(b: Boat) -> None:
        errors = b.rt.subscribe("safety/error", [HardwareError])
        b.helm.switch("autopilot")
        for _ in range(5):
            now = b.rt.clock.now()
            b.rt.bus.publish(Message(AxesRequest("AUTOPILOT", (0.5, 0.5)), ("ACTUATOR_REQ", "AUTOPILOT"), now, now, "boat"))
            await asyncio.sleep(DT)
        said = [errors.poll(), errors.poll(), errors.poll()]
        assert said[0].payload.error == "AUTOPILOT asks with 4 numbers, one an axis, in their order; got 2"
        assert "not finite" in said[1].payload.error
        assert said[2] is None
        assert b.gives() == (0.0,) * 4

    run(body, boat(n_act.Act(), ("m0", "m1", "m2", "m3")))


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
