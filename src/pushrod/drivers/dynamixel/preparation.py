"""Make a servo ready without moving it: torque off, the right model, no latched error, mode and drive mode set, its own limits known."""

import time
from contextlib import suppress
from typing import NamedTuple

from pushrod.core.errors import DeviceError, InputError
from pushrod.drivers.dynamixel.health import errors_in
from pushrod.drivers.dynamixel.line import Line, NoAnswer
from pushrod.drivers.dynamixel.mode import MODES, Mode
from pushrod.drivers.dynamixel.model import Model
from pushrod.drivers.dynamixel.options import Options
from pushrod.drivers.dynamixel.register import PULSE
from pushrod.drivers.dynamixel.servo import Servo, identify
from pushrod.robot.motor_profile import MotorProfile
from pushrod.runtime.driver import Stopped

REBOOT = 3.0  # [s] within which a rebooted servo must answer
SLAVE = 0x02  # bit of Drive Mode: it follows another servo by cable
TURN = 4096.0 * PULSE


class Bounds(NamedTuple):
    """What the servo and the joint both allow, in motor space; None where nothing limits it."""

    lower: float | None
    upper: float | None
    velocity: float
    acceleration: float | None
    current: float


def prepare(line: Line, options: Options, motor: MotorProfile) -> tuple[Servo, Bounds]:
    mode = MODES[options.mode]
    model = _identified(line, options, mode)
    servo = Servo(line, options.id, model, 1 + options.retries)
    with suppress(NoAnswer):  # from here on it answers every write; as it was set, it may not answer this one
        servo.write_raw("status_return_level", 2, 1)
    servo.torque_off()
    state = servo.torque_state()
    if state.errors and options.on_hardware_error == "reboot":
        servo.reboot()
        answers(servo)
        servo.torque_off()
        state = servo.torque_state()
    if state.errors:
        raise Stopped(hardware_error(servo, state.errors))
    if state.torque:
        raise DeviceError(f"servo {options.id} on {line.path}: torque stays on; another program may be driving it")
    if servo.read_raw("drive_mode") & SLAVE:
        raise InputError(f"servo {options.id} on {line.path} is the slave of another (Drive Mode bit 1): command its master, or clear that bit")
    # 0: not reversed (the transmission does that), profiles by velocity, and no torque by itself when a goal is written
    servo.settle("drive_mode", 0)
    servo.settle("operating_mode", mode.number)
    return servo, bounds(servo, mode, motor)


def bounds(servo: Servo, mode: Mode, motor: MotorProfile) -> Bounds:
    """Raises InputError where the joint asks for more travel than the mode has."""
    lower, upper = motor.lower, motor.upper
    if mode.positions:
        if mode.turns < 1.0:
            first, last = servo.read("min_position_limit"), servo.read("max_position_limit")
        else:
            first, last = -mode.turns * TURN, mode.turns * TURN
        for name, x in (("lower", lower), ("upper", upper)):
            if x is not None and not first - PULSE <= x <= last + PULSE:
                advice = "use the mode extended_position, " if mode.turns < 1.0 else ""
                raise InputError(
                    f"servo {servo.id} on {servo.line.path}: the joint's {name} limit is {x:.4g} rad at the motor, but in mode {mode.name} the servo "
                    f"goes from {first:.4g} to {last:.4g} rad; {advice}narrow the limits of the joint, or widen Min and Max Position Limit"
                )
        lower, upper = first if lower is None else max(lower, first), last if upper is None else min(upper, last)
    fastest = servo.read("velocity_limit")
    current = servo.read("current_limit") if servo.model.has_current else 0.0
    return Bounds(lower, upper, fastest if motor.velocity is None else min(motor.velocity, fastest), motor.acceleration, current)


def hardware_error(servo: Servo, status: int) -> str:
    """What a status byte says, with what to do."""
    found = "; ".join(errors_in(status)) or "none that it names"
    return (
        f"servo {servo.id} on {servo.line.path} reports a hardware error: {found}. Then reboot it: see the how-to, or set on_hardware_error: reboot"
    )


def answers(servo: Servo) -> None:
    """Wait until a servo that was rebooted answers again."""
    end = time.monotonic() + REBOOT
    while True:
        try:
            identify(servo.line, servo.id, 1)
            return
        except NoAnswer:
            if time.monotonic() > end:
                raise
            time.sleep(0.02)


def _identified(line: Line, options: Options, mode: Mode) -> Model:
    model = identify(line, options.id, 1 + options.retries).model
    if options.model is not None and options.model != model.name:
        raise InputError(f"servo {options.id} on {line.path} is a {model.name}, not a {options.model}: look at id and wiring, or at the option model")
    if mode.needs_current and not model.has_current:
        possible = ", ".join(other.name for other in MODES.values() if not other.needs_current)
        raise InputError(f"mode = {mode.name!r}: a {model.name} cannot measure current; it has {possible}")
    return model
