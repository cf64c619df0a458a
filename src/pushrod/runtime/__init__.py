"""The live side of Pushrod: asyncio, threads and wall time live here and nowhere else.

from pushrod.robot import Robot, ...                       what there is to drive
from pushrod.runtime import Runtime, run                   drive it: `async with Runtime(robot, simulation=True) as rt`
from pushrod.runtime import Context, Position, Stopped     write a driver: `pushrod new driver NAME`
"""

from pushrod.core.errors import StalledError
from pushrod.guard.record import Record
from pushrod.guard.settings import Guard
from pushrod.runtime.bus import Bus, LocalBus, Subscription
from pushrod.runtime.cadence import Cadence, Timing
from pushrod.runtime.clock import Clock, SteppedClock, WallClock
from pushrod.runtime.deciding import Armed, Disarmed
from pushrod.runtime.delivery import CommandTimeout
from pushrod.runtime.driver import Context, Driver, Skip, Stopped
from pushrod.runtime.handle import Handle
from pushrod.runtime.message import (
    BeginMotion,
    Command,
    EndMotion,
    HardwareError,
    JointState,
    LeaseChanged,
    Message,
    OperatorVanished,
    Outcome,
    ParameterChanged,
    Transition,
)
from pushrod.runtime.part import DriverError
from pushrod.runtime.payload import Effort, Hold, Payload, Position, Stop, Trajectory, Velocity, Waypoint
from pushrod.runtime.real_time import real_time
from pushrod.runtime.result import ADVICE, Accepted, Clamped, Declined, Refused, Result
from pushrod.runtime.run import run
from pushrod.runtime.runtime import Runtime
from pushrod.safety.state import State

__all__ = [
    "ADVICE",
    "Accepted",
    "Armed",
    "BeginMotion",
    "Bus",
    "Cadence",
    "Clamped",
    "Clock",
    "Command",
    "CommandTimeout",
    "Context",
    "Declined",
    "Disarmed",
    "Driver",
    "DriverError",
    "Effort",
    "EndMotion",
    "Guard",
    "Handle",
    "HardwareError",
    "Hold",
    "JointState",
    "LeaseChanged",
    "LocalBus",
    "Message",
    "OperatorVanished",
    "Outcome",
    "ParameterChanged",
    "Payload",
    "Position",
    "Record",
    "Refused",
    "Result",
    "Runtime",
    "Skip",
    "StalledError",
    "State",
    "SteppedClock",
    "Stop",
    "Stopped",
    "Subscription",
    "Timing",
    "Trajectory",
    "Transition",
    "Velocity",
    "WallClock",
    "Waypoint",
    "real_time",
    "run",
]
