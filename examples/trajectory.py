"""Follow a trajectory and watch it: what begins, where the joint is on the way, how it ends.

python examples/trajectory.py
"""

from pushrod.robot import Actuator, Joint, Limits, Robot
from pushrod.runtime import BeginMotion, EndMotion, JointState, Runtime, SteppedClock, Waypoint, run

limits = Limits(-1.5, 1.5, velocity=4.0, acceleration=40.0, effort=5.0)  # rad, rad/s, rad/s2, N.m
wrist = Joint("wrist", "revolute", "arm", "hand", limits=limits)
servo = Actuator("servo", "wrist", "pushrod.runtime.simulated:Kinematic", options={"feedback_hz": 4.0})
robot = Robot("waver", links=["arm", "hand"], joints=[wrist], actuators=[servo])

WAVE = [Waypoint(0.8, 0.5), Waypoint(-0.4, 1.0), Waypoint(0.2, 1.5)]  # position [rad], time from the start [s]


async def main():
    async with Runtime(robot) as rt:
        rt.arm()
        seen = rt.subscribe(["actuator"], [BeginMotion, JointState, EndMotion])
        rt["servo"].direct.follow_trajectory(WAVE, repeat=2, id="wave")
        end = await rt.motion("servo", "wave")
        while message := seen.poll():
            match message.payload:
                case BeginMotion(target_position=target, expected_arrival=arrival):
                    print(f"{message.time:.2f} s: begins, should be at {target:.1f} rad by {arrival:.1f} s")
                case JointState(positions=(position,)):
                    print(f"{message.time:.2f} s: {position:+.2f} rad")
        print(f"{rt.clock.now():.2f} s: {end.reason} at {end.position:.2f} rad")


run(main(), SteppedClock())
