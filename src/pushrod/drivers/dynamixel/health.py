"""What a servo says about itself: how warm, how loaded, how fresh the news is; and what its hardware errors mean."""

from msgspec import Struct

ERRORS = {  # bits of Hardware Error Status: e-manual, "Shutdown"
    0x01: "input voltage: outside the limits of the servo; look at supply and cable under load",
    0x04: "overheating: above the temperature limit of the servo; let it cool down, lower the load",
    0x08: "motor encoder: does not work; send it to repair",
    0x10: "electrical shock: a shock on its circuit or too little power; look at supply and wiring",
    0x20: "overload: loaded beyond its output for too long; free what blocks it, lower the load",
}


class ServoHealth(Struct, frozen=True, gc=False, tag=True):
    """Published about once a second. Temperature [degC], voltage [V], current [A] or load (share of the greatest, -1 to 1), as the model measures it.

    age        [s] since the last good reading
    exchanges, retries, failures   of the whole line since it was opened
    """

    temperature: float
    voltage: float
    current: float | None
    load: float | None
    torque: bool
    age: float
    exchanges: int
    retries: int
    failures: int


def errors_in(status: int) -> tuple[str, ...]:
    """The hardware errors that a status byte holds, each with what to do."""
    known = tuple(text for bit, text in ERRORS.items() if status & bit)
    other = status & ~sum(ERRORS)
    return (*known, f"unknown bits 0x{other:02x}: see the manual of the model") if other else known
