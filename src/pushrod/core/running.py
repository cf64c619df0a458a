"""Whether a process of this computer still runs."""

import os
from contextlib import suppress
from pathlib import Path


def is_running(pid: int) -> bool:
    with suppress(OSError):  # one that nobody has buried yet is dead all the same
        if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
            return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return pid > 0
