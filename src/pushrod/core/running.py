"""Whether a process of this computer still runs, and whether it is the same one."""

import os
from contextlib import suppress
from pathlib import Path


def is_running(pid: int) -> bool:
    with suppress(OSError):  # a zombie has ended, though its parent has not collected its exit code
        if _stat(pid)[0] == "Z":
            return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return pid > 0


def started(pid: int) -> str:
    """Return when a process was started, as text to compare: numbers of processes are used again. Empty where the system does not tell."""
    try:
        return f"{Path('/proc/sys/kernel/random/boot_id').read_text().strip()} {_stat(pid)[19]}"
    except (OSError, IndexError):
        return ""


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat from the state on; the name before it may hold anything."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
