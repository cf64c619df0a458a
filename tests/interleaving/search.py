"""Search all interleavings of operations: run, go back to the last choice with another option, run again from the start.

A state that was reached before is not entered again: its future is the same (`fingerprint`). With a bound, only schedules that take the turn from
a thread that could go on at most so often are run; few defects need more than two such preemptions.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from fingerprint import fingerprint
from scheduler import NEVER, Scheduler, Task
from stop_path import STARTS, Product, Rig, ViolationError

QUIET = "pushrod reports"  # its order with the others changes nothing that is checked
STEPS = 2000  # of a run: more is a livelock


class Pruned(Exception):  # noqa: N818 (an end, not an error)
    """The rest of this run was seen before."""


class Result(NamedTuple):
    runs: int
    states: int
    points: frozenset[str]


class Step(NamedTuple):
    """One turn of a run: the task that had it, the ones that could have had it instead, and the preemptions up to it."""

    task: int
    others: tuple[int, ...]
    used: int  # before this turn
    preempting: bool  # whether any of the others preempts

    def instead(self) -> "Step":
        """Return the turn with the next option."""
        return Step(self.others[0], self.others[1:], self.used, self.preempting)


class Search:
    def __init__(
        self,
        product: Product,
        start: str,
        threads: Sequence[Sequence[str]],
        actuators: int = 1,
        preemptions: int | None = None,
        signal: tuple[int, str] | None = None,
        observer_raises: bool = False,
    ) -> None:
        self.product = product
        self.start = start
        self.threads = threads
        self.actuators = actuators
        self.preemptions = preemptions
        self.signal = signal  # (n, operation): at its n-th point the first thread is interrupted by an operation
        self.observer_raises = observer_raises
        self.visited: dict[Any, int] = {}
        self.points: set[str] = set()

    def run(self, steps: list[Step]) -> list[Step]:
        """Run once, by these turns and the first option from then on; return all turns."""
        run = Run(self, steps)
        try:
            run.go()
        finally:
            self.points |= run.scheduler.seen
            run.scheduler.stop()
        return run.steps


class Run:
    def __init__(self, search: Search, steps: list[Step]) -> None:
        self.search = search
        self.steps = steps
        self.used = steps[-1].used + steps[-1].preempting if steps else 0  # the last turn is one taken instead of the first option
        self.scheduler = Scheduler(self.choose)
        self.rig = Rig(search.product, self.scheduler, search.actuators)
        self.rig.observer_raises = search.observer_raises
        self.scheduler.interrupt = self._interrupt
        self.passed = 0  # points of the first thread

    def choose(self, enabled: list[Task], current: Task | None) -> Task:
        options = [task for task in enabled if task.name != QUIET] or enabled
        if not self.scheduler.controlled:
            return current if current in options else options[0]
        self.rig.check_waiting(self.scheduler.tasks)
        preempting = current in options
        spent = self.search.preemptions is not None and self.used >= self.search.preemptions
        if current is not None and preempting:
            options = [current] if spent else [current, *(task for task in options if task is not current)]
        options = options if spent else [*options, *self._late(enabled)]
        if len(self.steps) > STEPS:
            raise ViolationError("livelock")
        if len(options) > 1:
            self._enter(current if preempting else None)
        first, *others = (self.scheduler.tasks.index(task) for task in options)
        self.steps.append(Step(first, tuple(others), self.used, preempting))
        return options[0]

    def _late(self, enabled: list[Task]) -> list[Task]:
        """While operations alone could run, they may be so slow that the next time limit of the product comes first."""
        waiting = [task for task in self.scheduler.tasks if not task.done and not task.foreground and task.wake_at < NEVER]
        busy = any(not task.foreground and task.name != QUIET for task in enabled)
        return [] if not waiting or busy else [min(waiting, key=lambda task: task.wake_at)]

    def _interrupt(self, task: Task) -> None:
        if task.name == "thread 0" and self.search.signal is not None:
            self.passed += 1
            if self.passed == self.search.signal[0]:
                self.rig.run(self.search.signal[1])

    def _enter(self, current: Task | None) -> None:
        bounded = self.search.preemptions is not None and current is not None
        key = fingerprint(self.rig), current.name if bounded and current is not None else None
        if self.search.visited.get(key, 1 << 30) <= self.used:
            raise Pruned
        self.search.visited[key] = self.used

    def go(self) -> None:
        scheduler, rig = self.scheduler, self.rig
        scheduler.task("setup", partial(_all, rig, STARTS[self.search.start]))
        try:
            scheduler.run(lambda: all(map(_is_idle, scheduler.tasks)))
            self._raise()
            rig.returned.clear()
            tasks = [scheduler.task(f"thread {i}", partial(_all, rig, names), foreground=True) for i, names in enumerate(self.search.threads)]
            scheduler.controlled = True
            plan = [step.task for step in self.steps]
            scheduler.run(lambda: all(task.done for task in tasks) and all(map(_is_idle, scheduler.tasks)), plan)
            self._raise()
            rig.check_end()
        except Pruned:
            return
        except Exception as error:
            trail = (f"{name} ({point})" for name, point in scheduler.trail)
            raise ViolationError("\n  ".join((f"{type(error).__name__}: {error}", *trail))) from error

    def _raise(self) -> None:
        for error in self.scheduler.errors:
            raise error


def _is_idle(task: Task) -> bool:
    """Whether it has nothing to do, and will have nothing when time passes."""
    return task.done or (task.wake_at == NEVER and not task.enabled)


def _all(rig: Rig, names: Sequence[str]) -> None:
    for name in names:
        rig.run(name)


def explore(product: Product, start: str, threads: Sequence[Sequence[str]], **how: Any) -> Result:
    """Run every interleaving of the operations of each thread (`how`: see Search). Raises the first violation, with the schedule that leads to it."""
    search = Search(product, start, threads, **how)
    steps: list[Step] = []
    runs = 0
    while True:
        runs += 1
        steps = search.run(steps)
        while steps and not steps[-1].others:
            steps.pop()
        if not steps:
            return Result(runs, len(search.visited), frozenset(search.points))
        steps.append(steps.pop().instead())
