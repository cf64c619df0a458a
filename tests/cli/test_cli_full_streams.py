"""Standard streams that take no output: neither a served robot nor a stop waits for them."""

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress

import pytest

pytest.importorskip("zenoh", reason="the extra `net` is not installed: pip install 'pushrod[net]'")

from served import PATIENT, ROBOT

from net.net_rig import free_port
from net.waiting import until
from pushrod.net import Link, Session, key

pytestmark = pytest.mark.on_time


class Full:
    """A pipe that is filled on request, and that no program reads."""

    def __init__(self):
        self.read, self.write = os.pipe()

    def fill(self):
        os.set_blocking(self.write, False)
        with suppress(BlockingIOError):
            while True:
                os.write(self.write, b"x" * 64)
        os.set_blocking(self.write, True)  # the flag is shared: the other process must block, too


@pytest.fixture
def full():
    pipe = Full()
    yield pipe
    os.close(pipe.read)
    os.close(pipe.write)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "r.yaml").write_text(ROBOT)
    monkeypatch.setenv("PUSHROD_STATE", str(tmp_path / "s"))
    monkeypatch.setenv("PYTHONUNBUFFERED", "1")
    return tmp_path


@contextmanager
def served(folder, *options, **streams):
    command = [sys.executable, "-m", "pushrod", "serve", folder / "r.yaml", "--simulation", "--no-log", *options]
    process = subprocess.Popen(command, **streams)
    try:
        yield process
    finally:
        process.kill()
        process.wait(10.0)


def when_served(pushrod, *where):
    until(lambda: pushrod("arm", "lifter", *where).exit_code == 0, 60.0)


def test_a_served_robot_ends_at_a_signal_though_its_output_is_not_taken(folder, full, pushrod):
    with served(folder, "--no-guard", stdout=full.write, stderr=full.write) as process:
        when_served(pushrod)
        full.fill()
        assert pushrod("disarm", "lifter").exit_code == 0  # prints a line
        assert pushrod("arm", "lifter").exit_code == 0
        time.sleep(0.3)
        process.send_signal(signal.SIGTERM)
        assert process.wait(10.0) == 5, "the exit code reports that standard output was lost"


def test_a_network_stop_arrives_though_log_lines_are_not_taken(folder, full, pushrod):
    end = f"tcp/127.0.0.1:{free_port()}"
    with served(folder, "--net", end, *PATIENT, stdout=full.write, stderr=full.write) as process:
        when_served(pushrod, "--net", end)
        full.fill()
        for n in range(4):
            with Session(Link(connect=end)) as session:
                session.zenoh.put(key.of("lifter", "ask", f"eve{n}", "actuator", "motor"), b"\xff\xff")
        time.sleep(0.5)
        got = pushrod("estop", "lifter", "--net", end)
        assert (got.exit_code, got.stdout) == (0, "lifter: estopped\n"), got.output
        process.send_signal(signal.SIGTERM)
        assert process.wait(10.0) in (0, 5)


def test_a_stop_is_sent_though_its_messages_are_not_taken(folder, full, pushrod):
    with served(folder, *PATIENT, stdout=subprocess.DEVNULL):
        when_served(pushrod)
        full.fill()
        for verb in ("disarm", "estop"):
            command = [sys.executable, "-m", "pushrod", verb, "lifter", "--net"]  # reported and ignored, before the stop
            done = subprocess.run(command, stdout=full.write, stderr=full.write, timeout=30.0, check=False)
            assert done.returncode == 5
            assert pushrod("top", "lifter", "--json").stdout.count(f'"{verb}ed"'.replace("estoped", "estopped"))


def test_a_served_robot_prints_in_a_locale_without_utf_8(folder):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG"))} | {"LC_ALL": "C", "PYTHONUTF8": "0"}
    with served(folder, *PATIENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment) as process:
        assert process.stdout.readline().startswith("lifter: disarmed; at ")
        process.terminate()
        rest = process.stdout.read()
        assert rest.endswith("lifter: ended (SIGTERM); disarmed, all actuators are safe\n")
        assert "Traceback" not in rest


PRINTING = """
import logging, sys
from pushrod.core.outlet import exit_code, protect_streams, unblock_streams
protect_streams()
unblock_streams()
logging.basicConfig(format="%(message)s")
for n in range({lines}):
    print(f"out {{n}}", flush=True) if n % 2 else logging.warning("err %d", n)
{last}
sys.exit(exit_code(0))
"""


def printing(lines, last=""):
    return [sys.executable, "-c", PRINTING.format(lines=lines, last=last)]


def test_lines_of_both_streams_keep_their_order():
    done = subprocess.run(printing(600), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=30.0, check=False)
    assert done.returncode == 0
    assert [int(line.split()[1]) for line in done.stdout.splitlines()] == list(range(600))


def test_dropped_lines_are_counted_and_the_others_are_whole():
    logging = "for n in range(25_000): logging.warning('err %d', n)\nimport time; time.sleep(2.0)"
    with subprocess.Popen(printing(0, logging), stderr=subprocess.PIPE, text=True) as process:
        time.sleep(1.0)
        err = process.stderr.read()
    numbers = [int(n) for n in re.findall(r"^err (\d+)$", err, re.MULTILINE)]
    dropped = sum(int(n) for n in re.findall(r"^(\d+) lines to standard error were dropped", err, re.MULTILINE))
    assert numbers == sorted(numbers)
    assert len(numbers) + dropped == 25_000
    assert dropped


def test_a_traceback_is_written_before_the_process_ends():
    done = subprocess.run(printing(1, "1 / 0"), capture_output=True, text=True, timeout=30.0, check=False)
    assert done.returncode == 1
    assert done.stderr.endswith("ZeroDivisionError: division by zero\n")


def test_a_forked_child_writes_by_itself():
    child = "import os\nif os.fork() == 0: print('child', flush=True); os._exit(0)\nos.wait()"
    done = subprocess.run(printing(0, child), capture_output=True, text=True, timeout=30.0, check=False)
    assert (done.returncode, done.stdout) == (0, "child\n")
