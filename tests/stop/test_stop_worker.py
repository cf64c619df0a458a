"""The thread behind every stop: it runs calls in order, survives whatever they raise, and can be left out or lost."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from stop_bench import WAIT, ScriptedLock

from pushrod.runtime import worker as module
from pushrod.runtime.worker import Worker


class Sleeps:
    """A replacement for the module `time`."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


@pytest.fixture
def sleeps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    made = Sleeps()
    monkeypatch.setattr(module, "time", made)
    return made.slept


@pytest.fixture
def errors() -> list[BaseException]:
    return []


@pytest.fixture
def worker(errors: list[BaseException]) -> Iterator[Worker]:
    made = Worker("test", True, errors.append)
    made.open()
    yield made
    made.close()
    made.join(WAIT)


def flush(worker: Worker) -> None:
    """Wait until everything put so far has run."""
    done = threading.Event()
    worker.put(done.set)
    assert done.wait(WAIT)


def test_calls_run_in_order_on_one_daemon_thread(worker: Worker, sleeps: list[float]) -> None:
    seen: list[Any] = []
    for i in range(3):
        worker.put(lambda i=i: seen.append((i, threading.current_thread())))
    flush(worker)
    assert [i for i, _ in seen] == [0, 1, 2]
    assert {thread for _, thread in seen} == {worker._thread}
    assert worker._thread is not threading.current_thread()
    assert worker._thread.daemon
    assert worker._thread.name == "pushrod test"
    assert sleeps == []


def test_nothing_that_a_call_raises_ends_the_thread(worker: Worker, errors: list[BaseException]) -> None:
    raised = [OSError("x"), SystemExit(1), KeyboardInterrupt()]
    for error in raised:
        worker.put(lambda error=error: _raise(error))
    flush(worker)
    assert errors == raised


def test_the_usual_worker_ignores_what_a_call_raises() -> None:
    worker = Worker("test", False)
    worker.put(lambda: _raise(OSError("x")))


def _raise(error: BaseException) -> None:
    raise error


def test_without_a_thread_put_runs_the_call(errors: list[BaseException]) -> None:
    worker, seen = Worker("test", False, errors.append), []
    worker.open()
    worker.put(lambda: seen.append(threading.current_thread()))
    worker.put(lambda: _raise(SystemExit(2)))
    assert seen == [threading.current_thread()]
    assert [type(error) for error in errors] == [SystemExit]
    assert not worker.running
    assert worker._thread.ident is None
    worker.close()
    worker.join(WAIT)
    assert worker.waiting == 0


def test_before_open_and_after_close_put_runs_the_call() -> None:
    worker, seen = Worker("test", True), []
    worker.put(lambda: seen.append(threading.current_thread()))
    worker.join(WAIT)  # it has no thread yet
    worker.open()
    worker.open()  # a second call does nothing
    assert worker.running
    worker.close()
    worker.close()
    assert worker.waiting <= 1  # the end is put once
    worker.join(WAIT)
    assert not worker._thread.is_alive()
    worker.open()  # an ended thread is not started again
    assert not worker.running
    worker.put(lambda: seen.append(threading.current_thread()))
    assert seen == [threading.current_thread()] * 2


def test_close_runs_what_was_put_before() -> None:
    worker, seen, held = Worker("test", True), [], threading.Event()
    worker.open()
    worker.put(lambda: held.wait(WAIT))
    worker.put(lambda: seen.append(1))
    worker.close()
    assert seen == []
    held.set()
    worker.join(WAIT)
    assert seen == [1]


def test_waiting_counts_calls_that_have_not_begun(worker: Worker) -> None:
    begun, held = threading.Event(), threading.Event()
    worker.put(lambda: begun.set() or held.wait(WAIT))
    assert begun.wait(WAIT)
    worker.put(list)
    worker.put(list)
    assert worker.waiting == 2
    held.set()
    flush(worker)
    assert worker.waiting == 0


def test_is_current_on_its_own_thread_alone(worker: Worker) -> None:
    seen: list[bool] = []
    worker.put(lambda: seen.append(worker.is_current))
    flush(worker)
    assert seen == [True]
    assert not worker.is_current


def test_join_waits_as_long_as_asked(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[float] = []
    monkeypatch.setattr(worker._thread, "join", limits.append)
    worker.join(0.25)
    worker.join(-1.0)
    monkeypatch.undo()
    assert limits == [0.25, 0.0]


def test_a_thread_does_not_wait_for_its_own_end(worker: Worker, errors: list[BaseException]) -> None:
    worker.put(lambda: worker.join(WAIT))
    flush(worker)
    assert errors == []


def test_a_disowned_worker_runs_calls_itself(worker: Worker) -> None:
    worker.disown()
    seen: list[threading.Thread] = []
    worker.put(lambda: seen.append(threading.current_thread()))
    assert seen == [threading.current_thread()]
    worker.running = True  # for the fixture, which ends the thread


def test_the_alarm_runs_after_each_call_and_when_it_is_due() -> None:
    delays: list[float | None] = [0.001, 0.001, None]
    rung: list[int] = []
    quiet = threading.Event()

    def alarm() -> float | None:
        rung.append(len(rung))
        delay = delays.pop(0) if delays else None
        if delay is None:
            quiet.set()
        return delay

    calls: list[None] = []
    worker = Worker("test", True, alarm=alarm)
    worker.open()
    worker.put(lambda: calls.append(None))
    assert quiet.wait(WAIT)
    assert (rung, len(calls)) == ([0, 1, 2], 1)
    flush(worker)
    worker.close()
    worker.join(WAIT)
    assert rung == [0, 1, 2, 3]  # and after the call of `flush`


def test_an_alarm_that_raises_is_reported_and_not_set_again() -> None:
    errors: list[BaseException] = []
    worker = Worker("test", True, errors.append, lambda: _raise(OSError("alarm")))
    worker.open()
    flush(worker)
    worker.close()
    worker.join(WAIT)
    assert [str(error) for error in errors] == ["alarm"]


def test_a_thread_with_calls_waiting_does_not_pause(sleeps: list[float]) -> None:
    worker, begun, held = Worker("test", True, pause=0.25), threading.Event(), threading.Event()
    worker._calls.put(lambda: begun.set() or held.wait(WAIT))  # before it starts, so it is not idle
    worker.open()
    assert begun.wait(WAIT)
    assert sleeps == []
    worker.put(list)
    worker.put(list)
    held.set()
    worker.close()
    worker.join(WAIT)
    assert sleeps == []


def test_an_idle_thread_pauses_before_its_next_call(sleeps: list[float]) -> None:
    worker = Worker("test", True, pause=0.25)
    queue = worker._calls
    idle = threading.Event()

    class Queue:
        """Reports when the thread has found no calls."""

        def empty(self) -> bool:
            answer = queue.empty()
            if answer:
                idle.set()
            return answer

        get, put, qsize = queue.get, queue.put, queue.qsize

    worker._calls = Queue()  # type: ignore[assignment]
    worker.open()
    assert idle.wait(WAIT)
    flush(worker)
    assert sleeps == [0.25]
    worker.close()
    worker.join(WAIT)


def test_a_receiver_of_errors_that_raises_does_not_end_the_thread() -> None:
    done = threading.Event()
    for alarm in (None, lambda: None):
        worker = Worker("test", True, lambda error: _raise(SystemExit()), **({} if alarm is None else {"alarm": alarm}))
        worker.open()
        worker.put(lambda: _raise(OSError("call")))
        worker.put(done.set)
        assert done.wait(WAIT)
        worker.close()
        worker.join(WAIT)
        done.clear()


def test_without_a_thread_a_call_put_during_another_runs_after_it() -> None:
    """As a signal handler puts it."""
    seen: list[str] = []

    def outer() -> None:
        seen.append("begins")
        assert worker.is_current
        worker.put(lambda: seen.append("inner"))
        seen.append("ends")

    worker = Worker("test", False, then=lambda: seen.append("then"))
    worker.put(outer)
    assert seen == ["begins", "ends", "inner", "then"]
    assert not worker.is_current


def test_without_a_thread_a_call_of_another_thread_is_left_to_the_one_inside() -> None:
    seen: list[Any] = []
    worker = Worker("test", False, then=lambda: None)

    def outer() -> None:
        other = threading.Thread(target=lambda: worker.put(lambda: seen.append(threading.get_ident())))
        other.start()
        other.join(WAIT)
        assert not seen

    worker.put(outer)
    assert seen == [threading.get_ident()]


def test_a_call_that_is_left_to_another_thread_does_not_wait_for_it() -> None:
    seen: list[str] = []
    worker = Worker("test", False, then=lambda: None)
    worker._door.lock = lock = ScriptedLock(False)  # another thread is inside
    worker.put(lambda: seen.append("call"))
    assert (seen, lock.limits) == ([], [0.0])


def test_a_call_put_while_the_last_one_leaves_is_not_lost() -> None:
    seen: list[str] = []
    puts = [lambda: seen.append("late")]
    worker = Worker("test", False, then=lambda: worker.put(puts.pop()) if puts else None)
    worker.put(lambda: seen.append("first"))
    assert seen == ["first", "late"]


def test_without_a_thread_nothing_that_a_call_raises_reaches_the_caller(errors: list[BaseException]) -> None:
    def broken() -> None:
        raise SystemExit("gone")

    worker = Worker("test", False, errors.append, then=broken)
    worker.put(broken)
    assert [str(error) for error in errors] == ["gone", "gone"]
