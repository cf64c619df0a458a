"""What can be asked of a Dynamixel besides commands:

"ping"                   model and firmware
"health"                 a ServoHealth, read now
"temperature"            [degC], read now
{"read": "register"}     any register by name, in SI units
"reboot"                 clears a hardware error; torque must be off
{"calibrate": x}         from now on the present position reads as x [rad, motor space], by the Homing Offset in EEPROM; torque must be off
"""

from typing import TYPE_CHECKING, Any

from pushrod.core.errors import InputError
from pushrod.drivers.dynamixel.preparation import answers
from pushrod.drivers.dynamixel.register import PULSE
from pushrod.drivers.dynamixel.servo import identify

if TYPE_CHECKING:
    from pushrod.drivers.dynamixel.driver import Dynamixel

NEAR, FAR = 1024, 1_044_479  # the greatest Homing Offset: in mode position, in the others


def answer(driver: "Dynamixel", request: Any) -> Any:
    servo = driver.shaft.servo
    if request == "ping":
        found = identify(servo.line, servo.id, servo.attempts)
        return {"model": found.model.name, "firmware": found.firmware}
    if request == "health":
        return driver.health()
    if request == "temperature":
        return servo.read("present_temperature")
    if request == "reboot":
        _needs_rest(driver, "reboot")
        servo.reboot()
        answers(servo)
        return None
    if isinstance(request, dict) and set(request) == {"read"}:
        return servo.read(request["read"])
    if isinstance(request, dict) and set(request) == {"calibrate"}:
        _needs_rest(driver, "calibrate")
        return calibrate(driver, request["calibrate"])
    raise LookupError(f"a Dynamixel answers 'ping', 'health', 'temperature', 'reboot', {{'read': register}} and {{'calibrate': x}}, got {request!r}")


def calibrate(driver: "Dynamixel", x: float) -> dict[str, float]:
    servo, mode = driver.shaft.servo, driver.shaft.mode
    if isinstance(x, bool) or not isinstance(x, (int, float)) or not abs(x) <= 256.0 * 4096.0 * PULSE:
        raise InputError(f"calibrate: {x!r} is no position in rad; nothing was changed")
    most = NEAR if mode.turns < 1.0 else FAR
    old = servo.read_raw("homing_offset")
    new = old + servo.raw("goal_position", x) - servo.read_raw("present_position")
    if abs(new) > most:
        raise InputError(
            f"calibrate: a Homing Offset of {new} is needed, the servo takes {-most} to {most} in mode {mode.name}: "
            "turn the horn on its shaft, use the offset of the transmission, or the mode extended_position; nothing was changed"
        )
    servo.settle("homing_offset", new)
    return {"position": servo.read("present_position"), "homing_offset": servo.read("homing_offset")}


def _needs_rest(driver: "Dynamixel", what: str) -> None:
    if driver.shaft.servo.torque_state().torque:
        raise InputError(f"{what}: torque is on; disarm first, nothing was changed")
