"""A recording that grows large is continued in further files: every part is whole and readable by itself, and no message is lost between them."""

import asyncio
import os

import pytest

from pushrod.core.errors import InputError, LogError
from pushrod.log.writer import Attachment
from pushrod.recording import Recording
from pushrod.replay.run import replay
from pushrod.runtime import Runtime
from recorded_run import Plain, read, recorded, robot

COMMAND = "/actuator/base/shoulder/motor/command"
PART = 20_000  # bytes


async def sent(rt, recording, n=1500):
    """So many commands, each with its number as its position."""
    rt.arm()
    for value in (0.6, 0.75):
        rt.parameters.set("gain", value)
    for k in range(n):
        rt["motor"].direct.set_position(k * 1e-3, id=os.urandom(60).hex())  # text that does not compress
        if k % 25 == 0:
            await asyncio.sleep(0.01)


def numbers(log):
    return [round(one["payload"]["position"] * 1e3) for one in log.of(COMMAND)]


def test_parts_hold_every_message_once_and_in_order(tmp_path):
    made = recorded(
        tmp_path, sent, drivers={"motor": Plain}, part=PART, about={"machine": "lift"}, attachments=[Attachment("lift.yaml", "text/yaml", "a: 1")]
    )
    assert (made.problem, made.dropped) == ("", 0)
    assert len(made.files) > 3
    assert sorted(made.files) == sorted(tmp_path.iterdir())
    logs = [read(file) for file in made.files]
    assert [k for log in logs for k in numbers(log)] == list(range(1500))
    assert sum(len(log.said) for log in logs) == made.written
    for i, (file, log) in enumerate(zip(made.files, logs, strict=True)):
        assert file.name == (f"{made.file.stem}.mcap" if i == 0 else f"{made.file.stem}-part{i + 1}.mcap")
        assert log.files == {"lift.yaml": "a: 1"}
        assert (log.about["machine"], log.about["part"]) == ("lift", str(i + 1))
        assert log.about.get("continues", "") == (made.files[i - 1].name if i else "")
        said = [event["message"] for event in log.of("/events")]
        assert (f"continued in {made.files[i + 1].name}" in said) if i + 1 < len(made.files) else "continued" not in " ".join(said[1:])
        assert file.stat().st_size < 10 * PART
        if i:  # what holds on is repeated
            assert log.of("/safety")[0] == logs[i - 1].of("/safety")[-1]
            assert [change["new"] for change in log.of("/param")] == [0.75]


def test_an_idle_robot_rotates_too(tmp_path):
    async def idle(rt, recording):
        for _ in range(100):
            await asyncio.sleep(0.05)
            if len(recording.files) > 1:
                return

    made = recorded(tmp_path, idle, part=2_000)
    assert len(made.files) > 1
    assert read(made.file).of("/safety")[0]["to"] == "disarmed"


def test_where_no_further_file_can_be_made_the_log_goes_on_in_the_one_it_has(tmp_path):
    async def moved(rt, recording):
        (tmp_path / "runs").rename(tmp_path / "elsewhere")
        await sent(rt, recording)

    made = recorded(tmp_path / "runs", moved, drivers={"motor": Plain}, part=PART)
    assert (made.problem, made.dropped) == ("", 0)
    (file,) = (tmp_path / "elsewhere").iterdir()
    log = read(file)
    assert numbers(log) == list(range(1500))
    assert any("no further file" in event["message"] for event in log.of("/events"))


def test_a_later_part_cannot_be_replayed_and_says_which_can(tmp_path):
    made = recorded(tmp_path, sent, drivers={"motor": Plain}, part=PART)
    with pytest.raises(LogError, match=f"part 2 of a recording.*{made.file.name}"):
        replay(made.files[1])


@pytest.mark.parametrize("part", [0, -1, 1.5, True])
def test_a_part_has_a_size(part, tmp_path):
    with pytest.raises(InputError, match="part"):
        Recording(Runtime(robot(), simulation=True), tmp_path, part=part)
