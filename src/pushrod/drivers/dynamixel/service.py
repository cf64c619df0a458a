"""For a bench, without a robot: which servos are on a line, and reboot one whose driver is stopped by a hardware error.

python -m pushrod.drivers.dynamixel.service /dev/ttyUSB0              who answers, at every baud rate
python -m pushrod.drivers.dynamixel.service /dev/ttyUSB0 reboot 1     clear the hardware error of servo 1
"""

import os
import sys
from collections.abc import Iterable
from typing import NamedTuple

from pushrod.core.errors import PushrodError
from pushrod.drivers.dynamixel.health import errors_in
from pushrod.drivers.dynamixel.line import BAUD_RATES, leave, share
from pushrod.drivers.dynamixel.model import MODELS
from pushrod.drivers.dynamixel.preparation import answers
from pushrod.drivers.dynamixel.servo import Servo

PATIENCE = 0.02  # [s]


class Found(NamedTuple):
    baud: int
    id: int
    model: str
    firmware: int
    torque: bool
    errors: tuple[str, ...]


def scan(port: str, bauds: Iterable[int] = BAUD_RATES) -> list[Found]:
    """Whoever answers, about a second for each baud rate; nothing is changed. A port in use keeps its baud rate and raises for others."""
    found = []
    for baud in bauds:
        user = object()
        line = share(port, baud, PATIENCE, user, "scan")
        try:
            for id, (number, firmware) in sorted(line.everyone().items()):
                if number in MODELS:
                    state = Servo(line, id, MODELS[number], 3).torque_state()
                    found.append(Found(baud, id, MODELS[number].name, firmware, state.torque, errors_in(state.errors)))
                else:
                    found.append(Found(baud, id, f"model number {number}, not of the X series", firmware, False, ()))
        finally:
            leave(line, user)
    return found


def reboot(port: str, id: int, baud: int = 57_600) -> None:
    """Torque off, then reboot: a latched hardware error is gone afterwards if its cause is."""
    user = object()
    line = share(port, baud, 2.0 * PATIENCE, user, "reboot")
    try:
        servo = Servo(line, id, next(iter(MODELS.values())), 5)
        servo.torque_off()
        servo.reboot()
        answers(servo)
    finally:
        leave(line, user)


def main(arguments: list[str]) -> int:
    if len(arguments) not in (1, 3) or (len(arguments) == 3 and arguments[1] != "reboot"):
        print(__doc__)
        return 2
    try:
        found = scan(arguments[0], BAUD_RATES)
        for servo in found:
            print(f"id {servo.id} at {servo.baud} bit/s: {servo.model}, firmware {servo.firmware}, {'; '.join(servo.errors) or 'no errors'}")
        if len(arguments) == 1:
            return 0 if found else 1
        mine = [servo for servo in found if str(servo.id) == arguments[2]]
        if not mine:
            print(f"no servo {arguments[2]} answers on {arguments[0]}")
            return 1
        reboot(arguments[0], mine[0].id, mine[0].baud)
        print(f"servo {arguments[2]} was rebooted")
        return 0
    except PushrodError as error:
        print(f"{type(error).__name__}: {error}")
        return 1
    except (OSError, ImportError) as error:
        what = "no such port" if not os.path.exists(arguments[0]) else str(error) or type(error).__name__
        print(f"{arguments[0]}: {what}; ports that are there: {', '.join(_ports()) or 'none'}", file=sys.stderr)
        return 2


def _ports() -> list[str]:
    try:
        from serial.tools.list_ports import comports
    except ImportError:
        return []
    return sorted(port.device for port in comports())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
