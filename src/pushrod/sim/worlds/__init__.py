"""Worlds: whole machines as one step. Adding one touches two files: the new one and this table."""

from pushrod.core.model import World
from pushrod.sim.worlds import satellite, servo

WORLDS: dict[str, World] = {
    "satellite": satellite.SATELLITE,
    "servo": servo.SERVO,
}
