"""Answers to arm, disarm, fault, e-stop, reset and force_disarm: state, refusal, missing texts, failures by path, and what was called for them."""

import pytest
from stop_bench import Bench, once, position

from pushrod.guard.judge import ARMED, SAFE, STOPPING
from pushrod.runtime.arming import Arming
from pushrod.runtime.deciding import Armed, Disarmed
from pushrod.safety.state import State

DISARMED, DISARMING, ERROR, ESTOPPED = State.DISARMED, State.DISARMING, State.ERROR, State.ESTOPPED
NO_LINK = "raised OSError: no link"


def test_a_new_robot_is_disarmed(bench: Bench) -> None:
    assert (bench.arming.state, bench.arming.why, bench.arming.causes) == (DISARMED, "", ())
    assert (bench.decisions.stops, bench.decisions.unsafe, bench.decisions.forked) == (0, {}, False)
    assert bench.decisions.names == ("a", "b")
    assert not bench.decisions.is_stopping()


def test_arming_opens_all_gates(bench: Bench) -> None:
    assert bench.arming.arm() == Armed(True, State.ARMED, "", (), "")
    assert bench.epochs == [1, 1]
    assert bench.arming.why == "armed"
    assert bench.transitions == [(DISARMED, State.ARMED, "armed")]
    assert (bench.arming_levels, bench.levels, bench.calls) == ([ARMED], [], [])
    assert bench.gates[0](position()).ok
    assert bench.moved == [("a", 1.0)]
    assert [gate.out for gate in bench.gates] == ["", ""]


def test_every_arming_has_another_epoch(bench: Bench) -> None:
    bench.arming.arm()
    bench.arming.disarm()
    bench.arming.arm()
    assert bench.epochs == [2, 2]


def test_arming_without_checks_or_guard(bench: Bench) -> None:
    assert Arming(bench.decisions).arm().ok


def test_an_armed_robot_is_not_armed_again(bench: Bench) -> None:
    bench.arming.arm()
    assert bench.arming.arm() == Armed(False, State.ARMED, "already_armed", ("the robot is armed",))
    assert bench.epochs == [1, 1]


def test_disarm_closes_all_gates_and_calls_all_disarm_functions(bench: Bench) -> None:
    bench.arming.arm()
    bench.clear()
    assert bench.arming.disarm() == Disarmed(True, DISARMED, {}, "requested")
    assert bench.epochs == [0, 0]
    assert bench.calls == ["a", "b"]
    assert bench.options == [{"port": "a"}, {"port": "b"}]
    assert bench.transitions == [(State.ARMED, DISARMING, "requested"), (DISARMING, DISARMED, "requested")]
    assert bench.levels == [STOPPING, SAFE]
    assert [gate.out for gate in bench.gates] == ["", ""]
    assert bench.gates[0].closed_by.why == "requested"


def test_disarm_again_calls_the_disarm_functions_again(bench: Bench) -> None:
    assert bench.arming.disarm("button").ok
    assert bench.calls == ["a", "b"]
    assert bench.transitions == []
    assert bench.levels == [SAFE]
    assert bench.arming.why == ""


def test_a_disarm_function_that_fails_leads_to_error(bench: Bench) -> None:
    bench.arming.arm()
    bench.clear()
    bench.fail("a", "b")
    why = f"a: {NO_LINK}; b: {NO_LINK}"
    assert bench.arming.disarm("button") == Disarmed(False, ERROR, {"a": NO_LINK, "b": NO_LINK}, why)
    assert bench.transitions == [(State.ARMED, DISARMING, "button"), (DISARMING, ERROR, why)]
    assert bench.reports == [("a", f"could not be made safe: {NO_LINK}"), ("b", f"could not be made safe: {NO_LINK}")]
    assert bench.levels == [STOPPING, STOPPING]
    assert bench.decisions.stops == 1
    assert bench.calls == ["a", "b"]
    hint = f"the robot is in error ({why}). Inspect it, then force_disarm"
    assert [gate.out for gate in bench.gates] == [hint, hint]
    assert bench.arming.arm() == Armed(False, ERROR, "in_error", (hint,))


def test_a_fault_stays_although_all_is_safe(bench: Bench) -> None:
    bench.arming.arm()
    bench.clear()
    assert bench.arming.fault(OSError("no link")) == Disarmed(True, ERROR, {}, "OSError: no link")
    assert bench.transitions == [(State.ARMED, ERROR, "OSError: no link")]
    assert bench.levels == [STOPPING, SAFE]
    assert bench.calls == ["a", "b"]


def test_a_fault_can_begin_without_a_wait(bench: Bench) -> None:
    bench.arming.arm()
    assert bench.arming.begin_fault(None) is None
    assert (bench.arming.state, bench.arming.why, bench.epochs, bench.calls) == (ERROR, "no reason given", [0, 0], ["a", "b"])


def test_force_disarm_leaves_the_error(bench: Bench) -> None:
    bench.arming.fault("x")
    bench.clear()
    assert bench.arming.force_disarm() == Disarmed(True, DISARMED, {}, "forced")
    assert bench.calls == ["a", "b"]
    assert bench.transitions == [(ERROR, DISARMED, "forced")]
    assert bench.levels == [SAFE]
    assert bench.gates[0].closed_by.why == "forced"
    assert bench.arming.arm().ok


def test_force_disarm_reports_failures_and_does_not_stay_in_error(bench: Bench) -> None:
    bench.arming.fault("x")
    bench.clear()
    bench.fail("b")
    assert bench.arming.force_disarm() == Disarmed(False, DISARMED, {"b": NO_LINK}, "forced")
    assert bench.levels == [STOPPING]
    assert bench.reports == [("b", f"could not be made safe: {NO_LINK}")]


@pytest.mark.parametrize(("stop", "refusal"), [("disarm", "not_in_error"), ("estop", "estopped")])
def test_force_disarm_is_for_errors_alone(bench: Bench, stop: str, refusal: str) -> None:
    state = getattr(bench.arming, stop)().state
    bench.clear()
    assert bench.arming.force_disarm() == Armed(False, state, refusal)
    assert bench.calls == []


def test_a_stop_during_force_disarm_prevails(bench: Bench) -> None:
    bench.arming.fault("x")
    bench.disarm["a"] = once(lambda: bench.arming.begin_fault("y"))
    assert bench.arming.force_disarm() == Armed(False, ERROR, "stopped")
    bench.disarm["a"] = once(bench.arming.estop)
    assert bench.arming.force_disarm() == Armed(False, ESTOPPED, "estopped")


def test_an_estop_is_latched_until_reset(bench: Bench) -> None:
    bench.arming.arm()
    bench.clear()
    assert bench.arming.estop("button") == Disarmed(True, ESTOPPED, {}, "button")
    assert bench.transitions == [(State.ARMED, ESTOPPED, "button")]
    assert (bench.levels, bench.calls, bench.epochs) == ([STOPPING, SAFE], ["a", "b"], [0, 0])
    assert bench.arming.estop("scanner").ok
    assert bench.arming.causes == ("button", "scanner")
    assert bench.arming.why == "button; scanner"
    hint = "the robot is e-stopped (button; scanner). Remove the cause, then reset it"
    assert bench.arming.arm() == Armed(False, ESTOPPED, "estopped", (hint,))
    assert bench.arming.disarm().state is ESTOPPED
    assert bench.gates[0].out == "the robot is e-stopped (button). Remove the cause, then reset it"
    bench.clear()
    assert bench.arming.reset() == Armed(True, DISARMED)
    assert bench.transitions == [(ESTOPPED, DISARMED, "reset: button; scanner cleared")]
    assert (bench.arming.causes, bench.calls, bench.levels) == ((), [], [SAFE])
    assert [gate.out for gate in bench.gates] == ["", ""]


def test_a_disarm_is_no_cause_of_an_estop(bench: Bench) -> None:
    bench.arming.disarm("button")
    bench.arming.fault("x")
    assert bench.arming.causes == ()


def test_the_first_causes_and_the_latest_are_kept(bench: Bench) -> None:
    for i in range(40):
        bench.arming.estop(i)
    assert bench.arming.causes == (*map(str, range(31)), "39")


def test_reset_is_for_estops_alone_and_names_the_next_step(bench: Bench) -> None:
    assert bench.arming.reset() == Armed(False, DISARMED, "not_estopped", ("the robot is disarmed",))
    assert bench.decisions.reset(0) == Armed(False, DISARMED, "not_estopped")


def test_reset_waits_for_the_cause_to_go(bench: Bench) -> None:
    bench.arming.estop("button")
    assert bench.arming.reset(lambda: False) == Armed(False, ESTOPPED, "cause_present", ("button",))
    assert bench.arming.reset(lambda: True).ok


def test_reset_tries_again_what_could_not_be_made_safe(bench: Bench) -> None:
    bench.fail("a")
    bench.arming.estop("button")
    bench.clear()
    assert bench.arming.reset() == Armed(False, ESTOPPED, "not_safe", (f"a: {NO_LINK}",))
    assert bench.calls == ["a", "b"]
    assert bench.gates[0].closed_by.why == "reset"
    assert bench.levels == []  # the guard keeps the level of the e-stop
    bench.disarm.clear()
    assert bench.arming.reset().ok


def test_an_estop_during_reset_stays(bench: Bench) -> None:
    bench.arming.estop("button")
    assert bench.arming.reset(lambda: bench.arming.estop("scanner").ok) == Armed(False, ESTOPPED, "stopped", ("button", "scanner"))
