"""Two commanders and a lease: a planner holds the joint, a person takes it over, and neither can fight the other unseen.

python examples/two_commanders.py
"""

import asyncio

from pushrod.robot import Actuator, Joint, Limits, Robot
from pushrod.runtime import LeaseChanged, Runtime, SteppedClock, run

limits = Limits(velocity=3.0, acceleration=10.0, effort=1.0)  # rad/s, rad/s2, N.m
pan = Joint("pan", "continuous", "base", "head", limits=limits)
robot = Robot("camera", links=["base", "head"], joints=[pan], actuators=[Actuator("motor", "pan")])


async def main():
    async with Runtime(robot, simulation=True) as rt:
        rt.arm()
        planner, person = rt.handle("motor", source="planner"), rt.handle("motor", source="person")
        changes = rt.subscribe(["actuator"], [LeaseChanged])

        planner.take_lease()
        print("planner:", planner.direct.set_velocity(0.5))
        print("person: ", person.direct.set_velocity(-0.5))  # refused, and told who holds it

        person.take_lease(seconds=2.0, priority=10)  # a higher priority takes over, for as long as it says
        print("person: ", person.direct.set_velocity(-0.5))
        print("planner:", planner.direct.set_velocity(0.5))

        print("planner:", planner.direct.stop())  # a stop needs no lease
        await asyncio.sleep(2.0)
        print("planner:", planner.direct.set_velocity(0.5))  # the lease has run out

        while message := changes.poll():
            print(f"{message.time:.0f} s: {message.payload.old} -> {message.payload.new}")


run(main(), SteppedClock())
