"""Disarm functions are called for every stop, whatever the driver is doing, and again after a call that was in flight."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from stop_bench import WAIT, ScriptedLock, broken, gate_named, is_held, position

from pushrod.core.errors import InputError
from pushrod.runtime.door import enter, leave
from pushrod.runtime.gate import Gate
from pushrod.runtime.making_safe import IN_FLIGHT, Disarmer, find_disarm, make_safe
from pushrod.runtime.stop import Stop

NOT_A_FUNCTION = "plain data"


def safe(options: dict[str, Any]) -> None:
    """A disarm function for `find_disarm`."""


def test_an_import_path_names_a_disarm_function() -> None:
    assert find_disarm(f"{__name__}:safe") is safe


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("os.getcwd", "disarm = 'os.getcwd': write the import path of a plain function, 'package.module:function'"),
        ("no_such_module:f", "disarm = 'no_such_module:f' cannot be imported: No module named 'no_such_module'"),
        ("os:no_such_function", "disarm = 'os:no_such_function' cannot be imported: module 'os' has no attribute 'no_such_function'"),
        (f"{__name__}:NOT_A_FUNCTION", f"disarm = '{__name__}:NOT_A_FUNCTION' is not a function but 'plain data'"),
    ],
)
def test_a_path_that_names_no_function_is_an_error(path: str, problem: str) -> None:
    with pytest.raises(InputError) as error:
        find_disarm(path)
    assert str(error.value) == problem


def scripted(*answers: bool) -> tuple[Gate, ScriptedLock]:
    gate, lock = gate_named("a"), ScriptedLock(*answers)
    gate.lock = lock  # type: ignore[assignment]
    return gate, lock


class Calls(list[dict[str, Any]]):
    """A disarm function that records its options and spoils its copy of them."""

    def __call__(self, options: dict[str, Any]) -> None:
        self.append(dict(options))
        options.clear()


OPTIONS = {"port": 3}


def test_an_idle_driver_is_made_safe_by_one_call_behind_the_fence() -> None:
    gate, lock = scripted(True)
    held: list[int] = []
    assert make_safe(gate, lambda: held.append(lock.held)) is None
    assert held == [1]
    assert lock.held == 0
    assert lock.limits == [0.0005]


class Answering(list[str | None]):
    """A call that returns what is listed, then None, and counts."""

    calls = 0

    def __call__(self) -> str | None:
        self.calls += 1
        return self.pop(0) if self else None


def test_a_call_in_flight_that_returns_leads_to_a_second_call() -> None:
    gate, lock = scripted(False, True)
    call = Answering()
    assert make_safe(gate, call) is None
    assert call.calls == 2
    assert lock.limits == [0.0005, 0.1]
    assert lock.held == 0


def test_a_call_in_flight_that_does_not_return_is_reported() -> None:
    gate, lock = scripted(False, False)
    call = Answering()
    assert make_safe(gate, call) == "a call is still in flight: not proven safe"
    assert call.calls == 1
    assert lock.held == 0


class Stopping:
    """An actuator whose driver, or a signal handler during its call, stops the robot; without threads."""

    def __init__(self, leave_by: str) -> None:
        self.calls = Calls()
        self.answers: list[tuple[str, str | None]] = []
        self.awaiting: list[str] = []
        self.stops: list[Stop] = []
        self.during: list[int] = []  # calls of the disarm function before the driver returned
        self.gate = gate_named("a", self._handle)
        self.current: list[bool] = []  # whether the function was known to run, for each call
        self.disarmer = Disarmer(self.gate, self._disarm, OPTIONS, False)
        self.disarmer.answered = lambda stop, name, failure: self.answers.append((name, failure))
        self.disarmer.awaiting = lambda stop, name: self.awaiting.append(name)
        self.gate.open(1, self.gate.closed_by)
        if leave_by == "command":
            self.gate(position())
        else:
            try:
                enter(self.gate, 0.0)
                self._handle(None, None)
            finally:
                leave(self.gate)

    def _disarm(self, options: dict[str, Any]) -> None:
        self.current.append(self.disarmer.is_current)
        self.calls(options)

    def _handle(self, payload: Any, command: Any) -> None:
        stop = stop_of()
        self.disarmer.serve_at_once(stop)
        assert not self.calls
        self.disarmer.go(stop)
        self.during.append(len(self.calls))
        assert not self.answers


@pytest.mark.parametrize("leave_by", ["command", "door"])
def test_a_stop_from_inside_a_call_is_served_then_and_again_when_the_call_has_returned(leave_by: str) -> None:
    case = Stopping(leave_by)
    assert case.during == [1]
    assert case.awaiting == ["a"]
    assert len(case.calls) == 2
    assert case.current == [True, True]
    assert case.answers == [("a", None)]
    assert case.gate.left is None
    assert case.disarmer.is_free(0.0)


def test_a_stop_after_a_driver_has_failed_calls_the_function_once() -> None:
    disarmer = Disarmer(gate_named("a"), calls := Calls(), OPTIONS, False)
    answers: list[str | None] = []
    disarmer.answered = lambda stop, name, failure: answers.append(failure)
    try:
        enter(disarmer.gate, 0.0)
        disarmer.serve_at_once(Stop(None, "a failed", ("a",), fault=True))
    finally:
        leave(disarmer.gate)
    assert (len(calls), answers) == (1, [None])


def test_a_disarm_function_that_asks_whether_it_has_returned_waits_for_nothing() -> None:
    disarmer = Disarmer(gate_named("a"), Calls(), OPTIONS, False)
    waits: list[Any] = []
    disarmer.worker.put = waits.append
    try:
        enter(disarmer.door, 0.0)
        assert not disarmer.is_free(0.0)
    finally:
        leave(disarmer.door)
    assert not waits


def test_a_disarm_function_that_leaves_the_gate_of_its_own_stop_is_not_called_from_inside_itself() -> None:
    disarmer = Disarmer(gate_named("a"), calls := Calls(), OPTIONS, False)
    disarmer.gate.left = disarmer._serve_after
    try:
        enter(disarmer.door, 0.0)
        disarmer._serve_after()
    finally:
        leave(disarmer.door)
    assert not calls


class Pending:
    def __await__(self) -> Any:
        yield


def nothing_runs(kind: str) -> Any:
    async def coroutine() -> None: ...

    async def stream() -> Any:
        yield

    def steps() -> Any:
        yield

    return {"a coroutine": coroutine, "an async generator": stream, "a generator": steps, "an awaitable": Pending}[kind]()


@pytest.mark.parametrize("kind", ["a coroutine", "an async generator", "a generator", "an awaitable"])
def test_a_disarm_function_that_returns_without_having_run_has_failed(kind: str) -> None:
    disarmer = Disarmer(gate_named("a"), lambda options: nothing_runs(kind), OPTIONS, False)
    answers: list[str | None] = []
    disarmer.answered = lambda stop, name, failure: answers.append(failure)
    disarmer.serve_at_once(stop_of())
    assert answers == [f"returned {kind}, so that nothing ran: disarm must be a plain function"]


@pytest.mark.parametrize("extra", [(), (object,)], ids=["plain", "not plain"])
def test_each_call_gets_options_of_its_own_all_the_way_down(extra: tuple[Any, ...]) -> None:
    seen: list[list[int]] = []

    def spoil(options: dict[str, Any]) -> None:
        seen.append(list(options["ids"]))
        options["ids"].clear()

    disarmer = Disarmer(gate_named("a"), spoil, {"ids": [1, 2], "extra": extra}, False)
    for _ in range(3):
        disarmer.go(stop_of())
    assert seen == [[1, 2]] * 3
    assert disarmer.options["ids"] == [1, 2]


@pytest.mark.parametrize("answers", [(True,), (False, True)])
def test_a_failure_is_returned_at_once(answers: tuple[bool, ...]) -> None:
    gate, lock = scripted(*answers)
    call = Answering(["raised OSError: no link"])
    assert make_safe(gate, call) == "raised OSError: no link"
    assert (call.calls, len(lock.limits), lock.held) == (1, 1, 0)


def test_a_failure_of_the_second_call_is_returned() -> None:
    gate, lock = scripted(False, True)
    assert make_safe(gate, Answering([None, "raised SystemExit: 3"])) == "raised SystemExit: 3"
    assert lock.held == 0


@pytest.mark.parametrize("error", [OSError("no link"), SystemExit("no link"), KeyboardInterrupt("no link")])
def test_what_a_disarm_function_raises_is_returned(error: BaseException) -> None:
    def disarm(options: dict[str, Any]) -> None:
        raise error

    disarmer = Disarmer(gate_named("a"), disarm, OPTIONS, False)
    answers, _ = answering(disarmer)
    disarmer.go(stop := stop_of())
    assert answers == [(stop, "a", f"raised {type(error).__name__}: no link")]


# one actuator and its stops


def stop_of(name: str = "a") -> Stop:
    return Stop(None, "test", (name,))


Answers = list[tuple[Stop, str, str | None]]


def answering(disarmer: Disarmer) -> tuple[Answers, threading.Semaphore]:
    answers: Answers = []
    count = threading.Semaphore(0)

    def answered(stop: Stop, name: str, failure: str | None) -> None:
        answers.append((stop, name, failure))
        count.release()

    disarmer.answered = answered
    return answers, count


def test_without_a_thread_the_function_is_called_at_once() -> None:
    gate, _ = scripted()
    calls = Calls()
    disarmer = Disarmer(gate, calls, OPTIONS, False)
    disarmer.answered(stop_of(), "a", None)  # until there is a receiver
    answers, _ = answering(disarmer)
    stop = stop_of()
    disarmer.go(stop)
    disarmer.go(stop)  # a second start for one stop does nothing
    assert answers == [(stop, "a", None)]
    assert stop.served == {"a"}
    assert calls == [{"port": 3}]


def test_without_a_thread_a_late_call_is_not_awaited() -> None:
    gate, lock = scripted(False, False)
    disarmer = Disarmer(gate, Calls(), OPTIONS, False)
    answers, _ = answering(disarmer)
    stop = stop_of()
    disarmer.go(stop)
    assert answers == [(stop, "a", IN_FLIGHT)]
    assert len(lock.limits) == 2


def test_a_stop_from_the_disarm_function_is_served_after_it() -> None:
    gate, _ = scripted()
    second, seen, depth = stop_of(), [], []

    def disarm(options: dict[str, Any]) -> None:
        depth.append("in")
        if len(seen) == 0:
            seen.append(disarmer.is_current)
            disarmer.go(second)
        depth.append("out")

    disarmer = Disarmer(gate, disarm, OPTIONS, False)
    answers, _ = answering(disarmer)
    first = stop_of()
    assert not disarmer.is_current
    disarmer.go(first)
    assert seen == [True]
    assert not disarmer.is_current
    assert depth == ["in", "out", "in", "out"]
    assert answers == [(first, "a", None), (second, "a", None)]


@pytest.fixture
def held() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


def ended(disarmer: Disarmer) -> bool:
    disarmer.worker.close()
    disarmer.worker.join(WAIT)
    return not disarmer.worker._thread.is_alive()


def test_one_call_serves_all_stops_that_wait(held: threading.Event) -> None:
    gate, _ = scripted()
    begun, calls = threading.Event(), []

    def disarm(options: dict[str, Any]) -> None:
        calls.append(options)
        begun.set()
        held.wait(WAIT)

    disarmer = Disarmer(gate, disarm, OPTIONS, True)
    answers, count = answering(disarmer)
    disarmer.worker.open()
    stops = [stop_of() for _ in range(4)]
    disarmer.go(stops[0])
    assert begun.wait(WAIT)
    for stop in stops[1:]:
        disarmer.go(stop)
    held.set()
    assert all(count.acquire(timeout=WAIT) for _ in stops)
    assert ended(disarmer)
    assert len(calls) == 2
    assert answers == [(stop, "a", None) for stop in stops]


def test_each_actuator_has_a_thread_that_bears_its_name() -> None:
    disarmer = Disarmer(gate_named("arm/1"), Calls(), OPTIONS, True)
    assert disarmer.worker._thread.name == "pushrod disarm arm/1"


@pytest.mark.parametrize("fails", [False, True])
def test_after_a_late_call_the_function_is_called_again(fails: bool) -> None:
    gate, lock = scripted(False, False, False, True)  # fence, in flight, still in flight, returned
    calls = Calls()

    def disarm(options: dict[str, Any]) -> None:
        calls(options)
        if fails and len(calls) == 2:
            raise OSError("no link")

    disarmer = Disarmer(gate, disarm, OPTIONS, True)
    answers, count = answering(disarmer)
    disarmer.worker.open()
    stop = stop_of()
    disarmer.go(stop)
    assert count.acquire(timeout=WAIT)
    assert count.acquire(timeout=WAIT)
    assert ended(disarmer)
    assert answers == [(stop, "a", IN_FLIGHT), (stop, "a", "raised OSError: no link after a late call" if fails else None)]
    assert calls == [{"port": 3}] * 2
    assert lock.limits == [0.0005, 0.1, 0.1, 0.1]
    assert lock.held == 0


class BusyLock(ScriptedLock):
    """A lock that is not given back until `returned`."""

    def __init__(self) -> None:
        super().__init__()
        self.returned = threading.Event()
        self.tried = threading.Semaphore(0)

    def acquire(self, blocking: bool = True, timeout: float = -1.0) -> bool:
        self.limits.append(timeout)
        self.tried.release()
        granted = self.returned.wait(0.001)
        self.held += granted
        return granted


def in_flight() -> tuple[Disarmer, Answers, threading.Semaphore, BusyLock, Calls]:
    """A disarmer that waits for a late call."""
    gate, lock, calls = gate_named("a"), BusyLock(), Calls()
    gate.lock = lock  # type: ignore[assignment]
    disarmer = Disarmer(gate, calls, OPTIONS, True)
    answers, count = answering(disarmer)
    disarmer.worker.open()
    disarmer.go(stop_of())
    assert all(lock.tried.acquire(timeout=WAIT) for _ in range(4))
    return disarmer, answers, count, lock, calls


def test_another_stop_does_not_wait_for_a_late_call() -> None:
    disarmer, answers, count, lock, calls = in_flight()
    second = stop_of()
    disarmer.go(second)
    assert count.acquire(timeout=WAIT)
    assert count.acquire(timeout=0.5)
    assert answers[1] == (second, "a", IN_FLIGHT)
    assert len(calls) == 2
    lock.returned.set()
    assert count.acquire(timeout=WAIT)
    assert answers[2] == (second, "a", None)
    assert ended(disarmer)
    assert len(calls) == 3


def test_a_stop_that_has_been_served_does_not_end_the_wait_for_a_late_call() -> None:
    disarmer, answers, count, lock, calls = in_flight()
    assert count.acquire(timeout=WAIT)
    disarmer.go(answers[0][0])  # started twice
    while lock.tried.acquire(blocking=False):
        pass
    assert all(lock.tried.acquire(timeout=WAIT) for _ in range(3))
    lock.returned.set()
    assert count.acquire(timeout=WAIT)
    assert ended(disarmer)
    assert [failure for _, _, failure in answers] == [IN_FLIGHT, None]
    assert len(calls) == 2


def test_the_thread_ends_although_a_call_never_returns() -> None:
    disarmer, answers, _, lock, calls = in_flight()
    disarmer.worker.close()
    disarmer.worker.join(1.0)
    assert not disarmer.worker._thread.is_alive()
    lock.returned.set()
    assert [failure for _, _, failure in answers] == [IN_FLIGHT]
    assert len(calls) == 1


def test_a_receiver_that_fails_does_not_keep_the_function_from_the_next_stop() -> None:
    disarmer = Disarmer(gate_named("a"), calls := Calls(), OPTIONS, False)
    disarmer.answered = lambda stop, name, failure: broken({})
    disarmer.go(stop_of())
    assert not disarmer.is_current
    disarmer.go(stop_of())
    assert len(calls) == 2


def test_options_are_read_when_they_are_needed() -> None:
    options = {"port": 3}
    disarmer = Disarmer(gate_named("a"), calls := Calls(), options, False)
    disarmer.options = {"port": 4}
    disarmer.go(stop_of())
    assert calls == [{"port": 4}]


# the common thread


def test_a_stop_is_served_at_once_where_no_call_is_in_flight() -> None:
    gate, lock = scripted(True)
    seen: list[Any] = []
    disarmer = Disarmer(gate, lambda options: seen.append((options, lock.held, disarmer.is_current, is_held(disarmer.door.lock))), OPTIONS, False)
    held: list[int] = []
    disarmer.answered = lambda stop, name, failure: held.append(lock.held)
    stop = stop_of()
    disarmer.serve_at_once(stop)
    assert seen == [(OPTIONS, 1, True, True)]
    assert held == [0]  # answers come without the lock
    assert (stop.served, disarmer.is_current, is_held(disarmer.door.lock)) == ({"a"}, False, False)
    assert lock.limits == [0.0]
    disarmer.serve_at_once(stop)
    assert len(seen) == 1
    assert not is_held(disarmer.door.lock)


def test_an_actuator_in_a_call_is_not_served_at_once() -> None:
    gate, lock = scripted(False)
    disarmer = Disarmer(gate, calls := Calls(), OPTIONS, False)
    answers, _ = answering(disarmer)
    stop = stop_of()
    disarmer.serve_at_once(stop)
    assert (calls, answers, stop.served, lock.limits, lock.held) == ([], [], set(), [0.0], 0)
    assert (disarmer.is_current, is_held(disarmer.door.lock)) == (False, False)


def test_an_actuator_that_is_being_served_is_not_served_at_once() -> None:
    gate, lock = scripted()
    disarmer = Disarmer(gate, calls := Calls(), OPTIONS, False)
    disarmer.door.lock = door = ScriptedLock(False)  # type: ignore[assignment]
    stop = stop_of()
    disarmer.serve_at_once(stop)
    assert door.limits == [0.0]
    assert (calls, stop.served, lock.limits, disarmer.is_current) == ([], set(), [], False)


def test_a_failure_is_answered_at_once() -> None:
    gate, lock = scripted()
    disarmer = Disarmer(gate, broken, OPTIONS, False)
    answers, _ = answering(disarmer)
    disarmer.serve_at_once(stop := stop_of())
    assert answers == [(stop, "a", "raised OSError: no link")]
    assert lock.held == 0


def test_a_receiver_that_fails_leaves_the_actuator_free() -> None:
    disarmer = Disarmer(gate_named("a"), Calls(), OPTIONS, False)
    disarmer.answered = lambda stop, name, failure: broken({})
    with pytest.raises(OSError, match="no link"):
        disarmer.serve_at_once(stop_of())
    assert not disarmer.is_current
    assert disarmer.is_free(0.0)


def test_an_actuator_is_free_unless_its_function_runs() -> None:
    disarmer = Disarmer(gate_named("a"), lambda options: free.append((disarmer.is_free(WAIT), disarmer.is_current)), OPTIONS, False)
    free: list[tuple[bool, bool]] = []
    disarmer.serve_at_once(stop_of())
    assert free == [(False, True)]  # it cannot wait for itself, and stays inside
    lock = ScriptedLock()
    disarmer.door.lock = lock  # type: ignore[assignment]
    assert disarmer.is_free(0.0)
    disarmer.door.holder = -1  # another thread is inside
    assert not disarmer.is_free(0.0)
    assert lock.limits == []  # a stop that interrupts the caller must be able to enter


def test_an_actuator_is_not_free_before_its_own_thread_is_done() -> None:
    entered, go = threading.Event(), threading.Event()

    def disarm(options: dict[str, Any]) -> None:
        entered.set()
        go.wait(WAIT)

    disarmer = Disarmer(gate_named("a"), disarm, OPTIONS, True)
    disarmer.worker.open()
    disarmer.go(stop_of())
    assert entered.wait(WAIT)
    assert not disarmer.is_free(0.01)
    go.set()
    assert disarmer.is_free(WAIT)
    assert ended(disarmer)


def test_a_stop_that_comes_while_it_is_served_at_once_is_served_after_it() -> None:
    """On the stepped clock the disarm function itself may stop the robot."""
    second = stop_of()

    def disarm(options: dict[str, Any]) -> None:
        if not calls:
            disarmer.serve_at_once(second)
            disarmer.go(second)
        calls(options)

    disarmer = Disarmer(gate_named("a"), disarm, OPTIONS, False)
    calls = Calls()
    answers, _ = answering(disarmer)
    first = stop_of()
    disarmer.serve_at_once(first)
    assert answers == [(first, "a", None), (second, "a", None)]
    assert len(calls) == 2


def test_a_stop_that_comes_while_the_common_thread_serves_is_left_to_the_actuators_own_thread() -> None:
    by: list[str] = []
    second = stop_of()

    def disarm(options: dict[str, Any]) -> None:
        by.append(threading.current_thread().name)
        if len(by) == 1:
            disarmer.go(second)

    disarmer = Disarmer(gate_named("a"), disarm, OPTIONS, True)
    _, count = answering(disarmer)
    disarmer.worker.open()
    disarmer.serve_at_once(stop_of())
    assert all(count.acquire(timeout=WAIT) for _ in range(2))
    assert ended(disarmer)
    assert by == [threading.current_thread().name, "pushrod disarm a"]


def inside(gate: Gate) -> Stop:
    """A stop from inside a call of the driver."""
    stop = stop_of()
    gate.holder = stop.caller = 12345
    return stop


def test_a_stop_from_inside_a_call_is_not_answered_before_that_call_has_returned() -> None:
    gate, lock = scripted(False, False, False, True)  # fence, still inside, still inside, returned
    calls = Calls()
    disarmer = Disarmer(gate, calls, OPTIONS, True)
    answers, _ = answering(disarmer)
    awaited: list[tuple[Stop, str]] = []
    disarmer.awaiting = lambda stop, name: awaited.append((stop, name))
    disarmer.worker.running = True
    stop = inside(gate)
    disarmer._stops.append(stop)
    disarmer._serve()
    assert lock.limits == [0.0005, 0.0, 0.1, 0.1]
    assert (awaited, answers, len(calls)) == ([(stop, "a")], [(stop, "a", None)], 2)
    assert disarmer.door.holder == 0


def test_a_failure_of_a_stop_from_inside_a_call_is_answered() -> None:
    gate, _ = scripted(False, False, True)
    results = iter([None, OSError("no link")])

    def disarm(options: dict[str, Any]) -> None:
        if error := next(results):
            raise error

    disarmer = Disarmer(gate, disarm, OPTIONS, True)
    answers, _ = answering(disarmer)
    disarmer.awaiting(inside(gate), "a")  # until there is a receiver
    disarmer.worker.running = True
    disarmer._stops.append(stop := inside(gate))
    disarmer._serve()
    assert answers == [(stop, "a", "raised OSError: no link")]


def test_a_stop_of_another_thread_is_answered_while_a_call_is_in_flight() -> None:
    gate, lock = scripted(False, False, True)
    disarmer = Disarmer(gate, Calls(), OPTIONS, True)
    answers, _ = answering(disarmer)
    disarmer.worker.running = True
    gate.holder = 12345
    disarmer._stops.extend((first := stop_of(), stop := stop_of()))
    disarmer._serve()
    assert lock.limits == [0.0005, 0.1, 0.1]
    assert answers == [(first, "a", IN_FLIGHT), (stop, "a", IN_FLIGHT), (stop, "a", None)]  # the late answer of one stop counts for all


def test_a_stop_from_inside_a_call_is_answered_where_the_runtime_ends_first() -> None:
    gate, _ = scripted(False, False)

    def disarm(options: dict[str, Any]) -> None:
        disarmer.worker.running = True

    disarmer = Disarmer(gate, disarm, OPTIONS, True)
    answers, _ = answering(disarmer)
    disarmer.awaiting = lambda stop, name: setattr(disarmer.worker, "running", False)
    disarmer._stops.append(stop := inside(gate))
    disarmer._serve()
    assert answers == [(stop, "a", IN_FLIGHT)]


def test_a_stop_that_is_overtaken_is_served_with_the_one_that_came() -> None:
    gate, _ = scripted(False, False, True)
    disarmer = Disarmer(gate, calls := Calls(), OPTIONS, True)
    answers, _ = answering(disarmer)
    first, second = inside(gate), stop_of()

    def awaiting(stop: Stop, name: str) -> None:
        gate.holder = 0  # the call returns, but another stop comes before that is seen
        disarmer._stops.append(second)

    disarmer.awaiting = awaiting
    disarmer.worker.running = True
    disarmer._stops.append(first)
    disarmer._serve()
    assert answers == [(first, "a", None), (second, "a", None)]
    assert len(calls) == 2


def test_every_call_has_a_number() -> None:
    disarmer = Disarmer(gate_named("a"), Calls(), OPTIONS, False)
    assert disarmer.number == 0
    disarmer.serve_at_once(stop_of())
    disarmer.serve_at_once(stop_of())
    assert disarmer.number == 2
