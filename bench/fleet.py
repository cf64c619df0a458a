"""A fleet on this machine: many robots, each with a connection of its own to the router of its site, those connected to one in the middle, and there
one operator that watches all and commands some. Prints Markdown.

python bench/fleet.py [--robots 200] [--sites 2] [--processes 8] [--seconds 10] [--commanded 10]

Every robot is a whole runtime with two simulated motors that publish their JointState 10 times a second, armed and exposed, several in a process;
no guards, no certificates. Bytes are those of the operator's TCP connections, as the kernel counts them. The latency of a message is from its
publication to the operator's loop (one machine, one clock), that of a command from the call to the host's answer.
"""

import argparse
import asyncio
import logging
import os
import signal
import socket
import stat
import struct
import subprocess
import sys
import threading
from contextlib import AsyncExitStack, ExitStack
from time import monotonic
from time import perf_counter_ns as now
from typing import Any, NamedTuple

from runtime_rig import LIMITS, Spread

from pushrod.net import Link, RemoteRobot, ZenohBus, connect, expose, key, router
from pushrod.net.watcher import Watcher
from pushrod.robot import Actuator, Joint, Robot
from pushrod.runtime import HardwareError, JointState, Runtime, Subscription, Transition, WallClock

MOTORS = 2
FEEDBACK = 10.0  # [Hz] of each motor
COMMANDS = 10.0  # [Hz] to each robot that is commanded
LEASE = 2.0  # [s]: all share the cores of one machine
TICK = os.sysconf("SC_CLK_TCK")


def one(name: str) -> Robot:
    return Robot(
        name,
        links=("base", *(f"l{i}" for i in range(MOTORS))),
        joints=tuple(Joint(f"j{i}", "revolute", "base", f"l{i}", limits=LIMITS) for i in range(MOTORS)),
        actuators=tuple(
            Actuator(f"m{i}", f"j{i}", driver="pushrod.runtime.simulated.kinematic:Kinematic", options={"feedback_hz": FEEDBACK})
            for i in range(MOTORS)
        ),
    )


async def host(end: str, names: list[str]) -> None:
    """Robots of one process, each with a bus of its own."""
    logging.disable(logging.WARNING)  # that nobody guards them
    clock = WallClock()  # one timer thread for all of them
    async with AsyncExitStack() as stack:
        for name in names:
            bus = stack.enter_context(ZenohBus(Link(connect=end, patience=30.0, lease=LEASE)))
            rt = await stack.enter_async_context(Runtime(one(name), clock=clock, bus=bus, guard=False))
            stack.enter_context(expose(rt))
            rt.arm()
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.read)


def meeting_point(end: str, above: str) -> None:
    with router(Link(end, above or (), lease=LEASE, patience=0.0)):
        print("ready", flush=True)
        sys.stdin.read()


class Other:
    """Another process of this program."""

    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen([sys.executable, __file__, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ready(self) -> "Other":
        assert self.process.stdout is not None
        assert self.process.stdout.readline().strip() == "ready"
        return self

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(20.0)
        finally:
            self.process.kill()


def cpu(pid: int) -> float:
    """Seconds of processor time so far."""
    with open(f"/proc/{pid}/stat") as file:
        told = file.read().rpartition(")")[2].split()
    return (int(told[11]) + int(told[12])) / TICK


def busy() -> float:
    """Seconds of processor time of the whole machine, what a host of it took away included."""
    with open("/proc/stat") as file:
        user, nice, system, _, _, irq, soft, stolen, *_ = map(int, file.readline().split()[1:])
    return (user + nice + system + irq + soft + stolen) / TICK


def received(port: int) -> int:
    """Bytes that came over this process's connections to a port, as the kernel counts them."""
    total = 0
    for fd in os.listdir("/proc/self/fd"):
        try:
            if not stat.S_ISSOCK(os.fstat(int(fd)).st_mode):
                continue
            with socket.socket(fileno=os.dup(int(fd))) as s:
                if s.family == socket.AF_INET and s.getpeername()[1] == port:
                    (n,) = struct.unpack_from("Q", s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 232), 128)  # tcpi_bytes_received
                    total += n
        except OSError:  # closed meanwhile, or not connected
            continue
    return total


class Figures(NamedTuple):
    """Of one way to watch; `commands` are latencies [ns]."""

    what: str
    messages: float
    kilobytes: float
    latency: Spread | None
    dropped: int
    commands: Spread
    refused: int
    cpu: tuple[float, ...]  # robots, routers, operator, and all else on this machine: shares of one core

    def __str__(self) -> str:
        late = " | " if self.latency is None else f"{1e-3 * self.latency.p50:.2f} | {1e-3 * self.latency.p99:.1f} "
        shares = " | ".join(f"{100.0 * share:.0f} %" for share in self.cpu)
        return (
            f"| {self.what} | {self.messages:.0f} | {self.kilobytes:.0f} | {late}| {self.dropped} | {1e-3 * self.commands.p50:.2f} | "
            f"{1e-3 * self.commands.p99:.1f} | {self.refused} | {shares} |"
        )


class Fleet:
    def __init__(self, end: str, port: int, hosts: list[Other], routers: list[Other]) -> None:
        self.end, self.port, self.hosts, self.routers = end, port, hosts, routers
        self.commanded: list[RemoteRobot] = []

    async def measure(self, what: str, seconds: float, watching: Any) -> Figures:
        """`watching(seconds, stack)` gives how many messages came, their latencies [ns] and how many were missed."""
        pids = ([one.process.pid for one in self.hosts], [one.process.pid for one in self.routers], [os.getpid()])
        took: list[int] = []
        refused: list[int] = []
        before, bytes_before, began = [*(sum(map(cpu, group)) for group in pids), busy()], received(self.port), monotonic()
        tasks = [asyncio.create_task(self._command(remote, began + seconds, took, refused)) for remote in self.commanded]
        with ExitStack() as stack:
            count, latencies, dropped = await watching(seconds, stack)
            await asyncio.gather(*tasks)
            span = monotonic() - began
            *ours, total = ((new - old) / span for new, old in zip((*(sum(map(cpu, group)) for group in pids), busy()), before, strict=True))
            kilobytes = (received(self.port) - bytes_before) / span / 1e3
        late = Spread.of(latencies) if latencies else None
        return Figures(what, count / span, kilobytes, late, dropped, Spread.of(took), len(refused), (*ours, max(total - sum(ours), 0.0)))

    async def _command(self, remote: RemoteRobot, until: float, took: list[int], refused: list[int]) -> None:
        k = 0
        start = monotonic()
        while monotonic() < until:
            began = now()
            answer = await remote[f"m{k % MOTORS}"].sync.set_position(0.1 * (k % 5), 0.5)
            took.append(now() - began)
            if not answer.ok:
                refused.append(1)
            k += 1
            await asyncio.sleep(max(0.0, start + k / COMMANDS - monotonic()))


async def nothing(seconds: float, stack: ExitStack) -> tuple[int, list[int], int]:
    await asyncio.sleep(seconds)
    return 0, [], 0


def hearing(end: str, types: tuple[type, ...], robots: tuple[str, ...] = ("",)) -> Any:
    """ "" is all of them."""

    async def watch(seconds: float, stack: ExitStack) -> tuple[int, list[int], int]:
        bus = stack.enter_context(ZenohBus(Link(connect=end, lease=LEASE)))
        subscriptions = [bus.subscribe((), types, size=100_000, robot=robot) for robot in robots]
        latencies: list[int] = []

        async def listen(subscription: Subscription) -> None:
            async for message in subscription:
                latencies.append(round(1e9 * (monotonic() - message.time)))

        listening = [asyncio.create_task(listen(subscription)) for subscription in subscriptions]
        await asyncio.sleep(seconds)
        for task in listening:
            task.cancel()
        missed = sum(topic.dropped for topic in bus.statistics()) + sum(s.statistics().dropped for s in subscriptions)
        return len(latencies), latencies, missed

    return watch


def asking(end: str, robots: int) -> Any:
    async def watch(seconds: float, stack: ExitStack) -> tuple[int, list[int], int]:
        """Every robot how it is, once a second; the latency is that of a whole round."""
        watcher = await asyncio.to_thread(Watcher, Link(connect=end, lease=LEASE))
        stack.callback(watcher.close)
        count, rounds, missing, start = 0, [], 0, monotonic()
        for k in range(round(seconds)):
            began = now()
            seen = [one for one in await watcher.look(wait=5.0) if one.overview is not None]
            rounds.append(now() - began)
            count += len(seen)
            missing += robots - len(seen)
            await asyncio.sleep(max(0.0, start + k + 1 - monotonic()))
        return count, rounds, missing

    return watch


async def vanish(end: str, victim: Other, robots: int) -> float:
    """From the death of a process to the last of its robots seen as gone [s]."""
    from zenoh.handlers import Callback

    gone: list[float] = []
    all_gone, here = threading.Event(), threading.Event()
    count = [0]

    def seen(sample: Any) -> None:
        if str(sample.kind).endswith("PUT"):
            count[0] += 1
            here.set()
        else:
            gone.append(monotonic())
            if len(gone) == robots:
                all_gone.set()

    with ZenohBus(Link(connect=end, lease=LEASE)) as bus:
        token = bus.session.zenoh.liveliness().declare_subscriber(key.of("", "host", "*"), Callback(seen, indirect=False), history=True)
        assert await asyncio.to_thread(here.wait, 5.0)
        killed = monotonic()
        victim.process.send_signal(signal.SIGKILL)
        assert await asyncio.to_thread(all_gone.wait, 10.0), f"{len(gone)} of {robots} were seen to go"
        token.undeclare()
        return gone[-1] - killed


def free_ports(n: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(n)]
        for s in sockets:
            s.bind(("127.0.0.1", 0))
        return [int(s.getsockname()[1]) for s in sockets]


async def whole(options: Any) -> None:
    port, *below = free_ports(1 + options.sites)
    end, *sites = [f"tcp/127.0.0.1:{p}" for p in (port, *below)]
    names = [f"robot{i:04d}" for i in range(options.robots)]
    load = os.getloadavg()[0]
    with ExitStack() as stack:
        routers = []
        for here, above in ((end, ""), *((site, end) for site in sites)):
            routers.append(Other("--router", here, above).ready())
            stack.callback(routers[-1].close)
        hosts: list[Other] = []
        began = monotonic()
        for i in range(options.processes):
            hosts.append(Other("--host", (sites or [end])[i % max(len(sites), 1)], ",".join(names[i :: options.processes])))
            stack.callback(hosts[-1].close)
        for other in hosts:
            await asyncio.to_thread(other.ready)
        started = monotonic() - began
        fleet = Fleet(end, port, hosts, routers)
        async with AsyncExitStack() as connections:
            began = monotonic()
            for name in names[:: max(1, len(names) // options.commanded)][: options.commanded]:
                fleet.commanded.append(
                    await connections.enter_async_context(await connect(name, Link(connect=end, lease=LEASE), operator="bench", timeout=30.0))
                )
            joined = (monotonic() - began) / len(fleet.commanded)
            each = f"{options.commanded} of them {COMMANDS:g} times a second each"
            print(
                f"{options.robots} robots of {MOTORS} motors in {options.processes} processes, {len(sites)} site routers below a central one, "
                f"one operator there that commands {each}; "
                f"{os.cpu_count()} cores, load before it {load:.1f}; {options.seconds:g} s each.\n"
            )
            print(f"All were there after {started:.1f} s; to connect to one took {1e3 * joined:.0f} ms.\n")
            print(
                "| the operator watches | messages/s | kB/s in | latency p50 ms | p99 ms | missed | command p50 ms | p99 ms | refused | CPU robots | "
                "routers | operator | others |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|"
            )
            ways = (
                ("nothing", nothing),
                ("states and errors of all", hearing(end, (Transition, HardwareError))),
                ("an overview of each, once a second (latency of a whole round)", asking(end, options.robots)),
                ("every JointState of those it commands", hearing(end, (JointState,), tuple(remote.robot for remote in fleet.commanded))),
                (f"every JointState of all, {MOTORS} x {FEEDBACK:g} Hz each", hearing(end, (JointState,))),
            )
            for what, way in ways:
                print(await fleet.measure(what, options.seconds, way), flush=True)
        several = len(names[:: options.processes])
        gone = await vanish(end, hosts[0], several)
        print(f"\nA process with {several} robots killed: the last of them was seen to be gone after {1e3 * gone:.0f} ms.")
    print(f"Load after it: {os.getloadavg()[0]:.1f}.")


def main() -> None:
    told = argparse.ArgumentParser()
    told.add_argument("--robots", type=int, default=200)
    told.add_argument("--sites", type=int, default=2, help="routers below the one in the middle; 0: all robots are connected to that")
    told.add_argument("--processes", type=int, default=8)
    told.add_argument("--seconds", type=float, default=10.0)
    told.add_argument("--commanded", type=int, default=10)
    told.add_argument("--router", nargs=2, help=argparse.SUPPRESS)
    told.add_argument("--host", nargs=2, help=argparse.SUPPRESS)
    options = told.parse_args()
    if options.router:
        meeting_point(*options.router)
    elif options.host:
        asyncio.run(host(options.host[0], options.host[1].split(",")))
    else:
        asyncio.run(whole(options))


if __name__ == "__main__":
    main()
