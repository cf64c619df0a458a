"""`run`: a program on a clock."""

import asyncio
import subprocess
import sys
import textwrap
import time

import pytest

from pushrod.runtime import SteppedClock, run


async def wait(seconds: float) -> float:
    start = asyncio.get_running_loop().time()
    await asyncio.sleep(seconds)
    return asyncio.get_running_loop().time() - start


def test_an_hour_on_the_stepped_clock_takes_no_time() -> None:
    clock, start = SteppedClock(), time.monotonic()
    assert run(wait(3600.0), clock) == pytest.approx(3600.0)
    assert clock.now() == pytest.approx(3600.0)
    assert time.monotonic() - start < 10.0


def test_without_a_clock_time_is_real() -> None:
    start = time.monotonic()
    assert run(wait(0.02)) >= 0.02
    assert time.monotonic() - start >= 0.02


def test_what_the_program_raises_comes_out() -> None:
    async def fails() -> None:
        raise ValueError("as it should")

    with pytest.raises(ValueError, match="as it should"):
        run(fails(), SteppedClock())


def stalls(program: str, more: str = "") -> subprocess.CompletedProcess[str]:
    """In a process of its own, in which no thread of somebody else could be what is waited for."""
    text = (
        f"import asyncio, threading\nfrom pushrod.runtime import SteppedClock, run\n{more}\nasync def main():\n{textwrap.indent(program, '    ')}\n"
    )
    return subprocess.run([sys.executable, "-c", f"{text}run(main(), SteppedClock())"], capture_output=True, text=True, timeout=30, check=False)


def test_a_wait_for_what_never_comes_is_told_instead_of_lasting_for_ever() -> None:
    done = stalls("await asyncio.sleep(2.5)\ntry:\n    await asyncio.Event().wait()\nfinally:\n    print('left')")
    assert done.returncode == 1
    assert "StalledError: at 2.5 s of the stepped clock nothing is scheduled any more, and everybody waits for ever: Task-1 at" in done.stderr
    assert "(main)" in done.stderr
    assert done.stdout == "left\n"  # what is open is closed: a runtime is disarmed


def test_after_a_helper_thread_it_is_told_too() -> None:
    done = stalls("await asyncio.to_thread(print, 'helped')\nawait asyncio.Event().wait()")
    assert "StalledError" in done.stderr
    assert done.stdout == "helped\n"


def test_what_another_thread_brings_is_waited_for() -> None:
    done = stalls(
        "came, loop = asyncio.Event(), asyncio.get_running_loop()\n"
        "threading.Timer(0.2, loop.call_soon_threadsafe, (came.set,)).start()\nawait came.wait()\nprint('came')"
    )
    assert (done.returncode, done.stdout) == (0, "came\n")


def test_what_a_socket_brings_is_waited_for() -> None:
    done = stalls(
        "here, there = socket.socketpair()\nhere.setblocking(False)\nawait asyncio.sleep(0)\n"
        "child = os.fork()\nif child == 0:\n    time.sleep(0.2); there.send(b'x'); os._exit(0)\n"
        "print((await asyncio.get_running_loop().sock_recv(here, 1)).decode())\nos.waitpid(child, 0)",
        "import os, socket, time",
    )
    assert (done.returncode, done.stdout) == (0, "x\n"), done.stderr
