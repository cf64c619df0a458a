"""The control table of the Dynamixel X series: where each value lies, how long it is and what it means.

    value = (raw - zero) * scale        in the unit that the register names; scale None: the model says (current)

Source: ROBOTIS e-manual, "Control Table" of XL330-M288-T, XL430-W250-T, XM430-W350-T and XH430-V350-R
(emanual.robotis.com/docs/en/dxl/x/). Addresses are the same for the whole X series; models without a current sensor (XL430, XC430) have Present Load
where the others have Present Current, and neither Goal Current nor Current Limit. EEPROM can be written only while torque is off.
"""

import math
from typing import NamedTuple

PULSE = 2.0 * math.pi / 4096.0  # [rad] one step of the encoder
RPM = 0.229 * 2.0 * math.pi / 60.0  # [rad/s] one step of velocity
RPM2 = 214.577 * 2.0 * math.pi / 3600.0  # [rad/s2] one step of profile acceleration
CENTRE = 2048  # raw position that is 0 rad: the middle of the turn, as in the maker's own SDK


class Register(NamedTuple):
    address: int
    size: int
    unit: str = "-"
    scale: float | None = 1.0
    zero: int = 0
    signed: bool = False
    writable: bool = True
    kept: bool = False  # in EEPROM

    def pack(self, raw: int) -> bytes:
        return raw.to_bytes(self.size, "little", signed=self.signed)

    def unpack(self, data: bytes) -> int:
        return int.from_bytes(data, "little", signed=self.signed)


REGISTERS = {
    "model_number": Register(0, 2, writable=False, kept=True),
    "model_information": Register(2, 4, writable=False, kept=True),
    "firmware_version": Register(6, 1, writable=False, kept=True),
    "id": Register(7, 1, kept=True),
    "baud_rate": Register(8, 1, kept=True),
    "return_delay_time": Register(9, 1, "s", 2e-6, kept=True),
    "drive_mode": Register(10, 1, kept=True),
    "operating_mode": Register(11, 1, kept=True),
    "secondary_id": Register(12, 1, kept=True),
    "protocol_type": Register(13, 1, kept=True),
    "homing_offset": Register(20, 4, "rad", PULSE, signed=True, kept=True),
    "moving_threshold": Register(24, 4, "rad/s", RPM, kept=True),
    "temperature_limit": Register(31, 1, "degC", kept=True),
    "max_voltage_limit": Register(32, 2, "V", 0.1, kept=True),
    "min_voltage_limit": Register(34, 2, "V", 0.1, kept=True),
    "pwm_limit": Register(36, 2, "-", 1.0 / 885.0, kept=True),
    "current_limit": Register(38, 2, "A", None, kept=True),
    "velocity_limit": Register(44, 4, "rad/s", RPM, kept=True),
    "max_position_limit": Register(48, 4, "rad", PULSE, CENTRE, kept=True),
    "min_position_limit": Register(52, 4, "rad", PULSE, CENTRE, kept=True),
    "shutdown": Register(63, 1, kept=True),
    "torque_enable": Register(64, 1),
    "led": Register(65, 1),
    "status_return_level": Register(68, 1),
    "registered_instruction": Register(69, 1, writable=False),
    "hardware_error_status": Register(70, 1, writable=False),
    "velocity_i_gain": Register(76, 2),
    "velocity_p_gain": Register(78, 2),
    "position_d_gain": Register(80, 2),
    "position_i_gain": Register(82, 2),
    "position_p_gain": Register(84, 2),
    "feedforward_2nd_gain": Register(88, 2),
    "feedforward_1st_gain": Register(90, 2),
    "bus_watchdog": Register(98, 1, "s", 0.02, signed=True),
    "goal_pwm": Register(100, 2, "-", 1.0 / 885.0, signed=True),
    "goal_current": Register(102, 2, "A", None, signed=True),
    "goal_velocity": Register(104, 4, "rad/s", RPM, signed=True),
    "profile_acceleration": Register(108, 4, "rad/s2", RPM2),
    "profile_velocity": Register(112, 4, "rad/s", RPM),
    "goal_position": Register(116, 4, "rad", PULSE, CENTRE, signed=True),
    "realtime_tick": Register(120, 2, "s", 1e-3, writable=False),
    "moving": Register(122, 1, writable=False),
    "moving_status": Register(123, 1, writable=False),
    "present_pwm": Register(124, 2, "-", 1.0 / 885.0, signed=True, writable=False),
    "present_current": Register(126, 2, "A", None, signed=True, writable=False),
    "present_load": Register(126, 2, "-", 1e-3, signed=True, writable=False),
    "present_velocity": Register(128, 4, "rad/s", RPM, signed=True, writable=False),
    "present_position": Register(132, 4, "rad", PULSE, CENTRE, signed=True, writable=False),
    "velocity_trajectory": Register(136, 4, "rad/s", RPM, signed=True, writable=False),
    "position_trajectory": Register(140, 4, "rad", PULSE, CENTRE, signed=True, writable=False),
    "present_input_voltage": Register(144, 2, "V", 0.1, writable=False),
    "present_temperature": Register(146, 1, "degC", writable=False),
}
CURRENT_ONLY = ("current_limit", "goal_current", "present_current")
LOAD_ONLY = ("present_load",)
