"""A robot, live: `async with Runtime(robot, ...) as rt:` starts a supervised host for every actuator and ends with everything disarmed.

servo = rt["shoulder/motor"]                 by name or by any unambiguous tail of its path
rt.arm(); servo.direct.set_position(0.5)     three deliveries, the same six verbs, one typed answer
@rt.loop(hz=1000)                            a fixed-rate loop: a thread on the wall clock, inline on the stepped one
rt.parameters.set("gain", 0.75)              checked as a whole before anything changes, then told to all whom it concerns
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pushrod import guard as guards
from pushrod.core.errors import InputError
from pushrod.core.names import count
from pushrod.guard.record import Record
from pushrod.guard.settings import Guard, checked
from pushrod.robot import path as paths
from pushrod.robot.description import Robot
from pushrod.robot.reference import references
from pushrod.robot.store import Change, Store
from pushrod.runtime import building, running
from pushrod.runtime.arming import LIMIT, Armed, Arming, Disarmed, NotSafeError
from pushrod.runtime.bus import Bus, LocalBus, Policy, Subscription
from pushrod.runtime.cadence import Cadence
from pushrod.runtime.clock import Clock, SteppedClock, WallClock, running_clock
from pushrod.runtime.delivery import TIMEOUT
from pushrod.runtime.driver_flaws import is_async
from pushrod.runtime.gate import send
from pushrod.runtime.guarding import STEPPED, SWITCHED_OFF, Guarding, disarm_options
from pushrod.runtime.handle import Handle
from pushrod.runtime.host import Host
from pushrod.runtime.loops import Loops, period, stepping
from pushrod.runtime.machine import Machine
from pushrod.runtime.making_safe import Disarmer, InlineDisarmer, ParkedDisarmer, find_disarm
from pushrod.runtime.message import Command, EndMotion, HardwareError, Message, OperatorVanished, ParameterChanged, Transition
from pushrod.runtime.motion_waiter import await_motion
from pushrod.runtime.node import Node
from pushrod.runtime.part import SETTING_UP, DriverError, Surroundings, answered
from pushrod.runtime.payload import Payload
from pushrod.runtime.responsive import responsive
from pushrod.runtime.result import Result
from pushrod.runtime.supervision import Supervisor
from pushrod.runtime.watching import Watching
from pushrod.safety.lease import WATCHDOG
from pushrod.safety.state import State

ENDS = "the runtime ends"
Address = str | Sequence[str]


class Runtime:
    """`drivers` puts a class, a function that makes one, or an import path in the place of what the description names, by the name of the part.

    machine       a simulated machine whose ports drive the actuators
    simulation    every other actuator is driven by an ideal, kinematic motor
    persisted     the file parameters are kept in; `startup` are values that win over it
    guard         how a second process watches this one and disarms when it dies or hangs, Guard(limit=...); False for none, which is shown
    """

    def __init__(
        self,
        robot: Robot,
        drivers: Mapping[str, Any] | None = None,
        *,
        machine: Machine | None = None,
        simulation: bool = False,
        clock: Clock | None = None,
        bus: Bus | None = None,
        persisted: str | Path | None = None,
        startup: Mapping[str, Any] = MappingProxyType({}),
        guard: Guard | bool = True,
    ) -> None:
        settings = checked(guard)
        self.robot = robot
        self.machine = machine
        self.clock = clock or running_clock() or WallClock()
        self._own_bus = bus is None
        self.bus = bus or LocalBus(self.clock.now)
        found = building.sources(robot, drivers or {}, machine, simulation)
        self.parameters = Store.of(robot, persisted, startup, found.flaws)
        self.hosts = building.hosts(robot, found, self.parameters, self.clock, self.bus)
        self.nodes = building.nodes(robot, found, self.parameters, self.clock, self.bus)
        self._paths = {name: host.path for name, host in self.hosts.items()}
        stepped = isinstance(self.clock, SteppedClock)
        off = STEPPED if stepped else "" if settings is not None else SWITCHED_OFF
        hosts = tuple(self.hosts.values())
        self._guarding = Guarding(robot.name, hosts, None if stepped else settings, off, self.disarm, self._fault, self.report_error)
        disarmers = {host.name: self._disarmer(host) for host in self.hosts.values()}
        elsewhere, watch = lambda call: self.clock.later(0.0, call), self._guarding.watch
        self.arming = Arming(disarmers, self.missing, self._transition, self._not_safe, elsewhere, watch, "" if stepped else off)
        self.watching = Watching(tuple(self.hosts.values()), self.clock, self.arming.make_one_safe, self.report_error)
        self._supervisor = Supervisor(self.clock, robot.restarts, self.arming.make_one_safe, self.arming.fault, self.report_error)
        self._handles: dict[tuple[Any, str], Handle] = {}
        self._loops = Loops(self.clock, self._guarding.add, self.report_error, self._fault)
        self.checks: list[Callable[[], list[str]]] = []  # what others want to be there before arming: each gives what is missing, one text each
        self._begun = False
        self._stack = ExitStack()
        for owner in self._owners():
            owner.part.surroundings = self._around(owner)
            self._supervisor.look_after(owner)

    async def __aenter__(self) -> "Runtime":
        if self._begun:
            raise InputError(f"this runtime of {self.robot.name} has run already: make another one")
        self._begun = True
        if isinstance(self.clock, SteppedClock) and running_clock() is not self.clock:
            raise InputError("a runtime on a stepped clock must be run by it, or its time would never move: pushrod.runtime.run(main(), clock)")
        if guards.INSIDE:
            raise InputError('this is the guard process, which imports a disarm function: start programs under `if __name__ == "__main__":` alone')
        self._stack.callback(running.take(self.robot.name))
        self.clock.open()
        try:
            if self.machine is not None and isinstance(self.clock, WallClock):
                await asyncio.to_thread(self.machine.warm)
            self._transition(self.state, self.state, "started")
            self._guarding.open()
            self.arming.open()
            self._stack.callback(self.parameters.watch("", self._parameters_changed))
            starting = [(owner, owner.start()) for owner in self._owners()]
            for owner, future in starting:
                try:
                    await asyncio.wrap_future(future)
                except Exception as error:
                    raise DriverError(f"{owner.name} could not be started: {type(error).__name__}: {error}") from error
            await self._guarding.ready()
            if isinstance(self.clock, WallClock):
                self._stack.enter_context(responsive())
            self._start_loops()
        except BaseException as error:
            self._tell(self._shut(), error)
            raise
        return self

    async def __aexit__(self, kind: Any, error: Any, trace: Any) -> None:
        answer = self._shut()
        raised = self._loops.errors
        error = error or (raised[0] if raised else None)
        self._tell(answer, error)
        if raised and error is raised[0]:
            raise error

    def __repr__(self) -> str:
        parts = ", ".join(filter(None, (count(len(self.hosts), "actuator"), count(len(self.nodes), "other part") if self.nodes else "")))
        unguarded = ", without a guard" if self._guarding.off == SWITCHED_OFF else ""
        return f"<Runtime of {self.robot.name}: {self.state.value}, {parts}{unguarded}>"

    def __getitem__(self, address: Address) -> Handle:
        return self.handle(address)

    def handle(self, address: Address, source: str = "local") -> Handle:
        """The actuator as `source` commands it; the same object every time, so it may be asked for inside a loop."""
        key = (address if isinstance(address, str) else tuple(address), source)
        if key not in self._handles:
            if source == WATCHDOG:
                raise InputError(f"nobody may call himself {WATCHDOG!r}: choose another source")
            host = self.hosts[paths.find(self._paths, address)[-1]]
            self._handles[key] = Handle(host, source, host.direct(source), host.sync(source), host.publish(source))
        return self._handles[key]

    def send(
        self, commands: Iterable[tuple[Address, Payload] | tuple[Address, Payload, str]], source: str = "local", validity: float = 0.0
    ) -> list[Result]:
        """Several commands as one, each (address, payload) or (address, payload, id): all pass their gates, then all act at once; or none does."""
        asked = [(self.handle(address, source).host, payload, id[0] if id else None) for address, payload, *id in commands]
        now = self.clock.now()
        pairs = [(host.gate, Command(payload, source, now, validity, id=id)) for host, payload, id in asked]
        results = send(pairs, {host.gate for host, _, _ in asked if host.slot is not None})
        for (host, _, _), (_, command), result in zip(asked, pairs, results, strict=True):
            host.announce(command, result)
        return results

    async def motion(self, address: Address, command_id: str, timeout: float | None = None) -> EndMotion:
        """Wait for the end of the motion that this command began."""
        host = self.handle(address).host
        return await await_motion(self.bus, self.robot.name, host.topic, host.ended, command_id, timeout)

    async def request(self, name: str, request: Any, timeout: float = TIMEOUT, source: str = "local") -> Any:
        """Ask a sensor or controller something that is its own business; for an actuator, its handle does it. `source`: who asks."""
        if name not in self.nodes:
            raise InputError(f"{self.robot.name} runs no sensor or controller {name!r}; it runs {', '.join(self.nodes) or 'none'}")
        return await answered(self.nodes[name].part, request, timeout, source)

    def subscribe(
        self, prefix: str | Iterable[str] = (), types: Iterable[type] = (), size: int = 1024, policy: Policy = "drop_oldest", latched: bool = False
    ) -> Subscription:
        """What this robot publishes at a topic or below; `bus.subscribe` sees all robots of a shared bus."""
        return self.bus.subscribe(prefix, types, size, policy, latched, self.robot.name)

    def loop(self, hz: float, name: str = "", rank: int = 1, vital: bool = True) -> Callable[[Callable[[int], None]], Cadence]:
        """Call a function with k = 0, 1, 2 ... at a fixed rate. If it raises, all is disarmed, and the error comes when the runtime ends.

        `rank` 0: on the stepped clock it comes before the ticks of sensors and controllers that are due at the same time.
        `vital` False: the guard does not disarm the robot when a call of it takes too long.
        """

        every = period(hz, name or "loop")

        def start(tick: Callable[[int], None]) -> Cadence:
            if is_async(tick):
                raise InputError(f"loop {name or tick.__name__}: {tick.__name__} is async; write a plain function: a loop awaits nothing")
            return self._loops.every(every, tick, name or getattr(tick, "__name__", "loop"), rank=rank, vital=vital)

        return start

    @property
    def cadences(self) -> tuple[Cadence, ...]:
        """The loops that run: those of drivers, watchdogs and a machine, and the program's own."""
        return tuple(self._loops.running)

    @property
    def state(self) -> State:
        return self.arming.state

    def arm(self) -> Armed:
        return self.arming.arm()

    def disarm(self, why: str = "asked", limit: float = LIMIT) -> Disarmed:
        return self.arming.disarm(why, limit)

    def force_disarm(self, limit: float = LIMIT) -> Disarmed | Armed:
        """Out of error, once somebody has looked at it: drivers that were given up are started again."""
        answer = self.arming.force_disarm(limit)
        if isinstance(answer, Disarmed):
            self._supervisor.revive()
        return answer

    def estop(self, cause: str) -> Disarmed:
        return self.arming.estop(cause)

    def reset(self, is_gone: Callable[[], bool] = lambda: True) -> Armed:
        return self.arming.reset(is_gone)

    def clear_watchdog(self, address: Address) -> bool:
        """Let an actuator take commands again after its watchdog has bitten; False where it has not."""
        return self.watching.clear(self.handle(address).host.name)

    @property
    def guard(self) -> str:
        """How it is guarded now, or why not."""
        return str(self._guarding)

    def acknowledge(self) -> list[Record]:
        """Somebody has looked at the robot after its guard had disarmed it: it may be armed again. Gives what had been recorded."""
        return self._guarding.acknowledge()

    def missing(self) -> list[str]:
        """What must be there before it can be armed, one text each."""
        parts = [owner.part for owner in self._owners()]
        found = [f"{part.name}: {part.stopped}" for part in parts if part.stopped and not part.skipped]
        found += [self._bitten(name) for name in self.watching.bitten()]
        found += self._guarding.missing()
        found += [text for check in self.checks for text in check()]
        return found if self.hosts else ["the robot has no actuators"]

    def _bitten(self, name: str) -> str:
        last = name.rpartition("/")[2]
        shell = f"pushrod cmd {self.robot.name}/{last} clear_watchdog"
        return f"{name}: its watchdog has bitten; find out why, then clear it: {shell} (in its own program: rt.clear_watchdog({last!r}))"

    async def ready(self, timeout: float = 60.0) -> None:
        """Wait for slow set-up to end; TimeoutError names what is still at it."""
        end = self.clock.now() + timeout
        while slow := [owner.name for owner in self._owners() if owner.part.stopped == SETTING_UP]:
            if self.clock.now() >= end:
                raise TimeoutError(f"after {timeout:g} s these are still being set up: {', '.join(slow)}")
            await asyncio.sleep(0.005)

    def report_error(self, path: Sequence[str], error: str) -> None:
        """Tell observers of a hardware error; nothing else happens."""
        self._publish(("safety", "error"), HardwareError(tuple(path), error))

    def report_vanished(self, gone: OperatorVanished) -> None:
        """Tell observers that somebody who commanded from elsewhere is gone, and what became of it."""
        self._publish(("operator",), gone)

    def _owners(self) -> tuple[Host | Node, ...]:
        """Sensors first, so that they hear the actuators start; controllers, which command, last."""
        sensors = [node for node in self.nodes.values() if node.topic[0] == "sensor"]
        controllers = [node for node in self.nodes.values() if node.topic[0] == "controller"]
        return (*sensors, *self.hosts.values(), *controllers)

    def _around(self, owner: Host | Node) -> Surroundings:
        source = owner.path[-1]
        return Surroundings(
            lambda address: self.handle(address, source),
            lambda commands, validity=0.0: self.send(commands, source, validity),
            lambda error: self.report_error(owner.path, error),
        )

    def _start_loops(self) -> None:
        if self.machine is not None:
            self._loops.every(self.machine.dt, stepping(self.machine, self.hosts.values()), "machine", first=1, rank=0)
        if len(self.watching):
            self._loops.every(self.watching.period, self.watching.look, "watchdogs")
        for owner in self._owners():
            hz = owner.part.driver.tick_hz(owner.part.options)
            if owner.part.driver.tick is not None and hz:
                self._loops.every(period(hz, f"tick {owner.name}"), owner.part.tick, f"tick {owner.name}")

    def _tell(self, answer: Disarmed, error: BaseException | None) -> None:
        """What could not be made safe at the end is not kept quiet: raised, or written beside what is raised already."""
        if answer.ok:
            return
        text = f"{self.robot.name} was left although not everything is proven safe: " + "; ".join(f"{n}: {why}" for n, why in answer.failures.items())
        if error is None:
            raise NotSafeError(f"{text}; switch its power off")
        error.add_note(text)

    def _shut(self) -> Disarmed:
        self._supervisor.end()
        answer = self.disarm(ENDS)  # before all else: a loop that hangs must not keep it from being safe
        self._loops.stop()
        for owner in reversed(self._owners()):
            owner.close(ENDS)
        self._guarding.close()
        self.arming.close()
        self.clock.close()
        self._stack.close()
        if self._own_bus:
            self.bus.close()
        return answer

    def _disarmer(self, host: Host) -> Disarmer:
        kind = InlineDisarmer if isinstance(self.clock, SteppedClock) else ParkedDisarmer
        disarm = find_disarm(host.part.driver.disarm)
        # one that asked to be left out has no hardware to make safe
        return kind(host.gate, lambda options: None if host.part.skipped else disarm(options), lambda: disarm_options(host))

    def _fault(self, why: str) -> None:
        self.arming.fault(why)

    def _not_safe(self, name: str, error: str) -> None:
        self.report_error(name.split("/"), error)

    def _transition(self, old: State, new: State, why: str) -> None:
        self._publish(("state_machine",), Transition(old.value, new.value, why))

    def _parameters_changed(self, changes: tuple[Change, ...]) -> None:
        """All values are set by now: whoever names one of them is told once, then the observers."""
        paths_changed = {change.path for change in changes}
        for owner in self._owners():
            if (owner.part.parameters | references(owner.moves_with)) & paths_changed:
                owner.refresh()
        self._guarding.refresh()
        for change in changes:
            self._publish(("param", *change.path.split(".")), ParameterChanged(*change))

    def _publish(self, topic: tuple[str, ...], payload: Any) -> None:
        self.bus.publish(Message(payload, topic, self.clock.now(), self.clock.wall(), self.robot.name, "runtime"))
