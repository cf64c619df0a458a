"""Switch the torque of one servo off, with or without its driver, from any process: STO in the words of IEC 61800-5-2, not a certified function.

The write is sent even where answers are damaged or missing, several times; the register is read back, and only a 0 that was read counts. Whatever
cannot be proven is raised, and so reported as not made safe.
"""

from contextlib import suppress
from typing import Any

import msgspec

from pushrod import guard
from pushrod.core.errors import DeviceError
from pushrod.drivers.dynamixel.line import Line, NoAnswer, Rejected, leave, share
from pushrod.drivers.dynamixel.model import MODELS
from pushrod.drivers.dynamixel.options import Place
from pushrod.drivers.dynamixel.servo import Servo

ROUNDS = 6  # of write and read back
if guard.INSIDE:  # whose moment is not the time to import anything
    with suppress(ImportError):
        import pushrod.drivers.dynamixel.sdk  # noqa: F401


def disarm(options: dict[str, Any]) -> None:
    """Torque off for the servo that the options name, verified. Idempotent. Raises DeviceError where it could not be verified."""
    place = msgspec.convert(options, Place)
    user = object()
    line = share(place.port, place.baud, place.patience, user, f"disarm of servo {place.id}")
    try:
        _off(line, place.id)
    finally:
        leave(line, user)


def _off(line: Line, id: int) -> None:
    servo = Servo(line, id, next(iter(MODELS.values())), 1)  # torque is at the same place in every model
    trouble = ""
    for _ in range(ROUNDS):
        try:
            servo.torque_off(attempts=1, urgent=True)
        except Rejected as error:
            trouble = str(error)
        except NoAnswer as error:
            trouble = str(error)  # it may have arrived all the same: the register will tell
        line.disarmed[id] = line.disarmed.get(id, 0) + 1
        try:
            if not servo.torque_state(attempts=1, urgent=True).torque:
                return
            trouble = "torque is still on"
        except DeviceError as error:
            trouble = str(error)
    raise DeviceError(f"torque of servo {id} on {line.path} could not be proven off in {ROUNDS} attempts: {trouble}. Cut its power")
