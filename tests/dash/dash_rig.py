"""A served machine with its page, and a browser that looks at it."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PATIENCE = 60.0  # [s] for a machine to be there: it may be compiled first


class Served:
    """`page` is the pid of the page's own process."""

    def __init__(self, *arguments: str, state: str | None = None) -> None:
        environment = os.environ | ({"PUSHROD_STATE": state} if state else {})
        self.lines: list[str] = []
        self.process = subprocess.Popen(
            [sys.executable, "-m", "pushrod", "serve", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
        )
        self.url = ""
        assert self.process.stdout is not None
        end = time.monotonic() + PATIENCE
        while not self.url and time.monotonic() < end:
            line = self.process.stdout.readline()
            if not line:
                break
            self.lines.append(line)
            found = re.search(r"page at (\S+)", line)
            self.url = found[1] if found else ""
        assert self.url, "".join(self.lines)

    @property
    def page(self) -> int:
        return next(pid for pid in children(self.process.pid) if "pushrod.dash" in command_line(pid))

    def close(self) -> None:
        if self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGCONT)
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if self.process.stdout is not None and not self.process.stdout.closed:
            self.lines += self.process.stdout.readlines()
            self.process.stdout.close()


def children(pid: int) -> list[int]:
    return [int(child) for task in Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()]


def command_line(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_bytes().decode().replace("\0", " ")


def until(true: Callable[[], Any], patience: float = 10.0, what: str = "") -> Any:
    """What it gives, once it is true."""
    end = time.monotonic() + patience
    while not (found := true()):
        if time.monotonic() > end:
            raise AssertionError(f"{what or 'it'} has not come true within {patience:g} s")
        time.sleep(0.02)
    return found


def state(page: Any) -> str:
    """How the robot is, as the strip says it."""
    return str(page.locator("[data-live=state]").inner_text())


def text(page, key):
    return page.locator(f'[data-live="{key}"]').first.inner_text()


def results(page, card):
    return page.locator(f'[data-rows="{card}:results"]').inner_text()


def take(page):
    page.get_by_role("button", name="Take control").click()
    until(lambda: "You have control" in text(page, "who"), what="control")


def arm(page):
    take(page)
    page.get_by_role("button", name="Arm", exact=True).click()
    until(lambda: state(page) == "ARMED", what="arming")


def number(page, key):
    """A figure as the page shows it, once it shows one."""
    return float(until(lambda: text(page, key).split(), what=key)[0])


def position(page, card):
    return number(page, f"{card}:position")  # deg


def still(page, card):
    return abs(number(page, f"{card}:velocity")) < 0.5  # deg/s
