"""Where an actuator is in a world, and the kinds of port there are: adding one touches two files, its own and the table below."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pushrod.compiled.stepper import Stepper
from pushrod.live.command_port import CarPort, MultirotorPort, SpacecraftPort
from pushrod.live.nav import NavPort
from pushrod.live.thruster_port import ThrusterPort
from pushrod.runtime.simulated.port import JointPort, Measured

# the first whose channels a place has; `channels` are what it tells the world, `reads` what it wants to know of it
PORTS: tuple[Any, ...] = (JointPort, CarPort, SpacecraftPort, MultirotorPort, ThrusterPort)
SENSORS: tuple[Any, ...] = (NavPort,)
PATIENCE = 0.05  # [s] for a step of the world to end


class Place:
    """Channels of a world under one prefix. Whoever is attached last is told of every tick. `lock`: an RLock, held while the world moves."""

    def __init__(self, stepper: Stepper, lock: Any, kind: Any, prefix: str, inputs: Mapping[str, int], outputs: Mapping[str, int]) -> None:
        self.kind = kind
        self.paths = {name: prefix + name for name in kind.channels}  # of the channels it tells
        self.inputs = inputs
        self.outputs = outputs
        self.dt = stepper.dt
        self._stepper = stepper
        self._lock = lock
        self._driver: Any = None
        self._told = tuple(inputs[name] for name in kind.channels)
        self.defaults = tuple(float(stepper.u[j]) for j in self._told)  # nothing has been told yet
        self._read = tuple(outputs[name] for name in kind.reads)

    @property
    def k(self) -> int:
        return self._stepper.k

    def attach(self, driver: Any) -> None:
        self._driver = driver

    def write(self, to: Any) -> None:
        """Values for `kind.channels`, in order; they hold until the next."""
        u = self._stepper.u
        with self._between_steps():
            for j, value in zip(self._told, to, strict=True):
                u[j] = value

    def read(self) -> Measured:
        """Of a motor: where it is, how fast it turns, with which torque."""
        y = self._stepper.y
        with self._between_steps():
            return Measured(*(float(y[j]) for j in self._read))

    def all(self) -> dict[str, float]:
        """Every output of the place at the end of the last tick."""
        y = self._stepper.y
        with self._between_steps():
            return {name: float(y[j]) for name, j in self.outputs.items()}

    @contextmanager
    def _between_steps(self) -> Iterator[None]:
        """Wait for the end of a step, but not for long: a stop must not wait for a thread that is interrupted by the handler that stops the robot."""
        entered = self._lock.acquire(timeout=PATIENCE)
        try:
            yield
        finally:
            if entered:
                self._lock.release()

    def before_tick(self) -> None:
        if self._driver is not None:
            self._driver.before_tick()

    def after_tick(self) -> None:
        if self._driver is not None:
            self._driver.after_tick()
