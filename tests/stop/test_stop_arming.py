"""Arming yields: to checks, to the guard, to calls in flight, and to any stop that comes while it is under way."""

import inspect
import threading
from typing import Any

import numpy as np
import pytest
from stop_bench import Bench, ScriptedLock, broken, once

from pushrod.guard.judge import ARMED, SAFE, STOPPING
from pushrod.runtime import arming as arming_module
from pushrod.runtime.deciding import Armed
from pushrod.safety.state import State

DISARMED, ERROR = State.DISARMED, State.ERROR
STOPPED = ("a stop came during arming. Arm again",)


@pytest.mark.parametrize("source", ["missing", "guard_missing"])
def test_what_is_missing_refuses_arming(bench: Bench, source: str) -> None:
    setattr(bench, source, lambda: ["a is not homed", "b is not homed"])
    assert bench.arming.arm() == Armed(False, DISARMED, "checks", ("a is not homed", "b is not homed"))
    assert bench.arming_levels == ([] if source == "missing" else [ARMED])
    assert [gate.out for gate in bench.gates] == ["arming was refused: a is not homed; b is not homed"] * 2
    assert (bench.epochs, bench.transitions) == ([0, 0], [])


def test_a_long_refusal_is_cut_in_later_refusals(bench: Bench) -> None:
    bench.missing = lambda: [" ".join("x" * 100)]
    bench.arming.arm()
    assert bench.gates[0].out == f"arming was refused: {' '.join('x' * 46)} ... (arm again to read all)"


@pytest.mark.parametrize("source", ["missing", "guard_missing"])
@pytest.mark.parametrize("stop", ["disarm", "estop", "fault"])
def test_a_stop_while_arming_prevails(bench: Bench, source: str, stop: str) -> None:
    setattr(bench, source, lambda: getattr(bench.arming, stop)("x") and [])
    answer = bench.arming.arm()
    assert answer == Armed(False, bench.arming.state, "stopped", STOPPED)
    assert answer.state is not State.ARMED
    assert bench.epochs == [0, 0]
    assert bench.levels[-1] == SAFE  # the guard was asked to look, and is not needed


def test_a_driver_that_crashes_while_arming_prevails(bench: Bench) -> None:
    bench.silence("a")
    bench.missing = lambda: bench.arming.make_one_safe("a") or []
    assert bench.arming.arm() == Armed(False, DISARMED, "stopped", STOPPED)
    assert bench.levels == [STOPPING]  # it is still being made safe
    assert bench.epochs == [0, 0]


def test_a_gate_that_closes_while_arming_stays_closed(bench: Bench) -> None:
    bench.missing = lambda: bench.gates[0].close("crash") or []
    assert bench.arming.arm().ok
    assert bench.epochs == [0, 1]


def test_arming_fails_if_every_gate_was_closed_meanwhile(bench: Bench) -> None:
    bench.missing = lambda: [gate.close("crash") for gate in bench.gates] and []
    assert bench.arming.arm() == Armed(False, DISARMED, "stopped", STOPPED)
    assert bench.levels == [SAFE]


def test_arming_fails_and_the_guard_keeps_looking_where_something_is_not_safe(bench: Bench) -> None:
    bench.arming.fault("x")
    bench.fail("a")
    bench.arming.force_disarm()
    bench.clear()
    bench.missing = lambda: [gate.close("crash") for gate in bench.gates] and []
    assert bench.arming.arm().refusal == "stopped"
    assert bench.levels == [STOPPING]


def test_a_state_that_has_changed_refuses_arming(bench: Bench) -> None:
    bench.arming.fault("x")
    assert bench.decisions.arm(1, [None, None], [0, 1]) == Armed(False, ERROR, "in_error", STOPPED)


def test_one_closed_gate_of_an_armed_robot_is_armed_again(bench: Bench) -> None:
    bench.arming.arm()
    bench.gates[0].close("crash")
    bench.arming.make_one_safe("a")
    bench.clear()
    assert bench.arming.arm() == Armed(True, State.ARMED)
    assert bench.epochs == [2, 1]
    assert bench.transitions == []


def test_a_refused_repair_of_an_armed_robot_leaves_the_guard_alone(bench: Bench) -> None:
    bench.arming.arm()
    bench.gates[0].close("crash")
    bench.clear()
    bench.missing = lambda: bench.gates[0].close("again") or []
    assert bench.arming.arm() == Armed(False, State.ARMED, "stopped", STOPPED)
    assert bench.levels == []
    assert bench.epochs == [0, 1]


def test_a_refused_repair_names_the_reason_at_the_closed_gate_alone(bench: Bench) -> None:
    bench.arming.arm()
    bench.gates[1].close("crash")
    bench.missing = lambda: ["b is not homed"]
    assert bench.arming.arm().refusal == "checks"
    assert [gate.out for gate in bench.gates] == ["", "arming was refused: b is not homed"]


def test_arming_from_a_disarm_function_is_refused(bench: Bench) -> None:
    answers: list[Any] = []
    bench.disarm["a"] = once(lambda: answers.append(bench.arming.arm()))
    bench.arming.disarm()
    assert answers == [Armed(False, DISARMED, "disarming", ("a: still being made safe", "b: still being made safe"))]


# calls in flight


def in_flight(bench: Bench, *answers: bool) -> ScriptedLock:
    lock = ScriptedLock(*answers)
    bench.gates[0].lock = lock  # type: ignore[assignment]
    return lock


CALLED = ("a: its driver has not returned from a call. Wait, or restart this program",)


def test_a_call_in_flight_refuses_arming(bench: Bench) -> None:
    lock = in_flight(bench, False)
    assert bench.arming.arm() == Armed(False, DISARMED, "checks", CALLED)
    assert len(lock.limits) == 1
    assert 0.3 < lock.limits[0] <= 0.5
    assert lock.held == 0
    assert bench.arming_levels == []
    assert bench.arming.arm().ok  # it has returned
    assert lock.held == 0


def test_all_calls_in_flight_share_one_time_limit(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter((0.0, 0.2, 0.7, 0.8))
    monkeypatch.setattr(arming_module, "time", type("Clock", (), {"monotonic": staticmethod(lambda: next(times))}))
    lock = in_flight(bench, False, False)
    bench.gates[1].lock = lock  # type: ignore[assignment]
    assert len(bench.arming.arm().missing) == 2
    assert lock.limits == pytest.approx([0.3, 0.0])


def test_a_driver_cannot_arm_from_within_a_call(bench: Bench) -> None:
    bench.gates[0].holder = threading.get_ident()
    lock = in_flight(bench)
    assert bench.arming.arm().missing == CALLED
    assert lock.limits == []
    assert bench.gates[0].holder == threading.get_ident()  # it is inside still


def test_an_open_gate_may_be_in_a_call_while_another_is_armed_again(bench: Bench) -> None:
    bench.arming.arm()
    bench.gates[1].close("crash")
    lock = in_flight(bench, False)
    assert bench.arming.arm().ok
    assert lock.limits == []


# one at a time


def test_arm_reset_and_force_disarm_exclude_each_other(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = ScriptedLock(False, False, False)
    bench.arming._door.lock = lock  # type: ignore[assignment]
    busy = Armed(False, DISARMED, "busy", ("another arm, reset or force_disarm is under way",))
    assert bench.arming.arm() == busy
    assert bench.arming.reset() == busy
    assert bench.arming.force_disarm() == busy
    assert lock.limits == [5.0] * 3
    assert lock.held == 0
    assert bench.arming.disarm().ok  # a stop does not wait for them
    assert lock.limits == [5.0] * 3


@pytest.mark.parametrize(("stop", "ask"), [("estop", "reset"), ("fault", "force_disarm")])
def test_a_busy_turn_refuses_what_the_state_would_allow(bench: Bench, stop: str, ask: str) -> None:
    getattr(bench.arming, stop)("x")
    bench.arming._door.lock = ScriptedLock(False)  # type: ignore[assignment]
    bench.clear()
    assert getattr(bench.arming, ask)().refusal == "busy"
    assert bench.calls == []


def test_a_check_that_raises_gives_the_turn_back(bench: Bench) -> None:
    bench.missing = lambda: broken({})  # type: ignore[return-value]
    with pytest.raises(OSError, match="no link"):
        bench.arming.arm()
    bench.missing = list
    assert bench.arming.arm().ok


# the end of the runtime


def test_a_runtime_that_ends_is_not_armed(bench: Bench) -> None:
    bench.decisions.ended = True
    assert bench.arming.arm() == Armed(False, DISARMED, "ended", ("the runtime is shutting down",))
    assert (bench.arming_levels, bench.epochs, bench.decisions.was_armed) == ([], [0, 0], False)


def test_a_runtime_that_ends_while_it_is_being_armed_is_not_armed(bench: Bench) -> None:
    bench.guard_missing = lambda: setattr(bench.decisions, "ended", True) or []
    assert bench.arming.arm() == Armed(False, DISARMED, "ended", ("the runtime is shutting down",))
    assert (bench.levels, bench.epochs, bench.decisions.was_armed) == ([SAFE], [0, 0], False)


def test_was_armed_stays_after_a_stop(bench: Bench) -> None:
    assert not bench.decisions.was_armed
    bench.arming.arm()
    assert bench.decisions.was_armed
    bench.arming.disarm()
    assert bench.decisions.was_armed


def test_a_disarm_function_that_still_runs_refuses_arming(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    bench.decisions.unfinished = lambda names, timeout: asked.append((names, timeout)) or ["b"]  # type: ignore[method-assign]
    times = iter((0.0, 0.1, 0.2, 0.3))
    monkeypatch.setattr(arming_module, "time", type("Clock", (), {"monotonic": staticmethod(lambda: next(times))}))
    late = "b: its disarm function has not returned. Wait, or restart this program"
    assert bench.arming.arm() == Armed(False, DISARMED, "checks", (late,))
    assert asked == [(["a", "b"], pytest.approx(0.2))]


def test_a_robot_without_actuators_can_be_armed() -> None:
    bench = Bench(names=())
    assert bench.arming.arm() == Armed(True, State.ARMED)
    assert bench.arming.disarm().ok


def answers(kind: str) -> Any:
    async def waits() -> bool:
        return False

    def steps() -> Any:
        yield False

    return {"a coroutine": waits, "a generator": steps, "text": lambda: "no", "nan": lambda: float("nan"), "one": lambda: 1, "none": lambda: None}[
        kind
    ]


@pytest.mark.parametrize("kind", ["a coroutine", "a generator", "text", "nan", "one", "none"])
def test_only_true_clears_an_e_stop(bench: Bench, kind: str) -> None:
    bench.arming.estop("smoke")
    answer = bench.arming.reset(answers(kind))
    assert (answer.ok, answer.refusal, bench.arming.state) == (False, "cause_present", State.ESTOPPED)
    assert answer.missing[0].startswith("is_gone returned ")
    assert answer.missing[0].endswith(", expected True or False. Pass a plain function that returns a bool")


@pytest.mark.parametrize("gone", [True, np.True_])
def test_true_of_numpy_clears_an_e_stop_too(bench: Bench, gone: Any) -> None:
    bench.arming.estop("smoke")
    assert bench.arming.reset(lambda: not gone).missing == ("smoke",)
    assert bench.arming.reset(lambda: ~gone if gone is np.True_ else False).missing == ("smoke",)
    assert bench.arming.reset(lambda: gone).ok


def test_arming_is_busy_from_its_begin_to_its_end(bench: Bench) -> None:
    seen: list[bool] = []
    bench.missing = lambda: seen.append(bench.arming.is_busy) or []
    assert not bench.arming.is_busy
    bench.arming.arm()
    assert seen == [True]
    assert not bench.arming.is_busy


@pytest.mark.parametrize("ask", ["arm", "reset", "force_disarm"])
def test_an_e_stop_from_a_signal_handler_during_a_decision_stays(bench: Bench, ask: str) -> None:
    """Without threads the handler interrupts the decision itself: it is made first, then the e-stop."""
    if ask == "reset":
        bench.arming.estop("first")
    elif ask == "force_disarm":
        bench.arming.fault("first")
    decide, handled = getattr(bench.decisions, ask), []

    def interrupted(*arguments: Any) -> Any:
        answer = decide(*arguments)
        handled.append(bench.arming.estop("signal"))
        return answer

    setattr(bench.decisions, ask, interrupted)
    getattr(bench.arming, ask)()
    assert not handled[0].ok  # not decided yet
    assert bench.arming.state is State.ESTOPPED
    assert bench.arming.causes[-1] == "signal"
    assert bench.epochs == [0, 0]
    assert not bench.arming.arm().ok


def test_a_coroutine_in_place_of_an_answer_is_closed(bench: Bench) -> None:
    """Otherwise Python warns of it later, far from its cause."""

    async def waits() -> bool:
        return False

    made = waits()
    bench.arming.estop("smoke")
    assert not bench.arming.reset(lambda: made).ok  # type: ignore[arg-type, return-value]
    assert inspect.getcoroutinestate(made) == inspect.CORO_CLOSED
