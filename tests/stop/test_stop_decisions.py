"""Decisions about stops that overlap, are interrupted, come late or never end; and about stops without memory and in a forked process."""

import logging
import os
import sys
import traceback
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from stop_bench import Bench, Clock, RecordedLatch, ScriptedLock, broken, once, position

from pushrod.core.errors import PushrodError
from pushrod.guard.judge import SAFE, STOPPING
from pushrod.runtime import arming, deciding
from pushrod.runtime.deciding import FORKED, Armed, Decisions, Disarmed
from pushrod.runtime.stop import Stop
from pushrod.runtime.worker import Worker
from pushrod.safety.state import Event, State

DISARMED, DISARMING, ERROR, ESTOPPED = State.DISARMED, State.DISARMING, State.ERROR, State.ESTOPPED
NO_LINK = "raised OSError: no link"


def disarm(names: tuple[str, ...] = ("a", "b"), **options: Any) -> Stop:
    return Stop(Event.DISARM, "button", names, **options)


# one actuator


def test_one_crashed_actuator_is_made_safe_alone(bench: Bench) -> None:
    bench.arming.arm()
    bench.clear()
    followed: list[str] = []
    bench.arming.make_one_safe("a", lambda: followed.append("then"))
    assert (bench.calls, bench.epochs, followed) == (["a"], [0, 1], ["then"])
    assert bench.gates[0].closed_by.why == "a failed"
    assert (bench.arming.state, bench.decisions.stops, bench.levels, bench.transitions) == (State.ARMED, 0, [], [])


def test_one_actuator_that_cannot_be_made_safe_disarms_all(bench: Bench) -> None:
    bench.arming.arm()
    bench.clear()
    bench.fail("a")
    bench.arming.make_one_safe("a")
    assert bench.calls == ["a", "a", "b"]
    assert bench.transitions == [(State.ARMED, ERROR, f"a: {NO_LINK}")]
    assert (bench.epochs, bench.decisions.stops) == ([0, 0], 1)


def test_several_actuators_that_cannot_be_made_safe_are_all_named(bench: Bench) -> None:
    bench.fail("a", "b")
    bench.decisions.begin(Stop(None, "test", ("a", "b"), fault=True))
    assert bench.arming.why == f"a: {NO_LINK}; b: {NO_LINK}"


def test_a_failure_without_a_transition_changes_no_state(bench: Bench) -> None:
    bench.arming.arm()
    bench.fail("a")
    bench.decisions.begin(Stop(None, "test", ("a",)))
    assert bench.arming.state is State.ARMED
    assert bench.decisions.unsafe == {"a": NO_LINK}


def test_a_robot_without_actuators_can_be_stopped() -> None:
    bench = Bench(())
    assert bench.arming.estop("button") == Disarmed(True, ESTOPPED, {}, "button")


# stops that overlap


def test_each_disarm_function_is_called_once_for_a_stop(bench: Bench) -> None:
    woken: list[str] = []
    for name, disarmer in bench.disarmers.items():
        disarmer.go = lambda stop, name=name: woken.append(name)  # type: ignore[method-assign]
    stop = bench.decisions.begin(disarm())
    assert bench.calls == ["a", "b"]
    assert (woken, stop.woken, stop.begun) == ([], True, True)  # their own threads have nothing left to do


def test_an_actuator_in_a_call_is_left_to_its_own_thread(bench: Bench) -> None:
    woken: list[str] = []
    for name, disarmer in bench.disarmers.items():
        disarmer.go = lambda stop, name=name, go=disarmer.go: (woken.append(name), go(stop))  # type: ignore[method-assign]
    bench.gates[0].lock = ScriptedLock(False)  # type: ignore[assignment]
    stop = bench.decisions.begin(disarm())
    assert (bench.calls, woken) == (["b", "a"], ["a"])
    assert stop.done.is_set


class Interrupted:
    """A call that raises instead, or after it, as often as there are errors."""

    def __init__(self, call: Callable[[Any], None], *errors: BaseException, after: bool = False) -> None:
        self.call, self.errors, self.after = call, list(errors), after

    def __call__(self, argument: Any) -> None:
        if not self.errors or self.after:
            self.call(argument)
        if self.errors:
            raise self.errors.pop(0)


@pytest.mark.parametrize("after", [False, True])
def test_a_caller_that_is_interrupted_leaves_the_rest_to_the_safety_thread(bench: Bench, after: bool) -> None:
    bench.arming.arm()
    bench.decisions._disarming.put = Interrupted(bench.decisions._disarming.put, KeyboardInterrupt(), after=after)  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        bench.arming.disarm()
    assert (bench.arming.state, bench.arming.why, bench.calls, bench.epochs) == (DISARMED, "requested", ["a", "b"], [0, 0])
    assert (bench.decisions.stops, bench.decisions.is_stopping()) == (1, False)


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("twice", [False, True])
def test_a_caller_that_is_interrupted_while_it_posts_a_stop_posts_it_again(bench: Bench, after: bool, twice: bool) -> None:
    bench.arming.arm()
    decisions = bench.decisions
    decisions.safety.put = Interrupted(decisions.safety.put, KeyboardInterrupt("post"), after=after)  # type: ignore[method-assign]
    if twice:
        decisions._disarming.put = Interrupted(decisions._disarming.put, KeyboardInterrupt("act"))  # type: ignore[method-assign]
    bench.silence("a")  # so the stop is open when it comes a second time
    with pytest.raises(KeyboardInterrupt, match="post"):
        bench.arming.estop("button")
    assert (decisions.stops, decisions.causes, bench.epochs, bench.calls) == (1, ("button",), [0, 0], ["b"])
    (stop,) = decisions.open_stops
    assert not decisions._begun
    decisions._answered(stop, "a", None)
    assert (stop.done.is_set, decisions.is_stopping()) == (True, False)


def test_a_stop_that_is_interrupted_before_it_is_listed_acts(bench: Bench) -> None:
    bench.arming.arm()

    class Unlisted(deque[Stop]):
        def append(self, stop: Stop) -> None:
            raise KeyboardInterrupt

    bench.decisions._begun = Unlisted()
    before = [gate.closed_by for gate in bench.gates]
    with pytest.raises(KeyboardInterrupt):
        bench.arming.disarm()
    assert (bench.arming.state, bench.calls, bench.epochs) == (DISARMED, ["a", "b"], [0, 0])
    assert [gate.open(9, since) for gate, since in zip(bench.gates, before, strict=True)] == [False, False], "an arming that began before yields"


def test_a_stop_that_is_posted_twice_counts_once(bench: Bench, clock: Clock) -> None:
    bench.silence("a")
    stop = bench.decisions.begin(disarm())
    clock.now += 1.0
    bench.decisions._on_stop(stop)
    assert (bench.decisions.stops, bench.decisions.open_stops, stop.ends) == (1, [stop], 105.0)


def test_the_reason_is_worked_out_after_the_gates_are_closed(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.arming.arm()
    seen: list[Any] = []

    def text(reason: Any) -> str:
        seen.append((reason, bench.epochs, tuple(bench.calls)))
        return "text"

    monkeypatch.setattr(deciding, "reason_text", text)
    assert bench.arming.disarm("x").why == "text"
    assert seen == [("x", [0, 0], ("a", "b"))]
    assert bench.decisions.begin(disarm(), "y").why == "button"  # a stop that has a reason keeps it
    assert len(seen) == 1


def test_the_safety_thread_is_woken_once_for_all_answers(bench: Bench) -> None:
    bench.silence("a", "b")
    stop = bench.decisions.begin(disarm())
    posts: list[Any] = []
    put = bench.decisions.safety.put
    bench.decisions.safety.put = lambda call: (posts.append(call), put(call))  # type: ignore[method-assign]
    bench.decisions._answered(stop, "b", None)
    assert (posts, stop.answers, list(stop.left)) == ([], {"b": None}, ["a", "b"])
    bench.decisions._answered(stop, "a", None)
    assert (len(posts), stop.left, stop.done.is_set) == (1, {}, True)
    bench.decisions._answered(stop, "a", None)  # a late one counts at once
    assert len(posts) == 2


def test_a_failure_counts_at_once(bench: Bench) -> None:
    bench.silence("a", "b")
    stop = bench.decisions.begin(disarm())
    bench.decisions._answered(stop, "a", NO_LINK)
    assert (stop.failures, bench.decisions.unsafe, list(stop.left)) == ({"a": NO_LINK}, {"a": NO_LINK}, ["b"])
    assert not stop.done.is_set
    bench.decisions._answered(stop, "b", None)
    assert (stop.done.is_set, bench.reports) == (True, [("a", f"could not be made safe: {NO_LINK}")])


def test_the_robot_stays_disarming_until_all_stops_have_ended(bench: Bench) -> None:
    bench.arming.arm()
    bench.silence("a")
    first = bench.decisions.begin(disarm())
    hint = "the robot is disarming"
    assert bench.arming.arm() == Armed(False, DISARMING, "disarming", (hint,))
    assert [gate.out for gate in bench.gates] == [hint, hint]
    second = bench.decisions.begin(Stop(None, "b failed", ("b",)))
    assert second.done.is_set
    assert (bench.arming.state, first.done.is_set) == (DISARMING, False)
    assert bench.levels == [STOPPING]
    bench.decisions._answered(first, "a", None)
    assert (bench.arming.state, bench.arming.why, first.done.is_set, bench.levels[-1]) == (DISARMED, "button", True, SAFE)


def test_reset_waits_for_stops_under_way(bench: Bench) -> None:
    bench.arming.estop("button")
    bench.silence("a")
    under_way = bench.decisions.begin(disarm())
    assert bench.decisions.being_made_safe() == {"a": "still being made safe", "b": "still being made safe"}
    bench.clear()
    bench.decisions.stops = 1
    assert bench.decisions.reset(1) == Armed(False, ESTOPPED, "not_safe", ("a: still being made safe", "b: still being made safe"))
    bench.decisions.unsafe["a"] = NO_LINK
    assert bench.arming.reset() == Armed(False, ESTOPPED, "not_safe", (f"a: {NO_LINK}", "b: still being made safe"))
    assert bench.calls == []  # the stop that is under way tries it
    assert bench.decisions.is_stopping()
    bench.answer(under_way, "a")
    assert bench.arming.reset().ok


def test_notices_follow_the_decision_they_belong_to(bench: Bench) -> None:
    bench.arming.arm()
    states: list[State] = []
    bench.observe = lambda state: states.append(bench.arming.state)
    bench.arming.disarm()
    assert states == [DISARMED, DISARMED]
    assert [new for _, new, _ in bench.transitions[1:]] == [DISARMING, DISARMED]


# time limits


def test_a_disarm_function_that_does_not_return_is_given_up(bench: Bench, clock: Clock) -> None:
    bench.arming.arm()
    bench.silence("a")
    stop = bench.decisions.begin(disarm(limit=0.25))
    assert stop.ends == 100.25
    assert bench.decisions._expire() == 0.25
    clock.now = 100.125
    assert bench.decisions._expire() == 0.125
    assert not stop.done.is_set
    clock.now = 100.25
    assert bench.decisions._expire() is None
    failure = "no answer within 0.25 s: not proven safe"
    assert stop.failures == {"a": failure}
    assert (bench.arming.state, bench.arming.why, stop.done.is_set) == (ERROR, f"a: {failure}", True)
    assert bench.reports == [("a", f"could not be made safe: {failure}")]
    assert bench.levels[-1] == STOPPING
    assert bench.decisions.settled() == {"a": failure}


def test_a_late_answer_is_counted_and_does_not_leave_the_error(bench: Bench, clock: Clock) -> None:
    bench.arming.arm()
    bench.silence("a", "b")
    stop = bench.decisions.begin(disarm())
    bench.answer(stop, "b")
    clock.now += 5.0
    bench.decisions._expire()
    assert set(stop.failures) == {"a"}  # the answer of b was there
    bench.clear()
    bench.answer(stop, "a")
    assert (bench.decisions.unsafe, bench.arming.state, stop.failures.keys()) == ({}, ERROR, {"a"})
    assert (bench.reports, bench.transitions) == ([], [])
    bench.answer(stop, "a", "raised OSError: x")
    assert bench.decisions.unsafe == {"a": "raised OSError: x"}


LATE = "no answer within 0.2 s: not proven safe"


def test_a_call_that_began_before_a_stop_does_not_prove_it_safe(bench: Bench, clock: Clock) -> None:
    """The function of b runs on beyond the time limits of two stops, while a fails for the newer one."""
    bench.silence("b")
    older = bench.decisions.begin(disarm(limit=0.2))
    bench.disarmers["b"].number = next(bench.decisions._numbers)  # its function begins
    clock.now += 0.3
    bench.decisions._expire()
    bench.fail("a")
    newer = bench.decisions.begin(disarm(limit=0.2))
    clock.now += 0.3
    bench.decisions._expire()
    assert older.number < bench.disarmers["b"].number < newer.number
    assert bench.decisions.unsafe == {"b": LATE, "a": NO_LINK}
    bench.decisions._answered(older, "b", None)  # and ends
    assert bench.decisions.unsafe == {"b": LATE, "a": NO_LINK}
    bench.answer(newer, "b")
    assert bench.decisions.unsafe == {"a": NO_LINK}


def test_the_last_call_counts_whichever_stop_it_is_for(bench: Bench) -> None:
    """A stop is interrupted before it calls a function; another one comes and is safe; then the first goes on and fails."""
    bench.silence("a", "b")
    first, second = bench.decisions.begin(disarm()), bench.decisions.begin(disarm())
    assert first.number < second.number
    bench.answer(second, "a")
    bench.answer(first, "a", NO_LINK)
    assert bench.decisions.unsafe == {"a": NO_LINK}
    bench.decisions._on_answers(second)  # counted once more, it is as old as it was
    assert bench.decisions.unsafe == {"a": NO_LINK}


def test_a_failure_that_comes_late_does_not_undo_a_later_success(bench: Bench) -> None:
    bench.silence("a", "b")
    first, second = bench.decisions.begin(disarm()), bench.decisions.begin(disarm())
    bench.answer(first, "a")
    number = bench.disarmers["a"].number
    bench.answer(second, "a")
    bench.answer(second, "b")
    bench.disarmers["a"].number = number
    bench.decisions._answered(first, "a", NO_LINK)
    assert bench.decisions.unsafe == {}


def test_a_stop_that_is_given_up_says_nothing_of_a_later_call(bench: Bench, clock: Clock) -> None:
    bench.silence("a", "b")
    older = bench.decisions.begin(disarm(limit=0.2))
    newer = bench.decisions.begin(disarm())
    bench.answer(newer, "a")
    bench.answer(newer, "b")
    clock.now += 0.3
    bench.decisions._expire()
    assert (older.failures, bench.decisions.unsafe) == ({"a": LATE, "b": LATE}, {})


def test_an_answer_that_comes_before_its_stop_is_seen_counts(bench: Bench) -> None:
    bench.silence("a", "b")
    stop = disarm()
    stop.number = next(bench.decisions._numbers)
    stop.begun = True
    bench.decisions.unsafe["a"] = NO_LINK
    bench.answer(stop, "a")
    bench.answer(stop, "b", NO_LINK)
    assert bench.decisions.unsafe == {"b": NO_LINK}
    bench.decisions._on_stop(stop)
    assert stop.done.is_set


def test_without_time_every_function_is_called(bench: Bench, clock: Clock) -> None:
    woken: list[str] = []
    for name, disarmer in bench.disarmers.items():
        disarmer.serve_at_once = lambda stop: None  # type: ignore[method-assign]
        disarmer.go = lambda stop, name=name: woken.append(name)  # type: ignore[method-assign]
    bench.decisions.safety.running = True
    stop = bench.decisions.begin(disarm(limit=0.0))
    bench.decisions._expire()
    assert (woken, stop.failures.keys()) == (["a", "b"], {"a", "b"})


def test_the_guard_learns_of_the_end_of_a_disarm_whose_last_part_was_a_crash(bench: Bench) -> None:
    bench.arming.arm()
    bench.silence("a")
    whole = bench.decisions.begin(disarm())
    crash = bench.decisions.begin(Stop(None, "a failed", ("a",)))
    bench.answer(whole, "a")
    assert bench.levels[-1] == STOPPING
    bench.answer(crash, "a")
    assert (bench.arming.state, bench.levels[-1]) == (DISARMED, SAFE)


def test_every_function_has_been_called_when_all_have_answered_or_wait_for_their_driver(bench: Bench) -> None:
    bench.silence("a", "b")
    stop = disarm()
    stop.begun = True
    bench.decisions._awaiting(stop, "a")
    bench.decisions._answered(stop, "b", None)
    assert not stop.called.is_set  # the state has not changed
    bench.decisions._on_stop(stop)
    assert stop.called.is_set
    assert not stop.done.is_set
    bench.decisions._answered(stop, "a", None)
    assert stop.done.is_set


@pytest.mark.parametrize("last", ["answer", "wait"])
def test_the_last_call_of_a_disarm_function_counts(bench: Bench, last: str) -> None:
    bench.silence("a", "b")
    stop = bench.decisions.begin(disarm())
    first, second = (
        (bench.decisions._awaiting, bench.decisions._answered) if last == "answer" else (bench.decisions._answered, bench.decisions._awaiting)
    )
    first(stop, "a", *[None] * (last == "wait"))  # type: ignore[call-arg]
    assert not stop.called.is_set
    second(stop, "b", *[None] * (last == "answer"))  # type: ignore[call-arg]
    assert stop.called.is_set


def test_drivers_are_notified_whenever_gates_have_opened_or_closed(bench: Bench) -> None:
    seen: list[list[int]] = []
    bench.decisions._switched = lambda: seen.append(bench.epochs)
    bench.arming.arm()
    assert seen[-1] == [1, 1]
    bench.arming.make_one_safe("a")
    assert seen[-1] == [0, 1]
    bench.arming.arm()
    assert seen[-1] == [2, 1]
    bench.arming.disarm()
    assert seen[-1] == [0, 0]
    assert len(seen) == 6  # one for each change of the state, too


def test_a_call_on_the_safety_thread_follows_what_was_asked_before(bench: Bench) -> None:
    order: list[str] = []
    notices: list[str] = []

    def call() -> None:
        order.append("call")
        bench.decisions._notices.append(lambda: notices.append("notice"))

    bench.decisions.decide(call)
    assert (order, notices) == (["call"], ["notice"])


def test_a_disarm_can_begin_without_a_wait(bench: Bench) -> None:
    bench.arming.arm()
    wait = bench.arming.begin_disarm("the interpreter ends")
    assert (bench.epochs, bench.calls) == ([0, 0], ["a", "b"])
    assert wait() == Disarmed(True, DISARMED, {}, "the interpreter ends")


def test_a_caller_that_is_interrupted_after_its_stop_was_posted_stops_the_robot_once(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.arming.arm()
    begin = bench.decisions.begin

    def interrupted(stop: Stop, reason: Any = None) -> Stop:
        begin(stop, reason)
        raise KeyboardInterrupt

    monkeypatch.setattr(bench.decisions, "begin", interrupted)
    with pytest.raises(KeyboardInterrupt):
        bench.arming.disarm()
    assert (bench.calls, bench.decisions.stops) == (["a", "b"], 1)


def test_a_stop_that_finds_no_memory_once_it_has_begun_is_left_to_the_decisions(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.arming.arm()
    ended: list[bool] = []

    def begin(stop: Stop, reason: Any = None) -> Stop:
        raise MemoryError

    monkeypatch.setattr(bench.decisions, "begin", begin)
    monkeypatch.setattr(bench.decisions, "end_without_memory", lambda: ended.append(True))
    with pytest.raises(MemoryError):
        bench.arming.disarm()
    assert ended == []  # `begin` has done that itself
    assert bench.epochs == [0, 0]


def test_the_state_allows_arming_only_when_the_stop_is_over(bench: Bench) -> None:
    bench.arming.arm()
    seen: list[tuple[State, bool]] = []
    bench.decisions._switched = lambda: seen.append((bench.arming.state, bench.decisions.is_stopping()))
    bench.arming.disarm()
    assert seen == [(DISARMING, True), (DISARMED, False)]


def test_the_earliest_time_limit_counts(bench: Bench, clock: Clock) -> None:
    bench.silence("a", "b")
    bench.decisions.begin(disarm(limit=4.0))
    bench.decisions.begin(disarm(limit=2.0))
    assert bench.decisions._expire() == 2.0
    clock.now += 3.0
    assert bench.decisions._expire() == 1.0
    assert len(bench.decisions.open_stops) == 1


def test_a_clock_beyond_the_limit_is_looked_at_again_at_once(bench: Bench, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.silence("a")
    stop = bench.decisions.begin(disarm())
    monkeypatch.setattr(bench.decisions, "_give_up", lambda stop, name: None)
    stop.ends = 99.0
    assert bench.decisions._expire() == 0.0


def test_threads_of_actuators_are_woken_after_a_head_start(bench: Bench, clock: Clock) -> None:
    bench.silence("a", "b")
    stop = bench.decisions.begin(disarm())
    woken: list[str] = []
    for name, disarmer in bench.disarmers.items():
        disarmer.go = lambda stop, name=name: woken.append(name)  # type: ignore[method-assign]
    stop.woken = False
    stop.served.add("a")
    assert bench.decisions._expire() == pytest.approx(3e-4)
    assert (woken, stop.woken) == ([], False)
    clock.now = stop.ends - stop.limit + 3e-4
    assert bench.decisions._expire() == pytest.approx(5.0 - 3e-4)
    assert (woken, stop.woken) == (["b"], True)
    bench.decisions._expire()
    assert woken == ["b"]


def test_actuators_whose_function_runs_are_unfinished(bench: Bench, clock: Clock) -> None:
    limits: list[float] = []

    def is_free(timeout: float, answer: bool) -> bool:
        limits.append(timeout)
        clock.now += 0.75
        return answer

    bench.disarmers["a"].is_free = partial(is_free, answer=False)  # type: ignore[method-assign]
    bench.disarmers["b"].is_free = partial(is_free, answer=True)  # type: ignore[method-assign]
    assert bench.decisions.unfinished(("a", "b", "b"), 1.0) == ["a"]
    assert limits == [1.0, 0.25, 0.0]


def test_waits_are_limited(bench: Bench, waits: list[float]) -> None:
    bench.arming.disarm()
    assert RecordedLatch.in_vain == []
    assert waits == [5.5, 0.05]  # the time limit and the grace of the safety thread; the reports
    bench.arming.disarm(limit=2)
    bench.arming.fault("x", 3)
    bench.arming.estop("x", 4)
    assert waits[2::2] == [2.5, 3.5, 4.5]
    waits.clear()
    bench.fail("a")
    bench.arming.estop("x")
    waits.clear()
    bench.arming.reset(limit=1)
    assert waits == [1.5, 0.05, 5.0, 0.05]
    assert RecordedLatch.in_vain == []
    bench.disarm.clear()
    bench.arming.reset()
    bench.arming.fault("x")
    waits.clear()
    bench.arming.force_disarm(limit=2)
    assert waits == [2.5, 0.05, 5.0, 0.05]
    bench.silence("a")
    bench.arming.begin_fault("x")
    waits.clear()
    bench.decisions.open_stops[0].done.set()
    bench.decisions.settled()
    assert waits == [5.5]


def test_a_disarm_function_that_stops_the_robot_does_not_wait_for_itself(bench: Bench) -> None:
    bench.arming.arm()
    answers: list[Disarmed] = []
    bench.disarm = {"a": once(lambda: answers.append(bench.arming.disarm("again"))), "b": broken}
    assert bench.arming.disarm("button").failures == {"b": NO_LINK}
    assert answers == [Disarmed(False, DISARMING, dict.fromkeys("ab", "still being made safe"), "again")]
    assert bench.calls == ["a", "b"]
    assert (bench.arming.state, bench.decisions.is_stopping()) == (ERROR, False)


# without a guard, without memory


def test_an_unguarded_robot_says_so_when_armed(caplog: pytest.LogCaptureFixture) -> None:
    bench = Bench(unguarded="without a guard")
    with caplog.at_level(logging.WARNING):
        assert bench.arming.arm() == Armed(True, State.ARMED, note="without a guard")
    assert bench.arming.why == "armed, without a guard"
    assert [(record.name, record.getMessage()) for record in caplog.records] == [("pushrod.runtime", "armed, without a guard")]


def test_a_guarded_robot_logs_nothing_when_armed(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    bench.arming.arm()
    assert caplog.records == []


def pretend(worker: Worker, running: bool) -> None:
    """Let a worker look as if its thread ran, or did not."""
    worker.running, worker.put = running, worker._calls.put if running else worker._do


@pytest.fixture
def exits(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The exit codes with which the process would have ended."""
    codes: list[int] = []
    monkeypatch.setattr(os, "_exit", codes.append)
    return codes


WITHOUT_MEMORY = [("", True, [70]), ("", False, []), ("no guard", True, []), ("no guard", False, [])]


@pytest.mark.parametrize(("unguarded", "running", "code"), WITHOUT_MEMORY)
def test_a_stop_whose_record_finds_no_memory_closes_the_gates_and_ends_the_process(
    unguarded: str, running: bool, code: list[int], exits: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(unguarded=unguarded)
    bench.arming.arm()
    pretend(bench.decisions.safety, running)
    epochs: list[list[int]] = []

    def without_memory(*_: Any) -> None:
        epochs.append(bench.epochs)
        raise MemoryError

    monkeypatch.setattr(arming, "Stop", without_memory)
    with pytest.raises(MemoryError):
        bench.arming.estop()
    assert exits == code
    assert epochs == [[0, 0]], "gates are closed before anything is allocated"


@pytest.mark.parametrize(("unguarded", "running", "code"), WITHOUT_MEMORY)
def test_a_stop_without_memory_ends_the_process_where_a_guard_disarms(unguarded: str, running: bool, code: list[int], exits: list[int]) -> None:
    bench = Bench(unguarded=unguarded)
    bench.arming.arm()
    failures = [MemoryError()]
    put = bench.decisions._disarming.put

    def without_memory(call: Any) -> None:
        if failures:
            bench.gates[1].open(9, bench.gates[1].closed_by)
            pretend(bench.decisions.safety, running)
            raise failures.pop()
        put(call)

    bench.decisions._disarming.put = without_memory  # type: ignore[method-assign]
    with pytest.raises(MemoryError):
        bench.decisions.begin(disarm())
    assert exits == code
    assert bench.epochs == [0, 0]
    assert bench.decisions.safety.waiting == running


@pytest.mark.parametrize("error", [MemoryError(), ZeroDivisionError()])
def test_a_decision_that_fails_closes_all_gates(bench: Bench, error: BaseException, exits: list[int]) -> None:
    bench.arming.arm()

    def decision() -> None:
        raise error

    with pytest.raises(PushrodError) as raised:
        bench.decisions.ask(decision)
    assert str(raised.value) == "the safety thread gave no answer: leave this runtime and start it again"
    assert bench.epochs == [0, 0]
    assert bench.gates[0].closed_by is (None if isinstance(error, MemoryError) else error)
    assert bench.errors == [error]
    assert exits == []  # without a thread there is no guard that would disarm
    assert not bench.gates[0](position()).ok


# bounds, threads, forks


@pytest.mark.parametrize(("waiting", "kept"), [(9_999, 1), (10_000, 0)])
def test_reports_that_wait_for_an_observer_are_bounded(bench: Bench, waiting: int, kept: int) -> None:
    taken: list[Any] = []
    bench.decisions.reports = type("Reports", (), {"waiting": waiting, "put": taken.append})  # type: ignore[assignment]
    bench.decisions.notify(list)
    assert taken == [list] * kept


def test_close_gives_all_threads_one_second_together(bench: Bench, monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    limits: list[float] = []

    def join(worker: Worker, timeout: float) -> None:
        limits.append(timeout)
        clock.now += 0.25

    monkeypatch.setattr(Worker, "join", join)
    bench.decisions.close()
    assert limits == [1.0, 0.75, 0.5, 0.25, 0.0]


def test_a_forked_process_can_neither_move_nor_stop_the_robot(bench: Bench) -> None:
    bench.arming.arm()
    bench.clear()
    bench.decisions.fork()
    refused = Armed(False, State.DISARMED, "forked", (FORKED,))
    stopped = Disarmed(False, State.DISARMED, {"a": FORKED, "b": FORKED}, FORKED)
    assert FORKED == "this process is a fork of the one that drives the robot: disarm it there"
    assert bench.epochs == [0, 0]
    assert [(gate.out, gate.closed_by) for gate in bench.gates] == [(FORKED, FORKED)] * 2
    assert [bench.arming.arm(), bench.arming.reset(), bench.arming.force_disarm()] == [refused] * 3
    assert [bench.arming.disarm(), bench.arming.fault("x"), bench.arming.estop("x")] == [stopped] * 3
    assert (bench.calls, bench.transitions, bench.levels) == ([], [], [])


def test_usual_options_of_decisions(bench: Bench) -> None:
    decisions = Decisions(bench.disarmers, lambda old, new, why: None)
    decisions._report("a", "x")
    decisions._failed(OSError("x"))
    decisions._guarded(SAFE)
    assert decisions._unguarded == ""
    assert [worker._pause for worker in decisions._workers()] == [0.0, 0.0, 0.0, 0.0, 1e-3]  # reports stay behind decisions
    assert [worker._threaded for worker in decisions._workers()] == [True, False, False, True, True]
    names = ["pushrod disarm", "pushrod disarm a", "pushrod disarm b", "pushrod safety", "pushrod reports"]
    assert [worker._thread.name for worker in decisions._workers()] == names


# a caller that cannot begin


@pytest.mark.parametrize(("stop", "state"), [("disarm", DISARMED), ("fault", ERROR), ("estop", ESTOPPED)])
def test_near_the_recursion_limit_a_stop_is_whole_or_not_begun(stop: str, state: State) -> None:
    whole = {"raised": 0, "returned": 0}
    bench = Bench(threaded=True)
    call = getattr(bench.arming, stop)

    def deep(frames: int) -> None:
        if frames:
            deep(frames - 1)
        else:
            call("x")

    depth = sum(1 for _ in traceback.walk_stack(sys._getframe()))  # of this test, which the way it is run adds to
    left = sys.getrecursionlimit() - depth
    try:
        for frames in range(left - 60, left):
            bench.arming.reset()
            bench.arming.force_disarm()
            assert bench.arming.arm().ok
            bench.clear()
            try:
                deep(frames)
                whole["returned"] += 1
            except RecursionError:
                whole["raised"] += 1
            if bench.epochs == [0, 0]:
                bench.decisions.ask(lambda: None)
                bench.decisions.settled()
                assert (bench.arming.state, set(bench.calls)) == (state, {"a", "b"}), frames
            else:
                assert (bench.arming.state, bench.calls) == (State.ARMED, []), frames
                assert bench.arming.disarm().ok
    finally:
        bench.decisions.close()
    assert whole["raised"] > 5
    assert whole["returned"] > 5


@pytest.mark.parametrize(("stop", "state"), [("disarm", DISARMED), ("fault", ERROR), ("estop", ESTOPPED)])
def test_a_caller_that_is_interrupted_before_its_stop_has_begun_stops_the_robot(bench: Bench, stop: str, state: State, monkeypatch: Any) -> None:
    bench.arming.arm()
    monkeypatch.setattr(arming, "time_limit_of", lambda limit: _raise(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        getattr(bench.arming, stop)("x")
    assert (bench.arming.state, bench.calls, bench.epochs) == (state, ["a", "b"], [0, 0])
    assert bench.arming.why == "requested by a caller that was interrupted"
    assert bench.decisions.stops == 1


def _raise(error: type[BaseException]) -> float:
    raise error


def test_the_same_failure_is_reported_once_a_second(clock: Clock) -> None:
    """An observer may stop the robot for each report."""
    bench = Bench(threaded=False)
    bench.decisions.safety.running = True  # as with threads; calls stay inline
    bench.fail("a")
    for now, failure in ((100.0, "no link"), (100.9, "no link"), (100.95, "other"), (101.0, "other"), (101.95, "other")):
        clock.now = now
        bench.decisions._report_failure("a", failure)
    bench.decisions._hand_over()
    assert [text for _, text in bench.reports] == [f"could not be made safe: {one}" for one in ("no link", "other", "other")]


def test_without_threads_every_failure_is_reported(bench: Bench) -> None:
    bench.fail("a")
    bench.arming.estop("one")
    bench.arming.estop("two")
    assert [name for name, _ in bench.reports] == ["a", "a"]
