"""What can happen to a log: its process is killed, its writer is killed or stopped, the disk is full, the folder is none, too much comes at once."""

import asyncio
import logging
import os
import resource
import signal
import time

import pytest

from pushrod.log import read as read_table
from pushrod.runtime.message import HardwareError
from recorded_run import Plain, killed_after, read, read_torn, recorded

COMMAND = "/actuator/base/shoulder/motor/command"
MISSING = 0.5  # [s] at most


@pytest.mark.on_time
@pytest.mark.parametrize("seconds", [0.0, 0.37, 0.9])
def test_a_process_that_is_killed_leaves_a_whole_log(seconds, tmp_path):
    killed = killed_after(seconds, tmp_path)
    assert killed.missing < MISSING
    assert killed.commands == [x for _, x in killed.sent][: len(killed.commands)], "all but the end is there, in order"
    assert killed.log.of("/events")[-1]["message"].startswith("the recorded process ended without a goodbye")
    assert killed.log.about["kind"] == "live"


async def until(is_so, seconds=10.0):
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "it did not happen in time"
        await asyncio.sleep(0.01)


def trouble(folder, cause, **how):
    """A robot whose log gets into trouble while it is armed: the recording, what was reported, and whether it obeyed afterwards."""
    seen = []

    async def body(rt, recording):
        errors = rt.subscribe((), (HardwareError,), latched=True)
        rt.arm()
        await cause(rt, recording)
        await until(lambda: recording.problem)
        for _ in range(50):
            assert rt["motor"].direct.set_position(0.1).ok
        await asyncio.sleep(0.05)  # nothing more comes
        while (message := errors.poll()) is not None:
            seen.append(message.payload)
        seen.append((rt.state.value, rt.disarm().ok, rt.arm()))

    made = recorded(folder, body, {"motor": Plain}, **how)
    *errors, (state, safe, armed) = seen
    assert state == "armed"
    assert safe
    (error,) = errors
    assert error.path == ("recording",)
    assert made.problem in error.error
    return made, armed


def test_a_writer_that_is_killed_is_told_of_once_and_the_robot_goes_on(tmp_path, caplog):
    async def cause(rt, recording):
        for _ in range(300):
            rt["motor"].direct.set_position(0.1)
        await asyncio.sleep(0.5)  # longer than between two flushes
        os.kill(recording.pid, signal.SIGKILL)

    with caplog.at_level(logging.ERROR, "pushrod.recording"):
        made, armed = trouble(tmp_path, cause)
    assert "SIGKILL" in made.problem
    assert len(caplog.records) == 1
    assert armed.ok
    torn = read_torn(made.file)
    assert len([one for one in torn if one.topic == COMMAND]) == 300
    assert len(read_table(made.file).channels) > 0


def test_a_full_disk_is_told_of_once_and_what_is_whole_is_kept(tmp_path):
    async def cause(rt, recording):
        rt["motor"].direct.set_position(0.1)
        await until(lambda: recording.file.stat().st_size > 1000)
        full = recording.file.stat().st_size + 5000
        resource.prlimit(recording.pid, resource.RLIMIT_FSIZE, (full, full))
        k = 0
        while not recording.problem:
            k += 1
            rt["motor"].direct.set_position(1e-7 * k * k)  # numbers that do not compress to nothing
            if k % 100 == 0:
                await asyncio.sleep(0.005)

    made, armed = trouble(tmp_path, cause)
    assert made.problem == os.strerror(27)  # what the system says of a file that may not grow
    assert armed.ok
    whole = read_torn(made.file)
    assert len(whole) > 3
    assert made.file.stat().st_size > 1000


@pytest.mark.parametrize("required", [False, True])
def test_a_folder_that_is_none_is_told_of_once(required, tmp_path, caplog):
    (tmp_path / "file").write_text("mine")
    states = []

    async def body(rt, recording):
        assert "cannot be made a folder" in recording.problem
        states.append(rt.arm())

    with caplog.at_level(logging.ERROR, "pushrod.recording"):
        made = recorded(tmp_path / "file" / "runs", body, {"motor": Plain}, required=required)
    assert len(caplog.records) == 1
    assert made.written == 0
    (armed,) = states
    assert armed.ok is not required
    if required:
        assert armed.refusal == "checks"
        assert "its log cannot be written" in armed.missing[0]
    assert (tmp_path / "file").read_text() == "mine"


def test_a_log_that_is_required_and_fails_does_not_disarm_but_keeps_from_arming_again(tmp_path):
    async def cause(rt, recording):
        os.kill(recording.pid, signal.SIGKILL)

    made, armed = trouble(tmp_path, cause, required=True)
    assert not armed.ok
    assert made.problem in armed.missing[0]


def test_what_finds_no_room_is_dropped_counted_and_told(tmp_path):
    many = 5000

    async def body(rt, recording):
        rt.arm()
        for _ in range(many):
            rt["motor"].direct.set_position(0.1)

    made = recorded(tmp_path, body, {"motor": Plain}, room=16)
    log = read(made.file)
    assert made.dropped > 0
    assert len(log.of(COMMAND)) + made.dropped == many
    assert log.of("/recording")[-1]["dropped"] == made.dropped
    (told,) = [event["message"] for event in log.of("/events") if event["name"] == "recording"]
    assert told.startswith(f"{made.dropped} messages found no room")


def test_a_writer_that_is_stopped_keeps_nobody_waiting(tmp_path):
    took = []

    async def body(rt, recording):
        rt.arm()
        os.kill(recording.pid, signal.SIGSTOP)
        try:
            for _ in range(200):
                began = time.perf_counter()
                for _ in range(300):
                    rt["motor"].direct.set_position(0.1)
                took.append(time.perf_counter() - began)
                await asyncio.sleep(0)
            assert recording.problem == ""
        finally:
            os.kill(recording.pid, signal.SIGCONT)

    made = recorded(tmp_path, body, {"motor": Plain}, room=1000)
    assert made.problem == ""
    log = read(made.file)
    assert made.dropped > 0
    assert len(log.of(COMMAND)) + made.dropped == 60_000
    assert sorted(took)[len(took) // 2] < 0.05  # 300 commands, most of them far below a tenth of that


def test_a_disarm_is_on_the_disk_at_once(tmp_path):
    async def body(rt, recording):
        rt.arm()
        await asyncio.sleep(0.25)
        began = time.monotonic()
        rt.estop("button")
        await until(lambda: any(one.topic == "/safety" and one.data["to"] == "estopped" for one in read_torn(recording.file)))
        assert time.monotonic() - began < 1.0

    assert recorded(tmp_path, body, {"motor": Plain}).problem == ""


def test_the_writer_outlives_ctrl_c_at_the_terminal(tmp_path):
    async def body(rt, recording):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            os.kill(recording.pid, number)
        rt["motor"].direct.set_position(0.1)
        await asyncio.sleep(0.1)

    made = recorded(tmp_path, body, {"motor": Plain})
    assert made.problem == ""
    assert len(read(made.file).of(COMMAND)) == 1
