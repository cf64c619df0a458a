"""No test of a driver leaves a thread or an open file behind."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest


def open_files() -> set[str]:
    """What this process has open, less what the event loop and the test runner own."""
    found = set()
    for entry in Path("/proc/self/fd").iterdir() if Path("/proc/self/fd").exists() else ():
        try:
            found.add(f"{entry.name} {os.readlink(entry)}")
        except OSError:
            continue  # the one this look had open
    return {text for text in found if "/dev/pts" in text or "/dev/ptmx" in text or "pipe:" in text}


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    threads, files = set(threading.enumerate()), open_files()
    yield
    assert not set(threading.enumerate()) - threads
    assert not open_files() - files
