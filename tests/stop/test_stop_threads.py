"""Stops with threads, as on the wall clock: nothing that hangs keeps a stop from acting, and callers wait no longer than agreed."""

import threading
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from stop_bench import WAIT, Bench, RecordedLatch, once, position

from pushrod.core.errors import PushrodError
from pushrod.runtime import arming, deciding, making_safe
from pushrod.runtime.deciding import Armed, Disarmed
from pushrod.safety.state import State

NAMES = ["pushrod disarm", "pushrod disarm a", "pushrod disarm b", "pushrod safety", "pushrod reports"]
DISARMED, DISARMING, ERROR, ESTOPPED = State.DISARMED, State.DISARMING, State.ERROR, State.ESTOPPED


class Hold:
    """Foreign code that hangs until it is released."""

    def __init__(self) -> None:
        self.begun, self.released = threading.Event(), threading.Event()

    def __call__(self, *given: Any) -> None:
        self.begun.set()
        self.released.wait(WAIT)


@pytest.fixture
def hold() -> Iterator[Hold]:
    made = Hold()
    yield made
    made.released.set()


def settle(bench: Bench) -> None:
    """Wait until the safety thread and the report thread have done everything that was put before."""
    bench.decisions.ask(lambda: None)
    done = threading.Event()
    bench.decisions.reports.put(done.set)
    assert done.wait(WAIT)


def start(call: Any) -> threading.Thread:
    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    return thread


def test_callers_see_their_own_reports(threads: Bench) -> None:
    assert threads.arming.arm() == Armed(True, State.ARMED)
    assert [new for _, new, _ in threads.transitions] == [State.ARMED]
    assert threads.arming.disarm("button") == Disarmed(True, DISARMED, {}, "button")
    assert [new for _, new, _ in threads.transitions] == [State.ARMED, DISARMING, DISARMED]
    assert threads.arming.estop("button").state is ESTOPPED
    assert threads.arming.reset().ok
    assert threads.transitions[-1][1] is DISARMED
    assert threads.errors == []


def test_all_threads_exist_before_they_are_needed_and_end(threads: Bench) -> None:
    workers = threads.decisions._workers()
    assert [worker._thread.name for worker in workers] == NAMES
    assert all(worker.running and worker._thread.is_alive() for worker in workers)
    threads.decisions.close()
    assert not any(worker.running or worker._thread.is_alive() for worker in workers)
    assert threads.arming.disarm().ok  # without threads, on the caller's
    assert threads.calls == ["a", "b"]


def test_one_thread_enters_all_disarm_functions(threads: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deciding, "HEAD_START", WAIT)
    names: list[str] = []
    threads.disarm = dict.fromkeys("ab", lambda options: names.append(threading.current_thread().name))
    assert threads.arming.disarm().ok
    assert names == ["pushrod disarm"] * 2


def test_an_actuator_in_a_call_is_served_by_its_own_thread(threads: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deciding, "HEAD_START", 0.1)  # so that the common thread is first on a busy computer, too
    names: list[tuple[str, str]] = []
    threads.gates[0].lock = threading.Lock()  # type: ignore[assignment]  # which any thread may release
    release = once(threads.gates[0].lock.release)  # the call returns while its disarm function runs

    def disarm(name: str, options: dict[str, Any]) -> None:
        names.append((name, threading.current_thread().name))
        if name == "a":
            release(options)

    threads.disarm = {name: partial(disarm, name) for name in "ab"}
    assert threads.gates[0].lock.acquire()
    assert threads.arming.disarm().ok
    assert [thread for name, thread in names if name == "a"] == ["pushrod disarm a"] * 2  # and once more after the call
    assert ("b", "pushrod disarm") in names


def test_a_disarm_function_that_hangs_keeps_only_its_own_actuator(threads: Bench, hold: Hold) -> None:
    served = threading.Event()
    names: list[str] = []
    threads.disarm = {"a": hold, "b": lambda options: (names.append(threading.current_thread().name), served.set())}  # type: ignore[dict-item]
    answers: list[Disarmed] = []
    caller = start(lambda: answers.append(threads.arming.disarm()))
    assert hold.begun.wait(WAIT)
    assert served.wait(WAIT)
    assert names == ["pushrod disarm b"]
    while threads.decisions.unfinished("b", WAIT):
        pass
    assert threads.decisions.unfinished("ab", 0.0) == ["a"]
    assert answers == []
    hold.released.set()
    caller.join(WAIT)
    assert answers == [Disarmed(True, DISARMED, {}, "")]
    assert threads.decisions.unfinished("ab", WAIT) == []


def test_a_disarm_function_that_stops_the_robot_is_not_called_again(threads: Bench) -> None:
    answers: list[Disarmed] = []
    threads.arming.arm()
    threads.disarm["a"] = once(lambda: answers.append(threads.arming.estop("again")))
    threads.arming.disarm()
    assert not answers[0].ok
    while threads.decisions.is_stopping():
        threads.decisions.ask(lambda: None)
    assert threads.arming.state is ESTOPPED
    assert threads.calls.count("a") == 1


def test_a_disarm_function_of_one_actuator_that_stops_the_robot_stops_all(threads: Bench) -> None:
    threads.arming.arm()
    threads.disarm["a"] = once(lambda: threads.arming.estop("again"))
    threads.arming.make_one_safe("a")
    while threads.decisions.is_stopping() or threads.arming.state is not ESTOPPED:
        threads.decisions.ask(lambda: None)
    assert sorted(threads.calls) == ["a", "a", "b"]


def test_a_robot_whose_disarm_function_still_runs_is_not_armed(threads: Bench, hold: Hold, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arming, "BUSY", 0.01)
    threads.disarm["a"] = hold
    assert threads.arming.disarm(limit=0.01).state is ERROR
    assert threads.arming.force_disarm(limit=0.01).state is DISARMED
    late = "a: its driver has not returned from a call. Wait, or restart this program"
    assert threads.arming.arm() == Armed(False, DISARMED, "checks", (late,))
    hold.released.set()
    assert threads.decisions.unfinished("ab", WAIT) == []
    assert threads.arming.arm().ok


def test_a_disarm_function_that_hangs_is_given_up_in_time_and_counted_late(threads: Bench, hold: Hold) -> None:
    threads.arming.arm()
    threads.disarm["a"] = hold
    failure = "no answer within 0.02 s: not proven safe"
    assert threads.arming.disarm("button", 0.02) == Disarmed(False, ERROR, {"a": failure}, f"a: {failure}")
    assert threads.decisions.settled() == {"a": failure}
    hold.released.set()
    assert threads.arming.disarm().state is ERROR
    assert threads.decisions.settled() == {}


def test_a_slow_disarm_function_is_waited_for(threads: Bench, hold: Hold) -> None:
    threads.arming.arm()
    threads.disarm["a"] = hold
    answers: list[Disarmed] = []
    caller = start(lambda: answers.append(threads.arming.disarm()))
    assert hold.begun.wait(WAIT)
    threads.decisions.ask(lambda: None)
    assert (threads.arming.state, answers) == (DISARMING, [])
    assert threads.arming.arm().refusal == "disarming"
    settled: list[dict[str, str]] = []
    waiter = start(lambda: settled.append(threads.decisions.settled()))
    waiter.join(0.01)
    assert settled == []
    hold.released.set()
    caller.join(WAIT)
    waiter.join(WAIT)
    assert answers == [Disarmed(True, DISARMED, {}, "requested")]
    assert settled == [{}]


def test_stops_that_come_together_are_all_served(threads: Bench, hold: Hold) -> None:
    threads.arming.arm()
    threads.disarm["a"] = hold
    answers: list[Disarmed] = []
    first = start(lambda: answers.append(threads.arming.disarm()))
    assert hold.begun.wait(WAIT)
    others = [start(lambda: answers.append(threads.arming.estop("x"))) for _ in range(5)]
    while threads.decisions.stops < 6:
        threads.decisions.ask(lambda: None)
    hold.released.set()
    for thread in (first, *others):
        thread.join(WAIT)
    assert [answer.ok for answer in answers] == [True] * 6
    assert threads.arming.state is ESTOPPED
    assert 2 <= threads.calls.count("a") <= 6  # one call may serve several


def test_a_safety_thread_that_hangs_is_reported_and_the_stop_acts(threads: Bench, hold: Hold, monkeypatch: pytest.MonkeyPatch) -> None:
    threads.arming.arm()
    monkeypatch.setattr(arming, "GRACE", 0.0)
    monkeypatch.setattr(deciding, "LIMIT", 0.01)
    threads.guarded = hold
    late = "no answer within 0.01 s: not proven safe"
    answer = threads.arming.disarm(limit=0.01)
    assert answer == Disarmed(False, DISARMING, {"a": late, "b": late}, "requested")
    assert threads.epochs == [0, 0]
    with pytest.raises(PushrodError, match="^the safety thread gave no answer: leave this runtime and start it again$"):
        threads.decisions.ask(lambda: None)


def test_an_observer_that_hangs_delays_a_stop_by_no_more_than_agreed(threads: Bench, hold: Hold, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arming, "REPORTED", 0.001)
    monkeypatch.setattr(deciding, "REPORTED", 0.001)
    threads.observe = hold
    assert threads.arming.arm().ok
    assert hold.begun.wait(WAIT)
    assert threads.arming.disarm() == Disarmed(True, DISARMED, {}, "requested")
    assert len(threads.transitions) == 1


def test_an_observer_may_stop_and_arm_and_does_not_wait_for_its_own_reports(waits: list[float]) -> None:
    threads = Bench(threaded=True)
    answers: list[Any] = []
    done = threading.Event()
    threads.decisions.notify(lambda: answers.append(threads.arming.disarm("observer")))
    threads.decisions.notify(lambda: answers.append(threads.arming.arm()))
    threads.decisions.notify(done.set)
    assert done.wait(WAIT)
    assert waits == [5.5, 5.0]
    assert answers == [Disarmed(True, DISARMED, {}, ""), Armed(True, State.ARMED)]
    threads.decisions.close()


def test_an_observer_that_raises_is_reported(threads: Bench) -> None:
    error = OSError("observer")

    def observe(state: State) -> None:
        raise error

    threads.observe = observe
    assert threads.arming.arm().ok
    settle(threads)
    assert threads.errors == [error]
    assert threads.arming.state is State.ARMED


def test_a_call_in_flight_is_reported_and_made_safe_when_it_returns(threads: Bench, hold: Hold, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(making_safe, "HOME", 0.001)
    monkeypatch.setattr(arming, "BUSY", 0.0)
    threads.gates[0].handle = hold
    threads.arming.arm()
    driver = start(lambda: threads.gates[0](position()))
    assert hold.begun.wait(WAIT)
    assert threads.arming.disarm().failures == {"a": "a call is still in flight: not proven safe"}
    assert threads.calls.count("a") == 1
    assert threads.arming.force_disarm().state is DISARMED
    assert threads.arming.arm().missing == ("a: its driver has not returned from a call. Wait, or restart this program",)
    hold.released.set()
    driver.join(WAIT)
    while threads.decisions.unsafe:
        threads.decisions.ask(lambda: None)
    assert threads.calls.count("a") == 3
    assert threads.arming.arm().ok


def test_a_forked_process_has_no_threads(threads: Bench) -> None:
    workers = threads.decisions._workers()
    threads.decisions.fork()
    assert not any(worker.running for worker in workers)
    for worker in workers:
        worker.running = True  # this process still has them, and the fixture ends them


class Finalised:
    """An object whose finaliser runs wherever its last reference goes."""

    def __init__(self, call: Any) -> None:
        self.call = call

    def __del__(self) -> None:
        self.call()


def test_a_finaliser_on_the_safety_thread_can_stop_the_robot(threads: Bench, waits: list[float]) -> None:
    assert threads.arming.arm().ok
    answers: list[Disarmed] = []
    left = [Finalised(lambda: answers.append(threads.arming.estop("finaliser")))]
    waits.clear()
    threads.decisions.ask(left.clear)
    assert threads.epochs == [0, 0]
    assert answers[0].ok is False
    assert set(answers[0].failures.values()) <= {"still being made safe"}
    assert RecordedLatch.in_vain == [], "the safety thread has waited for itself"
    settle(threads)
    assert threads.decisions.settled() == {}
    assert (threads.arming.state, threads.arming.causes, sorted(threads.calls)) == (ESTOPPED, ("finaliser",), ["a", "b"])


def test_a_finaliser_on_the_safety_thread_cannot_arm_or_reset(threads: Bench) -> None:
    answers: list[Any] = []
    left = [Finalised(lambda: answers.extend((threads.arming.arm(), threads.arming.reset(), threads.arming.force_disarm())))]
    threads.decisions.ask(left.clear)
    assert [answer.refusal for answer in answers] == ["busy"] * 3
    assert threads.arming.arm().ok


@pytest.mark.parametrize("overtaken", [False, True])
def test_a_stop_from_inside_a_call_is_made_safe_again_after_it(
    threads: Bench, overtaken: bool, monkeypatch: pytest.MonkeyPatch, waits: list[float]
) -> None:
    monkeypatch.setattr(making_safe, "HOME", 0.005)
    waits.clear()
    threads.arming.arm()
    answers: list[Any] = []
    calls: list[int] = []

    def handle(payload: Any, command: Any) -> None:
        answers.append(threads.arming.disarm())
        calls.append(threads.calls.count("a"))
        if overtaken:
            threads.arming.begin_fault("meanwhile")
        time.sleep(0.03)

    threads.gates[0].handle = handle
    threads.gates[0](position())
    assert (answers[0].ok, answers[0].failures["a"]) == (False, "still being made safe")
    assert calls == [1]  # when the stop returned
    assert 0.5 in RecordedLatch.waits
    assert RecordedLatch.in_vain == []
    assert threads.decisions.settled() == {}
    ends = time.monotonic() + WAIT
    while threads.decisions.is_stopping() and time.monotonic() < ends:
        time.sleep(0.001)
    assert threads.arming.state is (State.ERROR if overtaken else State.DISARMED)
    assert threads.calls.count("a") >= 2
