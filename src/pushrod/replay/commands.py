"""The recorded commands of a run through the gates of a fresh runtime again, on a stepped clock, each at the tick of the machine that saw it.

Arming and disarming are done as they were. What only the first run could know (who held a lease, how old a command was, which driver was busy)
decides nothing here: commands that were refused for such a reason are left out, and counted. Watchdogs hear nobody fall silent here, so they are
left out too, and what they did is done again as it was.
"""

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from pushrod.core.errors import InputError
from pushrod.log.table import Table
from pushrod.replay.breaking import Change
from pushrod.replay.rebuilding import Rebuilt
from pushrod.runtime.message import Command
from pushrod.runtime.payload import BUILT_IN
from pushrod.runtime.result import Clamped, Refused
from pushrod.safety.lease import WATCHDOG

Array = NDArray[np.float64]
TOPIC = re.compile(r"/actuator/(.+)/command")
DECIDED_HERE = frozenset({"unsupported", "malformed", "sequence", "not_armed", "limits", "declined"})  # by the command and the machine alone
PARTS = 20  # how often progress is told


class Sent(NamedTuple):
    """A command and what became of it: at tick k, to an actuator by its path."""

    k: int
    t: float
    to: str
    payload: Any
    row: Mapping[str, Any]

    @property
    def by_watchdog(self) -> bool:
        return self.row.get("source") == WATCHDOG

    @property
    def became(self) -> tuple[Any, ...]:
        return self.row.get("result"), self.row.get("done"), self.row.get("reason")


class Again(NamedTuple):
    """What the world was told and gave, the joints as they were reported (t and values by "joint.position" ...), and the answers."""

    inputs: dict[str, Array]
    outputs: dict[str, Array]
    joints: dict[str, tuple[Array, Array]]
    answers: list[tuple[Any, ...]]


def has_commands(table: Table) -> bool:
    return any(TOPIC.fullmatch(name) and info.messages for name, info in table.topics.items())


def sent(table: Table, tick: Callable[[float], int]) -> tuple[list[Sent], list[str]]:
    """All commands in order of time, `tick` says which one saw it; and notes on what was left out."""
    from pushrod.live import payload as own

    all_kinds: list[type] = [*BUILT_IN, own.Actuation, own.Torque, own.Attitude, own.Flight, own.Throttle]
    kinds = {kind.__name__: kind for kind in all_kinds}
    found, strange, left = [], set(), 0
    for name in table.topics:
        if not (matched := TOPIC.fullmatch(name)):
            continue
        for t, row in table.messages(name):
            kind = kinds.get(str(row.get("kind")))
            if row.get("result") == "refused" and row.get("reason") not in DECIDED_HERE:
                left += 1
            elif kind is None or not isinstance(row.get("payload"), dict):
                strange.add(str(row.get("kind")))
            else:
                found.append(Sent(tick(t), t, matched[1], _payload(kind, row["payload"]), row))
    notes = [f"commands of a kind that is not known here are left out: {', '.join(sorted(strange))[:200]}"] if strange else []
    notes += [f"{left} commands that were refused by what was around them (leases, age, a busy driver) are left out"] if left else []
    return sorted(found, key=lambda one: one.t), notes


def _payload(kind: Any, given: dict[str, Any]) -> Any:
    """As it was; null for a number that must be there is nan."""
    fields = {name: given.get(name) for name in kind.__struct_fields__ if name in given}
    try:
        return msgspec.convert({"type": kind.__name__, **fields}, kind)
    except msgspec.ValidationError:
        required = {field.name for field in msgspec.structs.fields(kind) if field.required}
        return kind(**{name: float("nan") if value is None and name in required else value for name, value in fields.items()})


def switches(table: Table, tick: Callable[[float], int]) -> list[tuple[int, float, bool]]:
    """When it was armed (True) and disarmed."""
    found = []
    for t, row in table.messages("/safety") if "/safety" in table.topics else ():
        if "armed" in (row.get("from"), row.get("to")) and row.get("from") != row.get("to"):
            found.append((tick(t), t, row.get("to") == "armed"))
    return found


def again(
    rebuilt: Rebuilt,
    commands: list[Sent],
    arming: list[tuple[int, float, bool]],
    ticks: int,
    progress: Callable[[int, int], None],
    broken: Iterable[Change] = (),
) -> Again:
    """Run so many ticks. `broken`: what was broken or mended on the way."""
    from pushrod.live.machine import SimulatedMachine
    from pushrod.runtime.clock import SteppedClock
    from pushrod.runtime.run import run

    what = replace(rebuilt.machine, world=rebuilt.world, params=rebuilt.params) if rebuilt.machine.live is None else rebuilt.machine
    if what.robot is not None:  # what its controllers and watchdogs commanded is among the commands
        actuators = tuple(replace(actuator, watchdog=None) for actuator in what.robot.actuators)
        what = replace(what, robot=replace(what.robot, controllers=(), actuators=actuators))
    live = SimulatedMachine(what, dt=rebuilt.dt, state=rebuilt.state, seed=rebuilt.seed, instance=rebuilt.instance, record=True, ticks=ticks)
    clock = SteppedClock()
    changes = {change.k: change.params for change in broken}
    answers, joints = run(_through(live, clock, commands, arming, changes, ticks, progress), clock)
    outcome = live.run()
    return Again(live.inputs(), {name: outcome[name] for name in outcome.names}, joints, answers)


async def _through(
    live: Any,
    clock: Any,
    commands: list[Sent],
    arming: list[tuple[int, float, bool]],
    changes: Mapping[int, Any],
    ticks: int,
    progress: Callable[[int, int], None],
) -> tuple[list[tuple[Any, ...]], dict[str, tuple[Array, Array]]]:
    from pushrod.runtime.message import JointState
    from pushrod.runtime.runtime import Runtime

    due: dict[int, list[Any]] = {}
    actions: list[Any] = [*arming, *commands]
    for action in sorted(actions, key=lambda one: one[1]):
        due.setdefault(action[0], []).append(action)
    answers: list[tuple[Any, ...]] = []
    reported: dict[str, list[tuple[float, float]]] = {}
    over = asyncio.Event()
    live.finished = over.set
    async with Runtime(live.robot, machine=live, clock=clock) as rt:
        watch = rt.bus.subscribe(("actuator",), (JointState,), size=ticks * max(1, len(rt.hosts)) + 1000)

        def tick(k: int) -> None:
            if k in changes:
                live.set_params(changes[k])
            for action in due.get(k, ()) if k < ticks else ():
                if isinstance(action, Sent):
                    answers.append(_answer(rt, action))
                elif action[2] and not (armed := rt.arm()).ok:
                    raise InputError(f"{live.robot.name} cannot be armed: {armed.refusal} {'; '.join(armed.missing)}")
                elif not action[2]:
                    rt.disarm("as it was")
            if k * PARTS // ticks != (k + 1) * PARTS // ticks:
                progress(min(k + 1, ticks), ticks)

        rt.loop(hz=1.0 / live.dt, name="replay", rank=0)(tick)
        await over.wait()
        while (message := watch.poll()) is not None:
            _note(reported, message.time, message.payload)
    return answers, {name: (np.array([t for t, _ in rows]), np.array([x for _, x in rows])) for name, rows in reported.items()}


def _answer(rt: Any, command: Sent) -> tuple[Any, ...]:
    row = command.row
    if command.by_watchdog:
        return _became(_bite(rt, command))
    send = rt.handle(command.to, str(row.get("source", "local"))).direct.send
    result = send(command.payload, sequence=int(row.get("sequence") or 0), priority=int(row.get("priority") or 0), id=row.get("id"))
    return _became(result)


def _bite(rt: Any, command: Sent) -> Any:
    """What a watchdog did, without the lease it took: who was refused for that is not among the commands."""
    host = rt.handle(command.to).host
    result = host.gate(Command(command.payload, WATCHDOG, rt.clock.now(), epoch=host.gate.epoch))
    if not result.ok:
        rt.arming.make_one_safe(host.name)
    return result


def _became(result: Any) -> tuple[Any, ...]:
    if isinstance(result, Refused):
        return "refused", None, result.reason
    if isinstance(result, Clamped):
        return "clamped", msgspec.to_builtins(result.done), None
    return "accepted", None, None


def _note(reported: dict[str, list[tuple[float, float]]], t: float, state: Any) -> None:
    for kind, values in (("position", state.positions), ("velocity", state.velocities), ("effort", state.efforts)):
        for joint, value in zip(state.names, values, strict=False):
            reported.setdefault(f"{joint}.{kind}", []).append((t, value))
