"""A process with 32 armed actuators dies or hangs in every way there is: its guard has called every disarm function soon after, and says so."""

import os
import signal
import socket
import time
from pathlib import Path

import pytest

from faults import FAULTS, LIMIT, Victim, guard_pid, many

SLACK = 0.5  # [s] for a machine that has other things to do; the soak, alone on it, asks for 50 ms


@pytest.mark.parametrize("fault", FAULTS)
def test_all_disarm_functions_run_soon_after_the_fault(fault: str, tmp_path: Path) -> None:
    took, _ = many(fault, 3, tmp_path)
    assert took[-1] < LIMIT + SLACK


def test_the_record_says_what_when_and_why(tmp_path: Path) -> None:
    before = time.time()
    with Victim(tmp_path, actuators=3) as victim:
        victim.send(signal.SIGKILL)
        record = victim.record()
    assert f"(pid {victim.process.pid}) has ended" in record.why
    assert before < record.when < time.time()
    assert list(record.actuators) == ["base/j0/m0", "base/j1/m1", "base/j2/m2"]
    assert all(one["result"] == "ok" and one["disarm"] == "noting:note" for one in record.actuators.values())
    assert victim.guard == record.guard


@pytest.mark.parametrize(
    ("fault", "why"),
    [("SIGSTOP", "no heartbeat"), ("blocked event loop", "the event loop has not turned"), ("stuck control thread", "the loop control is stuck")],
)
def test_a_hang_is_told_by_its_kind(fault: str, why: str, tmp_path: Path) -> None:
    with Victim(tmp_path, LIMIT, 2) as victim:
        FAULTS[fault](victim)
        assert why in victim.record().why


def test_a_process_that_was_stopped_commands_no_more_when_it_goes_on(tmp_path: Path) -> None:
    with Victim(tmp_path, LIMIT) as victim:
        victim.send(signal.SIGSTOP)
        victim.record()
        went_on = victim.send(signal.SIGCONT)
        first = victim.ask("state")
        assert "refused Velocity: not armed" in first["first"]
        later = victim.ask("state")
    assert later["acted"] - first["acted"] == 0
    if first["last"] > went_on:  # the one command that had passed the gate when it was stopped; it is disarmed again after that
        assert max(when for when, _ in victim.noted(victim.process.pid).values()) > first["last"]
    assert later["state"] == "error"
    assert "the guard has disarmed it: no heartbeat" in later["why"]


def test_the_options_are_those_of_the_moment(tmp_path: Path) -> None:
    with Victim(tmp_path, actuators=2) as victim:
        victim.ask("gain 4.5")
        victim.send(signal.SIGKILL)
        victim.record()
        assert [gain for _, gain in victim.noted().values()] == [4.5, 4.5]


def test_one_that_hangs_and_one_that_raises_do_not_keep_the_others(tmp_path: Path) -> None:
    with Victim(tmp_path, odd={"m3": "hang", "m4": "raise"}, within=0.4) as victim:
        at = victim.send(signal.SIGKILL)
        record = victim.record()
        done = victim.noted()
    assert record.unsafe == {"base/j3/m3": "timed out", "base/j4/m4": "failed: OSError: no answer from the bus"}
    assert len(done) == 30
    assert max(when for when, _ in done.values()) - at < 0.3
    assert 0.4 <= record.seconds < 2.0
    assert 0.3 < record.actuators["base/j3/m3"]["seconds"] < 2.0, "what it was given"


def test_there_is_a_record_while_a_disarm_function_still_hangs(tmp_path: Path) -> None:
    """So that a guard that is killed meanwhile has left one."""
    from pushrod.core.errors import InputError
    from pushrod.guard.record import acknowledge, waiting

    with Victim(tmp_path, actuators=2, odd={"m0": "hang"}, within=20.0) as victim:
        victim.send(signal.SIGKILL)
        until = time.monotonic() + 10.0
        while not (found := [r for r in waiting("victim", victim.state) if not r.flaw and not r.armed]) and time.monotonic() < until:
            time.sleep(0.005)
        assert found[0].acting
        with pytest.raises(InputError, match="is still calling disarm functions"):
            acknowledge("victim", victim.state)
        os.kill(victim.guard, signal.SIGKILL)
        victim.process.wait()
    until = time.monotonic() + 10.0
    while time.monotonic() < until:
        try:
            assert acknowledge("victim", victim.state)[0].unsafe == {"base/j0/m0": "timed out"}
            break
        except InputError:  # it is still being ended
            time.sleep(0.005)
    assert not waiting("victim", victim.state)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_guard_that_is_told_to_end_disarms_first(number: signal.Signals, tmp_path: Path) -> None:
    with Victim(tmp_path, actuators=4) as victim:
        os.kill(victim.guard, number)
        record = victim.record()
        assert record.why == f"the guard was sent {number.name}"
        assert len(victim.noted()) == 4
        said = victim.ask("state")
        while said["state"] == "armed":  # it hears of it at once, but not before this
            said = victim.ask("state")
        assert (said["state"], said["why"]) == ("error", f"the guard has disarmed it: the guard was sent {number.name}")


@pytest.mark.parametrize("how", ["leave", "Ctrl-C", "SIGTERM"])
def test_an_end_in_good_order_leaves_no_record(how: str, tmp_path: Path) -> None:
    """Ctrl-C goes to all processes of the terminal, and the guard is not among them."""
    with Victim(tmp_path, actuators=4) as victim:
        if how == "leave":
            victim.ask("leave")
        elif how == "Ctrl-C":
            os.killpg(victim.process.pid, signal.SIGINT)
        else:
            victim.send(signal.SIGTERM)
        victim.process.wait(20.0)
        assert len(victim.noted(victim.process.pid)) == 4
        assert not victim.noted()
    assert not list(victim.state.rglob("*.json*"))
    with pytest.raises(ProcessLookupError):
        os.kill(victim.guard, 0)


@pytest.mark.parametrize("child", ["fork", "spawn"])
def test_children_that_outlive_the_process_do_not_hide_its_end(child: str, tmp_path: Path) -> None:
    """A forked one keeps the socket of the heartbeat open."""
    with Victim(tmp_path, limit=10.0, actuators=2) as victim:
        victim.ask(child)
        at = victim.send(signal.SIGKILL)
        victim.process.wait()
        victim.record()
        assert max(when for when, _ in victim.noted().values()) - at < 5.0


def test_the_next_start_does_not_arm_until_somebody_has_looked(tmp_path: Path) -> None:
    with Victim(tmp_path, actuators=2) as victim:
        victim.send(signal.SIGKILL)
        record = victim.record()
    with Victim(tmp_path, actuators=2) as again:
        assert not again.answer["ok"]
        assert again.answer["refusal"] == "checks"
        [missing] = again.answer["missing"]
        assert str(record.file) in missing
        assert f"run on {socket.gethostname()}: pushrod acknowledge 'victim'" in missing
        from pushrod.guard.record import acknowledge

        assert acknowledge("victim", again.state) == [record]
        said = again.ask("arm")
        assert said["answer"]["ok"]
        assert guard_pid(said["guard"])
