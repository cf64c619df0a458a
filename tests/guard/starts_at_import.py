"""A module that starts a robot when it is imported, as no module should."""

import asyncio

from pushrod.robot import Actuator, Joint, Limits, Robot
from pushrod.runtime import Runtime


def off(options):
    """Nothing to switch off."""


async def main():
    joint = Joint("j", "continuous", "a", "b", limits=Limits(velocity=1.0, effort=1.0))
    async with Runtime(Robot("r", links=["a", "b"], joints=[joint], actuators=[Actuator("m", "j")]), simulation=True):
        pass


if STARTED := "pytest" not in __import__("sys").modules:
    asyncio.run(main())
