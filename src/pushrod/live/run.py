"""Run a scenario through the runtime under the stepped clock: arm, send, disarm; what the world did, and what became of every command.

    commands of the scenario           sent at their ticks, by `publish`
    signals named after an actuator    a position every tick, by `direct`
    signals of channels                where a port has commands of its own (a car, a spacecraft): one every tick, by `direct`; all that
                                       belongs to no port (the slope of the road) is told to the world itself
                                       where the robot's controllers do what the world does by itself (a boat): told to them, see NODES
A world sees what it would see in a rollout of the same signals, tick by tick, so the trajectories are equal to the last bit: `against_rollout`.
"""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from pushrod.compiled.rollout import rollout
from pushrod.core.errors import InputError
from pushrod.live.boat import Sailing
from pushrod.live.command_port import CommandPort
from pushrod.live.machine import Array, SimulatedMachine
from pushrod.log.writer import Said
from pushrod.recording.taped import Taped
from pushrod.runtime.clock import SteppedClock
from pushrod.runtime.message import EndMotion
from pushrod.runtime.payload import Effort, Hold, Payload, Position, Stop, Trajectory, Velocity, Waypoint
from pushrod.runtime.result import Clamped, Refused, Result
from pushrod.runtime.run import run
from pushrod.runtime.runtime import Runtime
from pushrod.runtime.simulated.port import JointPort
from pushrod.sim.command import Scripted
from pushrod.sim.machine import Machine
from pushrod.sim.pipeline_topics import pipeline_topics
from pushrod.sim.run import Result as Outcome
from pushrod.sim.run import check_room, compared, finish, interrupted, sample, sample_track
from pushrod.sim.run import simulate as simulate_world
from pushrod.sim.scenario import Scenario

PARTS = 20  # how often progress is told
NODES = {"boat": Sailing}  # who tells the controllers of a robot the signals of its world, by that
PAYLOADS: dict[str, Callable[..., Payload]] = {"position": Position, "velocity": Velocity, "effort": Effort, "hold": Hold, "stop": Stop}


class Answered(NamedTuple):
    """A command of the script, the runtime's answer, and the end of its motion if there was one, with its time [s]."""

    command: Scripted
    result: Result
    ended: float | None = None
    end: EndMotion | None = None


class Stream(NamedTuple):
    """What became of the commands sent to an actuator every tick: how many, how many clamped, how many refused, and the first refusal."""

    actuator: str
    sent: int
    clamped: int
    refused: int
    first: Refused | None


class Live(NamedTuple):
    """A finished run: as one of `sim.run`, and what became of what was asked. `notes`: what else was refused."""

    outcome: Outcome
    answers: tuple[Answered, ...]
    streams: tuple[Stream, ...]
    machine: SimulatedMachine
    notes: tuple[str, ...] = ()
    said: tuple[Said, ...] = ()  # all that was on the bus and at the gates, for its log


class Difference(NamedTuple):
    """A live run against a rollout of the same inputs: how many signals, the one that differs most, by how much, and where first [s]."""

    signals: int
    ticks: int
    signal: str = ""
    most: float = 0.0
    since: float = 0.0


class Feed:
    """Payloads for one actuator, one per tick."""

    def __init__(self, actuator: str, payload: Callable[[int], Payload]) -> None:
        self.actuator = actuator
        self.payload = payload
        self.sent = self.clamped = self.refused = 0
        self.first: Refused | None = None

    def note(self, result: Result) -> None:
        self.sent += 1
        if isinstance(result, Clamped):
            self.clamped += 1
        elif isinstance(result, Refused):
            self.refused += 1
            self.first = self.first or result

    def total(self) -> Stream:
        return Stream(self.actuator, self.sent, self.clamped, self.refused, self.first)


def payload_of(command: Scripted) -> Payload:
    """What is sent."""
    if command.verb == "trajectory":
        return Trajectory(tuple(Waypoint(**point) for point in command.values["waypoints"]), command.values["repeat"])
    return PAYLOADS[command.verb](**command.values)


def simulate(machine: Machine, scenario: Scenario, progress: Callable[[int, int], None] = lambda done, total: None, *, taped: bool = False) -> Live:
    """The whole scenario. `progress(done, total)` is called with ticks, from 0 on. `taped`: keep what the runtime says, for the log."""
    check_room(scenario)
    told = sample(machine, scenario)
    live = SimulatedMachine.of(machine, scenario)
    nodes = _nodes(machine, scenario, told)
    feeds = [] if nodes else _feeds(live, scenario, told)
    progress(0, scenario.steps)
    clock = SteppedClock()
    rt = Runtime(live.robot, machine=live, clock=clock)
    tape = Taped(rt, ticks=False, skipped=[topic.name for topic in pipeline_topics(machine.world)])
    try:
        with tape if taped else nullcontext():
            answers = run(_through_runtime(rt, live, scenario, feeds, nodes, progress), clock)
    except KeyboardInterrupt:  # all is disarmed by now
        if live.k == 0:
            raise
        whole = live.run() if nodes is None else nodes.run(scenario.world, live.run(), live.state)
        raise interrupted(machine, scenario, whole, live.inputs() if nodes is None else dict(told), live=True, said=tape.said) from None
    if nodes is None:
        outcome = finish(machine, scenario, live.run(), live.inputs(), True, tape.said)
        made = Live(outcome, answers, tuple(feed.total() for feed in feeds), live)
    else:
        outcome = finish(machine, scenario, nodes.run(scenario.world, live.run(), live.state), dict(told), True, tape.said)
        made = Live(outcome, answers, tuple(Stream(name, *sent) for name, sent in nodes.sent.items()), live, tuple(nodes.refused_switches))
    again = replace(scenario, comparisons=())
    judged = compared(outcome, lambda params: simulate(machine, replace(again, params=params)).outcome.columns, True, tape.said)
    return made._replace(outcome=judged, said=tuple(tape.said))


def against_rollout(live: Live) -> Difference:
    """What the same inputs come to in one compiled run of the whole world."""
    how, run = live.outcome.scenario, live.outcome.run
    inputs = {name.removeprefix("in."): column for name, column in live.outcome.columns.items() if name.startswith("in.")}
    plain = rollout(how.world, how.params, inputs, steps=how.steps, dt=how.dt, state=how.state, seed=how.seed, instance=how.instance)
    differs = ~((run.data == plain.data) | (np.isnan(run.data) & np.isnan(plain.data)))[:, :, 0]
    if not differs.any():
        return Difference(len(run.names), how.steps)
    apart = np.abs(run.data - plain.data)[:, :, 0]
    j = int(np.argmax(np.nanmax(apart, axis=0)))
    first = int(np.argmax(differs.any(axis=1)))
    return Difference(len(run.names), how.steps, run.names[j], float(np.nanmax(apart[:, j])), float(plain.t[first]))


def outcome(machine: Machine, scenario: Scenario) -> Outcome:
    """What a scenario comes to: through the runtime where it commands actuators, else straight through the world."""
    return simulate(machine, scenario).outcome if scenario.live else simulate_world(machine, scenario)


async def _through_runtime(
    rt: Runtime, live: SimulatedMachine, scenario: Scenario, feeds: list[Feed], nodes: Sailing | None, progress: Callable[[int, int], None]
) -> tuple[Answered, ...]:
    over = asyncio.Event()
    live.finished = over.set
    due: dict[int, list[Scripted]] = {}
    for command in scenario.commands:
        due.setdefault(command.k, []).append(command)
    answers: list[Answered] = []
    ends: dict[str, tuple[float, EndMotion]] = {}
    async with rt:
        armed = rt.arm()
        if not armed.ok:
            raise InputError(f"{live.robot.name} cannot be armed: {armed.refusal} {'; '.join(armed.missing)}")
        watch = rt.bus.subscribe(("actuator",), (EndMotion,), size=scenario.steps + len(scenario.commands) + 1)
        senders = [(feed, rt[feed.actuator].direct) for feed in feeds]
        if nodes is not None:
            nodes.begin(rt)

        def tick(k: int) -> None:
            if k >= scenario.steps:
                return  # at the very end nothing is asked any more
            if nodes is not None:
                nodes.tick(k)
            for feed, direct in senders:
                feed.note(direct.send(feed.payload(k)))
            for command in due.get(k, ()):
                answers.append(Answered(command, rt[command.to].publish.send(payload_of(command), id=command.id)))
            if k * PARTS // scenario.steps != (k + 1) * PARTS // scenario.steps:
                progress(k + 1, scenario.steps)

        rt.loop(hz=1.0 / scenario.dt, name=f"scenario {scenario.name}", rank=0)(tick)  # before the controllers, which heed it in the same tick
        await over.wait()
        rt.disarm("the scenario has ended")
        while (message := watch.poll()) is not None:
            ends[message.payload.command_id or ""] = (message.time, message.payload)
    return tuple(Answered(command, result, *ends.get(command.id, ())) for command, result, *_ in answers)


def _nodes(machine: Machine, scenario: Scenario, told: Mapping[str, Array]) -> Sailing | None:
    if machine.live is None:
        return None
    if machine.world.name not in NODES:
        raise InputError(
            f"nobody knows which signals of the world {machine.world.name} are for which controller of {machine.name}: run it without --live, "
            "or start SimulatedMachine in a Runtime and tell them yourself"
        )
    return NODES[machine.world.name](scenario, told)


def _feeds(live: SimulatedMachine, scenario: Scenario, told: Mapping[str, Array]) -> list[Feed]:
    """What is sent every tick; the rest of the signals surrounds the world."""
    t = np.arange(scenario.steps, dtype=np.float64) * scenario.dt
    feeds: list[Feed] = []
    for actuator, place in live.places.items():
        signals = [path for path in place.paths.values() if path in scenario.tracks]
        own = issubclass(place.kind, CommandPort)
        if actuator in scenario.streams and issubclass(place.kind, JointPort):
            feeds.append(Feed(actuator, _positions(sample_track(scenario.streams[actuator], t))))
        elif actuator in scenario.streams:
            scenario.document.add(("signals", actuator), f"{actuator} takes no positions; give signals for {', '.join(place.paths.values())}")
        if signals and own:
            feeds.append(Feed(actuator, _commands(place.kind, {name: told[path].tolist() for name, path in place.paths.items()})))
        for path in signals if not own else ():
            scenario.document.add(("signals", path), f"through the runtime this is told by {actuator}: command that, or give a signal {actuator}")
    scenario.document.raise_problems()
    owned = {path for place in live.places.values() for path in place.paths.values()}
    live.surround({channel: told[channel] for channel in scenario.tracks if channel not in owned})
    return feeds


def _positions(values: Array) -> Callable[[int], Payload]:
    positions = values.tolist()
    return lambda k: Position(positions[min(k, len(positions) - 1)])


def _commands(kind: Any, columns: Mapping[str, list[float]]) -> Callable[[int], Payload]:
    def payload(k: int) -> Payload:
        return kind.payload({name: column[min(k, len(column) - 1)] for name, column in columns.items()})  # type: ignore[no-any-return]

    return payload
