"""Worlds: whole machines as one step. Adding one touches two files: the new one and this table."""

from pushrod.core.model import World
from pushrod.sim.worlds import servo

WORLDS: dict[str, World] = {
    "servo": servo.SERVO,
}
