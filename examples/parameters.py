"""Change a parameter while the robot runs: all who use it follow at once, what is not allowed is refused, and the value is there next time.

python examples/parameters.py
"""

import tempfile
from pathlib import Path

from pushrod import PushrodError
from pushrod.robot import Actuator, Joint, Limits, Parameter, ParameterRef, Robot
from pushrod.runtime import ParameterChanged, Runtime, SteppedClock, run

speed = Parameter("shoulder.speed", default=1.0, lo=0.1, hi=3.0, unit="rad/s", doc="how fast the shoulder may turn")
limits = Limits(-1.5, 1.5, velocity=ParameterRef("shoulder.speed"), acceleration=8.0, effort=5.0)  # rad, rad/s, rad/s2, N.m
shoulder = Joint("shoulder", "revolute", "base", "arm", limits=limits)
robot = Robot("arm", links=["base", "arm"], joints=[shoulder], actuators=[Actuator("servo", "shoulder")], parameters=[speed])


async def first_day(file):
    async with Runtime(robot, simulation=True, persisted=file) as rt:
        rt.arm()
        changes = rt.subscribe(["param"], [ParameterChanged])
        print(rt["servo"].direct.set_velocity(2.5))

        rt.parameters.set("shoulder.speed", "120 deg/s", source="operator")
        print(rt["servo"].direct.set_velocity(2.5))
        print(changes.poll().payload)

        try:
            rt.parameters.set("shoulder.speed", 99.0)
        except PushrodError as error:
            print(error)


async def next_day(file):
    async with Runtime(robot, simulation=True, persisted=file) as rt:
        print(rt.parameters.list()[0])


with tempfile.TemporaryDirectory() as folder:
    for day in (first_day, next_day):
        run(day(Path(folder) / "arm.json"), SteppedClock())
