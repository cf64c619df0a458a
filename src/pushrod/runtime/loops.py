"""The loops of a runtime: those of drivers, watchdogs and a machine, and the program's own. One that raises disarms all, from its own thread; its
error is kept."""

import threading
import time
from collections.abc import Callable, Mapping

from pushrod.core.errors import InputError
from pushrod.robot.parameter import real
from pushrod.runtime.cadence import Cadence
from pushrod.runtime.clock import Clock
from pushrod.runtime.door import enter, is_inside, leave_all
from pushrod.runtime.gate import PATIENCE, Gate
from pushrod.runtime.host import Host
from pushrod.runtime.machine import Machine
from pushrod.runtime.stop import reason_text

FASTEST = 1e6  # [Hz]


class Loops:
    """`watch` receives every loop that the robot must not be without. Where one raises, `failed` begins to disarm all, then `report` publishes it."""

    def __init__(
        self, clock: Clock, watch: Callable[[Cadence], None], report: Callable[[tuple[str, ...], str], None], failed: Callable[[str], None]
    ) -> None:
        self._clock = clock
        self._watch = watch
        self._report = report
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
            except BaseException as error:  # SystemExit too: the loop is over, and the robot must not go on without it
                over.append(error)
                what = reason_text(error)
                self._failed(f"the loop {name} raised {what}")
                self.errors.append(error)
                for cadence in made:  # a quick loop may fail before it is known here: then its ticks do nothing
                    cadence.stop()
                self._report(("loop", name), what)
                if isinstance(error, KeyboardInterrupt):
                    raise

        made.append(self._clock.every(period, guarded, name, first, rank))
        self.running += made
        if vital:
            self._watch(made[0])
        return made[0]

    def step(self, machine: Machine, hosts: Mapping[str, Host]) -> Cadence:
        """Step a simulated machine at its own rate, before all else that is due at the same time."""
        step = Stepping(machine, hosts, self._report)
        ready = threading.Event()
        made: list[Cadence] = []

        def tick(_: int) -> None:
            ready.wait()  # a quick loop may tick before it is known here
            for cadence in made:
                step(cadence)

        try:
            made.append(self.every(machine.dt, tick, "machine", first=1, rank=0))
        finally:
            ready.set()
        return made[0]

    def stop(self) -> None:
        for cadence in self.running:
            cadence.stop()


def period(hz: float, name: str) -> float:
    hz = real(hz)
    if type(hz) is not float or not 0.0 < hz <= FASTEST:
        raise InputError(f"{name}: {hz!r} Hz is no rate for a loop; allowed are numbers above 0, up to {FASTEST:g}")
    return 1.0 / hz


class Stepping:
    """The tick of a simulated machine: with the gates of its actuators locked, so that commands sent as one are seen in one step.

    Where a call into one of them does not return within PATIENCE, the tick is skipped, and simulated time falls behind: that is counted, and reported
    the first time. No gate is held while another one is waited for.
    """

    def __init__(self, machine: Machine, hosts: Mapping[str, Host], report: Callable[[tuple[str, ...], str], None]) -> None:
        self._machine = machine
        self._gates = [host.gate for name, host in hosts.items() if name in machine.drivers]
        self._report = report
        self._skipped = 0

    def __call__(self, cadence: Cadence) -> None:
        entered: list[Gate] = []
        try:
            busy = self._enter_all(entered)
            if busy is None:
                self._machine.step()
        finally:
            leave_all(entered)
        if busy is not None:
            cadence.skip()
            self._skipped += 1
            if self._skipped == 1:
                late = f"{busy.name}: its driver has not returned from a call within {PATIENCE:g} s"
                self._report(("loop", cadence.name), f"{late}. A tick is skipped: simulated time falls behind. Missed periods are counted")

    def _enter_all(self, entered: list[Gate]) -> Gate | None:
        """Enter all gates, or none; return the gate that stays busy."""
        ends = time.monotonic() + PATIENCE
        while (busy := self._attempt(entered)) is not None:
            leave_all(entered)
            if is_inside(busy):  # a call into this actuator moves the clock: it would wait for itself
                return busy
            entered.append(busy)  # before it is entered: see door.py
            if not enter(busy, max(ends - time.monotonic(), 0.0)):
                entered.clear()
                return busy
        return None

    def _attempt(self, entered: list[Gate]) -> Gate | None:
        """Enter all gates that are not entered yet, without waiting; return the first that is busy."""
        for gate in self._gates:
            if gate in entered:
                continue
            if is_inside(gate):
                return gate
            entered.append(gate)
            if not enter(gate, 0.0):
                entered.remove(gate)
                return gate
        return None
