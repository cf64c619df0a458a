"""Torque off: always, from anywhere, under errors; and what is said where it cannot be proven."""

import asyncio
import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from fake_servo import FakeBus, FakeServo, corrupt, drop, error, late, noise, sound, torn
from servo_rig import QUICK, Opened, robot, run, until

from pushrod.core.errors import DeviceError
from pushrod.drivers.dynamixel.disarm import disarm
from pushrod.runtime.message import EndMotion, HardwareError
from pushrod.runtime.runtime import Runtime


def options(path: str, id: int = 1, **more: Any) -> dict[str, Any]:
    """As the runtime hands them over: plain data."""
    return json.loads(json.dumps({**QUICK, "port": path, "id": id, "robot": "r", "path": ["base", "joint1", "motor1"], "patience": 0.04, **more}))


def powered(id: int = 1) -> FakeServo:
    servo = FakeServo(id)
    servo.set("torque_enable", 1)
    return servo


def test_without_a_driver_and_twice() -> None:
    with FakeBus(powered()) as bus:
        disarm(options(bus.path))
        assert bus.servo().get("torque_enable") == 0
        disarm(options(bus.path))


BAD = [corrupt, drop, torn, noise, late(0.06), error(1), error(3)]


@pytest.mark.parametrize("first", BAD)
@pytest.mark.parametrize("second", [corrupt, drop, error(7)])
def test_under_errors(first: Any, second: Any) -> None:
    with FakeBus(powered()) as bus:
        bus.spoil(first, second, first, sound, corrupt)
        disarm(options(bus.path))
        assert bus.servo().get("torque_enable") == 0


def test_with_a_hardware_error_reported_in_every_answer() -> None:
    with FakeBus(powered()) as bus:
        bus.servo().set("shutdown", 0)
        bus.servo().fail(0x24)
        assert bus.servo().get("torque_enable") == 1
        disarm(options(bus.path))
        assert bus.servo().get("torque_enable") == 0


def test_torque_is_off_though_nobody_can_prove_it() -> None:
    with FakeBus(powered()) as bus:
        bus.spoil(always=corrupt)
        with pytest.raises(DeviceError, match=r"could not be proven off in 6 attempts: .*a damaged answer.*Cut its power"):
            disarm(options(bus.path))
        assert bus.servo().get("torque_enable") == 0


@pytest.mark.parametrize("how", ["refuses", "silent", "dead", "no port"])
def test_what_cannot_be_proven_is_raised_soon(how: str) -> None:
    with FakeBus(powered()) as bus:
        path = bus.path
        if how == "refuses":
            bus.servo().refuse[64] = 7
        elif how == "silent":
            bus.spoil(always=drop)
        elif how == "dead":
            bus.servo().alive = False
        else:
            path = "/dev/no_such_port"
        started = time.monotonic()
        with pytest.raises(DeviceError, match="Cut its power"):
            disarm(options(path))
        assert time.monotonic() - started < 3.0


def test_a_late_answer_proves_nothing() -> None:
    """An old answer that says torque is off must not be taken for the new one."""
    with FakeBus(FakeServo(1)) as bus, Opened(bus.path, patience=0.05, attempts=1) as it:
        bus.spoil(late(0.07))
        with pytest.raises(DeviceError):
            it.servo.read_raw("hardware_error_status")
        bus.servo().set("torque_enable", 1)
        bus.servo().refuse[64] = 7
        with pytest.raises(DeviceError, match="torque is still on"):
            disarm(options(bus.path, patience=0.05))


def test_it_goes_before_everything_else_on_the_line() -> None:
    with FakeBus(powered(), FakeServo(2)) as bus, Opened(bus.path, id=2) as it:
        done = threading.Event()

        def hammer() -> None:
            while not done.is_set():
                it.servo.feedback()

        threads = [threading.Thread(target=hammer) for _ in range(4)]
        for thread in threads:
            thread.start()
        taken = []
        for _ in range(20):
            bus.servo().set("torque_enable", 1)
            started = time.monotonic()
            disarm(options(bus.path, patience=0.1))
            taken.append(time.monotonic() - started)
        done.set()
        for thread in threads:
            thread.join()
        assert sorted(taken)[10] < 0.1  # a few exchanges of others at most


def test_from_another_process_while_the_driver_is_at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pushrod.drivers.dynamixel.driver.HEALTH", 0.02)
    program = "import json, sys; from pushrod.drivers.dynamixel.disarm import disarm; disarm(json.loads(sys.argv[1]))"

    async def body(rt: Runtime) -> None:
        rt.arm()
        await rt["motor1"].sync.set_position(1.0, velocity=0.2)
        heard = rt.subscribe(("safety",), (HardwareError,))
        assert bus.servo().get("torque_enable") == 1
        command = [sys.executable, "-c", program, json.dumps(options(bus.path, patience=0.2))]
        await asyncio.to_thread(subprocess.run, command, check=True, timeout=20)
        message = await until(heard.poll)  # the driver sees that its torque is gone, and does not switch it on again
        assert "lost its torque" in message.payload.error
        assert bus.servo().get("torque_enable") == 0

    with FakeBus(FakeServo(1)) as bus:
        run(robot(bus.path), body)


def test_arm_command_disarm_arm() -> None:
    servo = FakeServo(1)

    async def body(rt: Runtime) -> None:
        motor = rt["motor1"]
        assert (await motor.sync.set_position(0.5)).reason == "not_armed"
        rt.arm()
        heard = rt.subscribe(("actuator",), (EndMotion,))
        await motor.sync.set_position(1.0, velocity=0.5, id="a")
        await until(lambda: servo.state.q > 0.1)
        done = rt.disarm()
        assert (done.ok, servo.get("torque_enable")) == (True, 0)
        message = await until(heard.poll)
        assert (message.payload.command_id, message.payload.reason, message.payload.detail) == ("a", "cancelled", "disarmed")
        await until(lambda: abs(servo.state.w) < 0.02)
        rested = servo.state.q
        assert rt.arm().ok
        assert servo.get("torque_enable") == 0
        await motor.sync.hold()  # the old goal is forgotten
        assert servo.get("torque_enable") == 1
        assert servo.state.q == pytest.approx(rested, abs=0.05)
        await motor.sync.set_position(rested - 0.3, id="b")
        assert (await rt.motion("motor1", "b", 5.0)).reason == "completed"
        assert servo.torque_history == [0, 1, 0, 1]

    with FakeBus(servo) as bus:
        run(robot(bus.path), body)


def test_while_a_command_is_under_way_nothing_is_switched_on_afterwards() -> None:
    """Many disarms at odd moments of the first command, which is when torque comes on."""
    servo = FakeServo(1)

    async def body(rt: Runtime) -> None:
        import asyncio

        motor = rt["motor1"]
        for k in range(30):
            assert rt.arm().ok
            sending = asyncio.create_task(motor.sync.set_position(0.1))
            await asyncio.sleep(0.0001 * k)
            assert rt.disarm().ok
            assert servo.get("torque_enable") == 0
            await sending
            assert servo.get("torque_enable") == 0

    with FakeBus(servo) as bus:
        run(robot(bus.path), body)


def test_one_of_two_is_dead() -> None:
    async def body(rt: Runtime) -> None:
        rt.arm()
        for name in ("motor1", "motor2"):
            await rt[name].sync.hold()
        bus.servo(2).alive = False
        done = rt.disarm()
        assert bus.servo(1).get("torque_enable") == 0
        assert (done.ok, list(done.failures), rt.state) == (False, ["base/joint1/link1/joint2/motor2"], "error")
        assert "could not be proven off" in done.failures["base/joint1/link1/joint2/motor2"]
        bus.servo(2).alive = True
        assert rt.force_disarm().ok
        assert bus.servo(2).get("torque_enable") == 0

    with FakeBus(FakeServo(1), FakeServo(2)) as bus:
        run(robot(bus.path, 1, 2, patience=0.02, stale_after=60.0), body)


def test_options_by_another_name_of_the_port(tmp_path: Path) -> None:
    link = tmp_path / "arm"
    with FakeBus(powered()) as bus:
        link.symlink_to(bus.path)
        disarm(options(str(link)))
        assert bus.servo().get("torque_enable") == 0
