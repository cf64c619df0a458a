"""A process that drives a servo is killed, or stopped in the middle of an exchange: its guard switches the torque off, from the outside."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from fake_servo import FakeBus, FakeServo
from servo_rig import until

from pushrod.guard.record import waiting

PROGRAM = """
import asyncio, sys
sys.path.insert(0, sys.argv[2])
from servo_rig import robot
from pushrod.runtime import Runtime, run

async def main():
    async with Runtime(robot(sys.argv[1])) as rt:
        print(rt.arm().ok, flush=True)
        print((await rt["motor1"].sync.set_position(1.0, velocity=0.2)).ok, flush=True)
        await asyncio.sleep(60.0)

run(main())
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_the_guard_switches_the_torque_off(number: signal.Signals) -> None:
    with FakeBus(FakeServo(1)) as bus:
        here = str(Path(__file__).parent)
        process = subprocess.Popen([sys.executable, "-c", PROGRAM, bus.path, here], stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            assert [process.stdout.readline().strip() for _ in range(2)] == ["True", "True"]
            assert bus.servo().get("torque_enable") == 1
            os.kill(process.pid, number)
            asyncio.run(until(lambda: not bus.servo().get("torque_enable"), 20.0))
            [record] = asyncio.run(until(lambda: [one for one in waiting("r") if not one.acting and not one.armed], 20.0))
            assert {path: one["result"] for path, one in record.actuators.items()} == {"base/joint1/motor1": "ok"}, json.dumps(record.actuators)
        finally:
            process.kill()
            process.communicate()
