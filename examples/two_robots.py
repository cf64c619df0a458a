"""Two robots in one program: with a bus each, nobody sees the other; on a shared bus, who asks the bus sees both.

python examples/two_robots.py
"""

from pushrod.robot import Actuator, Joint, Limits, Robot
from pushrod.runtime import EndMotion, LocalBus, Runtime, SteppedClock, run


def gripper(name):
    limits = Limits(0.0, 0.05, velocity=0.1, acceleration=1.0, effort=40.0)  # m, m/s, m/s2, N
    jaw = Joint("jaw", "prismatic", "palm", "finger", limits=limits)
    return Robot(name, links=["palm", "finger"], joints=[jaw], actuators=[Actuator("motor", "jaw")])


async def open_both(left, right):
    for rt in (left, right):
        rt.arm()
        rt["motor"].direct.set_position(0.05, id="open")
    for rt in (left, right):
        await rt.motion("motor", "open")


def robots_in(subscription):
    seen = []
    while message := subscription.poll():
        seen.append(message.robot)
    return " and ".join(seen)


async def a_bus_each():
    left = Runtime(gripper("left"), simulation=True)
    right = Runtime(gripper("right"), simulation=True)
    async with left, right:
        of_left, of_right = left.subscribe(types=[EndMotion]), right.subscribe(types=[EndMotion])
        await open_both(left, right)
        print(f"a bus each: left sees {robots_in(of_left)}, right sees {robots_in(of_right)}")


async def a_shared_bus():
    bus = LocalBus()
    left = Runtime(gripper("left"), simulation=True, bus=bus)
    right = Runtime(gripper("right"), simulation=True, bus=bus)
    async with left, right:
        of_left, of_both = left.subscribe(types=[EndMotion]), bus.subscribe(types=[EndMotion])
        await open_both(left, right)
        print(f"a shared bus: left sees {robots_in(of_left)}, who asks the bus sees {robots_in(of_both)}")


for program in (a_bus_each, a_shared_bus):
    run(program(), SteppedClock())
