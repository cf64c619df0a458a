"""A host in a process of its own. Its one argument is JSON; it says what happens in lines of JSON, and ends when its input does."""

import asyncio
import json
import logging
import sys
import threading
import time
from typing import Any

from net_rig import arm

from pushrod.net import Access, Link, Tls, ZenohBus, expose
from pushrod.runtime import Context, EndMotion, HardwareError, Outcome, Runtime, WallClock

_saying = threading.Lock()


def say(what: str, **more: Any) -> None:
    with _saying:
        print(json.dumps({"what": what, "time": time.monotonic(), **more}), flush=True)


def made_safe(options: dict[str, Any]) -> None:
    """Nothing to switch off."""


class Plain:
    """Keeps nothing, does nothing: what is measured is the way to it."""

    disarm = "net_host:made_safe"

    def init(self, context: Context, options: Any) -> None:
        self.context = context

    def handle_command(self, payload: Any, command: Any) -> None:
        return None


class Slow(Plain):
    """Takes as long as a velocity is to last, and comes back from all else at once."""

    blocking = True

    def handle_command(self, payload: Any, command: Any) -> None:
        time.sleep(getattr(payload, "duration", None) or 0.0)


DRIVERS: dict[str, dict[str, Any]] = {
    "arm": {},
    "plain": {"shoulder_motor": Plain, "elbow_motor": Plain},
    "slow": {"shoulder_motor": Slow},
}


class AheadClock(WallClock):
    """That of a machine which was started earlier."""

    def __init__(self, ahead: float) -> None:
        super().__init__()
        self._ahead = ahead

    def now(self) -> float:
        return super().now() + self._ahead


def link(told: dict[str, Any]) -> Link:
    tls = Tls(**told["tls"]) if "tls" in told else None
    return Link(told.get("listen") or (), told.get("connect") or (), tls=tls, access=access(told))


def access(told: dict[str, Any]) -> Access | None:
    return Access(**{name: tuple(names) for name, names in told["access"].items()}) if "access" in told else None


async def main(told: dict[str, Any]) -> None:
    robot = arm(told.get("name", "arm"), told.get("silence"))
    with ZenohBus(link(told)) as bus:
        clock = AheadClock(told.get("ahead", 0.0))
        async with Runtime(robot, DRIVERS[told["kind"]], simulation=True, clock=clock, bus=bus, guard=False) as rt:
            watch = rt.subscribe((), (EndMotion, HardwareError, Outcome))

            async def tell() -> None:
                async for message in watch:
                    payload = message.payload
                    if isinstance(payload, EndMotion):
                        say("end", at=message.time, reason=payload.reason, position=payload.position, id=payload.command_id)
                    elif isinstance(payload, HardwareError):
                        say("error", at=message.time, path=payload.path, error=payload.error)
                    elif payload.command.source == "watchdog":
                        say("watchdog", at=message.time, actuator=message.frame)

            telling = asyncio.create_task(tell())
            with expose(rt):
                if told.get("armed", True):
                    rt.arm()
                say("ready")
                await asyncio.to_thread(sys.stdin.read)
            telling.cancel()


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, stream=sys.stderr)
    asyncio.run(main(json.loads(sys.argv[1])))
