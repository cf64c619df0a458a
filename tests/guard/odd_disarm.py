"""Disarm functions that another process has trouble with, or that tell what it looks like there."""

import json
import os
import sys
import time


def look(options):
    """What is imported where this runs, and what that has cost so far."""
    with open(options["file"], "w") as out:
        json.dump({"modules": sorted(sys.modules), "cpu": time.process_time(), "pid": os.getpid(), "session": os.getsid(0), "cwd": os.getcwd()}, out)


def slow(options):
    time.sleep(0.5)


def _made():
    def later(options):
        """Exists in the process that calls `make_later`, and in no other."""

    return later


def make_later():
    globals()["later"] = _made()


def late(options):
    """Longer than the guard may be silent before it acts."""
    time.sleep(1.0)
    with open(options["file"], "w") as out:
        out.write("done")
