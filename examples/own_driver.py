"""Your own driver: a class that talks to the hardware, and a function that makes the hardware safe without it.

python examples/own_driver.py

The hardware is pretended: a motor controller with four registers, reached by its id. `pushrod new driver NAME` writes a fuller start, with tests.
"""

import asyncio

import msgspec

from pushrod.robot import Actuator, Joint, Limits, Robot, Transmission
from pushrod.runtime import JointState, Position, Runtime, SteppedClock, Stop, run

MOTORS = {7: {"torque": False, "speed": 0.0, "goal": 0.0, "position": 0.0}}


class Options(msgspec.Struct):
    id: int


def torque_off(options):
    """Found by its import path and called with plain data, so that it works when the driver hangs or has died."""
    MOTORS[options["id"]]["torque"] = False


class Spindle:
    options = Options
    disarm = f"{__name__}:torque_off"
    command_payloads = (Position, Stop)  # anything else is refused before it comes here
    tick_hz = 100.0

    def init(self, context, options):
        self.context, self.motor = context, MOTORS[options.id]

    def handle_command(self, payload, command):
        """In motor space: arming, leases, limits and the gearbox have been dealt with."""
        match payload:
            case Position(position, velocity):
                self.motor.update(torque=True, goal=position, speed=velocity or self.context.motor.velocity)
            case Stop():
                self.motor.update(torque=False)

    def read(self, now):
        """Report what the hardware measures, whether armed or not. (The pretended one moves here, too.)"""
        reach = self.motor["torque"] * self.motor["speed"] / self.tick_hz
        self.motor["position"] += max(-reach, min(reach, self.motor["goal"] - self.motor["position"]))
        self.context.publish(JointState((self.context.joint,), (self.motor["position"],)))


lift = Joint("lift", "prismatic", "frame", "carriage", limits=Limits(0.0, 0.5, velocity=0.1, effort=200.0))  # m, m/s, N
motor = Actuator("motor", "lift", options={"id": 7}, transmission=Transmission(reduction=600.0))  # 600 rad of the motor for 1 m
press = Robot("press", links=["frame", "carriage"], joints=[lift], actuators=[motor])


async def main():
    async with Runtime(press, {"motor": Spindle}) as rt:
        rt.arm()
        print(rt["motor"].direct.set_effort(10.0))
        rt["motor"].direct.set_position(0.3)
        await asyncio.sleep(2.0)
        print(f"the lift is at {rt['motor'].position:.2f} m, its motor at {MOTORS[7]['position']:.0f} rad")
    print(f"the runtime has ended: torque is {'on' if MOTORS[7]['torque'] else 'off'}")


if __name__ == "__main__":  # or the guard process could not import torque_off without starting all this again
    run(main(), SteppedClock())  # nobody waits for it; with real hardware leave the clock out
