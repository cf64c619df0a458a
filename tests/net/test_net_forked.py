"""A forked child of a program on the network: it keeps neither port nor lock, ends by itself, and its signals are its own."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from net_rig import free_port

from pushrod.core.forked import close_in_children
from pushrod.net import Link, router

KILLED = """
import os, signal, sys
from pushrod.net import Link, router
router(Link(sys.argv[1]))
if os.fork() == 0:
    print(os.getpid(), flush=True)
    signal.pause()
signal.pause()
"""
ENDS = """
import os, sys
from pushrod.net import Link, router
with router(Link(sys.argv[1])):
    child = os.fork()
    if child == 0:
        sys.exit(3)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
SIGNALLED = """
import asyncio, os, signal, time
from pushrod.runtime import run

async def main():
    child = os.fork()
    if child == 0:
        time.sleep(60.0)
    os.kill(child, signal.SIGTERM)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    await asyncio.sleep(0.2)
    print("goes on", flush=True)
    os.kill(os.getpid(), signal.SIGTERM)
    await asyncio.sleep(10.0)

run(main())
"""


def endpoint(kind: str, folder: Path) -> str:
    return f"tcp/127.0.0.1:{free_port()}" if kind == "tcp" else f"unixsock-stream/{folder}/a.sock"


@pytest.mark.parametrize("kind", ["tcp", "unix"])
def test_a_forked_child_of_a_killed_program_keeps_neither_its_port_nor_its_lock(kind, tmp_path):
    end = endpoint(kind, tmp_path)
    process = subprocess.Popen([sys.executable, "-c", KILLED, end], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    child = int(process.stdout.readline())
    try:
        process.kill()
        process.wait()
        os.kill(child, 0)
        router(Link(end)).close()
    finally:
        os.kill(child, signal.SIGKILL)


def test_a_forked_child_ends_by_itself():
    """It has none of zenoh's threads, which closing a session waits for."""
    end = f"tcp/127.0.0.1:{free_port()}"
    assert subprocess.run([sys.executable, "-c", ENDS, end], stdout=subprocess.PIPE, timeout=20.0, check=True).stdout == b"3\n"


def test_a_file_that_reuses_a_descriptor_stays_open_in_children(tmp_path):
    first = os.open(tmp_path / "first", os.O_RDWR | os.O_CREAT)
    cancel = close_in_children(first)
    cancel()
    os.close(first)
    (tmp_path / "first").unlink()
    with open(tmp_path / "second", "w") as second:  # it may have the descriptor and the inode of the first
        child = os.fork()
        if child == 0:
            os.fstat(second.fileno())
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize(("error", "code"), [("SystemExit(3)", 3), ("SystemExit()", 0), ("SystemExit('text')", 1), ("OSError()", 1), ("", 0)])
def test_a_forked_child_ends_where_it_would_leave_what_is_its_parents(error, code):
    program = f"""
import os
from pushrod.core.forked import left_by_its_process_alone
class Outside:
    def __enter__(self): pass
    def __exit__(self, *_): print("left by", "the parent" if os.getpid() == parent else "the child", flush=True)
parent = os.getpid()
with Outside(), left_by_its_process_alone():
    child = os.fork()
    if child == 0:
        {f"raise {error}" if error else "pass"}
    else:
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, timeout=20.0, check=True)
    assert done.stdout == f"{code}\nleft by the parent\n"


def test_a_signal_to_a_forked_child_ends_the_child_alone():
    done = subprocess.run([sys.executable, "-c", SIGNALLED], stdout=subprocess.PIPE, text=True, timeout=20.0, check=False)
    assert (done.stdout, done.returncode) == (f"{-signal.SIGTERM}\ngoes on\n", 128 + signal.SIGTERM)
