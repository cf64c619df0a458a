"""Hello, servo: one joint, one simulated motor, an answer for every command.

python examples/hello_servo.py
"""

from pushrod.robot import Actuator, Joint, Limits, Robot
from pushrod.runtime import Runtime, run

limits = Limits(-1.5, 1.5, velocity=2.0, acceleration=8.0, effort=5.0)  # rad, rad/s, rad/s2, N.m
shoulder = Joint("shoulder", "revolute", "base", "arm", limits=limits)
robot = Robot("hello", links=["base", "arm"], joints=[shoulder], actuators=[Actuator("servo", "shoulder")])


async def main():
    async with Runtime(robot, simulation=True) as rt:
        servo = rt["servo"]
        print(servo.direct.set_position(1.0))  # refused: nothing moves before arming
        rt.arm()
        print(servo.direct.set_position(2.0, id="reach"))  # clamped: the joint ends at 1.5 rad
        print(await rt.motion("servo", "reach"))


run(main())
