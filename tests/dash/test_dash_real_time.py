"""`pushrod serve --realtime --dash`: who goes first, and who steps back."""

import os
from pathlib import Path

import pytest
from dash_rig import Served, children, command_line


def policies(pid: int) -> set[tuple[int, int]]:
    tasks = [int(task.name) for task in Path(f"/proc/{pid}/task").iterdir()]
    return {(os.sched_getscheduler(task), os.sched_getparam(task).sched_priority) for task in tasks}


def test_the_guard_first_then_the_robot_then_all_others(tmp_path):
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    except OSError:
        pytest.skip("this user may not ask for real-time priority")
    served = Served("arm", "--dash-port", "0", "--realtime", "--arm", "--out", str(tmp_path / "runs"), state=str(tmp_path / "state"))
    try:
        beside = {command_line(pid): policies(pid) for pid in children(served.process.pid)}
        assert policies(served.process.pid) == {(os.SCHED_RR, 10)}
        (guard,) = (found for line, found in beside.items() if "pushrod/guard/" in line)
        (page,) = (found for line, found in beside.items() if "pushrod.dash" in line)
        (log,) = (found for line, found in beside.items() if "pushrod/log/" in line)
        assert guard == {(os.SCHED_RR, 11)}
        assert page == {(os.SCHED_BATCH, 0)}
        assert log == {(os.SCHED_BATCH, 0)}
    finally:
        served.close()
