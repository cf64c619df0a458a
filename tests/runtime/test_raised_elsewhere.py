"""What a subscriber or a driver raises, SystemExit too, ends neither a publisher nor a thread of the runtime."""

import asyncio
import sys
from typing import Any

import pytest
from rig import Servo, robot, run

from pushrod.runtime import Hold, LocalBus, Message, Position, Runtime, SteppedClock, WallClock
from pushrod.runtime.mailbox import Mailbox


def leave() -> None:
    sys.exit("a driver leaves")


@pytest.mark.parametrize("raised", [RuntimeError, SystemExit])
def test_notify_that_raises_does_not_reach_the_publisher(raised: Any, caplog: pytest.LogCaptureFixture) -> None:
    bus = LocalBus(lambda: 0.0)

    def notify() -> None:
        raise raised("a bad subscriber")

    bad, good = bus.subscribe("a", notify=notify), bus.subscribe("a")
    for _ in range(3):
        bus.publish(Message(Hold(), ("a",), 0.0, 0.0, "r"))
    assert (bad.received, good.received) == (3, 3)
    assert len([record for record in caplog.records if "bad subscriber" in record.getMessage()]) == 1


@pytest.mark.parametrize("raised", [RuntimeError, SystemExit, KeyboardInterrupt])
def test_the_thread_of_a_mailbox_survives(raised: Any) -> None:
    clock, bus, seen = WallClock(), LocalBus(), []

    def deliver(message: Message) -> None:
        seen.append(message)
        if len(seen) == 1:
            raise raised("no")

    mailbox = Mailbox("m", "r", bus, clock, deliver)
    mailbox.listen("a")
    try:
        for _ in range(5):
            bus.publish(Message(Hold(), ("a",), 0.0, 0.0, "r"))
        asyncio.run(wait_for(lambda: len(seen) == 5))
    finally:
        mailbox.close()


async def wait_for(condition: Any) -> None:
    async with asyncio.timeout(5.0):
        while not condition():
            await asyncio.sleep(0.001)


class Leaving(Servo):
    """Calls sys.exit where `where` says."""

    where = ""
    tick_hz = 100.0

    def init(self, context: Any, options: Any) -> None:
        super().init(context, options)
        context.listen("note")
        if self.where == "timer" and not left:
            left.append(1)
            context.call_later(0.01, leave)

    def handle_message(self, topic: Any, message: Any) -> None:
        if self.where == "message":
            leave()

    def read(self, now: float) -> None:
        if self.where == "tick" and not left:
            left.append(1)
            leave()

    def handle_request(self, request: Any) -> None:
        leave()


left: list[int] = []


@pytest.mark.parametrize("clock", [SteppedClock, WallClock])
@pytest.mark.parametrize("blocking", [False, True])
@pytest.mark.parametrize("where", ["timer", "message", "tick", "request"])
def test_a_driver_that_exits_is_restarted_and_the_runtime_goes_on(where: str, blocking: bool, clock: Any) -> None:
    left.clear()
    driver = type("Leaver", (Leaving,), {"where": where, "blocking": blocking})

    async def body(rt: Runtime) -> Any:
        if where == "message":
            rt.bus.publish(Message(Hold(), ("note",), rt.clock.now(), 0.0, "r"))
        if where == "request":
            with pytest.raises(RuntimeError, match="SystemExit"):
                await rt["motor"].request("go")
        await wait_for(lambda: rt["motor"].statistics().restarts == 1 and not rt["motor"].host.gate.stopped)
        rt.arm()
        return (await rt["motor"].sync.send(Position(0.1))).ok

    assert run(robot(), {"motor": driver}, body, clock())
