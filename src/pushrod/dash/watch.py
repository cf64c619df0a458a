"""The robot as the process of the page sees it: one connection that watches, for all browsers; and by which everybody may stop it.

It listens to what the robot publishes, asks twice a second how it is, and connects again where the host has been started anew. What was seen of a
robot is kept as long as it is the same one.
"""

import asyncio
import logging
import time
from math import inf
from typing import Any, NamedTuple

from pushrod.core.errors import NetworkError
from pushrod.core.record import flat, is_record, numbers
from pushrod.dash.event import Events, told
from pushrod.dash.history import Channel, Group
from pushrod.live.autopilot import Steering
from pushrod.live.payload import Flight
from pushrod.live.pipeline.request import Status, Switched
from pushrod.live.thruster import ThrusterState
from pushrod.live.world_sensor import NAME as WORLD
from pushrod.live.world_sensor import WorldNow, WorldTold
from pushrod.net import Foreign, Overview, RemoteRobot, connect
from pushrod.net.link import Link
from pushrod.pipeline.topic import ActuatorCmd, ActuatorReq, Allocated, Diagnostics, EscOutput, MixerFeedback
from pushrod.robot.description import Robot
from pushrod.robot.joint import units
from pushrod.runtime.message import (
    HardwareError,
    JointState,
    LeaseChanged,
    Message,
    OperatorVanished,
    Outcome,
    ParameterChanged,
    Requested,
    Transition,
)
from pushrod.runtime.payload import Effort, Hold, Position, Stop, Velocity
from pushrod.runtime.result import Clamped, Refused

log = logging.getLogger("pushrod.dash")
LOOK = 0.5  # [s] between two questions how it is
PIPELINE = (ActuatorReq, ActuatorCmd, Allocated, EscOutput, MixerFeedback, Diagnostics)
HEARD = (*PIPELINE, Steering, Status, Switched, WorldTold, WorldNow)
KINDS = (*HEARD, ThrusterState)  # beside what every bus knows
QUEUE = 8192
TOGETHER = 0.03  # [s]
SETTLING = 10.0  # [s] to wait at most for the outputs of a world, by which plots and view are chosen
SHORT = 1.0  # [s] the same where there is no world, and perhaps nothing that speaks
COMMANDED: dict[Any, str] = {Position: "position", Velocity: "velocity", Effort: "effort"}
RESULTS = 5  # of each actuator that are shown
SUCCESSION = 2.0  # [s] within which commands of one kind are told as one


class Noted(NamedTuple):
    """What became of commands of one kind, `n` in quick succession; of the last of them what was asked, and when by the wall clock [s]."""

    time: float
    source: str
    result: Any
    payload: Any = None  # None of one that was refused here, before it was sent
    n: int = 1

    def goes_on(self, later: "Noted") -> bool:
        """Whether the later one is of the same kind, as while a slider is moved."""
        same = (self.source, type(self.payload), type(self.result)) == (later.source, type(later.payload), type(later.result))
        return same and later.time - self.time < SUCCESSION and (not isinstance(self.result, Refused) or self.result == later.result)


class Watch:
    """`name` is how it calls itself at the host. `changed` is called when the robot is another one than before."""

    def __init__(self, robot: str, link: Link, name: str) -> None:
        self.robot = robot
        self.link = link
        self.name = name
        self.remote: RemoteRobot | None = None
        self.described: Robot | None = None
        self.overview: Overview | None = None
        self.missing: list[str] = []
        self.parameters: list[dict[str, Any]] = []
        self.parameters_read = 0  # goes up whenever they were read again
        self.world: WorldTold | None = None
        self.now: dict[str, float] = {}  # outputs of the world
        self.joints: dict[str, JointState] = {}
        self.said: dict[str, dict[str, Any]] = {}  # what drivers say of themselves, by actuator
        self.records: dict[type, Any] = {}  # the newest of each record of the pipeline
        self.status: Status | None = None
        self.thrusters: dict[str, ThrusterState] = {}  # by actuator
        self.asked: dict[str, Any] = {}  # the command in force, by actuator; none after a stop or a disarming
        self._decided: dict[str, float] = {}  # when the newest command, stop or hold of each actuator acted [s, clock of the robot]
        self._disarmed = -inf  # when the robot was last not armed [s, clock of the robot]
        self.world_time = 0.0  # [s]
        self.leases: dict[str, str | None] = {}
        self._leased: dict[str, float] = {}  # when each of them was last told of [s]
        self.results: dict[str, list[Noted]] = {}  # the newest first, by actuator
        self.stops: dict[str, int] = {}  # that have acted, by actuator, by whoever
        self.groups: dict[str, Group] = {}
        self.events = Events()
        self.generation = 0  # goes up when it is another robot than before
        self.why_gone = "not connected yet"
        self._heard: float = time.monotonic()
        self._known: Any = None  # what the page was built from

    @property
    def alive(self) -> bool:
        return self.remote is not None and self.remote.alive

    @property
    def silence(self) -> float:
        """Since something was heard of the robot [s]."""
        return time.monotonic() - self._heard

    @property
    def state(self) -> str:
        return str(self.remote.state) if self.remote is not None and self.alive else "gone"

    def channels(self) -> dict[str, Channel]:
        return {name: channel for group in self.groups.values() for name, channel in group.channels.items()}

    def group_of(self, channel: str) -> Group | None:
        return next((group for group in self.groups.values() if channel in group.channels), None)

    async def run(self) -> None:
        """For ever: connect, watch, connect again."""
        while True:
            try:
                await self._once()
                continue  # connected again: listen at once
            except (NetworkError, TimeoutError) as error:
                self.why_gone = str(error)
            except Exception as error:  # the page goes on showing that nothing is known
                log.exception("watching %s failed", self.robot)
                self.why_gone = f"{type(error).__name__}: {error}"
            await asyncio.sleep(LOOK)

    async def open(self) -> None:
        """The first connection; NetworkError where there is no such robot."""
        self.remote = await connect(self.robot, self.link, operator=self.name, kinds=KINDS)
        await self._learn(self.remote)

    async def settled(self) -> None:
        """Until what a page is built from has come, or a while has passed."""
        start = time.monotonic()
        while self.remote is not None and self.remote.alive:
            waited, nodes = time.monotonic() - start, self.remote.description.nodes
            world = self.world is not None and bool(self.now)
            rest = bool(self.groups) and ("autopilot" not in nodes or Steering in self.records)
            if (rest or waited > SHORT) and (WORLD not in nodes or world or waited > SETTLING):
                break
            await asyncio.sleep(0.05)

    async def close(self) -> None:
        remote, self.remote = self.remote, None
        if remote is not None:
            await remote.close()

    async def _once(self) -> None:
        if self.remote is None:
            await self.open()
        remote = self.remote
        assert remote is not None
        listening = asyncio.create_task(self._listen(remote))
        try:
            gone = 0.0
            while gone < 2.0:
                if remote.alive:
                    gone = 0.0
                    await self._look(remote)
                else:
                    gone += LOOK
                    self.why_gone = f"the host of {self.robot} does not answer"
                await asyncio.sleep(LOOK)
        finally:
            listening.cancel()
        fresh = await connect(self.robot, self.link, operator=self.name, kinds=KINDS)  # NetworkError while nobody is there
        self.remote = fresh
        await abandon(remote)
        await self._learn(fresh)

    async def _learn(self, remote: RemoteRobot) -> None:
        before = self._known
        self.described = await remote.described()
        self.overview = await self._asked(remote)
        self.missing = await remote.missing()
        self.parameters = await remote.parameters.list()
        self._known = (remote.description, repr(self.described), [entry["path"] for entry in self.parameters])
        if self._known == before:
            for group in self.groups.values():
                group.interrupt()
        else:
            self.groups, self.world, self.now, self.records, self.joints = {}, None, {}, {}, {}
            self.thrusters, self.status = {}, None
            self.generation += 1
        self.asked, self._decided, self._disarmed = {}, {}, -inf  # of this connection alone: the robot may have restarted
        self.parameters_read += 1
        self.events.add(time.time(), "info", "page", f"connected to {self.robot}")

    async def _look(self, remote: RemoteRobot) -> None:
        try:
            self.overview = await self._asked(remote)
            self._heard = time.monotonic()
            if self.overview.state != "armed":
                self.missing = await remote.missing()
        except (NetworkError, TimeoutError):
            return

    async def _asked(self, remote: RemoteRobot) -> Overview:
        """How it is, and who holds what; where that has been told of since the question, the answer is older."""
        asked = time.monotonic()
        overview = await remote.overview()
        told = {name: owner for name, owner in self.leases.items() if self._leased.get(name, 0.0) > asked}
        self.leases = {one.name: one.lease for one in overview.actuators} | told
        return overview

    def note_lease(self, actuator: str, owner: str | None) -> None:
        self.leases[actuator] = owner
        self._leased[actuator] = time.monotonic()

    async def _listen(self, remote: RemoteRobot) -> None:
        actuators = remote.subscribe("actuator", (), QUEUE, latched=True, glance=True)
        rest = remote.subscribe((), (Transition, HardwareError, OperatorVanished, ParameterChanged, *HEARD), QUEUE, latched=True, glance=True)
        asked = remote.subscribe("controller", (Requested,), QUEUE, latched=True, glance=True)
        all_of_them = [asyncio.create_task(self._hear(heard)) for heard in (actuators, rest, asked)]
        try:
            await asyncio.gather(*all_of_them)
        finally:
            for task in all_of_them:
                task.cancel()

    async def _hear(self, subscription: Any) -> None:
        """What has come is taken together, at most every TOGETHER seconds: each time this process wakes it may take a core from a control loop."""
        async for first in subscription:
            message: Message | None = first
            while message is not None:
                try:
                    self._take(message)
                except Exception:  # one strange message does not end the watching
                    log.exception("a message at %s could not be shown", "/".join(message.topic))
                message = subscription.poll()
            await asyncio.sleep(TOGETHER)

    def _take(self, message: Message) -> None:
        payload, t = message.payload, message.wall_time
        self._heard = time.monotonic()
        found = told(message)
        if found is not None:
            self.events.add(t, *found)
        kind = type(payload)
        if kind is WorldNow:
            self._world(t, payload)
        elif kind is JointState:
            self._joint(t, payload)
        elif kind in PIPELINE or kind is Steering:
            self._record(t, message)
        elif kind is Outcome:
            self._outcome(t, message)
        elif kind is WorldTold:
            if payload != self.world:
                rows = zip(payload.names, payload.units, payload.abouts, payload.words, strict=True)
                self.groups["world"] = Group(Channel(f"world/{name}", *more) for name, *more in rows)
            self.world = payload
        elif kind is LeaseChanged:
            self.note_lease(message.topic[-1], payload.new)
        elif kind is ParameterChanged:
            self._parameter(payload)
        elif kind is Status:
            self.status = payload
        elif kind is Transition and payload.to != "armed":
            self._disarmed = max(self._disarmed, message.time)
            self.asked = {name: asked for name, asked in self.asked.items() if self._decided[name] > self._disarmed}
        elif kind is ThrusterState:
            self.thrusters[message.topic[-1]] = payload
            self._put(f"thruster {message.topic[-1]}", t, [(Channel(f"actuator/{message.topic[-1]}.u", "-"), payload.u)])
        elif kind is Foreign and message.topic[0] == "actuator" and isinstance(payload.data, dict) and payload.kind != "Outputs":
            self.said[message.topic[-1]] = {name: value for name, value in payload.data.items() if name != "type"}

    def _world(self, t: float, now: WorldNow) -> None:
        if self.world is None or len(now.values) != len(self.world.names):
            return
        self.now = dict(zip(self.world.names, now.values, strict=True))
        self.world_time = now.t
        self.groups["world"].put(t, now.values)

    def _joint(self, t: float, state: JointState) -> None:
        kinds = {joint.name: joint.kind for joint in self.described.joints} if self.described is not None else {}
        for i, name in enumerate(state.names):
            si = units(kinds.get(name, "revolute"))
            self.joints[name] = JointState((name,), state.positions[i : i + 1], state.velocities[i : i + 1], state.efforts[i : i + 1])
            parts = (("position", state.positions), ("velocity", state.velocities), ("effort", state.efforts))
            self._put(f"joint {name}", t, [(Channel(f"joint/{name}.{what}", si[what]), values[i]) for what, values in parts if values])

    def _record(self, t: float, message: Message) -> None:
        record: Any = message.payload
        if not is_record(type(record)):
            return
        self.records[type(record)] = record
        topic = "/".join(message.topic[1:])
        leaves = numbers(type(record))
        values = flat(record)
        metas: list[Any] = [leaf.meta for leaf in leaves]
        self._put(
            f"{topic} {type(record).__name__}",
            t,
            [(Channel(f"{topic}.{leaf.path}", str(meta.unit), meta.about), x) for leaf, meta, x in zip(leaves, metas, values, strict=True)],
        )

    def _put(self, group: str, t: float, values: list[tuple[Channel, float]], steady: bool = True) -> None:
        if group not in self.groups:
            self.groups[group] = Group((channel for channel, _ in values), steady=steady)
        if len(values) == len(self.groups[group].channels):
            self.groups[group].put(t, (x for _, x in values))

    def _outcome(self, t: float, message: Message) -> None:
        outcome: Outcome = message.payload
        name = message.topic[-1]
        if not isinstance(outcome.result, Refused):
            done = outcome.result.done if isinstance(outcome.result, Clamped) else outcome.command.payload
            field = COMMANDED.get(type(done))
            if type(done) in (Stop, Hold):
                self.stops[name] = self.stops.get(name, 0) + 1
            self._decide(name, done, message.time)
            if field is not None:
                kinds = {a.name: a.kind for a in self.remote.description.actuators} if self.remote is not None else {}
                unit = units(kinds.get(name, "revolute"))[field]
                self._put(f"command {name} {field}", t, [(Channel(f"command/{name}.{field}", unit), getattr(done, field))], steady=False)
        self.note(name, Noted(t, outcome.command.source, outcome.result, outcome.command.payload))

    def _decide(self, actuator: str, done: Any, t: float) -> None:
        """Note the command in force. A stop is sent at once and a stream of commands at intervals, so an older command may arrive after it."""
        if t < max(self._decided.get(actuator, -inf), self._disarmed):
            return
        self._decided[actuator] = t
        if type(done) not in (Stop, Hold):
            self.asked[actuator] = done
            return
        held = self.asked.pop(actuator, None)
        if type(done) is Hold and isinstance(held, Flight):  # it keeps height and heading
            self.asked[actuator] = Flight(held.z, 0.0, 0.0, held.yaw)

    def note(self, actuator: str, noted: Noted) -> None:
        """What became of a command, for its card; those in quick succession are one line, of the last of them."""
        kept = self.results.setdefault(actuator.rpartition("/")[2], [])
        if kept and kept[0].goes_on(noted):
            kept[0] = noted._replace(n=kept[0].n + 1)
            return
        kept.insert(0, noted)
        del kept[RESULTS:]

    def _parameter(self, change: ParameterChanged) -> None:
        for entry in self.parameters:
            if entry["path"] == change.path:
                entry |= {"value": change.new, "source": change.source}
        self.parameters_read += 1


async def abandon(remote: RemoteRobot) -> None:
    """Close a connection without leaving, so that the host treats its operator as lost."""
    await asyncio.to_thread(remote.bus.close)
    await remote.close()  # the bus is closed: this sends nothing, and ends the thread that follows the host
