"""A program with an armed robot, made to die or hang in every way: it does what its stdin says and answers in lines of JSON.

python tests/armed_robot.py '{"file": ..., "limit": 0.1, "actuators": 32, "odd": {"m3": "hang"}}'
"""

import asyncio
import json
import os
import resource
import subprocess
import sys
import threading
import time
from typing import Any

import msgspec

from pushrod.robot import Actuator, Joint, Limits, Parameter, ParameterRef, Robot
from pushrod.runtime import Guard, Runtime, run

STUCK = threading.Event()
NULL = subprocess.DEVNULL


class Options(msgspec.Struct):
    file: str
    how: str
    gain: float


class Motor:
    disarm = "noting:note"
    options = Options
    acted: list[float] = []  # noqa: RUF012 (of all of them)

    def init(self, context: Any, options: Any) -> None:
        return

    def handle_command(self, payload: Any, command: Any) -> None:
        self.acted.append(time.monotonic())


def robot(file: str, n: int, odd: dict[str, str]) -> Robot:
    def options(name: str) -> dict[str, Any]:
        return {"file": file, "how": odd.get(name, ""), "gain": ParameterRef("gain")}

    return Robot(
        "victim",
        links=("base", *(f"l{i}" for i in range(n))),
        joints=tuple(Joint(f"j{i}", "continuous", "base", f"l{i}", limits=Limits(velocity=1.0, effort=1.0)) for i in range(n)),
        actuators=tuple(Actuator(f"m{i}", f"j{i}", options=options(f"m{i}")) for i in range(n)),
        parameters=(Parameter("gain", default=1.0, lo=0.0, hi=9.0),),
    )


def tell(**what: Any) -> None:
    sys.stdout.write(json.dumps({"at": time.monotonic(), **what}) + "\n")
    sys.stdout.flush()


def obey(rt: Runtime, order: str) -> None:
    match order.split():
        case ["block"]:
            tell()
            time.sleep(2.0)
        case ["stick"]:
            STUCK.set()  # the loop tells when
        case ["exit"]:
            tell()
            os._exit(7)
        case ["leave"]:
            tell()
            sys.exit(5)
        case ["fork"]:
            if os.fork() == 0:
                os.closerange(0, 3)
                time.sleep(5.0)
                os._exit(0)
            tell()
        case ["spawn"]:
            subprocess.Popen(["sleep", "5"], close_fds=False, stdin=NULL, stdout=NULL, stderr=NULL)
            tell()
        case ["gain", value]:
            rt.parameters.set("gain", float(value))
            tell()
        case ["exhaust", what]:
            exhaust(what)
            tell()
        case ["free", "disk"]:
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            tell()
        case ["estop"]:
            answer = rt.estop("exhausted")
            tell(ok=answer.ok, state=answer.state.value, failures=dict(answer.failures))
        case ["force"]:
            tell(ok=rt.force_disarm().ok)
        case ["arm"]:
            tell(answer=rt.arm()._asdict(), guard=rt.guard)
        case ["state"]:
            tell(state=rt.state.value, why=rt.arming.why, acted=len(Motor.acted), last=max(Motor.acted), first=str(rt["m0"].direct.set_velocity(0.2)))


KEPT: list[Any] = []  # what exhausts a resource


def exhaust(what: str) -> None:
    """Leave this process without a resource, as an unprivileged user where the system counts by user."""
    if what == "threads":
        os.setuid(65534)
        resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
        try:
            threading.Thread(target=time.sleep, args=(0.0,)).start()
        except RuntimeError:
            return
        raise AssertionError("a thread could be started")
    if what == "files":
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
        try:
            while True:
                KEPT.append(os.open("/dev/null", os.O_RDONLY))
        except OSError:
            return
    if what == "disk":
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))  # pipes and sockets are none of its business
    if what == "memory":
        with open("/proc/self/statm") as file:
            pages = int(file.read().split()[0])
        limit = pages * resource.getpagesize() + (1 << 20)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        for size in (1 << 20, 1 << 16, 1 << 12, 512, 64):
            try:
                while True:
                    KEPT.append(bytearray(size))
            except MemoryError:
                continue


async def main(file: str, limit: float, actuators: int = 32, odd: dict[str, str] | None = None, within: float = 5.0) -> None:
    names = [f"m{i}" for i in range(actuators)]
    async with Runtime(robot(file, actuators, odd or {}), dict.fromkeys(names, Motor), guard=Guard(limit, within)) as rt:
        answer = rt.arm()
        views = [rt[name].direct for name in names]

        @rt.loop(hz=200.0)
        def control(k: int) -> None:
            if STUCK.is_set():
                tell()
                time.sleep(2.0)
            for view in views:
                view.set_velocity(0.1)

        await asyncio.sleep(0.05)
        tell(answer=answer._asdict(), guard=rt.guard)
        orders: asyncio.Queue[str] = asyncio.Queue()
        loop = asyncio.get_running_loop()

        def listen() -> None:
            order = "."
            while order:
                order = sys.stdin.readline()
                loop.call_soon_threadsafe(orders.put_nowait, order)

        threading.Thread(target=listen, daemon=True).start()
        while order := await orders.get():
            obey(rt, order)


if __name__ == "__main__":
    run(main(**json.loads(sys.argv[1])))
