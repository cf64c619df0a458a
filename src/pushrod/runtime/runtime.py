"""A robot, live: `async with Runtime(robot, ...) as rt:` starts a supervised host for every actuator and ends with everything disarmed.

servo = rt["shoulder/motor"]                 by name or by any unambiguous tail of its path
rt.arm(); servo.direct.set_position(0.5)     three deliveries, the same six verbs, one typed answer
@rt.loop(hz=1000)                            a fixed-rate loop: a thread on the wall clock, inline on the stepped one
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from pushrod.core.errors import InputError
from pushrod.robot import path as paths
from pushrod.robot.description import Robot
from pushrod.robot.options import plain
from pushrod.runtime.arming import LIMIT, Armed, Arming, Disarmed
from pushrod.runtime.bus import Bus, LocalBus
from pushrod.runtime.cadence import Cadence
from pushrod.runtime.clock import Clock, SteppedClock, WallClock
from pushrod.runtime.delivery import Direct, Publish, Sync
from pushrod.runtime.gate import send
from pushrod.runtime.host import Host
from pushrod.runtime.making_safe import Guard, InlineGuard, ParkedGuard, find_disarm
from pushrod.runtime.message import Command, HardwareError, Message, Transition
from pushrod.runtime.motion_waiter import await_motion
from pushrod.runtime.payload import Hold, Payload, Stop
from pushrod.runtime.result import Result
from pushrod.safety.lease import Lease
from pushrod.safety.restart import spend
from pushrod.safety.state import State
from pushrod.safety.watchdog import Reaction

WATCH_HZ = 100.0
REACTIONS: dict[Reaction, Payload] = {
    Reaction.HOLD: Hold(),
    Reaction.RAMP: Stop("decelerate"),
    Reaction.DAMP: Stop("decelerate"),
    Reaction.RELEASE: Stop("immediate"),
}


class Handle(NamedTuple):
    """An actuator as one commander sees it."""

    host: Host
    source: str
    direct: Direct
    sync: Sync
    publish: Publish

    def take_lease(self, seconds: float = float("inf"), priority: int = 0) -> bool:
        """Become the only commander for a while; a higher priority takes over from a lower one."""
        clock = self.host.clock
        return self.host.take_lease(Lease(self.source, priority, clock.now() + seconds))

    def release_lease(self) -> bool:
        return self.host.release_lease(self.source)

    def request(self, request: Any) -> Any:
        return self.host.request(request)


class Runtime:
    """`drivers` puts a class, a function that makes one, or an import path in the place of what the description names, by actuator."""

    def __init__(
        self,
        robot: Robot,
        drivers: Mapping[str, Any] | None = None,
        *,
        clock: Clock | None = None,
        bus: Bus | None = None,
        resolve: Callable[[Any], Any] = lambda value: value,
    ) -> None:
        self.robot = robot
        self.clock = clock or WallClock()
        self.bus = bus or LocalBus(self.clock.now)
        self._paths = paths.actuator_paths(robot)
        chosen = dict(drivers or {})
        self.hosts = {name: self._host(name, chosen, resolve) for name in sorted(self._paths, key=lambda name: self._paths[name])}
        if chosen:
            raise InputError(f"drivers for actuators that {robot.name} does not have: {', '.join(sorted(chosen))}; it has {', '.join(self.hosts)}")
        self.arming = Arming({host.name: self._guard(host) for host in self.hosts.values()}, self._missing, self._transition)
        self._spent: tuple[float, ...] = ()
        self._supervising = threading.RLock()
        self._cadences: list[Cadence] = []

    async def __aenter__(self) -> "Runtime":
        for host in self.hosts.values():
            host.start()
        if any(host.actuator.watchdog for host in self.hosts.values()):
            self._cadences.append(self.clock.every(1.0 / WATCH_HZ, self._watch, "watchdogs"))
        for host in self.hosts.values():
            if host.driver.tick is not None and host.driver.tick_hz:
                self._cadences.append(self.clock.every(1.0 / host.driver.tick_hz, self._ticker(host), f"tick {host.name}"))
        return self

    async def __aexit__(self, *error: Any) -> None:
        for cadence in self._cadences:
            cadence.stop()
        self.disarm("the runtime ends")
        for host in self.hosts.values():
            host.close("the runtime ends")
        self.arming.close()
        self.clock.close()
        self.bus.close()

    def __getitem__(self, address: str | Sequence[str]) -> Handle:
        return self.handle(address)

    def handle(self, address: str | Sequence[str], source: str = "local") -> Handle:
        """The actuator as `source` commands it."""
        host = self.hosts[paths.find(self._paths, address)[-1]]
        return Handle(host, source, host.direct(source), host.sync(source), host.publish(source))

    def send(self, commands: Mapping[str, Payload], source: str = "local", validity: float = 0.0) -> dict[str, Result]:
        """Several commands as one: all pass their gates, then all act; or none does."""
        now = self.clock.now()
        hosts = {address: self.handle(address, source).host for address in commands}
        blocking = [address for address, host in hosts.items() if host.slot is not None]
        if blocking:
            raise InputError(f"{', '.join(blocking)}: a driver that blocks cannot act in the same tick as others; use sync")
        pairs = [(hosts[address].gate, Command(payload, source, now, validity)) for address, payload in commands.items()]
        results = send(pairs)
        for host, (_, command), result in zip(hosts.values(), pairs, results, strict=True):
            host.announce(command, result)
        return dict(zip(commands, results, strict=True))

    async def motion(self, address: str | Sequence[str], command_id: str, timeout: float | None = None) -> Any:
        """Wait for the end of the motion that this command began."""
        return await await_motion(self.bus, self.handle(address).host.topic, command_id, timeout)

    def loop(self, hz: float, name: str = "") -> Callable[[Callable[[int], None]], Cadence]:
        """Call a function at a fixed rate until the runtime ends."""

        def start(tick: Callable[[int], None]) -> Cadence:
            cadence = self.clock.every(1.0 / hz, tick, name or getattr(tick, "__name__", "loop"))
            self._cadences.append(cadence)
            return cadence

        return start

    @property
    def state(self) -> State:
        return self.arming.state

    def arm(self) -> Armed:
        return self.arming.arm()

    def disarm(self, why: str = "asked", limit: float = LIMIT) -> Disarmed:
        return self.arming.disarm(why, limit)

    def force_disarm(self, limit: float = LIMIT) -> Disarmed | Armed:
        return self.arming.force_disarm(limit)

    def estop(self, cause: str) -> Disarmed:
        return self.arming.estop(cause)

    def reset(self, is_gone: Callable[[], bool] = lambda: True) -> Armed:
        return self.arming.reset(is_gone)

    def report_error(self, path: Sequence[str], error: str) -> None:
        """Tell observers of a hardware error; nothing else happens."""
        self._publish(("safety", "error"), HardwareError(tuple(path), error))

    def _host(self, name: str, chosen: dict[str, Any], resolve: Callable[[Any], Any]) -> Host:
        actuator = self.robot.actuator(name)
        driver = chosen.pop(name, None) or actuator.driver
        if not driver:
            raise InputError(f"actuator {name} of {self.robot.name} names no driver; give drivers={{{name!r}: ...}}")
        joint = self.robot.joint(actuator.joint)
        return Host(self.robot.name, self._paths[name], actuator, joint, driver, resolve, self.clock, self.bus, self._driver_failed)

    def _guard(self, host: Host) -> Guard:
        kind = InlineGuard if isinstance(self.clock, SteppedClock) else ParkedGuard
        who = {"robot": host.robot, "path": list(host.path)}  # so that a disarm function knows which of several equal actuators is meant
        return kind(host.gate, find_disarm(host.driver.disarm), {**plain(host.actuator.options), **who})

    def _missing(self) -> list[str]:
        """What must be there before arming."""
        found = [f"{host.name}: {host.gate.stopped}" for host in self.hosts.values() if host.gate.stopped and not host.skipped]
        found += [f"{host.name}: its watchdog has bitten; clear it" for host in self.hosts.values() if host.watch is not None and host.watch.bitten]
        return found if self.hosts else ["the robot has no actuators"]

    def _transition(self, old: State, new: State, why: str) -> None:
        self._publish(("state_machine",), Transition(old.value, new.value, why))

    def _driver_failed(self, host: Host, error: BaseException) -> None:
        """A driver raised: make it safe at once, then start it again while the budget lasts."""
        with self._supervising:
            host.gate.stopped = f"{type(error).__name__}: {error}"
            self.report_error(host.path, host.gate.stopped)
            self.arming.make_one_safe(host.name)
            self._spent, allowed = spend(self.robot.restarts, self._spent, self.clock.now())
            if not (allowed and host.actuator.restart):
                self.clock.later(0.0, lambda: self._give_up(host))
            else:
                self.clock.later(0.0, lambda: self._again(host))

    def _again(self, host: Host) -> None:
        try:
            host.restart()
        except Exception as error:
            self._driver_failed(host, error)

    def _give_up(self, host: Host) -> None:
        self.arming.fault(f"{host.name} keeps failing: {host.gate.stopped}")

    def _watch(self, _: int) -> None:
        for host in self.hosts.values():
            if host.look_at_watchdog():
                assert host.actuator.watchdog is not None
                payload = REACTIONS[host.actuator.watchdog.reaction]
                host.publish("watchdog").send(payload)
                self.report_error(host.path, f"no command for {host.actuator.watchdog.silence:g} s: {host.actuator.watchdog.reaction.value}")

    def _ticker(self, host: Host) -> Callable[[int], None]:
        def tick(_: int) -> None:
            with host.gate.lock:
                if host.gate.stopped or host.driver.tick is None:
                    return
                try:
                    host.driver.tick(self.clock.now())
                    return
                except Exception as error:
                    host.gate.epoch = 0
                    failure = error
            self._driver_failed(host, failure)

        return tick

    def _publish(self, topic: tuple[str, ...], payload: Any) -> None:
        self.bus.publish(Message(payload, topic, self.clock.now(), self.clock.wall(), self.robot.name, "runtime"))
