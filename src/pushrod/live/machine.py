"""A simulated machine behind the runtime: one compiled world, and a driver for each actuator that is a port into it.

    arm = SimulatedMachine(machine.load("arm"), dt=1e-3)
    async with Runtime(arm.robot, machine=arm, clock=SteppedClock()) as rt: ...

The runtime calls `step` at t = dt, 2 dt, ...: a command sent at k dt is what the world sees from k dt to (k + 1) dt, as a rollout sees inputs[k].
What no port tells the world keeps the default of its channel, or what `surround` says. Where the machine file names a world behind the ports
(`live: hull`), that one moves, with the parameters of the machine, and the controllers of the robot have theirs from it too.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pushrod.compiled.job import checked_params
from pushrod.compiled.result import Run
from pushrod.compiled.stepper import Stepper
from pushrod.core.errors import InputError
from pushrod.core.model import Tick
from pushrod.core.names import find
from pushrod.core.record import flat, numbers
from pushrod.live import world_node, world_sensor
from pushrod.live.fitting import fitted, part_of
from pushrod.live.port import PORTS, SENSORS, Place
from pushrod.robot.description import Robot, Sensor
from pushrod.runtime.simulated.port import JointPort, solver
from pushrod.sim.machine import Machine
from pushrod.sim.scenario import Scenario

Array = NDArray[np.float64]
Observer = Callable[[int, Array, Array], object]  # (ticks done, what the world was told, what it gave): rows that are written over in the next tick


class SimulatedMachine:
    """`record`: keep what the world was told and what it gave, tick by tick. `ticks`: after so many it stands still and calls `finished`."""

    def __init__(
        self,
        machine: Machine,
        *,
        dt: float,
        state: Any = None,
        seed: int = 0,
        instance: int = 0,
        record: bool = False,
        ticks: int | None = None,
    ) -> None:
        if machine.robot is None:
            raise InputError(f"the machine {machine.name} has no robot: name one in its file, `robot: NAME`, and give each actuator its port")
        self.machine = machine
        self.world = world = machine.world if machine.live is None else machine.live
        self.robot: Robot = machine.robot if machine.live is None else fitted(machine.robot, machine.params, dt)
        self.dt = dt
        self.ticks = ticks
        self.finished: Callable[[], None] = lambda: None
        state = world.State() if state is None else part_of(world.State, state)
        self._stepper = Stepper(world, part_of(world.Params, machine.params), dt=dt, state=state, seed=seed, instance=instance)
        self._in = {leaf.path: j for j, leaf in enumerate(numbers(world.In))}
        self._out = {leaf.path: j for j, leaf in enumerate(numbers(world.Out))}
        self._stepper.u[:] = flat(world.In(), world.In)
        # outputs before the first tick: a step of no time changes nothing
        rest = world.step(self._stepper.params, state, world.In(), Tick(0, 0.0, seed, instance))[1]
        self._stepper.y[:] = flat(rest, world.Out)
        self._surroundings: list[tuple[int, Array]] = []
        self._moving = threading.RLock()  # on the stepped clock a signal handler may stop the robot inside a step
        self._told: list[Array] | None = [] if record else None
        self._given: list[Array] = []
        self._observers: tuple[Observer, ...] = ()
        self.repeated: tuple[str, ...] = ()  # topics that say what every tick says: a log that has the ticks has no need of them
        self.places = {actuator: self._place(actuator, at) for actuator, at in machine.ports.items()}
        self.drivers: Mapping[str, Callable[[], Any]] = {actuator: _driver(place) for actuator, place in self.places.items()}

    @classmethod
    def of(cls, machine: Machine, scenario: Scenario) -> "SimulatedMachine":
        """For the whole of a scenario: its faults, initial state and seed; recorded."""
        broken = replace(machine, world=scenario.world, params=scenario.params)
        return cls(broken, dt=scenario.dt, state=scenario.state, seed=scenario.seed, instance=scenario.instance, record=True, ticks=scenario.steps)

    def open_to_onlookers(self) -> None:
        """The robot has its world as a sensor too, and a controller that sets the world's parameters; to be called before it is started."""
        sensors = (*self.robot.sensors, Sensor(world_sensor.NAME))
        controllers = (*self.robot.controllers, world_node.world_controller(self.params))
        parameters = (*self.robot.parameters, *world_node.world_parameters(self.params))
        drivers: dict[str, Callable[[], Any]] = {**self.drivers, world_sensor.NAME: lambda: world_sensor.WorldSensor(self)}
        drivers[world_node.NAME] = lambda: world_node.WorldNode(self)
        self.robot = replace(self.robot, sensors=sensors, controllers=controllers, parameters=parameters)
        self.drivers = drivers
        self.repeated = (world_sensor.TOPIC,)

    def surround(self, values: Mapping[str, ArrayLike]) -> None:
        """What the world is told that no actuator tells it: by channel, a number or one per tick (the last is held)."""
        told = {path: actuator for actuator, place in self.places.items() for path in place.paths.values()}
        for channel in values:
            find(self._in, channel, f"input channel of {self.world.name}")
            if channel in told:
                raise InputError(f"{channel} is told by the actuator {told[channel]}: command that instead; nothing was changed")
        self._surroundings = [(self._in[channel], np.atleast_1d(np.asarray(x, float))) for channel, x in values.items()]

    def observe(self, observer: Observer) -> Callable[[], None]:
        """Tell it of every tick from now on, with all gates closed: it must be quick, and copies what it wants to keep. Gives what ends that."""
        self._observers = (*self._observers, observer)

        def end() -> None:
            self._observers = tuple(other for other in self._observers if other is not observer)

        return end

    @property
    def k(self) -> int:
        """Ticks done."""
        return self._stepper.k

    @property
    def state(self) -> Any:
        """The State record of the world, now."""
        return self._stepper.state

    def output(self, path: str) -> float:
        """An output of the world at the end of the last tick."""
        return float(self._stepper.y[find(self._out, path, f"output of {self.world.name}")])

    def outputs(self) -> tuple[int, list[float]]:
        """Ticks done, and every output at the end of the last one."""
        with self._moving:
            return self._stepper.k, self._stepper.y.tolist()

    def told(self) -> list[float]:
        """Every input of the world, as it is now."""
        with self._moving:
            values: list[float] = self._stepper.u.tolist()
            return values

    @property
    def params(self) -> Any:
        """The Params record of the world, now."""
        return self._stepper.params

    def check_params(self, params: Any) -> None:
        """Raise ParameterError with all problems."""
        checked_params(self.world, params, self.dt)

    def set_params(self, params: Any) -> None:
        """Set them from the next tick on."""
        with self._moving:
            self._stepper.set_params(params)

    def warm(self) -> None:
        """Its world is compiled, and what its motors plan with, so that the first tick and the first command are as quick as any other."""
        self._stepper.warm()
        if any(issubclass(place.kind, JointPort) for place in self.places.values()):
            solver()

    def step(self) -> None:
        """One tick."""
        stepper = self._stepper
        if self.ticks is not None and stepper.k >= self.ticks:
            return
        for place in self.places.values():
            place.before_tick()
        with self._moving:
            for j, values in self._surroundings:
                stepper.u[j] = values[min(stepper.k, len(values) - 1)]
            stepper.advance()
            if self._told is not None:
                self._told.append(stepper.u.copy())
                self._given.append(stepper.y.copy())
            for observer in self._observers:
                observer(stepper.k, stepper.u, stepper.y)
        for place in self.places.values():
            place.after_tick()
        if stepper.k == self.ticks:
            self.finished()

    def inputs(self) -> dict[str, Array]:
        """What the world was told in every tick so far, by channel: what `rollout` and `batch` take."""
        rows = np.array(self._recorded()).reshape(-1, len(self._in))
        return {path: rows[:, j].copy() for path, j in self._in.items()}

    def run(self) -> Run:
        """What the world gave in every tick so far, as a rollout gives it."""
        n = len(self._recorded())
        data = np.array(self._given).reshape(n, len(self._out), 1)
        names = tuple(path or "y" for path in self._out)
        return Run(self.world, self.dt, 0, n, 1, names, data, np.array([flat(self.state)]).T)

    def _recorded(self) -> list[Array]:
        if self._told is None:
            raise InputError("this machine keeps no record: build it with record=True")
        return self._told

    def _place(self, actuator: str, at: str) -> Place:
        prefix = f"{at}." if at else ""
        inputs = {path.removeprefix(prefix): j for path, j in self._in.items() if path.startswith(prefix)}
        outputs = {path.removeprefix(prefix): j for path, j in self._out.items() if path.startswith(prefix)}
        kinds = PORTS if any(a.name == actuator for a in self.robot.actuators) else SENSORS
        kind = next((kind for kind in kinds if set(kind.channels) <= set(inputs) and set(kind.reads) <= set(outputs)), None)
        if kind is None:
            known = "; ".join(f"{kind.__name__} ({', '.join(kind.channels)} -> {', '.join(kind.reads)})" for kind in kinds)
            raise InputError(f"{actuator}: no port fits {at or 'the top'!r} of the world {self.world.name} with {', '.join(inputs)}; known: {known}")
        return Place(self._stepper, self._moving, kind, prefix, inputs, outputs)


def _driver(place: Place) -> Callable[[], Any]:
    return lambda: place.kind(place)
