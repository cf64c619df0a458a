"""Threads that run one at a time, in an order that is chosen: every interleaving of real code can be run, and repeated.

Each thread is a greenlet. It gives way at named points: before lines of the product that end in `# point: NAME`, where loading the source inserts a
call (`compile_with_points`), so the shipped text is the text under test and pays nothing for it. It also gives way where it would block: locks,
events, queues and threads of the modules under test are replaced by those below. Time is virtual and passes only when every thread waits.
"""

import ast
import re
import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import Empty
from types import CodeType, FrameType
from typing import Any

from greenlet import getcurrent, greenlet

POINT = re.compile(r"# point: (.+)$")
GIVE_WAY = "__point__"  # the global of an instrumented module that its points call
NEVER = float("inf")


class Abandoned(BaseException):
    """The run is over: every thread leaves."""


class DeadlockError(Exception):
    """Every thread waits, and no time limit will end that."""


def points(text: str) -> dict[int, str]:
    """Return the named points of a source, by line."""
    return {n: match.group(1) for n, line in enumerate(text.splitlines(), 1) if (match := POINT.search(line))}


def compile_with_points(text: str, file: Path) -> CodeType:
    """Compile a source with a call before each statement that is a named point."""

    class Insert(ast.NodeTransformer):
        def generic_visit(self, node: ast.AST) -> ast.AST:
            super().generic_visit(node)
            for field in ("body", "orelse", "finalbody"):
                if isinstance(statements := getattr(node, field, None), list):
                    setattr(node, field, [each for statement in statements for each in self.with_point(statement)])
            return node

        def with_point(self, statement: Any) -> list[Any]:
            name = marks.pop(statement.lineno, None)
            if name is None:
                return [statement]
            call = ast.Expr(ast.Call(ast.Name(GIVE_WAY, ast.Load()), [ast.Constant(name)], []))
            for node in ast.walk(call):
                ast.copy_location(node, statement)
            return [call, statement]

    marks = points(text)
    tree = Insert().visit(ast.parse(text))
    assert not marks, f"{file}: a point is the first line of a statement: {marks}"
    return compile(tree, str(file), "exec")


class Task:
    """One thread. `foreground`: it carries out an operation of the test; the others are threads of the product."""

    def __init__(self, scheduler: "Scheduler", ident: int, name: str, run: Callable[[], None], foreground: bool) -> None:
        self.name = name
        self.ident = ident
        self.foreground = foreground
        self.ready: Callable[[], bool] | None = None  # where it is blocked: whether it may go on
        self.wake_at = NEVER  # [s, virtual] its time limit
        self.timed_out = False
        self.done = False
        self.point = "start"
        self.frame: FrameType | None = None
        self._scheduler = scheduler
        self._run = run
        self.greenlet = greenlet(self._main)

    def _main(self) -> None:
        try:
            self._run()
        except Abandoned:
            pass
        except BaseException as error:  # reported by the run
            self._scheduler.errors.append(error)
        finally:
            self.done = True
            self.frame = None

    @property
    def enabled(self) -> bool:
        return not self.done and (self.ready is None or self.ready())


class Scheduler:
    """`choose(enabled, current)` picks the next task; one that is not enabled runs because its time limit is over."""

    def __init__(self, choose: Callable[[list[Task], Task | None], Task]) -> None:
        self.choose = choose
        self.tasks: list[Task] = []
        self.by_greenlet: dict[greenlet, Task] = {}
        self.main = getcurrent()
        self.now = 0.0
        self.over = False
        self.controlled = False  # until then, threads run to their end or until they block, in order
        self.seen: set[str] = set()
        self.trail: list[tuple[str, str]] = []  # the turns so far: who had them, and where it was
        self.errors: list[BaseException] = []
        self.interrupt: Callable[[Task], None] = lambda task: None  # runs at every point, on the thread that is there, like a signal handler

    def task(self, name: str, run: Callable[[], None], foreground: bool = False) -> Task:
        made = Task(self, len(self.tasks) + 1, name, run, foreground)
        self.tasks.append(made)
        self.by_greenlet[made.greenlet] = made
        return made

    def at(self, name: str, frame: FrameType | None = None) -> None:
        """Give way at a point."""
        task = self.current()
        if task is None:
            return
        if self.over:
            raise Abandoned
        self.seen.add(name)
        if self.controlled:
            self.interrupt(task)
            task.point, task.frame = name, frame or sys._getframe(1)
            self._leave()

    def block(self, ready: Callable[[], bool], timeout: float | None) -> bool:
        """Wait until `ready`; False where the time limit came first."""
        task = self.current()
        if task is None or ready():
            return ready()
        if timeout == 0.0:
            return False
        if self.over:
            raise Abandoned
        task.ready, task.timed_out, task.frame, task.point = ready, False, sys._getframe(2), "blocked"
        task.wake_at = NEVER if timeout is None else self.now + timeout
        self._leave()
        task.ready, task.wake_at = None, NEVER
        return not task.timed_out

    def _leave(self) -> None:
        self.main.switch()
        if self.over:
            raise Abandoned

    def run(self, until: Callable[[], bool], plan: Sequence[int] = ()) -> None:
        """Run tasks until a condition holds, or an error occurs; called from outside of them. `plan`: the tasks to begin with, by number."""
        current: Task | None = None
        for number in plan:
            current = self.tasks[number]
            self._resume(current)
        while not self.errors and not until():
            while not (enabled := [task for task in self.tasks if task.enabled]):
                limits = [task for task in self.tasks if not task.done and task.wake_at < NEVER]
                if not limits:
                    waiting = ", ".join(f"{task.name} at {task.point}" for task in self.tasks if not task.done)
                    raise DeadlockError(waiting)
                self._expire(min(limits, key=lambda task: task.wake_at))
            current = self.choose(enabled, current if current in enabled else None)
            self._resume(current)

    def _resume(self, task: Task) -> None:
        if not task.enabled:
            self._expire(task)
        self.trail.append((task.name, task.point))
        task.greenlet.switch()

    def stop(self) -> None:
        """End all tasks."""
        self.over = True
        for task in self.tasks:
            while task.greenlet and not task.done:  # one that has not begun needs no end
                task.greenlet.throw(Abandoned)

    def current(self) -> Task | None:
        return self.by_greenlet.get(getcurrent())

    def _expire(self, task: Task) -> None:
        """Let time pass up to the limit of a task."""
        self.now = task.wake_at
        task.timed_out, task.ready, task.wake_at = True, None, NEVER


class Primitives:
    """What `threading`, `time` and `queue` offer to the modules under test."""

    TIMEOUT_MAX = threading.TIMEOUT_MAX

    scheduler: Scheduler  # of the present run

    def at(self, name: str) -> None:
        self.scheduler.at(name, sys._getframe(1))

    def get_ident(self) -> int:
        task = self.scheduler.current()
        return 0 if task is None else task.ident

    def monotonic(self) -> float:
        return self.scheduler.now

    def sleep(self, seconds: float) -> None:
        return  # only reports pause, whose order does not matter here

    def Lock(self) -> "Lock":
        return Lock(self.scheduler)

    def RLock(self) -> "RLock":
        return RLock(self.scheduler)

    def Event(self) -> "Event":
        return Event(self.scheduler)

    def Thread(self, target: Callable[[], None], name: str, daemon: bool) -> "Thread":
        return Thread(self.scheduler, target, name)

    def SimpleQueue(self) -> "SimpleQueue":
        return SimpleQueue(self.scheduler)


class Lock:
    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self.held = 0

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        if not self.held or self._scheduler.block(self._is_free, 0.0 if not blocking else None if timeout < 0 else timeout):
            task = self._scheduler.current()
            self.held = task.ident if task is not None else -1
            return True
        return False

    def _is_free(self) -> bool:
        return not self.held

    def release(self) -> None:
        assert self.held
        self.held = 0

    def locked(self) -> bool:
        return bool(self.held)

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *error: object) -> None:
        self.release()


class RLock(Lock):
    """As the real one, it can be taken again by the thread that has it, and released by no other."""

    def __init__(self, scheduler: Scheduler) -> None:
        super().__init__(scheduler)
        self._times = 0

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        if not self._is_own() and not super().acquire(blocking, timeout):
            return False
        self._times += 1
        return True

    def release(self) -> None:
        if not self._is_own():
            raise RuntimeError("cannot release un-acquired lock")
        self._times -= 1
        if not self._times:
            super().release()

    def _is_own(self) -> bool:
        task = self._scheduler.current()
        return self.held != 0 and self.held == (task.ident if task is not None else -1)


class Event:
    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self.is_on = False

    def set(self) -> None:
        self.is_on = True

    def is_set(self) -> bool:
        return self.is_on

    def wait(self, timeout: float | None = None) -> bool:
        self._scheduler.block(self.is_set, timeout)
        return self.is_on


class SimpleQueue:
    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self.items: deque[Any] = deque()

    def put(self, item: Any) -> None:
        self.items.append(item)

    def get(self, timeout: float | None = None) -> Any:
        if not self._scheduler.block(self._is_filled, timeout):
            raise Empty
        return self.items.popleft()

    def _is_filled(self) -> bool:
        return bool(self.items)

    def empty(self) -> bool:
        return not self.items

    def qsize(self) -> int:
        return len(self.items)


class Thread:
    def __init__(self, scheduler: Scheduler, target: Callable[[], None], name: str) -> None:
        self._scheduler = scheduler
        self._target = target
        self._name = name
        self._task: Task | None = None

    def start(self) -> None:
        self._task = self._scheduler.task(self._name, self._target)

    @property
    def ident(self) -> int | None:
        return None if self._task is None else self._task.ident

    def join(self, timeout: float | None = None) -> None:
        task = self._task
        if task is not None:
            self._scheduler.block(lambda: task.done, timeout)

    def is_alive(self) -> bool:
        return self._task is not None and not self._task.done
