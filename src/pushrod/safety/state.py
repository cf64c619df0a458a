"""The arming state machine, as one table.

    disarmed --arm--> armed --disarm--> disarming --all safe--> disarmed
                                        disarming --any not--> error
    armed --fault--> disarming           any --e-stop--> estopped (latched)
    error --force_disarm--> disarmed     estopped --reset, cause gone--> disarmed

Disarming cannot be refused: in error and e-stopped it runs again and the state stays. Arming is a second step after every stop.
"""

from enum import StrEnum
from typing import NamedTuple


class State(StrEnum):
    DISARMED = "disarmed"
    ARMED = "armed"
    DISARMING = "disarming"
    ERROR = "error"
    ESTOPPED = "estopped"


class Event(StrEnum):
    ARM = "arm"
    DISARM = "disarm"
    SAFE = "safe"  # every disarm function came back well
    UNSAFE = "unsafe"  # at least one did not
    FAULT = "fault"  # restart budget spent, or a fault reported as critical
    FORCE_DISARM = "force_disarm"
    ESTOP = "estop"
    RESET = "reset"


class Step(NamedTuple):
    """Where an event leads; `refusal` says why it leads nowhere."""

    state: State
    refusal: str = ""


_S, _E = State, Event
TABLE: dict[tuple[State, Event], Step] = {
    (_S.DISARMED, _E.ARM): Step(_S.ARMED),
    (_S.ARMED, _E.ARM): Step(_S.ARMED, "already_armed"),
    (_S.DISARMING, _E.ARM): Step(_S.DISARMING, "disarming"),
    (_S.ERROR, _E.ARM): Step(_S.ERROR, "in_error"),
    (_S.ESTOPPED, _E.ARM): Step(_S.ESTOPPED, "estopped"),
    (_S.DISARMED, _E.DISARM): Step(_S.DISARMED),
    (_S.ARMED, _E.DISARM): Step(_S.DISARMING),
    (_S.DISARMING, _E.DISARM): Step(_S.DISARMING),
    (_S.ERROR, _E.DISARM): Step(_S.ERROR),
    (_S.ESTOPPED, _E.DISARM): Step(_S.ESTOPPED),
    (_S.DISARMED, _E.SAFE): Step(_S.DISARMED),
    (_S.ARMED, _E.SAFE): Step(_S.ARMED),
    (_S.DISARMING, _E.SAFE): Step(_S.DISARMED),
    (_S.ERROR, _E.SAFE): Step(_S.ERROR),
    (_S.ESTOPPED, _E.SAFE): Step(_S.ESTOPPED),
    (_S.DISARMED, _E.UNSAFE): Step(_S.ERROR),
    (_S.ARMED, _E.UNSAFE): Step(_S.ERROR),
    (_S.DISARMING, _E.UNSAFE): Step(_S.ERROR),
    (_S.ERROR, _E.UNSAFE): Step(_S.ERROR),
    (_S.ESTOPPED, _E.UNSAFE): Step(_S.ESTOPPED),
    (_S.DISARMED, _E.FAULT): Step(_S.ERROR),
    (_S.ARMED, _E.FAULT): Step(_S.ERROR),
    (_S.DISARMING, _E.FAULT): Step(_S.ERROR),
    (_S.ERROR, _E.FAULT): Step(_S.ERROR),
    (_S.ESTOPPED, _E.FAULT): Step(_S.ESTOPPED),
    (_S.DISARMED, _E.FORCE_DISARM): Step(_S.DISARMED, "not_in_error"),
    (_S.ARMED, _E.FORCE_DISARM): Step(_S.ARMED, "not_in_error"),
    (_S.DISARMING, _E.FORCE_DISARM): Step(_S.DISARMING, "not_in_error"),
    (_S.ERROR, _E.FORCE_DISARM): Step(_S.DISARMED),
    (_S.ESTOPPED, _E.FORCE_DISARM): Step(_S.ESTOPPED, "estopped"),
    (_S.DISARMED, _E.ESTOP): Step(_S.ESTOPPED),
    (_S.ARMED, _E.ESTOP): Step(_S.ESTOPPED),
    (_S.DISARMING, _E.ESTOP): Step(_S.ESTOPPED),
    (_S.ERROR, _E.ESTOP): Step(_S.ESTOPPED),
    (_S.ESTOPPED, _E.ESTOP): Step(_S.ESTOPPED),
    (_S.DISARMED, _E.RESET): Step(_S.DISARMED, "not_estopped"),
    (_S.ARMED, _E.RESET): Step(_S.ARMED, "not_estopped"),
    (_S.DISARMING, _E.RESET): Step(_S.DISARMING, "not_estopped"),
    (_S.ERROR, _E.RESET): Step(_S.ERROR, "not_estopped"),
    (_S.ESTOPPED, _E.RESET): Step(_S.DISARMED),
}


def follow(state: State, event: Event) -> Step:
    """The one place a state changes."""
    return TABLE[state, event]
