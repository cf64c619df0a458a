"""A stop without a free thread, process slot, file descriptor or disk block; without memory the robot is disarmed by the guard at the latest."""

import os
import signal
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from faults import PATIENCE, Victim
from pushrod.guard.record import acknowledge, armed_by, waiting

ROOT = getattr(os, "geteuid", lambda: 1)() == 0


@pytest.mark.parametrize(
    "what", [pytest.param("threads", marks=pytest.mark.skipif(not ROOT, reason="only root may become an unprivileged user")), "files", "disk"]
)
def test_a_stop_needs_nothing_that_may_run_out(what: str) -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, Victim(Path(folder), actuators=4) as victim:
        os.chmod(folder, 0o777)  # the disarm functions of an unprivileged user note what they do there
        victim.ask(f"exhaust {what}")
        answer = victim.ask("estop")
        assert answer["state"] == "estopped"
        assert answer["ok"] or what != "threads", answer  # these disarm functions open a file and write to it
        if what == "threads":
            assert len(victim.noted(victim.process.pid)) == 4


def test_without_memory_it_disarms_or_dies_and_the_guard_disarms(tmp_path: Path) -> None:
    with Victim(tmp_path, actuators=4) as victim:
        assert victim.process.stdin is not None
        victim.process.stdin.write("exhaust memory\nestop\n")
        victim.process.stdin.flush()
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            if len(victim.noted(victim.process.pid)) == 4 or len(victim.noted()) == 4:
                return
            time.sleep(0.01)
        raise AssertionError(f"neither process disarmed: {victim.process.poll()}")


def test_runtime_and_guard_killed_together_leave_the_marker(tmp_path: Path) -> None:
    with Victim(tmp_path, actuators=2) as victim:
        assert [record.process for record in armed_by("victim", victim.state)] == [victim.process.pid]
        assert not waiting("victim", victim.state)
        os.kill(victim.guard, signal.SIGSTOP)
        os.kill(victim.process.pid, signal.SIGKILL)
        os.kill(victim.guard, signal.SIGKILL)
        victim.process.wait()
        state = victim.state
        [record] = waiting("victim", state)
        assert record.armed
        assert "ended while it was armed; the state of its actuators is unknown" in str(record)
        victim.notes.unlink(missing_ok=True)
    with Victim(tmp_path, actuators=2) as again:
        assert len(again.noted(again.process.pid)) == 2  # its motors may still have been powered
        assert not again.answer["ok"]
        assert "ended while it was armed" in again.answer["missing"][0]
        assert len(acknowledge("victim", state)) == 1
        assert again.ask("arm")["answer"]["ok"]


def test_a_clean_end_leaves_no_marker(tmp_path: Path) -> None:
    with Victim(tmp_path, actuators=2) as victim:
        victim.ask("leave")
        victim.process.wait(PATIENCE)
        assert not waiting("victim", victim.state)
        assert not armed_by("victim", victim.state)


def test_a_second_process_does_not_switch_off_what_another_drives(tmp_path: Path) -> None:
    with Victim(tmp_path, actuators=2) as victim:
        with Victim(tmp_path, actuators=2) as second:
            assert f"process {victim.process.pid} armed victim; it is running" in second.answer["missing"][0]
            second.ask("leave")
            second.process.wait(PATIENCE)
            assert not second.noted(second.process.pid)
        assert victim.ask("state")["state"] == "armed"


def test_a_guard_that_is_lost_while_the_disk_is_full_requires_acknowledgement(tmp_path: Path) -> None:
    with Victim(tmp_path, actuators=2) as victim:
        victim.ask("exhaust disk")
        os.kill(victim.guard, signal.SIGKILL)
        until = time.monotonic() + PATIENCE
        while (now := victim.ask("state"))["state"] == "armed":
            assert time.monotonic() < until
        assert "disarm" in now["first"] or "not armed" in now["first"]
        while victim.ask("state")["state"] != "error":
            assert time.monotonic() < until
        victim.ask("force")
        answer = victim.ask("arm")["answer"]
        assert not answer["ok"]
        assert any("no record of it can be written to " in one for one in answer["missing"]), answer
        assert [record.process for record in armed_by("victim", victim.state)] == [victim.process.pid], "the marker stays"
        victim.process.kill()
        victim.process.wait()
        [record] = waiting("victim", victim.state)
        assert record.armed


def test_a_lost_guard_is_recorded_as_soon_as_there_is_room_and_acknowledged_like_any_other(tmp_path: Path) -> None:
    with Victim(tmp_path, actuators=2) as victim:
        victim.ask("exhaust disk")
        os.kill(victim.guard, signal.SIGKILL)
        until = time.monotonic() + PATIENCE
        while victim.ask("state")["state"] != "error":
            assert time.monotonic() < until
        victim.ask("force")
        assert not victim.ask("arm")["answer"]["ok"]
        assert not waiting("victim", victim.state)
        victim.ask("free disk")
        answer = victim.ask("arm")["answer"]
        assert "pushrod acknowledge" in answer["missing"][0], answer
        assert len(acknowledge("victim", victim.state)) == 1
        answer = victim.ask("arm")["answer"]
        assert answer["ok"], answer


def test_of_two_processes_that_arm_one_robot_at_the_same_time_one_at_most_succeeds(tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        victims = list(pool.map(lambda _: Victim(tmp_path, actuators=2), range(2)))
    with victims[0], victims[1]:
        assert sum(victim.answer["ok"] for victim in victims) <= 1, [victim.answer for victim in victims]
        assert all("disarm it there" in victim.answer["missing"][0] for victim in victims if not victim.answer["ok"])
