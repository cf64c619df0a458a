"""A boat's command pipeline, live: an autopilot asks for more than there is and is told what was achieved; a pilot takes over; silence means rest.

python examples/boat_live.py
"""

import asyncio

from pushrod import PushrodError
from pushrod.live.pipeline import Helm, Status, controller, parameters
from pushrod.pipeline.act import Act, Slew
from pushrod.pipeline.control import speed
from pushrod.pipeline.topic import MixerFeedback
from pushrod.robot import Actuator, Joint, Limits, Robot
from pushrod.runtime import Runtime, SteppedClock, run

act = Act(slew=Slew(up=2.0, down=2.0, neutral_time=0.5))  # 1/s, 1/s, s
propeller, thruster = Limits(velocity=300.0, effort=2.0), "pushrod.live.thruster:Thruster"  # rad/s, N.m; simulated
boat = Robot(
    "boat",
    links=["hull", "port", "starboard"],
    joints=[Joint(f"{side}_shaft", "continuous", "hull", side, limits=propeller) for side in ("port", "starboard")],
    actuators=[Actuator("left", "port_shaft", thruster), Actuator("right", "starboard_shaft", thruster)],
    controllers=[controller("pipeline", ["left", "right"], act, hz=100.0)],
    parameters=parameters(act),  # act.hw.u_LR_min ... act.esc.reverse_R
)


class Autopilot:
    """The speed loop of the boat; its integral is emptied while somebody else owns the motors."""

    def __init__(self, rt, helm):
        self.helm, self.wish, self.v, self.integral = helm, 0.0, 0.0, speed.State()
        self.feedback = rt.subscribe("controller/pipeline/MIXER_FEEDBACK", [MixerFeedback])

    def tick(self, k):
        fb = MixerFeedback()
        while message := self.feedback.poll():
            fb = message.payload
        self.v += 0.01 * (3.0 * fb.u_s_ach - self.v * abs(self.v))  # the hull: 1.7 m/s at full thrust
        owns = self.helm.status is not None and self.helm.status.owner == "AUTOPILOT"
        self.integral, y = speed.step(speed.Params(), self.integral, speed.In(self.wish, self.v, fb, float(owns)), 0.01)
        self.helm.autopilot(y.u_s_raw, 0.0)
        self.said = f"asks {y.u_s_raw:+.2f}, gets {fb.u_s_ach:+.2f}, {self.v:.2f} m/s, integral {y.I:+.2f}"


async def main():
    async with Runtime(boat) as rt:
        owners = rt.subscribe("controller/pipeline/STATUS", [Status])
        helm, pilot = Helm(rt, by="operator"), Helm(rt, by="pilot")
        autopilot = Autopilot(rt, helm)
        loop = rt.loop(hz=100)(autopilot.tick)
        rt.arm()

        print(helm.switch("autopilot"))
        autopilot.wish = 3.0  # m/s: more than the boat can do
        await asyncio.sleep(10.0)
        print(f"autopilot: {autopilot.said}")  # nothing has wound up meanwhile
        autopilot.wish = 1.0
        await asyncio.sleep(3.0)
        print(f"autopilot: {autopilot.said}")

        print(pilot.switch("manual").mode)
        pilot.manual(1600.0, 1550.0)  # us; then the link is lost
        await asyncio.sleep(0.4)
        print(f"sticks: left {await rt['left'].request('u'):+.2f}, right {await rt['right'].request('u'):+.2f}")
        await asyncio.sleep(0.6)
        print(f"silence: left {await rt['left'].request('u'):+.2f}, {helm.status.reason}")

        try:
            rt.parameters.set_many({"act.sw.u_LR_max": 1.5, "act.sw.u_s_min": 2.0, "act.slew.up": 1.0})
        except PushrodError as error:
            print(error)
        print("act.slew.up is still", rt.parameters.get("act.slew.up"))

        print(pilot.abort().mode, pilot.switch("idle").why)
        loop.stop()
        await asyncio.sleep(0.1)
        while message := owners.poll():
            print(f"{message.time:.2f} s: {message.payload.owner} ({message.payload.reason})")


run(main(), SteppedClock())
