"""The shipped arm, described in Python and moved behind the runtime: the robot of sim/robots/arm.yaml, the world of `pushrod run arm`.

python examples/arm.py
"""

import asyncio
from dataclasses import replace
from math import radians

from pushrod.live import SimulatedMachine
from pushrod.robot import Actuator, Cylinder, Dynamics, Inertial, Joint, Limits, Link, Origin, Robot, Transmission, Visual
from pushrod.runtime import Runtime, SteppedClock, run
from pushrod.sim import machine


def rod(name: str, length: float, radius: float, mass: float, com: float, inertia: float) -> Link:
    """A link that hangs down from its joint."""
    body = Inertial(mass, (inertia, 0.0, 0.0, inertia, 0.0, 0.001), Origin((0.0, 0.0, -com)))
    return Link(name, body, [Visual(Cylinder(radius, length), Origin((0.0, 0.0, -length / 2.0)))])


FORWARDS = (0.0, -1.0, 0.0)  # the axis about which a positive angle lifts the arm forwards
KINEMATIC = "pushrod.runtime.simulated.kinematic:Kinematic"  # where no machine takes its place

robot = Robot(
    "arm",
    links=[Link("base"), rod("upper_arm", 0.35, 0.03, 2.0, 0.16, 0.02), rod("forearm", 0.3, 0.025, 1.2, 0.13, 0.01), Link("tip")],
    joints=[
        Joint(
            "shoulder",
            "revolute",
            "base",
            "upper_arm",
            axis=FORWARDS,
            limits=Limits(radians(-120), radians(170), velocity=radians(180), acceleration=8.0, effort=30.0),
            dynamics=Dynamics(damping=0.3, friction=0.4),
        ),
        Joint(
            "elbow",
            "revolute",
            "upper_arm",
            "forearm",
            Origin((0.0, 0.0, -0.35)),
            axis=FORWARDS,
            limits=Limits(radians(-150), radians(150), velocity=radians(240), acceleration=15.0, effort=15.0),
            dynamics=Dynamics(damping=0.15, friction=0.2),
        ),
        Joint("wrist", "fixed", "forearm", "tip", Origin((0.0, 0.0, -0.3))),
    ],
    actuators=[
        Actuator("shoulder_motor", "shoulder", KINEMATIC, {"feedback_hz": 100}, Transmission(50.0)),
        Actuator("elbow_motor", "elbow", KINEMATIC, {"feedback_hz": 100, "jerk": 10000}, Transmission(50.0, offset=0.3, reversed=True)),
    ],
)


async def main() -> None:
    arm = SimulatedMachine(replace(machine.load("arm"), robot=robot), dt=1e-3)
    async with Runtime(robot, machine=arm) as rt:
        rt.arm()
        print(await rt["shoulder_motor"].sync.set_position(radians(80), id="lift"))
        print(await rt["elbow_motor"].sync.set_position(radians(200), id="bend"))  # clamped: the elbow ends at 150 deg
        for motor, id in (("shoulder_motor", "lift"), ("elbow_motor", "bend")):
            end = await rt.motion(motor, id)
            print(f"{rt.clock.now():.3f} s: {motor} {end.reason} at {end.position:.3f} rad")
        await asyncio.sleep(1.0)
        load = rt["shoulder_motor"].joint_state.efforts[0]
        print(f"tip at x = {arm.output('x'):.3f} m, z = {arm.output('z'):.3f} m; the shoulder carries {load:.2f} N.m")
        await rt["shoulder_motor"].sync.stop()  # lets go
        await asyncio.sleep(3.0)
        print(f"let go, it swings down to {arm.output('shoulder.q'):.2f} rad")


if __name__ == "__main__":
    run(main(), SteppedClock())
