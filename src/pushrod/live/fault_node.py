"""Faults of a simulated machine while it runs: a controller whose options are the fault records of the world, each number a parameter of the robot.

fault.steer.kind = "stuck"     from the next tick on; fault.steer.kind = "none" mends it

So what may be set is checked as a whole before anything changes, kept with all other parameters, told to who watches and to the log.
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

NAME = "faults"
PATH = "fault"


def fault_parameters(faults: Any) -> tuple[Parameter, ...]:
    """fault.<channel>.<field> for every channel that can break."""
    return declared(faults, PATH)


def fault_controller(faults: Any) -> Controller:
    return Controller(NAME, options={"faults": named(faults, PATH)}, simulation="start")


class FaultNode:
    def __init__(self, machine: "SimulatedMachine") -> None:
        self._machine = machine
        self.options = msgspec.defstruct("Options", [("faults", dict[str, Any])], namespace={"__post_init__": _check(machine)}, frozen=True)

    def init(self, context: Context, options: Any) -> None:
        self.handle_options(context, options)

    def handle_options(self, context: Context, options: Any) -> None:
        self._machine.set_faults(_faults(self._machine, options))


def _faults(machine: "SimulatedMachine", options: Any) -> Any:
    return read(machine.faults, options.faults, machine.dt, PATH)


def _check(machine: "SimulatedMachine") -> Any:
    def check(options: Any) -> None:
        try:
            machine.check_faults(_faults(machine, options))
        except ParameterError as error:
            raise ValueError(str(error)) from error

    return check
