"""A process that goes before all others, where the system lets it (Linux; root, CAP_SYS_NICE or an rtprio limit).

The whole process and not its control loops alone: a loop that waits for the interpreter waits for the thread that has it, and that one may wait for
a core. Threads and processes started later go along; the page and the log step back by themselves, the guard goes one step before it.

A core with nothing to do falls asleep, and takes its time to wake up: a tenth of a millisecond and more on a virtual machine. Whoever may ask for it
(mostly root) keeps the cores awake as long as the process lives, for which they draw more power.
"""

import os
import struct
from contextlib import suppress

from pushrod.core.errors import InputError

PRIORITY = 10  # below 50, which the kernel takes for its own interrupt threads
WAKING = "/dev/cpu_dma_latency"  # the longest [us, int32] that a core may take to wake up, as long as the file stays open
HOW = "run it as root, or allow it in a file under /etc/security/limits.d (`USER - rtprio 20`) and log in again; or do without"


def real_time(priority: int = PRIORITY) -> None:
    """All threads of this process, and those they start, by turns (SCHED_RR). InputError where the system does not let it: nothing has changed."""
    if not hasattr(os, "sched_setscheduler") or not os.path.isdir("/proc/self/task"):
        raise InputError("real-time priority: only Linux gives it to a running process; do without")
    try:
        allowed = range(os.sched_get_priority_min(os.SCHED_RR), os.sched_get_priority_max(os.SCHED_RR))
        if priority not in allowed:
            raise InputError(f"real-time priority {priority!r}: allowed are {allowed[0]} to {allowed[-1]}, so that the guard can go before it")
        for task in os.listdir("/proc/self/task"):
            with suppress(ProcessLookupError):  # it has just ended
                os.sched_setscheduler(int(task), os.SCHED_RR, os.sched_param(priority))
    except PermissionError as error:
        raise InputError(f"real-time priority {priority}: the system does not allow it; {HOW}") from error
    keep_awake()


def keep_awake(path: str = WAKING) -> bool:
    """No core falls asleep before this process ends; False where the system does not let it, which only makes loops a little later."""
    try:
        file = os.open(path, os.O_WRONLY | os.O_CLOEXEC)  # never closed: that would end it
        return os.write(file, struct.pack("=i", 0)) == 4
    except OSError:
        return False
