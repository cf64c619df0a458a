"""What a command costs between two processes of this machine, through zenoh and the whole gate. Prints Markdown.

python bench/net.py [--commands 20000] [--seconds 5]

Every figure stands beside the yardstick of the same run: as many bytes there and back over a bare TCP connection.
"""

import argparse
import asyncio
import logging
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from time import perf_counter_ns as now
from typing import Any

from runtime_rig import Plain, Spread, robot

from pushrod.net import Link, ZenohBus, connect, expose, router
from pushrod.runtime import JointState, Message, Outcome, Runtime

WARM = 1000  # commands before the first that counts
BYTES = 128  # about what a command and its answer are
RATE = 5000  # [1/s]


async def spread(call: Callable[[float], Awaitable[Any]], n: int) -> Spread:
    ns = []
    for k in range(n + WARM):
        started = now()
        await call(1e-6 * k)
        ns.append(now() - started)
    return Spread.of(ns[WARM:])


def row(what: str, figure: Any, target: str = "") -> None:
    print(f"| {what} | {figure} | {target} |", flush=True)


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


async def host(link: Link) -> None:
    with ZenohBus(link) as bus:
        async with Runtime(robot(), {"m0": Plain}, bus=bus, guard=False) as rt:
            with expose(rt):
                rt.arm()
                print("ready", flush=True)
                await asyncio.to_thread(sys.stdin.read)


def echo() -> None:
    """The other end of the yardstick."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        print(server.getsockname()[1], flush=True)
        line, _ = server.accept()
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while data := line.recv(BYTES):
            line.sendall(data)


@contextmanager
def other(*arguments: str) -> Iterator[str]:
    """Another process of this program; what it says first."""
    process = subprocess.Popen([sys.executable, __file__, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.stdin.close()
        try:
            process.wait(5.0)
        finally:
            process.kill()


async def bare(n: int) -> None:
    with other("--echo") as port, socket.create_connection(("127.0.0.1", int(port))) as line:
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

        async def there_and_back(x: float) -> None:
            line.sendall(b"x" * BYTES)
            line.recv(BYTES)

        row("bare TCP, there and back", await spread(there_and_back, n))


async def commands(what: str, end: str, n: int, target: str = "", meet: bool = False) -> None:
    with other("--connect" if meet else "--listen", end):
        async with await connect("bench", Link(connect=end)) as remote:
            row(what, await spread(lambda x: remote["m0"].sync.set_position(x, 0.5), n), target)


async def at_a_rate(end: str, seconds: float) -> None:
    """Published, each one answered, with an observer that sees every outcome."""
    with other("--listen", end):
        async with await connect("bench", Link(connect=end)) as remote:
            motor = remote["m0"]
            outcomes = remote.subscribe(motor.topic, [Outcome], size=RATE)
            start, sent, refused, seen = monotonic(), 0, 0, 0
            while (passed := monotonic() - start) < seconds:
                while sent < int(passed * RATE):
                    refused += not motor.publish.set_position(1e-6 * sent).ok
                    sent += 1
                while outcomes.poll() is not None:
                    seen += 1
                await asyncio.sleep(1e-3)
            end_of_it = monotonic() + 2.0
            while (remote.waiting or seen < sent) and monotonic() < end_of_it:
                seen += outcomes.poll() is not None
                await asyncio.sleep(0)
            print(
                f"\n{sent} commands at {sent / seconds:.0f}/s for {seconds:g} s: {refused} refused, {remote.unanswered} not answered, "
                f"{seen} outcomes seen\n"
            )


async def messages(n: int) -> None:
    """Until a subscriber in this process's other session has it."""
    end = f"tcp/127.0.0.1:{free_port()}"
    came = threading.Event()
    with ZenohBus(Link(end)) as one, ZenohBus(Link(connect=end)) as two:
        watch = two.subscribe("joint", [JointState], notify=came.set)

        async def publish(x: float) -> None:
            came.clear()
            one.publish(Message(JointState(("j",), (x,)), ("joint",), x, x, "bench"))
            while not came.wait(1.0):
                one.publish(Message(JointState(("j",), (x,)), ("joint",), x, x, "bench"))
            watch.poll()

        row("a message, published until received", await spread(publish, n))


async def main(n: int, seconds: float) -> None:
    print(f"{n} commands to another process: sent until its typed answer is here; us\n")
    print("| what | median | p99 | max | target (median) |\n|---|---|---|---|---|")
    await bare(n)
    await commands("`sync`, tcp on loopback", f"tcp/127.0.0.1:{free_port()}", n, "600 us")
    with tempfile.TemporaryDirectory() as folder:
        await commands("`sync`, a socket of this machine", f"unixsock-stream/{Path(folder) / 'bench.sock'}", n)
    end = f"tcp/127.0.0.1:{free_port()}"
    with router(Link(end)):
        await commands("`sync`, through a router", end, n, meet=True)
    await messages(n)
    await at_a_rate(f"tcp/127.0.0.1:{free_port()}", seconds)


if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("--commands", type=int, default=20_000)
    options.add_argument("--seconds", type=float, default=5.0, help="at the rate")
    options.add_argument("--listen", help=argparse.SUPPRESS)
    options.add_argument("--connect", help=argparse.SUPPRESS)
    options.add_argument("--echo", action="store_true", help=argparse.SUPPRESS)
    args = options.parse_args()
    if args.echo:
        echo()
    elif args.listen or args.connect:
        logging.getLogger("pushrod").setLevel(logging.ERROR)  # that it runs without a guard is meant
        asyncio.run(host(Link(args.listen or (), args.connect or ())))
    else:
        asyncio.run(main(args.commands, args.seconds))
