"""A process that goes before all others: its threads, what it starts, and who steps back."""

import os
import subprocess
import sys
import threading

import pytest

from pushrod.core.errors import InputError
from pushrod.runtime import real_time
from pushrod.runtime.real_time import WAKING, keep_awake

ASKED = """
import os, threading
from pushrod.runtime import real_time

def told():
    print(os.sched_getscheduler(0) == os.SCHED_RR, os.sched_getparam(0).sched_priority)

waiting, before = threading.Event(), threading.Thread(target=lambda: (waiting.wait(), told()))
before.start()
real_time(7)
told()
after = threading.Thread(target=told)
after.start()
after.join()
waiting.set()
before.join()
"""


def may() -> bool:
    """Asked of a thread of its own, which ends."""
    answers: list[bool] = []

    def ask() -> None:
        try:
            os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
            answers.append(True)
        except OSError:
            answers.append(False)

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    return answers[0]


def test_threads_before_and_after_go_along():
    if not may():
        pytest.skip("this user may not ask for real-time priority")
    done = subprocess.run([sys.executable, "-c", ASKED], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split("\n")[:3] == ["True 7"] * 3


ASLEEP = """
import os
from pushrod.runtime import real_time

real_time()
open_files = [f"/proc/self/fd/{fd}" for fd in os.listdir("/proc/self/fd")]
print([os.readlink(file) for file in open_files if os.path.exists(file)].count("/dev/cpu_dma_latency"))
"""


def test_cores_are_kept_awake_where_that_is_allowed():
    if not may():
        pytest.skip("this user may not ask for real-time priority")
    done = subprocess.run([sys.executable, "-c", ASLEEP], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == ("1" if os.access(WAKING, os.W_OK) else "0")


def test_where_cores_cannot_be_kept_awake_it_does_without(tmp_path):
    assert not keep_awake(str(tmp_path / "none"))


@pytest.mark.parametrize("priority", [0, -1, 99, 1000])
def test_a_priority_that_there_is_not(priority):
    with pytest.raises(InputError, match=f"real-time priority {priority}: allowed are 1 to 98"):
        real_time(priority)
    assert os.sched_getscheduler(0) == os.SCHED_OTHER


def test_who_may_not_is_told_how(monkeypatch):
    def denied(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "sched_setscheduler", denied)
    with pytest.raises(InputError, match=r"the system does not allow it; run it as root, or allow it .*`USER - rtprio 20`"):
        real_time()


def test_where_there_is_no_such_thing(monkeypatch):
    monkeypatch.delattr(os, "sched_setscheduler")
    with pytest.raises(InputError, match="only Linux"):
        real_time()
