"""The commander of a machine that another process moves: `net_step_commander.py ENDPOINT CASE`. It prints, as JSON, what became of its commands."""

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

from pushrod.config import yaml_file
from pushrod.live.machine import SimulatedMachine
from pushrod.live.payload import Actuation, Torque
from pushrod.live.run import _feeds, payload_of
from pushrod.net import Link, RemoteRobot, connect
from pushrod.runtime import Position
from pushrod.sim import machine, scenario
from pushrod.sim.run import sample

STREAM = """
scenario: stream
duration: 1 s
dt: 1 ms
signals:
  shoulder_motor: [{for: 1 s, sine: {amplitude: 60 deg, frequency: 0.7}}]
  elbow_motor: [{for: 0.5 s, linear: [0, 1 rad]}, {constant: -20 deg}]
"""
Tick = Callable[[int], Any]


def law(roll: float, rate: float) -> float:
    return 5.0 * (0.2 - roll) - 20.0 * rate


def named(name: str) -> tuple[Any, Any]:
    """A machine and a scenario: the beginning of a shipped one, or all of it where "whole" stands before its name; or the stream."""
    if name == "stream":
        what = machine.load("arm")
        return what, scenario.build(yaml_file.parse(STREAM), what)
    shipped = name.removeprefix("whole ")
    what = machine.load(yaml_file.load(scenario.shipped()[shipped]).data["machine"])
    return what, scenario.load(shipped, what, None if shipped != name else "3 s")


def follow(remote: RemoteRobot, name: str, said: Counter[str]) -> Tick:
    """What a scenario says, sent by whoever is elsewhere."""
    what, how = named(name)
    feeds = _feeds(SimulatedMachine.of(what, how), how, sample(what, how))

    async def tick(k: int) -> None:
        if k >= how.steps:
            return
        for feed in feeds:
            said[type(await remote[feed.actuator].sync.send(feed.payload(k))).__name__] += 1
        for command in how.commands:
            if command.k == k:
                said[type(await remote[command.to].sync.send(payload_of(command), id=command.id)).__name__] += 1

    return tick


def steer(remote: RemoteRobot, said: Counter[str]) -> Tick:
    """A loop that reads the world and acts on it in the same tick."""

    async def tick(k: int) -> None:
        state = await remote.request("wheels", "state")
        said[type(await remote["wheels"].sync.send(Torque(x=law(state["roll"], state["w_x"])))).__name__] += 1

    return tick


def together(remote: RemoteRobot, said: Counter[str]) -> Tick:
    async def tick(k: int) -> None:
        if k == 7:
            for result in await remote.send([("shoulder_motor", Position(0.5)), ("elbow_motor", Position(0.1))]):
                said[type(result).__name__] += 1

    return tick


def beyond(remote: RemoteRobot, said: Counter[str]) -> Tick:
    async def tick(k: int) -> None:
        if k == 0:
            for payload in (Actuation(accel=1.7, brake=-0.2, steer=12.0), Actuation(gear=77.0), Position(1.0)):
                said[str(await remote["controls"].sync.send(payload))] += 1

    return tick


def fails(remote: RemoteRobot, said: Counter[str]) -> Tick:
    async def tick(k: int) -> None:
        if k == 3:
            raise RuntimeError("no idea")

    return tick


def dies(remote: RemoteRobot, said: Counter[str]) -> Tick:
    def tick(k: int) -> None:
        if k == 3:
            import os

            os._exit(1)

    return tick


OTHERS = {"steer": ("satellite", steer), "together": ("arm", together), "beyond": ("car", beyond), "fails": ("arm", fails), "dies": ("arm", dies)}


async def main(endpoint: str, name: str) -> None:
    said: Counter[str] = Counter()
    robot = OTHERS[name][0] if name in OTHERS else named(name)[0].name
    async with await connect(sys.argv[3] if len(sys.argv) > 3 else robot, Link(connect=endpoint), operator="planner", timeout=30.0) as remote:
        tick = OTHERS[name][1](remote, said) if name in OTHERS else follow(remote, name, said)
        print(json.dumps({"ticks": await remote.in_step(tick), "said": said}), flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:3]))
