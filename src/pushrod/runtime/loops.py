"""The loops of a runtime: those of drivers, watchdogs and a machine, and the program's own. One that raises ends, and its error is kept."""

from collections.abc import Callable, Iterable

from pushrod.core.errors import InputError
from pushrod.runtime.cadence import Cadence
from pushrod.runtime.clock import Clock
from pushrod.runtime.host import Host
from pushrod.runtime.machine import Machine

FASTEST = 1e6  # [Hz]


class Loops:
    """`watch` hears of every loop that the robot must not be without. Where one raises, `told` hears of it at once; `failed` acts, elsewhere."""

    def __init__(
        self, clock: Clock, watch: Callable[[Cadence], None], told: Callable[[tuple[str, ...], str], None], failed: Callable[[str], None]
    ) -> None:
        self._clock = clock
        self._watch = watch
        self._told = told
        self._failed = failed
        self.running: list[Cadence] = []
        self.errors: list[BaseException] = []

    def every(self, period: float, tick: Callable[[int], None], name: str, first: int = 0, rank: int = 1, vital: bool = True) -> Cadence:
        over: list[BaseException] = []
        made: list[Cadence] = []

        def guarded(k: int) -> None:
            if over:
                return
            try:
                tick(k)
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # SystemExit too: the loop is over, and the robot must not go on without it
                over.append(error)
                self.errors.append(error)
                what = f"{type(error).__name__}: {error}"
                self._told(("loop", name), what)
                self._clock.later(0.0, lambda: give_up(what))

        def give_up(what: str) -> None:
            for cadence in made:  # a quick loop may fail before it is known here: then its ticks do nothing
                cadence.stop()
            self._failed(f"the loop {name} raised {what}")

        made.append(self._clock.every(period, guarded, name, first, rank))
        self.running += made
        if vital:
            self._watch(made[0])
        return made[0]

    def stop(self) -> None:
        for cadence in self.running:
            cadence.stop()


def period(hz: float, name: str) -> float:
    if not 0.0 < hz <= FASTEST:
        raise InputError(f"{name}: {hz!r} Hz is no rate for a loop; allowed are numbers above 0, up to {FASTEST:g}")
    return 1.0 / hz


def stepping(machine: Machine, hosts: Iterable[Host]) -> Callable[[int], None]:
    """The tick of a simulated machine: with every gate closed, so that what was sent as one is seen as one."""
    locks = [host.gate.lock for host in sorted(hosts, key=lambda host: host.name)]

    def tick(_: int) -> None:
        for lock in locks:
            lock.acquire()
        try:
            machine.step()
        finally:
            for lock in reversed(locks):
                lock.release()

    return tick
