"""Watchdogs, live: an actuator that no command has reached for too long reacts, and takes no more commands until its watchdog is cleared.

Silence counts from the first command after arming, or after the watchdog was cleared: before that nobody has moved it, and nobody is missed.
hold, ramp, damp and release are sent as Hold, Velocity 0, Stop(decelerate) and Stop(immediate). Where a driver knows no such command, or does not
do it, the actuator is made safe by its disarm function instead. Silence is looked at every quarter of the shortest one allowed, at least every
10 ms and at most every 1 ms, so a watchdog may bite that much late.
"""

from collections.abc import Callable, Sequence

from pushrod.runtime.clock import Clock
from pushrod.runtime.host import Host
from pushrod.runtime.message import Command
from pushrod.runtime.payload import Hold, Payload, Stop, Velocity
from pushrod.runtime.result import Result
from pushrod.safety.lease import WATCHDOG, Lease
from pushrod.safety.watchdog import Reaction, Watch, look

LEAST, MOST = 1e-3, 1e-2  # [s] between two looks; a quarter of the shortest silence, within these
WATCHDOG_PRIORITY = 2**31  # above everybody's
REACTIONS: dict[Reaction, Payload] = {
    Reaction.HOLD: Hold(),
    Reaction.RAMP: Velocity(0.0),
    Reaction.DAMP: Stop("decelerate"),
    Reaction.RELEASE: Stop("immediate"),
}


class Watching:
    """`make_safe(name)` calls an actuator's disarm function; `report(path, error)` tells observers."""

    def __init__(self, hosts: Sequence[Host], clock: Clock, make_safe: Callable[[str], None], report: Callable[[tuple[str, ...], str], None]) -> None:
        silences = [host.actuator.watchdog.silence for host in hosts if host.actuator.watchdog is not None]
        self.period = min(max(0.25 * min(silences, default=MOST), LEAST), MOST)
        self._watched = {host.name: host for host in hosts if host.actuator.watchdog is not None}
        self._watches: dict[str, Watch] = {}
        self._forsaken: dict[str, str] = {}  # whose commander is known to be gone, and how
        self._clock = clock
        self._make_safe = make_safe
        self._report = report

    def __len__(self) -> int:
        return len(self._watched)

    def bitten(self) -> list[str]:
        """The names of those that wait to be cleared."""
        return [name for name, watch in self._watches.items() if watch.bitten]

    def clear(self, name: str) -> bool:
        """Let an actuator take commands again; False where its watchdog has not bitten."""
        if name not in self.bitten():
            return False
        self._watches.pop(name)
        self._watched[name].gate.acted_before = self._watched[name].gate.acted
        return self._watched[name].release_lease(WATCHDOG)

    def forsake(self, commander: str, why: str, since: float = float("-inf")) -> list[str]:
        """A commander is known to be gone: the actuators it commanded last need not wait for silence. Their watchdogs bite at the next look.

        What somebody of that name commanded before `since` [s] was not its doing. Gives the names of those; one without a watchdog goes on.
        """
        gates = {host.name: host.gate for host in self._watched.values()}
        watched = {name: gate for name, gate in gates.items() if gate.epoch and gate.acted > gate.acted_before}
        names = [name for name, gate in watched.items() if gate.commander == commander and gate.last_acted >= since]
        for name in names:
            self._forsaken[name] = why
        return names

    def look(self, _: int) -> None:
        now = self._clock.now()
        for host in self._watched.values():
            old = self._watches.get(host.name, Watch(now))
            why = self._forsaken.pop(host.name, "")
            if old.bitten:
                continue
            if not host.gate.epoch or host.gate.acted == host.gate.acted_before:
                self._watches.pop(host.name, None)
                continue
            dog = host.actuator.watchdog
            assert dog is not None
            watch = self._watches[host.name] = look(dog, Watch(max(old.fed, host.gate.last_acted)), now)
            if why and not watch.bitten:
                watch = self._watches[host.name] = Watch(watch.fed, True)
            if watch.bitten:
                self._bite(host, dog.reaction, why or f"no command for {now - watch.fed:.3g} s")

    def _bite(self, host: Host, reaction: Reaction, why: str) -> None:
        # the silent commander loses its lease: from here on only the watchdog commands
        host.take_lease(Lease(WATCHDOG, WATCHDOG_PRIORITY))
        self._report(host.path, f"{why}: {reaction.value}")
        command = Command(REACTIONS[reaction], WATCHDOG, self._clock.now(), epoch=host.gate.epoch)

        def told(result: Result) -> None:
            host.announce(command, result)
            if not result.ok:
                self._make_safe(host.name)

        if host.slot is not None:
            host.slot.put(command, told)
        else:
            told(host.gate(command))
