"""Sensors and controllers beside the actuators: they publish, listen, tick, answer, and are looked after."""

import asyncio
import threading
from dataclasses import replace
from typing import Any

import pytest
from rig import Servo, robot, run

from pushrod.core.errors import InputError
from pushrod.robot.description import Controller, Sensor, Transmission
from pushrod.runtime.clock import SteppedClock, WallClock
from pushrod.runtime.driver import Stopped
from pushrod.runtime.message import BeginMotion, JointState
from pushrod.runtime.payload import Position
from pushrod.runtime.runtime import Runtime
from pushrod.runtime.simulated import Imu, ImuReading, Kinematic, OpenLoopEstimator


class Encoder:
    tick_hz = 10.0

    def init(self, context: Any, options: Any) -> None:
        self.context = context

    def tick(self, now: float) -> None:
        self.context.publish(JointState(("shoulder",), (5.0,), (2.0,)))


class Follower:
    """Commands the motor to the double of what the encoder says."""

    def init(self, context: Any, options: Any) -> None:
        self.motor = context.actuator("motor")
        self.answers: list[Any] = []
        context.listen(("sensor",), (JointState,))

    def handle_message(self, topic: tuple[str, ...], message: Any) -> None:
        self.answers.append(self.motor.direct.set_position(2.0 * message.payload.positions[0]))

    def handle_request(self, request: Any) -> Any:
        if request == "stop":
            raise Stopped("asked to")
        return len(self.answers)


def equipped(**controller: Any) -> Any:
    return replace(
        robot(),
        sensors=(Sensor("encoder", joint="shoulder", transmission=Transmission(50.0, 0.1, True)),),
        controllers=(Controller("follower", **controller),),
    )


@pytest.mark.parametrize("clock", [SteppedClock, WallClock])
def test_a_controller_hears_a_sensor_and_commands_an_actuator(clock: Any) -> None:
    servo, follower = Servo(), Follower()
    heard = threading.Event()

    class Telling(Servo):
        def handle_command(self, payload: Any, command: Any) -> None:
            servo.told.append((payload, command.source))
            heard.set()

    async def body(rt: Runtime) -> Any:
        watch = rt.subscribe(("sensor",))
        rt.arm()
        for _ in range(100):
            await asyncio.sleep(0.05)
            if heard.is_set():
                break
        message = await watch.get()
        return message.topic, message.payload, message.frame, await rt.request("follower", "how many")

    drivers = {"motor": Telling, "encoder": Encoder, "follower": lambda: follower}
    topic, payload, frame, count = run(equipped(), drivers, body, clock())
    assert topic == ("sensor", "base", "shoulder", "encoder")
    assert frame == "shoulder"
    assert payload.positions == pytest.approx((0.0,))  # 5 rad at the motor of a reversed gear of 50 with an offset of 0.1
    assert payload.velocities == pytest.approx((-0.04,))
    assert servo.told[0][1] == "follower"
    assert count >= 1


def test_what_stops_is_started_again_and_its_actuators_stay_armed() -> None:
    made = []

    class Counted(Follower):
        def __init__(self) -> None:
            made.append(self)

    async def body(rt: Runtime) -> Any:
        rt.arm()
        with pytest.raises(Stopped, match="asked to"):
            await rt.request("follower", "stop")
        await asyncio.sleep(0.1)
        return rt["motor"].direct.set_position(0.1).ok, len(made)

    assert run(equipped(), {"motor": Servo, "encoder": Encoder, "follower": Counted}, body) == (True, 2)


def test_controllers_in_a_simulation_are_left_out_replaced_or_started() -> None:
    def once(simulation: str) -> Any:
        clock = SteppedClock()

        async def main() -> Any:
            what = equipped(driver="test_nodes:Follower", simulation=simulation)
            async with Runtime(what, {"encoder": Encoder}, simulation=True, clock=clock) as rt:
                if "follower" not in rt.nodes:
                    return None
                return await rt.request("follower", "how many")

        with asyncio.Runner(loop_factory=clock.loop_factory) as runner:
            return runner.run(main())

    assert once("omit") is None
    assert once("mock") is None
    assert once("start") == 0


def test_an_estimator_follows_its_actuator_through_the_bus() -> None:
    what = replace(robot(), sensors=(Sensor("guess", joint="shoulder", options={"actuator": "motor", "publish_rate": 100.0}),))

    async def body(rt: Runtime) -> Any:
        watch = rt.subscribe(("sensor",), (JointState,))
        rt.arm()
        rt["motor"].direct.set_position(1.0)
        await asyncio.sleep(3.0)
        last = None
        while (m := watch.poll()) is not None:
            last = m.payload
        return last

    last = run(what, {"motor": Kinematic, "guess": OpenLoopEstimator}, body)
    assert last.positions == pytest.approx((1.0,))
    assert last.velocities == (0.0,)


def test_an_imu_publishes_a_signal() -> None:
    what = replace(robot(), sensors=(Sensor("imu", link="arm", options={"rate": 50.0}),))

    async def body(rt: Runtime) -> Any:
        watch = rt.subscribe(("sensor", "base"), (ImuReading,), latched=True)
        await asyncio.sleep(1.0)
        return watch.statistics().received, watch.poll().frame

    received, frame = run(what, {"motor": Servo, "imu": lambda: Imu(lambda channel, t: t)}, body)
    assert 50 <= received <= 52
    assert frame == "arm"


def test_an_actuator_does_not_hear_itself_but_what_it_listens_to_comes_raw() -> None:
    heard = []

    class Listening(Servo):
        def init(self, context: Any, options: Any) -> None:
            super().init(context, options)
            context.listen(("sensor", "probe"))

        def handle_message(self, topic: Any, message: Any) -> None:
            heard.append((topic, message.payload))

    async def body(rt: Runtime) -> None:
        from pushrod.runtime.message import Message

        rt.arm()
        rt["motor"].direct.set_position(0.5)
        rt.bus.publish(Message(Position(0.5), ("sensor", "probe"), 0.0, 0.0, "r"))
        rt.bus.publish(Message(Position(0.7), ("sensor", "probe"), 0.0, 0.0, "another robot"))
        rt.hosts["motor"].emit(BeginMotion(0.0, 1.0, 1.0))
        await asyncio.sleep(0.1)

    servo = Listening()
    run(robot(Transmission(50.0)), {"motor": lambda: servo}, body)
    assert [p.position for p in servo.told] == [25.0]
    assert heard == [(("sensor", "probe"), Position(0.5))]


def test_drivers_for_what_is_not_there_are_refused() -> None:
    with pytest.raises(InputError, match="does not have: moter; it has motor"):
        run(robot(), {"motor": Servo, "moter": Servo}, lambda rt: asyncio.sleep(0))
