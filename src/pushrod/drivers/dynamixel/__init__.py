"""Dynamixel X servos. In a robot description: `driver: pushrod.drivers.dynamixel:Dynamixel`, with the options of `Options`."""

from pushrod.drivers.dynamixel.driver import Dynamixel
from pushrod.drivers.dynamixel.health import ServoHealth
from pushrod.drivers.dynamixel.mode import Current, Duty
from pushrod.drivers.dynamixel.options import Options

__all__ = ["Current", "Duty", "Dynamixel", "Options", "ServoHealth"]
