"""The parameters of a simulated world while it runs: a controller whose options are the world's own record, each number a parameter of the robot.

    world.body.m = 2.5             from the next tick on
    fault.steer.kind = "stuck"     the same for the record of its faults; "none" clears the fault

A change is checked as a whole before anything changes, kept with all other parameters, published and logged. Tables (maps, effectiveness) are how a
machine is built: they are set before it starts. So is what the delay lines have no room for; the check refuses it.
"""

from typing import TYPE_CHECKING, Any

import msgspec

from pushrod.core.errors import ParameterError
from pushrod.live.pipeline.act_parameters import declared, named, read
from pushrod.robot.attachment import Controller
from pushrod.robot.parameter import Parameter
from pushrod.runtime.driver import Context

if TYPE_CHECKING:
    from pushrod.live.machine import SimulatedMachine

NAME = "simulation"
FAULT = "fault"
WORLD = "world"
FAULTS = "faults"  # the field of a world's parameters that holds its faults


def world_parameters(params: Any) -> tuple[Parameter, ...]:
    """Return world.<path> for every number of the record, and fault.<channel>.<field> for every channel that can fail."""
    found = declared(params, WORLD, tables=False)
    plain = tuple(one for one in found if not one.path.startswith(f"{WORLD}.{FAULTS}."))
    return plain + (declared(params.faults, FAULT) if hasattr(params, FAULTS) else ())


def world_controller(params: Any) -> Controller:
    options = named(params, WORLD, tables=False)
    faults = named(params.faults, FAULT) if options.pop(FAULTS, None) is not None else {}
    return Controller(NAME, options={WORLD: options, FAULTS: faults}, simulation="start")


def world_params(params: Any, world: dict[str, Any], faults: dict[str, Any], dt: float) -> Any:
    """Return the record with these values in it. ParameterError lists all problems of each part."""
    params = read(params, world, None, WORLD)
    return params._replace(faults=read(params.faults, faults, dt, FAULT)) if faults else params


class WorldNode:
    def __init__(self, machine: "SimulatedMachine") -> None:
        self._machine = machine
        fields = [(name, dict[str, Any]) for name in (WORLD, FAULTS)]
        self.options = msgspec.defstruct("Options", fields, namespace={"__post_init__": _check(machine)}, frozen=True)

    def init(self, context: Context, options: Any) -> None:
        self.handle_options(context, options)

    def handle_options(self, context: Context, options: Any) -> None:
        self._machine.set_params(_params(self._machine, options))


def _params(machine: "SimulatedMachine", options: Any) -> Any:
    return world_params(machine.params, options.world, options.faults, machine.dt)


def _check(machine: "SimulatedMachine") -> Any:
    def check(options: Any) -> None:
        try:
            machine.check_params(_params(machine, options))
        except ParameterError as error:
            raise ValueError(str(error)) from error

    return check
