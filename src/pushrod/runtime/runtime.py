"""A robot, live: `async with Runtime(robot, ...) as rt:` starts a supervised host for every actuator and ends with everything disarmed.

servo = rt["shoulder/motor"]                 by name or by any unambiguous tail of its path
rt.arm(); servo.direct.set_position(0.5)     three deliveries, the same six verbs, one typed answer
@rt.loop(hz=1000)                            a fixed-rate loop: a thread on the wall clock, inline on the stepped one
rt.parameters.set("gain", 0.75)              checked as a whole before anything changes, then told to all whom it concerns
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pushrod import guard as guards
from pushrod.core.errors import InputError
from pushrod.core.names import count
from pushrod.core.plain_function import is_deferred
from pushrod.guard.record import Record
from pushrod.guard.settings import Guard, checked
from pushrod.robot.description import Robot
from pushrod.robot.parameter import real
from pushrod.robot.reference import references
from pushrod.robot.store import Change, Store
from pushrod.runtime import building, lives, running
from pushrod.runtime.arming import Arming, NotSafeError
from pushrod.runtime.asked import SAFETY, STOPS
from pushrod.runtime.batch import send
from pushrod.runtime.bus import Bus, LocalBus, Policy, Subscription
from pushrod.runtime.cadence import Cadence
from pushrod.runtime.clock import Clock, SteppedClock, WallClock, running_clock
from pushrod.runtime.deciding import FORKED, Armed, Decisions, Disarmed
from pushrod.runtime.delivery import TIMEOUT
from pushrod.runtime.guarding import STEPPED, SWITCHED_OFF, Guarding, disarm_options
from pushrod.runtime.handle import Handle, Handles
from pushrod.runtime.host import Host
from pushrod.runtime.loops import Loops, period
from pushrod.runtime.machine import Machine
from pushrod.runtime.making_safe import Disarmer, find_disarm
from pushrod.runtime.message import Command, EndMotion, HardwareError, Message, OperatorVanished, ParameterChanged, Requested, Transition
from pushrod.runtime.motion_waiter import await_motion
from pushrod.runtime.node import Node
from pushrod.runtime.part import SETTING_UP, DriverError, Surroundings, answered
from pushrod.runtime.payload import Payload
from pushrod.runtime.responsive import responsive
from pushrod.runtime.result import Result
from pushrod.runtime.stop import LIMIT, encodable
from pushrod.runtime.supervision import Supervisor
from pushrod.runtime.watching import Watching
from pushrod.safety.state import State

log = logging.getLogger("pushrod.runtime")
ENDS = "the runtime is shutting down"
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
        stepped = isinstance(self.clock, SteppedClock)
        off = STEPPED if stepped else "" if settings is not None else SWITCHED_OFF
        hosts = tuple(self.hosts.values())
        self._disarmers = {host.name: self._disarmer(host, not stepped) for host in hosts}
        decisions = self._decisions = Decisions(
            self._disarmers,
            self._transition,
            self._not_safe,
            _log_error,
            lambda level: self._guarding.watch(level),
            "" if stepped else off,
            threaded=not stepped,
            switched=self._gates_switched,
        )
        self.arming = arming = Arming(decisions, self.missing, lambda level: self._guarding.watch(level))
        self._guarding = Guarding(
            robot.name, hosts, None if stepped else settings, off, arming.begin_fault, decisions.settled, self._report_soon, decisions.notify
        )
        self.watching = Watching(hosts, self.clock, self._make_one_safe, self._report_soon, decisions.notify, not stepped)
        self._supervisor = Supervisor(
            self.clock, robot.restarts, arming.make_one_safe, arming.begin_fault, decisions.decide, self._report_soon, decisions.notify
        )
        self._handles = Handles(self.hosts)
        self._loops = Loops(self.clock, self._guarding.add, self._report_soon, arming.begin_fault)
        self.checks: list[Callable[[], list[str]]] = []  # what others want to be there before arming: each gives what is missing, one text each
        self._begun = self._forked = False
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
            self._decisions.open()
            self.watching.open()
            self._stack.callback(lives.begin(self))
            self._guarding.open()
            self._stack.callback(self.parameters.watch("", self._parameters_changed))
            starting = [(owner, owner.start()) for owner in self._owners()]
            for owner, future in starting:
                try:
                    await asyncio.wrap_future(future)
                except Exception as error:
                    raise DriverError(f"{owner.name} could not be started: {type(error).__name__}: {error}") from error
            await self._guarding.ready()
            if unproven := self._guarding.not_proven_safe():
                log.warning("%s: disarm functions are called at the start, because its motors may be powered: %s", self.robot.name, unproven)
                self.disarm(unproven)
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
        return self._handles.get(address, source)

    def send(
        self, commands: Iterable[tuple[Address, Payload] | tuple[Address, Payload, str]], source: str = "local", validity: float = 0.0
    ) -> list[Result]:
        """Several commands as one, each (address, payload) or (address, payload, id): all pass their gates, then all act at once; or none does."""
        asked = [(self.handle(address, source).host, payload, id[0] if id else None) for address, payload, *id in commands]
        now = self.clock.now()
        pairs = [(host.gate, Command(payload, source, now, validity, id=id)) for host, payload, id in asked]
        sent, results = send(pairs, {host.gate for host, _, _ in asked if host.slot is not None})
        for (host, _, _), command, result in zip(asked, sent, results, strict=True):
            host.announce(command, result)
        return results

    async def motion(self, address: Address, command_id: str, timeout: float | None = None) -> EndMotion:
        """Wait for the end of the motion that this command began."""
        host = self.handle(address).host
        return await await_motion(self.bus, self.robot.name, host.topic, host.motions.find, command_id, timeout)

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
            if is_deferred(tick):
                raise InputError(
                    f"loop {name or tick.__name__}: {tick.__name__} is async or has a yield in it; write a plain function: a loop awaits nothing"
                )
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

    def disarm(self, why: Any = "requested", limit: Any = LIMIT, *ignored: Any, **unknown: Any) -> Disarmed:
        """Make everything safe. Cannot be refused, whatever the arguments are; safe from any thread and from a signal handler."""
        return self.arming.disarm(why, limit)

    def force_disarm(self, limit: float = LIMIT) -> Disarmed | Armed:
        """Leave the error state; drivers that were given up are restarted."""
        answer = self.arming.force_disarm(limit)
        if isinstance(answer, Disarmed):
            self._supervisor.revive()
        return answer

    def estop(self, cause: Any = None, *ignored: Any, **unknown: Any) -> Disarmed:
        """Disarm and latch, for any cause: text, an exception, nothing. Cannot be refused; safe from any thread and from a signal handler."""
        return self.arming.estop(cause if cause is not None else next(iter(unknown.values()), None))

    def reset(self, is_gone: Callable[[], bool] = lambda: True) -> Armed:
        """Clear the e-stop; arming is a second step. It is refused while `is_gone()` returns False, and while something is not proven safe.

        The default `is_gone` always returns True: without an argument the cause is not checked, and the caller vouches that it is gone. Drivers that
        were given up are restarted.
        """
        answer = self.arming.reset(is_gone)
        if answer.ok:
            self._supervisor.revive()
        return answer

    def clear_watchdog(self, address: Address) -> bool:
        """Let an actuator take commands again after its watchdog has tripped; False where it has not."""
        return self.watching.clear(self.handle(address).host.name)

    @property
    def guard(self) -> str:
        """How it is guarded now, or why not."""
        return str(self._guarding)

    def acknowledge(self) -> list[Record]:
        """Acknowledge and return the records of what the guard did, after the robot was inspected: they no longer block arming."""
        return self._guarding.acknowledge()

    def missing(self) -> list[str]:
        """Return what blocks arming, one text each, with what to do."""
        parts = [owner.part for owner in self._owners()]
        found = [f"{part.name}: {part.stopped}" for part in parts if part.stopped and not part.skipped]
        found += [self._bitten(name) for name in self.watching.bitten()]
        found += self._guarding.missing()
        found += [text for check in self.checks for text in check()]
        return found if self.hosts else ["the robot has no actuators"]

    def _bitten(self, name: str) -> str:
        last = name.rpartition("/")[2]
        shell = f"pushrod cmd {self.robot.name}/{last} clear_watchdog"
        return f"{name}: its watchdog has tripped; find out why, then clear it: {shell} (from Python: rt.clear_watchdog({last!r}))"

    async def ready(self, timeout: float = 60.0) -> None:
        """Wait for slow set-up to end; TimeoutError names what is still at it."""
        limit = real(timeout)
        if type(limit) is not float or not limit >= 0.0:
            raise InputError(f"timeout must be a number of seconds, not negative, got {timeout!r}")
        end = self.clock.now() + limit
        while slow := [owner.name for owner in self._owners() if owner.part.stopped == SETTING_UP]:
            if self.clock.now() >= end:
                raise TimeoutError(f"after {limit:g} s these are still being set up: {', '.join(slow)}")
            await asyncio.sleep(0.005)

    def report_error(self, path: Sequence[str], error: str) -> None:
        """Tell observers of a hardware error; nothing else happens."""
        self._publish(("safety", "error"), HardwareError(tuple(path), encodable(error)))

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
            self._loops.step(self.machine, self.hosts)
        if len(self.watching):
            self._loops.every(self.watching.period, self.watching.look, "watchdogs")
        for owner in self._owners():
            driver = owner.part.driver
            hz = driver.tick_hz(owner.part.options)
            if (driver.tick is not None or driver.read is not None) and hz:
                self._loops.every(period(hz, f"tick {owner.name}"), owner.part.tick, f"tick {owner.name}")

    def _tell(self, answer: Disarmed, error: BaseException | None) -> None:
        """What could not be made safe at the end is not kept quiet: raised, or written beside what is raised already."""
        if answer.ok:
            return
        text = f"{self.robot.name} ended with actuators that are not proven safe: " + "; ".join(f"{n}: {why}" for n, why in answer.failures.items())
        if error is None:
            raise NotSafeError(f"{text}; switch its power off")
        error.add_note(text)

    def fork(self) -> None:
        """Give up, in a forked child: its gates are closed, the threads and the guard are its parent's."""
        self._forked = True
        self._decisions.fork()
        self.watching.disown()
        self._guarding.disown()

    def exit(self) -> Callable[[], object]:
        """Refuse arming from here on and begin to disarm, at the end of an interpreter that has not left this runtime.

        The function returned waits for the disarming.
        """
        self._decisions.ended = True
        # in this order, so that an arming that was granted meanwhile is seen either under way or done
        if not self.arming.is_busy and self.state is State.DISARMED:
            return lambda: None
        return self.arming.begin_disarm("the interpreter ends")

    def _shut(self) -> Disarmed:
        if self._forked:
            self._stack.close()
            return Disarmed(True, self.state, {}, FORKED)
        self._supervisor.end()
        self._decisions.ended = True  # arming from another thread is refused from here on
        elsewhere = not self._decisions.was_armed and self._guarding.armed_elsewhere()  # then another process drives these motors
        with ExitStack() as closing:  # the last one first, and all of them: Ctrl-C may interrupt any
            if self._own_bus:
                closing.callback(self.bus.close)
            closing.callback(self._stack.close)
            closing.callback(self.clock.close)
            closing.callback(self._guarding.close)
            closing.callback(self._decisions.close)
            closing.callback(self.watching.close)
            for owner in self._owners():
                closing.callback(owner.close, ENDS)
            closing.callback(self._loops.stop)
            # before all else: a loop that hangs must not keep it from being safe
            answer = Disarmed(True, self.state, {}, ENDS) if elsewhere else self.disarm(ENDS)
            self._guarding.note_end(answer.failures)
        return answer

    def _disarmer(self, host: Host, threaded: bool) -> Disarmer:
        disarm = find_disarm(host.part.driver.disarm)
        # one that asked to be left out has no hardware to make safe
        return Disarmer(host.gate, lambda options: None if host.part.skipped else disarm(options), disarm_options(host), threaded)

    def _make_one_safe(self, name: str) -> None:
        host = next(host for host in self.hosts.values() if host.name == name)
        self.arming.make_one_safe(name, lambda: self._stop_motions(host, "its watchdog has tripped"))

    def report_request(self, what: str, operator: str, reason: str, ok: bool, refusal: str) -> None:
        """Publish who asked to arm, stop or reset the robot, why, and the result: a transition has no operator, and a second e-stop makes none.

        It is left to the report thread: an observer that hangs delays neither the answer nor the next stop.
        """
        operator = encodable(operator)
        payload = {"reason": encodable(reason)} if reason else {}
        accepted = ok or what in STOPS  # a stop cannot be refused; `refusal` is then what is not proven safe
        request = Requested(what, payload, operator, "accepted" if accepted else "refused", encodable(refusal))
        message = Message(request, SAFETY, self.clock.now(), self.clock.wall(), self.robot.name, operator)
        self._decisions.notify(lambda: self.bus.publish(message))

    def _report_soon(self, path: tuple[str, ...], error: str) -> None:
        self._decisions.notify(lambda: self.report_error(path, error))

    def _not_safe(self, name: str, error: str) -> None:
        log.error("%s %s", name, error)
        self.report_error(name.split("/"), error)

    def _gates_switched(self) -> None:
        for host in self.hosts.values():
            host.part.arming_changed()
            if self.state is not State.ARMED:
                self._stop_motions(host, self._decisions.why)

    def _stop_motions(self, host: Host, why: str) -> None:
        """Neither on the safety thread, which waits for no lock, nor on the report thread, which an observer may keep."""
        if host.motions.open:
            self.clock.later(0.0, lambda: host.motions.stop(why))

    def _transition(self, old: State, new: State, why: str) -> None:
        self._publish(("state_machine",), Transition(old.value, new.value, why))

    def _parameters_changed(self, changes: tuple[Change, ...]) -> None:
        """Put new values in place everywhere, then notify each driver once, then observers: a stop while a driver hangs uses the new values."""
        paths_changed = {change.path for change in changes}
        concerned = [owner for owner in self._owners() if (owner.part.parameters | references(owner.moves_with)) & paths_changed]
        for owner in concerned:
            owner.refresh()
            if isinstance(owner, Host):
                self._disarmers[owner.name].options = disarm_options(owner)
        self._guarding.refresh()
        for owner in concerned:
            owner.part.notify_of_options()
        for change in changes:
            self._publish(("param", *change.path.split(".")), ParameterChanged(*change))

    def _publish(self, topic: tuple[str, ...], payload: Any) -> None:
        self.bus.publish(Message(payload, topic, self.clock.now(), self.clock.wall(), self.robot.name, "runtime"))


def _log_error(error: BaseException) -> None:
    log.error("an observer of the robot's safety raised %s: %s", type(error).__name__, error)
