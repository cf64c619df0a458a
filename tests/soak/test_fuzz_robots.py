"""Whatever a robot file holds, YAML or URDF, reading it ends in a sound robot or in an error of ours that says where, soon and in little memory."""

import re
import tracemalloc
import warnings
from pathlib import Path

import pytest
from edits import edited, examples, told

from pushrod.core.errors import ConfigError
from pushrod.robot import load, to_urdf
from pushrod.robot.flaws import flaws
from pushrod.sim import machine_robot

pytestmark = pytest.mark.soak

ROOM = 200e6  # [B]: aliases of aliases are read up to a million values


@pytest.mark.parametrize("suffix", [".yaml", ".urdf"])
def test_a_robot_file(suffix: str, tmp_path: Path) -> None:
    shipped = list(machine_robot.shipped().values())
    texts = [file.read_text() for file in shipped] if suffix == ".yaml" else [to_urdf(load(file)) for file in shipped]
    file = tmp_path / f"robot{suffix}"
    for number, rng in examples(f"robot {suffix}", 10_000):
        text = edited(rng.choice(texts), number, rng)
        with told(f"robot {suffix}", number, text), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            file.write_bytes(text.encode("utf-8", "surrogatepass"))
            measured = number % 20 == 0
            if measured:
                tracemalloc.start()
            try:
                assert not flaws(load(file))
            except ConfigError as e:
                for problem in e.problems:
                    assert re.match(rf"{re.escape(str(file))}(:[1-9]\d*)?: .", problem), problem
            if measured:
                _, peak = tracemalloc.get_traced_memory()
                tracemalloc.stop()
                assert peak < ROOM, peak
