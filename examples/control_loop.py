"""A control loop of your own: read the joint, compute, send. Here a PD controller that pushes a slide to where it should be.

python examples/control_loop.py
"""

import asyncio

from pushrod.robot import Actuator, Joint, Limits, Robot
from pushrod.runtime import Runtime, SteppedClock, run

limits = Limits(0.0, 1.0, velocity=2.0, acceleration=50.0, effort=20.0)  # m, m/s, m/s2, N
slide = Joint("slide", "prismatic", "rail", "sledge", limits=limits)
motor = Actuator("motor", "slide", options={"inertia": 2.0, "feedback_hz": 500.0, "initial": 0.2})  # kg, Hz, m
robot = Robot("sledge", links=["rail", "sledge"], joints=[slide], actuators=[motor])

GOAL, STIFFNESS, DAMPING = 0.6, 50.0, 20.0  # m, N/m, N.s/m: critically damped for 2 kg


async def main():
    async with Runtime(robot, {"motor": "pushrod.runtime.simulated:Kinematic"}) as rt:
        motor = rt["motor"]
        rt.arm()

        @rt.loop(hz=500)
        def control(k):
            """On its own thread in real time; what it raises disarms the robot."""
            push = STIFFNESS * (GOAL - motor.position) - DAMPING * motor.velocity
            motor.direct.set_effort(push, validity=0.01)

        for _ in range(5):
            await asyncio.sleep(0.3)
            print(f"{rt.clock.now():.1f} s: {motor.position:.3f} m")
        print(control.timing())


run(main(), SteppedClock())
