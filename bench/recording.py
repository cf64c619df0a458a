"""What it costs to be recorded and shown: lateness of 1 kHz loops with and without, messages a second through the whole path, the cost of a command.
Prints Markdown.

python bench/recording.py [--seconds 2] [--rounds 12] [--only loops|rate|command] [--realtime] [--browser]

--realtime: with real-time priority, as `serve --realtime` has it.
--browser: a real one, headless, looks at the page meanwhile; it draws on this machine's cores, which is seldom where an operator's browser is.
"""

import argparse
import asyncio
import re
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from runtime_rig import PATIENT, Plain, Spread, robot

from pushrod.dash.settings import Settings
from pushrod.dash.starting import Beside
from pushrod.live.machine import SimulatedMachine
from pushrod.net import Link, ZenohBus, expose
from pushrod.recording import Recording
from pushrod.runtime.cadence import Cadence, Histogram
from pushrod.runtime.message import JointState, Message
from pushrod.runtime.real_time import real_time
from pushrod.runtime.runtime import Runtime
from pushrod.sim import machine

RATES = (25_000, 50_000, 75_000, 100_000)
WITHIN = 1.2  # p99 with a recording over p99 without
LEAST = 50_000  # messages/s without a drop


class Between:
    """How late a loop was between two moments."""

    def __init__(self) -> None:
        self.late = Histogram()

    def add(self, cadence: Cadence, before: list[int]) -> None:
        for j, (n, then) in enumerate(zip(cadence.late.bins, before, strict=True)):
            self.late.bins[j] += n - then
            self.late.count += n - then
        self.late.worst = max(self.late.worst, max((edge for edge, n in self.late.filled() if n), default=0))

    def __str__(self) -> str:
        return " | ".join(f"{1e6 * self.late.share(share):.1f}" for share in (0.5, 0.99, 0.999))


MODES = ("neither", "recorded", "recorded and shown")


@asynccontextmanager
async def going_on(rt: Runtime, mode: str, folder: Path, at: str, browser: bool) -> AsyncIterator[Recording | None]:
    async with AsyncExitStack() as stack:
        recording = None
        if mode != "neither":
            recording = stack.enter_context(Recording(rt, folder))
        if mode == "recorded and shown":
            page = Beside("pushrod.dash", "the page", lambda line: None)
            line = await page.start(Settings(rt.robot.name, (at,), port=0))
            stack.push_async_callback(page.close)
            if browser:
                url = re.search(r"http\S+", line)
                assert url is not None, line
                await stack.enter_async_context(looked_at(url[0]))
        yield recording


@asynccontextmanager
async def looked_at(url: str) -> AsyncIterator[None]:
    chromium = shutil.which("chromium")
    assert chromium is not None
    with tempfile.TemporaryDirectory() as profile:
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}", "--remote-debugging-port=0"]
        quiet = asyncio.subprocess.DEVNULL
        process = await asyncio.create_subprocess_exec(chromium, *flags, url, stdout=quiet, stderr=quiet)
        try:
            await asyncio.sleep(5.0)  # until it has drawn everything once
            yield
        finally:
            process.terminate()
            await process.wait()


async def loops(seconds: float, rounds: int, folder: Path, browser: bool) -> None:
    """A compiled world and a loop that commands it, both at 1 kHz, on the network as `serve` has them; recorded, shown and neither, by turns."""
    arm = SimulatedMachine(machine.load("arm"), dt=1e-3)
    arm.open_to_onlookers()
    at = f"unixsock-stream/{folder}/arm.sock"
    found: dict[tuple[str, str], Between] = {}
    written = 0
    with ZenohBus(Link(at)) as bus:
        rt = Runtime(arm.robot, machine=arm, guard=PATIENT, bus=bus)
        async with rt:
            with expose(rt):
                assert rt.arm().ok
                direct = [rt[name].direct for name in rt.hosts]

                def tick(k: int) -> None:
                    for one in direct:
                        one.set_position(1e-4 * (k % 1000))

                rt.loop(hz=1000.0, name="commands")(tick)
                await asyncio.sleep(1.0)
                for i in range(len(MODES) * rounds):
                    mode = MODES[i % len(MODES)]
                    async with going_on(rt, mode, folder, at, browser) as recording:
                        await asyncio.sleep(1.0)
                        before = {cadence.name: list(cadence.late.bins) for cadence in rt.cadences}
                        await asyncio.sleep(seconds)
                        for cadence in rt.cadences:
                            found.setdefault((cadence.name, mode), Between()).add(cadence, before[cadence.name])
                    if recording is not None:
                        assert not recording.problem, recording.problem
                        assert not recording.dropped
                        written = recording.written
    shown = "a browser looks at the page" if browser else "the page has no browser"
    print(f"Lateness, us; 1 kHz, {rounds} times {seconds:g} s each by turns; {shown}; {written} messages in the last log\n")
    print("| loop | p50 | p99 | p99.9 | p99 over that of neither | target |\n|---|---|---|---|---|---|")
    for name in ("machine", "commands"):
        for mode in MODES:
            ratio = found[name, mode].late.share(0.99) / max(found[name, "neither"].late.share(0.99), 1e-9)
            print(f"| {name}, {mode} | {found[name, mode]} | {ratio:.2f} | {WITHIN if mode != 'neither' else ''} |", flush=True)


async def rate(seconds: float, folder: Path) -> None:
    """Half direct commands, half messages on the bus, from one thread, at a fixed rate."""
    print(f"\nMessages through the whole path, {seconds:g} s each: half commands by `direct`, half joint states on the bus\n")
    print("| asked, 1/s | sent, 1/s | in the log | dropped | target |\n|---|---|---|---|---|")
    for asked in RATES:
        rt = Runtime(robot(1), {"m0": Plain}, guard=PATIENT)
        with Recording(rt, folder) as recording:
            async with rt:
                assert rt.arm().ok
                sent, took = await asyncio.to_thread(send, rt, asked, seconds)
        assert not recording.problem, recording.problem
        target = f"none dropped at {LEAST}" if asked == LEAST else ""
        print(f"| {asked} | {sent / took:.0f} | {recording.written} | {recording.dropped} | {target} |", flush=True)


def send(rt: Runtime, hz: int, seconds: float) -> tuple[int, float]:
    direct, bus, sent, begin = rt["m0"].direct, rt.bus, 0, time.monotonic()
    while (now := time.monotonic()) < begin + seconds:
        due = int((now - begin) * hz)
        while sent < due:
            x = 1e-6 * sent
            direct.set_position(x)
            bus.publish(Message(JointState(("j0",), (x,), (x,), (x,)), ("actuator", "j0", "m0"), now, now, "bench"))
            sent += 2
        time.sleep(2e-4)
    return sent, time.monotonic() - begin


async def command(folder: Path) -> None:
    """`direct` with and without a recording, by turns."""
    rt = Runtime(robot(1), {"m0": Plain}, guard=PATIENT)
    took: dict[bool, list[int]] = {False: [], True: []}
    async with rt:
        assert rt.arm().ok
        for i in range(8):
            on = bool(i % 2)
            recording = Recording(rt, folder) if on else None
            if recording is not None:
                recording.__enter__()
            took[on] += timed(rt["m0"].direct.set_position, 10_000)
            if recording is not None:
                recording.__exit__()
    print("\nOne `direct` command, us\n\n| | p50 | p99 | worst |\n|---|---|---|---|")
    for on, what in ((False, "not recorded"), (True, "recorded")):
        print(f"| {what} | {Spread.of(took[on])} |", flush=True)


def timed(call: Callable[[float], Any], times: int) -> list[int]:
    took, now = [], time.perf_counter_ns
    for i in range(times):
        began = now()
        call(1e-6 * i)
        took.append(now() - began)
        if i % 50 == 0:
            time.sleep(1e-3)  # as a control loop would
    return took


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--seconds", type=float, default=2.0)
    ask.add_argument("--rounds", type=int, default=12)
    ask.add_argument("--realtime", action="store_true")
    ask.add_argument("--browser", action="store_true")
    ask.add_argument("--only", choices=("loops", "rate", "command"))
    asked = ask.parse_args()
    if asked.realtime:
        real_time()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if asked.only in (None, "loops"):
            asyncio.run(loops(asked.seconds, asked.rounds, folder, asked.browser))
        if asked.only in (None, "rate"):
            asyncio.run(rate(5.0 * asked.seconds, folder))
        if asked.only in (None, "command"):
            asyncio.run(command(folder))


if __name__ == "__main__":
    main()
