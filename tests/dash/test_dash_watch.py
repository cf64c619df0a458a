"""What the page's process keeps of a robot it lost and found again, and which lines it shows at first."""

import asyncio
import time

import pytest

from net.net_rig import HostProcess
from pushrod.dash.history import Channel, Group
from pushrod.dash.plots import first_choice
from pushrod.dash.stages import axes, effectors
from pushrod.dash.watch import Watch
from pushrod.live.machine import SimulatedMachine
from pushrod.net import connect
from pushrod.net.link import Link
from pushrod.runtime import Runtime, SteppedClock, run
from pushrod.sim import machine


def watched(name):
    """A watch that has heard a shipped machine for a moment."""
    live, clock, watch = SimulatedMachine(machine.load(name), dt=0.01), SteppedClock(), Watch(name, Link(), "test")
    live.open_to_onlookers()

    async def main():
        async with Runtime(live.robot, machine=live, clock=clock) as rt:
            heard = rt.subscribe((), latched=True)
            await asyncio.sleep(0.2)
            for message in iter(heard.poll, None):
                watch._take(message)

    run(main(), clock)
    return watch


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("quad", [[f"world/in.{what}_req", f"world/{what}"] for what in ("z", "roll", "pitch", "yaw")]),
        ("boat", [[f"autopilot/STEERING.{what}_req", f"autopilot/STEERING.{what}"] for what in ("v", "psi")]),
        ("satellite", [[f"world/in.{what}_req", f"world/{what}"] for what in ("roll", "pitch", "yaw")]),
    ],
)
def test_at_first_a_request_is_shown_beside_what_came_of_it(name, lines):
    watch = watched(name)
    chosen = first_choice(watch)
    assert chosen[: len(lines)] == lines
    assert all(channel in watch.channels() for row in chosen for channel in row)


def test_a_pipeline_within_a_world_shows_the_axes_and_effectors_the_machine_has():
    watch = watched("quad")
    assert [axis.name for axis in axes(watch)] == ["thrust", "roll", "pitch", "yaw"]
    assert [one.name for one in effectors(watch)] == ["e0", "e1", "e2", "e3"]


def test_what_was_seen_of_a_robot_is_kept_when_it_is_lost_and_found_again():
    async def main():
        with HostProcess() as host:
            watch = Watch("arm", host.link(), "dash")
            await watch.open()
            listening = asyncio.create_task(watch.run())
            end = time.monotonic() + 10.0
            while not (group := watch.groups.get("joint shoulder")) or group.n < 3:
                assert time.monotonic() < end
                await asyncio.sleep(0.02)
            generation, seen = watch.generation, group.n
            fresh = await connect("arm", host.link(), operator="dash")
            await watch._learn(fresh)
            listening.cancel()
            assert watch.generation == generation, "no page is built anew"
            assert watch.groups["joint shoulder"] is group
            assert group.n > seen
            await fresh.close()
            await watch.close()

    asyncio.run(main())


def test_no_line_is_drawn_over_a_time_in_which_nothing_was_heard():
    group = Group([Channel("a", "-")], hz=10.0)
    group.interrupt()
    group.put(1.0, (1.0,))
    group.interrupt()
    group.put(9.0, (2.0,))
    _, t, (a,) = group.since(0, ["a"])
    assert [str(x) for x in a] == ["1.0", "nan", "2.0"]
    assert t.tolist() == [1.0, pytest.approx(1.09), 9.0]
