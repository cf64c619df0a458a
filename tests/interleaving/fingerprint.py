"""A state of a run as a text, equal for two states only if their futures are equal: shared data, monitors, and the live variables of every thread."""

import dis
import enum
import types
from collections import deque
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import pairwise
from typing import Any

from scheduler import NEVER, Task
from stop_path import Done, Rig


def fingerprint(rig: Rig) -> str:
    canon = Canon(rig).value
    d = rig.decisions
    shared = (
        [(canon(g.closed_by), canon(g.offered), canon(g.permit), g.lock.held, g.holder, g.stopped, g.out) for g in rig.gates],
        (
            d.state.name,
            d.stops,
            d._epochs,
            d._newest.copy(),
            d._ended.copy(),
            d.causes,
            canon(d._begun),
            canon(d.open_stops),
            canon(d.unsafe),
            canon(d._notices),
            {name: failure for name, (failure, _) in d._failures.items()},
        ),
        [(canon(m._stops), m.number, m.door.holder, m.door.lock.held, canon(m.worker._calls.items)) for m in rig.disarmers.values()],
        canon(d._disarming._calls.items),
        canon(d.safety._calls.items),
        rig.arming._door.lock.held,
        (rig.fuse[0], rig.level),
    )
    times = [o.began for o in rig.running.values()] + [t for o, _, at in rig.returned for t in (o.began, at)]
    rank = {t: n for n, t in enumerate(sorted(times))}  # only their order counts
    running = [
        (o.name, rank[o.began], o.epochs, [c > b for c, b in zip(rig.calls, o.calls, strict=True)], canon(o.stops)) for o in rig.running.values()
    ]
    ended = [(o.name, rank[o.began], o.epochs, getattr(a, "ok", None), rank[at]) for o, a, at in rig.returned]
    stacks = [(task.name, task.done, task.point, task.enabled, [*_frames(task, canon)]) for task in rig.scheduler.tasks]
    return repr((shared, rig.last, running, ended, stacks))


def _frames(task: Task, canon: Callable[[Any], Any]) -> Iterator[Any]:
    frame = task.frame
    while frame is not None and frame.f_code is not Task._main.__code__:
        variables = frame.f_locals
        known = [canon(variables[name]) for name in live_names(frame.f_code, frame.f_lasti) if name in variables and name not in ("self", "rig")]
        yield frame.f_code.co_qualname, frame.f_lasti, known
        frame = frame.f_back


class Canon:
    """Values as plain data; objects are numbered in the order in which they are met, because their addresses differ from run to run."""

    def __init__(self, rig: Rig) -> None:
        self._rig = rig
        self._numbers: dict[int, int] = {}

    def _number(self, x: Any) -> int:
        return self._numbers.setdefault(id(x), len(self._numbers))

    def value(self, x: Any, depth: int = 0) -> Any:
        rig, value = self._rig, self.value
        if x is None or type(x) in (bool, int, str, float):
            return x
        if isinstance(x, rig.gate_module.Permit):
            return "permit", self._number(x), x.epoch, x.granted
        if isinstance(x, rig.stop_module.Stop):
            if id(x) in self._numbers:
                return "stop", self._numbers[id(x)]
            number = self._number(x)
            answers = (
                value(x.left),
                value(x.answers),
                value(x.served),
                value(x.failures),
                x.done.is_set,
                x.begun,
                x.woken,
                x.posted,
                x.number,
                x.ends < NEVER,
            )
            return "stop", number, x.event and x.event.name, x.names, answers
        if isinstance(x, rig.gate_module.Gate):
            return "gate", x.name
        if isinstance(x, rig.making_safe_module.Disarmer):
            return "disarmer", x.gate.name
        if isinstance(x, rig.stop_module.Latch):
            return "latch", self._number(x), x.is_set
        if isinstance(x, enum.Enum):
            return x.name
        if depth > 6:
            return type(x).__name__
        if isinstance(x, Done):  # the monitors have it
            return x.name
        if isinstance(x, (set, frozenset)):
            return sorted(map(str, x))
        if isinstance(x, (tuple, list, deque)):
            return [value(y, depth + 1) for y in x]
        if isinstance(x, dict):
            return [(k, value(v, depth + 1)) for k, v in x.items() if isinstance(k, (str, int))]
        if isinstance(x, partial):
            return value(x.func, depth + 1), value(x.args, depth + 1)
        if isinstance(x, types.MethodType):
            return x.__func__.__qualname__, value(x.__self__, depth + 1)
        if isinstance(x, types.FunctionType):
            return x.__qualname__, [value(c.cell_contents, depth + 1) for c in x.__closure__ or () if _is_filled(c)]
        return type(x).__name__


def _is_filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018 (an empty one raises)
    except ValueError:
        return False
    return True


@cache
def live_names(code: types.CodeType, at: int) -> tuple[str, ...]:
    """Return the variables whose values may still be read after the instruction at an offset; those of closures always may."""
    names = _live(code).get(at, frozenset(code.co_varnames))
    return *sorted(names), *code.co_cellvars, *code.co_freevars


@cache
def _live(code: types.CodeType) -> dict[int, frozenset[str]]:
    """Return the live variables after each instruction, by backward data flow; every instruction may raise, into any handler of its function."""
    instructions = list(dis.get_instructions(code))
    handlers = [i.offset for i in instructions if i.opname == "PUSH_EXC_INFO"]
    follows = {a.offset: b.offset for a, b in pairwise(instructions)}
    successors: dict[int, list[int]] = {}
    for i in instructions:
        to = list(handlers)
        if i.opcode in dis.hasjrel or i.opcode in dis.hasjabs:
            to.append(i.argval)
        if i.opname not in ENDS and i.offset in follows:
            to.append(follows[i.offset])
        successors[i.offset] = to
    before: dict[int, set[str]] = {i.offset: set() for i in instructions}
    after: dict[int, set[str]] = {i.offset: set() for i in instructions}
    changed = True
    while changed:
        changed = False
        for i in reversed(instructions):
            out = set().union(*(before[to] for to in successors[i.offset]))
            into = set(out)
            if i.opname in ("STORE_FAST", "DELETE_FAST"):
                into.discard(i.argval)
            elif i.opname in ("LOAD_FAST", "LOAD_FAST_CHECK"):
                into.add(i.argval)
            if into != before[i.offset] or out != after[i.offset]:
                before[i.offset], after[i.offset], changed = into, out, True
    return {offset: frozenset(names) for offset, names in after.items()}


ENDS = ("RETURN_VALUE", "RAISE_VARARGS", "RERAISE", "JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT")
