"""One servo on a line: its registers by name, in SI units."""

from typing import NamedTuple

from pushrod.core.errors import DeviceError, InputError
from pushrod.core.names import find
from pushrod.drivers.dynamixel.line import PING, READ, REBOOT, WRITE, Line
from pushrod.drivers.dynamixel.model import LOWEST_FIRMWARE, MODELS, Model
from pushrod.drivers.dynamixel.register import CURRENT_ONLY, LOAD_ONLY, REGISTERS, Register

FEEDBACK = (124, 23)  # Present PWM to Present Temperature
STATE = (64, 7)  # Torque Enable to Hardware Error Status; no other read has this length, so a late answer is not taken for it


class Feedback(NamedTuple):
    """Motor space, SI; current [A] or load [-], as the model measures it. `alert`: it has a hardware error."""

    position: float
    velocity: float
    current: float | None
    load: float | None
    voltage: float
    temperature: float
    alert: bool


class TorqueState(NamedTuple):
    torque: bool
    errors: int


class Identity(NamedTuple):
    model: Model
    firmware: int


class Servo:
    def __init__(self, line: Line, id: int, model: Model, attempts: int) -> None:
        self.line = line
        self.id = id
        self.model = model
        self.attempts = attempts

    def register(self, name: str) -> Register:
        """The register of this name; one that this model does not have is an InputError."""
        register = find(REGISTERS, name, "register")
        if name in (LOAD_ONLY if self.model.has_current else CURRENT_ONLY):
            raise InputError(f"a {self.model.name} has no register {name}: it measures {'current' if self.model.has_current else 'load'}")
        return register

    def read_raw(self, name: str, attempts: int = 0) -> int:
        register = self.register(name)
        return register.unpack(self.read_bytes(register.address, register.size, attempts)[0])

    def read(self, name: str) -> float:
        return self.value(name, self.read_raw(name))

    def read_bytes(self, address: int, size: int, attempts: int = 0, urgent: bool = False) -> tuple[bytes, bool]:
        parameters = address.to_bytes(2, "little") + size.to_bytes(2, "little")
        return self.line.exchange(self.id, READ, parameters, wanted=size, attempts=attempts or self.attempts, urgent=urgent)

    def write_raw(self, name: str, raw: int, attempts: int = 0, urgent: bool = False) -> bool:
        """True where the servo reports a hardware error besides."""
        register = self.register(name)
        return self._write(register.address, register.pack(raw), attempts, urgent)

    def write(self, *values: tuple[str, float]) -> bool:
        """Registers that lie one behind the other, in one packet, so that they act together."""
        start = end = self.register(values[0][0]).address
        data = b""
        for name, value in values:
            register = self.register(name)
            if register.address != end:
                raise InputError(f"{name} does not follow the register before it")
            data += register.pack(self.raw(name, value))
            end += register.size
        return self._write(start, data)

    def settle(self, name: str, raw: int) -> None:
        """Make a register hold a value, without wearing EEPROM out where it does; read back."""
        if self.read_raw(name) != raw:
            self.write_raw(name, raw)
            got = self.read_raw(name)
            if got != raw:
                raise DeviceError(f"servo {self.id} on {self.line.path}: {name} was set to {raw} but reads {got}")

    def feedback(self, attempts: int = 0) -> Feedback:
        data, alert = self.read_bytes(*FEEDBACK, attempts=attempts)

        def at(name: str) -> float:
            register = REGISTERS[name]
            start = register.address - FEEDBACK[0]
            return self.value(name, register.unpack(data[start : start + register.size]))

        has_current = self.model.has_current
        return Feedback(
            at("present_position"),
            at("present_velocity"),
            at("present_current") if has_current else None,
            None if has_current else at("present_load"),
            at("present_input_voltage"),
            at("present_temperature"),
            alert,
        )

    def torque_state(self, attempts: int = 0, urgent: bool = False) -> TorqueState:
        data, _ = self.read_bytes(*STATE, attempts=attempts, urgent=urgent)
        return TorqueState(data[0] != 0, data[6])

    def torque_off(self, attempts: int = 0, urgent: bool = False) -> None:
        self.write_raw("torque_enable", 0, attempts, urgent)

    def reboot(self) -> None:
        self.line.exchange(self.id, REBOOT, attempts=self.attempts)

    def value(self, name: str, raw: int) -> float:
        register = REGISTERS[name]
        scale = self.model.ampere if register.scale is None else register.scale
        return (raw - register.zero) * (scale or 0.0)

    def raw(self, name: str, value: float) -> int:
        """The nearest raw value."""
        register = REGISTERS[name]
        scale = self.model.ampere if register.scale is None else register.scale
        return round(value / (scale or 1.0)) + register.zero

    def _write(self, address: int, data: bytes, attempts: int = 0, urgent: bool = False) -> bool:
        return self.line.exchange(self.id, WRITE, address.to_bytes(2, "little") + data, attempts=attempts or self.attempts, urgent=urgent).alert


def identify(line: Line, id: int, attempts: int) -> Identity:
    """Who answers at this id. A model with another control table, or with firmware too old for it, is refused."""
    data = line.exchange(id, PING, wanted=3, attempts=attempts).data
    number, firmware = int.from_bytes(data[:2], "little"), data[2]
    if number not in MODELS:
        known = ", ".join(model.name for model in MODELS.values())
        raise DeviceError(f"servo {id} on {line.path} has the model number {number}, which is not one of the X series known here: {known}")
    model = MODELS[number]
    if firmware < LOWEST_FIRMWARE:
        raise DeviceError(
            f"servo {id} on {line.path}, a {model.name}, has firmware {firmware}: {LOWEST_FIRMWARE} or newer is needed; "
            "update it with Dynamixel Wizard"
        )
    return Identity(model, firmware)
