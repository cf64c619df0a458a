"""The stop path as it is shipped, under a controlled scheduler: operations on it, and what must hold whatever their order."""

import importlib
import sys
import types
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from scheduler import GIVE_WAY, NEVER, Primitives, Scheduler, Task, compile_with_points, points

from pushrod.guard.judge import ARMED
from pushrod.robot.description import Limits
from pushrod.robot.transmission import Transmission
from pushrod.runtime.message import Command
from pushrod.runtime.payload import Position
from pushrod.safety.state import State

MODULES = ("door", "stop", "worker", "gate", "making_safe", "deciding", "arming")  # in the order of their imports


class Edit(NamedTuple):
    """A defect put into the source of one module: the text, which occurs once, and what takes its place."""

    module: str
    old: str
    new: str


class ViolationError(AssertionError):
    """Something happened that must never happen."""


class Product:
    """The modules under test, loaded anew with primitives of the scheduler, and with defects where asked."""

    def __init__(self, edits: Sequence[Edit] = ()) -> None:
        self.texts: dict[str, tuple[Path, str]] = {}
        for name in MODULES:
            file = Path(str(importlib.import_module(f"pushrod.runtime.{name}").__file__))
            text = file.read_text()
            for edit in edits:
                if edit.module == name:
                    assert text.count(edit.old) == 1, f"{name}: {edit.old!r} occurs {text.count(edit.old)} times"
                    text = text.replace(edit.old, edit.new)
            self.texts[name] = file, text
        self.code = {name: compile_with_points(text, file) for name, (file, text) in self.texts.items()}
        self.points = {name for _, text in self.texts.values() for name in points(text).values()}
        self.primitives = Primitives()
        self.modules = self._load()

    def _load(self) -> dict[str, types.ModuleType]:
        kept = {f"pushrod.runtime.{name}": sys.modules[f"pushrod.runtime.{name}"] for name in MODULES}
        made = {}
        try:
            for name in MODULES:
                module = types.ModuleType(f"pushrod.runtime.{name}")
                sys.modules[module.__name__] = module
                setattr(module, GIVE_WAY, self.primitives.at)
                exec(self.code[name], module.__dict__)
                for what in ("threading", "time"):
                    if hasattr(module, what):
                        setattr(module, what, self.primitives)
                if hasattr(module, "REPORTED"):
                    module.REPORTED = 0.0  # reports come in their own time
                if hasattr(module, "SimpleQueue"):
                    module.SimpleQueue = self.primitives.SimpleQueue  # type: ignore[attr-defined]
                if hasattr(module, "get_ident"):
                    module.get_ident = self.primitives.get_ident  # type: ignore[attr-defined]
                made[name] = module
        finally:
            sys.modules.update(kept)
        made["gate"].Permit = _granted(made["gate"].Permit)  # type: ignore[attr-defined]
        return made


def _granted(kind: Any) -> Any:
    """A permit that keeps the epoch it was granted with, for the monitors."""

    class Permit(kind):  # type: ignore[misc]
        __slots__ = ("granted",)

        def __init__(self, epoch: int) -> None:
            super().__init__(epoch)
            self.granted = epoch

    return Permit


class Done(NamedTuple):
    """An operation that has begun: when, and what had been before."""

    name: str
    began: int
    epochs: int
    calls: tuple[int, ...]
    stops: tuple[Any, ...]  # under way


class Rig:
    """Actuators with gates and disarm functions, and the monitors of what must hold."""

    def __init__(self, product: Product, scheduler: Scheduler, actuators: int) -> None:
        modules = product.modules
        product.primitives.scheduler = scheduler
        self.scheduler = scheduler
        self.primitives = product.primitives
        self.gate_module, self.stop_module, self.making_safe_module = modules["gate"], modules["stop"], modules["making_safe"]
        self.fuse = [0]
        self.time = 0
        self.calls = [0] * actuators  # of disarm functions
        self.last = ["safe"] * actuators  # what reached each motor last
        self.returned: list[tuple[Done, Any, int]] = []  # with the time of the return
        self.running: dict[int, Done] = {}
        self.stopping: list[int] = []  # the threads inside a stop
        self.observer_raises = False
        gates = []
        for i in range(actuators):
            gate = self.gate_module.Gate(f"m{i}", partial(self._act, i), (Position,), Limits(), Transmission(), lambda: 0.0)
            gate.fuse = self.fuse
            gates.append(gate)
        disarmers = {gate.name: modules["making_safe"].Disarmer(gate, lambda options, i=i: self._disarm(i), {}, True) for i, gate in enumerate(gates)}
        self.gates = gates
        self.disarmers = disarmers
        self.level = 0  # how closely the guard looks
        self.decisions = modules["deciding"].Decisions(disarmers, self._observe, failed=self._failed, guarded=self._guarded)
        self.arming = modules["arming"].Arming(self.decisions, self._check, self._guarded)
        self.decisions.open()

    # foreign code

    def _act(self, i: int, payload: Any, command: Command) -> None:
        frame: Any = sys._getframe().f_back
        while "permit" not in frame.f_locals:
            frame = frame.f_back
        granted = frame.f_locals["permit"].granted
        for stop, _, _ in self.returned:
            if stop.name in STOPS and granted <= stop.epochs:
                self._violated(f"the driver of m{i} was called under arming {granted} after {stop.name} had returned")
        self.scheduler.at("driver entered")
        if self.gates[i].epoch not in (0, granted):
            self._violated(f"m{i} was moved by a command of arming {granted} under arming {self.gates[i].epoch}")
        self.last[i] = "act"
        self.scheduler.at("driver acted")

    def _violated(self, what: str) -> None:
        """Inside a driver: the gate keeps what a driver raises."""
        self.scheduler.errors.append(ViolationError(what))

    def _disarm(self, i: int) -> None:
        self.scheduler.at("disarm entered")
        self.calls[i] += 1
        self.last[i] = "safe"
        self.scheduler.at("disarm done")

    def _check(self) -> list[str]:
        self.scheduler.at("check")
        return []

    def _guarded(self, level: int) -> list[str]:
        self.scheduler.at("guard")
        self.level = level
        self.scheduler.at("guarded")
        return []

    def _observe(self, old: State, new: State, why: str) -> None:
        if self.observer_raises:
            raise OSError("an observer failed")

    def _failed(self, error: BaseException) -> None:
        if not isinstance(error, OSError):
            self.scheduler.errors.append(error)

    # operations

    def run(self, name: str) -> Any:
        self.time += 1
        done = self.running[self.time] = Done(
            name, self.time, self.decisions._epochs, tuple(self.calls), (*self.decisions._begun, *self.decisions.open_stops)
        )
        if name in STOPS:
            self.stopping.append(self.primitives.get_ident())
        answer = OPERATIONS[name](self)
        if name in STOPS:
            self.stopping.remove(self.primitives.get_ident())
        del self.running[done.began]
        self.time += 1
        self.returned.append((done, answer, self.time))
        self._check_returned(done, answer)
        return answer

    def _check_returned(self, done: Done, answer: Any) -> None:
        if done.name in STOPS:
            for i, gate in enumerate(self.gates):
                if self.calls[i] <= done.calls[i]:
                    raise ViolationError(f"{done.name} returned and the disarm function of m{i} was not called")
                if 0 < gate.epoch <= done.epochs:
                    raise ViolationError(f"{done.name} returned and the gate of m{i} is open")
        under_way = (*self.decisions._begun, *self.decisions.open_stops)
        if done.name in ("arm", "reset") and answer.ok and any(stop in under_way for stop in done.stops):
            raise ViolationError(f"{done.name} succeeded while an earlier stop was making safe")
        if done.name == "arm" and answer.ok:
            for stop, _, at in self.returned:
                if stop.name == "estop" and at < done.began and not self._cleared(stop):
                    raise ViolationError("armed although an e-stop was latched")

    def _cleared(self, stop: Done) -> bool:
        """A reset that began after the e-stop and succeeded."""
        return any(one.name == "reset" and answer.ok and one.began > stop.began for one, answer, _ in self.returned)

    def check_waiting(self, tasks: list[Task]) -> None:
        """A stop waits for threads of the product alone, never for another operation."""
        if any(task.enabled or task.wake_at < NEVER for task in tasks if not task.foreground):
            return
        for task in tasks:
            if task.ident in self.stopping and not task.done and not task.enabled:
                raise ViolationError(f"a stop on {task.name} waits for another operation")

    def check_end(self) -> None:
        """What must hold when everything has come to an end."""
        decisions = self.decisions
        for stop, _, _ in self.returned:
            if stop.name == "estop" and not self._cleared(stop) and decisions.state is not State.ESTOPPED:
                raise ViolationError(f"the latch of an e-stop is lost: {decisions.state.value}")
        crashed = any(done.name == "crash" for done, _, _ in self.returned)
        for i, gate in enumerate(self.gates):
            if not gate.epoch and self.last[i] == "act":
                raise ViolationError(f"m{i} was moved after its disarm function, and is not armed")
            if decisions.state is State.ARMED and not gate.epoch and not (crashed and i == 0):
                raise ViolationError(f"armed, and the gate of m{i} is closed")
            if decisions.state is not State.ARMED and gate.epoch:
                raise ViolationError(f"{decisions.state.value}, and the gate of m{i} is open")
        if decisions.state is State.ARMED and self.level != ARMED:
            raise ViolationError("armed, and the guard does not look")
        if decisions.open_stops:
            raise ViolationError("a stop never ended")


STOPS = ("disarm", "estop", "fault")


def _guard(rig: Rig) -> None:
    rig.fuse[0] = 1
    rig.arming.begin_fault("guard")


def _crash(rig: Rig) -> None:
    rig.gates[0].close("crash")
    rig.arming.make_one_safe("m0")


def _command(rig: Rig) -> Any:
    return rig.gates[0](Command(Position(0.0), "test", 0.0))


OPERATIONS: dict[str, Callable[[Rig], Any]] = {
    "arm": lambda rig: rig.arming.arm(),
    "disarm": lambda rig: rig.arming.disarm(),
    "estop": lambda rig: rig.arming.estop(OSError("x")),
    "fault": lambda rig: rig.arming.fault("x"),
    "reset": lambda rig: rig.arming.reset(),
    "force_disarm": lambda rig: rig.arming.force_disarm(),
    "crash": _crash,
    "guard": _guard,
    "command": _command,
}
STARTS: dict[str, tuple[str, ...]] = {"disarmed": (), "armed": ("arm",), "error": ("arm", "fault"), "estopped": ("arm", "estop")}
