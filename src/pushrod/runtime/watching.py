"""Watchdogs, live: an actuator that no command has reached for too long reacts, and takes no more commands until its watchdog is cleared.

Silence counts from the first command after arming, or after the watchdog was cleared, also while its driver has not returned from it: before that
nothing has moved it. hold, ramp, damp and release are sent as Hold, Velocity 0, Stop(decelerate) and Stop(immediate). Where a driver has no such
command, does not do it, or has not done it within REACT, the actuator is made safe by its disarm function instead. Silence is checked every quarter
of the shortest one allowed, within 1 ms and 10 ms, so a watchdog may trip that much late.

The thread that checks runs no foreign code: each actuator's reaction runs on a thread of its own, so that one driver that hangs delays no other.
"""

from collections.abc import Callable, Sequence
from functools import partial

from pushrod.runtime.clock import Clock
from pushrod.runtime.host import Host
from pushrod.runtime.message import Command
from pushrod.runtime.payload import Hold, Payload, Stop, Velocity
from pushrod.runtime.result import Result
from pushrod.runtime.worker import Worker
from pushrod.safety.lease import WATCHDOG, Lease
from pushrod.safety.watchdog import Reaction, Watch, look

LEAST, MOST = 1e-3, 1e-2  # [s] between two checks; a quarter of the shortest silence, within these
REACT = 0.25  # [s] for a driver to do the reaction
WATCHDOG_PRIORITY = 2**31  # above every other
REACTIONS: dict[Reaction, Payload] = {
    Reaction.HOLD: Hold(),
    Reaction.RAMP: Velocity(0.0),
    Reaction.DAMP: Stop("decelerate"),
    Reaction.RELEASE: Stop("immediate"),
}


class Watching:
    """`make_safe(name)` starts an actuator's disarm function; `report(path, error)` and `notify(call)` leave foreign code to the report thread."""

    def __init__(
        self,
        hosts: Sequence[Host],
        clock: Clock,
        make_safe: Callable[[str], None],
        report: Callable[[tuple[str, ...], str], None],
        notify: Callable[[Callable[[], object]], None],
        threaded: bool,
    ) -> None:
        silences = [host.actuator.watchdog.silence for host in hosts if host.actuator.watchdog is not None]
        self.period = min(max(0.25 * min(silences, default=MOST), LEAST), MOST)
        self._watched = {host.name: host for host in hosts if host.actuator.watchdog is not None}
        self._watches: dict[str, Watch] = {}
        self._lost: dict[str, str] = {}  # actuators whose operator is known to be lost, and how
        self._reacting: dict[str, float] = {}  # since when [s], for those whose driver has not done the reaction
        self._workers = {name: Worker(f"reaction {name}", threaded) for name in self._watched}
        self._clock = clock
        self._make_safe = make_safe
        self._report = report
        self._notify = notify

    def __len__(self) -> int:
        return len(self._watched)

    def open(self) -> None:
        for worker in self._workers.values():
            worker.open()

    def close(self) -> None:
        for worker in self._workers.values():
            worker.close()

    def disown(self) -> None:
        for worker in self._workers.values():
            worker.disown()

    def bitten(self) -> list[str]:
        """Return the names of those that have tripped and are not cleared."""
        return [name for name, watch in self._watches.copy().items() if watch.bitten]

    def clear(self, name: str) -> bool:
        """Let an actuator take commands again; False where its watchdog has not tripped."""
        if name not in self.bitten():
            return False
        self._watches.pop(name, None)
        gate = self._watched[name].gate
        gate.acted_before = gate.acted
        if not gate.epoch:
            gate.out = ""  # an arming that was refused for the watchdog would be refused no more
        return self._watched[name].release_lease(WATCHDOG)

    def forsake(self, commander: str, why: str, since: float = float("-inf")) -> list[str]:
        """Trip, at the next check, the watchdogs of what a commander that is known to be lost commanded last; return their names.

        What it commanded before `since` [s] does not count: another of its name did. An actuator without a watchdog is not concerned.
        """
        gates = {host.name: host.gate for host in self._watched.values()}
        watched = {name: gate for name, gate in gates.items() if gate.epoch and gate.acted > gate.acted_before}
        names = [name for name, gate in watched.items() if gate.commander == commander and gate.last_acted >= since]
        for name in names:
            self._lost[name] = why
        return names

    def look(self, _: int) -> None:
        now = self._clock.now()
        for host in self._watched.values():
            self._look_at(host, now)

    def _look_at(self, host: Host, now: float) -> None:
        old = self._watches.get(host.name, Watch(now))
        why = self._lost.pop(host.name, "")
        if old.bitten:
            since = self._reacting.get(host.name)
            if since is not None and now - since > REACT and self._reacting.pop(host.name, None) is not None:
                self._make_safe(host.name)
                self._report(host.path, f"its driver has not done the reaction within {REACT:g} s: disarmed")
            return
        idle = host.gate.acted == host.gate.acted_before and not host.gate.holder  # a driver that hangs in its first command is not idle
        if not host.gate.epoch or idle:
            self._watches.pop(host.name, None)
            return
        dog = host.actuator.watchdog
        assert dog is not None
        watch = look(dog, Watch(max(old.fed, host.gate.last_acted)), now)
        if watch.bitten or why:
            self._trip(host, dog.reaction, Watch(watch.fed, True), why or f"no command for {now - watch.fed:.3g} s")
        else:
            self._watches[host.name] = watch

    def _trip(self, host: Host, reaction: Reaction, watch: Watch, why: str) -> None:
        """The silent commander loses its lease: from here on only the watchdog commands. It can be cleared once that is so."""
        changed = host.seize_lease(Lease(WATCHDOG, WATCHDOG_PRIORITY))
        self._watches[host.name] = watch
        self._reacting[host.name] = self._clock.now()
        command = Command(REACTIONS[reaction], WATCHDOG, self._clock.now(), epoch=host.gate.epoch)
        self._workers[host.name].put(partial(self._react, host, command))
        self._notify(partial(host.emit, changed, WATCHDOG))
        self._report(host.path, f"watchdog tripped: {why}; reaction: {reaction.value}")

    def _react(self, host: Host, command: Command) -> None:
        def done(result: Result) -> None:
            if self._reacting.pop(host.name, None) is not None and not result.ok:
                self._make_safe(host.name)
            host.announce(command, result)

        gate = host.gate
        permit, prepared = gate.permit, gate.prepare(command)
        if host.slot is not None:
            host.slot.put(permit, prepared, done)
        else:
            done(gate.deliver(permit, prepared))
