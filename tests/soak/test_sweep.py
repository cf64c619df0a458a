"""A study that is killed again and again comes to the same results as one that is left alone."""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pushrod.sweep import parts
from small_study import STUDY, write

KILLS, CHUNKS = 25, 60


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


def started(study: Path, out: Path) -> "subprocess.Popen[bytes]":
    words = [sys.executable, "-c", "from pushrod.cli.main import main; main()", "sweep", str(study), "--out", str(out)]
    return subprocess.Popen(words, env=dict(os.environ), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_a_study_that_is_killed_again_and_again_misses_nothing(tmp_path: Path) -> None:
    study = write(tmp_path, STUDY.replace("runs: 200", f"runs: {CHUNKS * 1000}").replace("chunk: 64", "chunk: 1000"))
    assert started(study, tmp_path / "whole").wait() == 0
    chance, kills = random.Random(5), 0
    while kills < KILLS:
        process = started(study, tmp_path / "killed")
        time.sleep(chance.uniform(0.5, 3.0))
        if process.poll() == 0:
            break
        process.kill()
        process.wait()
        kills += 1
    assert kills > 3
    process = started(study, tmp_path / "killed")
    assert process.wait() == 0
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")
    assert parts.read(tmp_path / "killed")["index"].to_list() == list(range(CHUNKS * 1000))
