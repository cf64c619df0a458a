"""Whatever stands in a study file, it is read or what is wrong with it is told: never a traceback."""

import copy
import random
import warnings
from pathlib import Path
from typing import Any

import pytest

from pushrod.config import yaml_file
from pushrod.core.errors import PushrodError
from pushrod.sweep.building import build
from pushrod.sweep.draw import draw
from small_study import STUDY, write

STUDIES = 4000
NUMBERS = [0, -1, 3.5, 1e300, 1e-300, 2**70, float("nan"), True, None]
TEXTS = ["", "abc", "nominal", "5 %", "-5 %", "1 s", ".", "in.torque_req", "w", "y" * 300]
NESTED = [[], [1], [1, 2], [2, 1], [[1]], {}, {"a": 1}, {"uniform": [1, 2]}, {"normal": {"mean": 1, "sd": 1}}, {"fit": "x.yaml"}, {"correlated": {}}]
MORE = {
    "drive": {"correlated": {"mean": {"ramp.rise": "nominal"}, "sd": {"ramp.rise": "10 %"}, "correlation": [[1]]}},
    "body.b": {"discrete": [0.1, 0.2], "weights": [1, 2]},
    "body.c": {"triangular": ["50 %", "nominal", "200 %"], "levels": 3},
}


def places(data: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [at, *(place for key, value in inner for place in places(value, (*at, key)))]


def spoil(data: Any, chance: random.Random) -> None:
    *above, key = chance.choice([place for place in places(data) if place])
    for name in above:
        data = data[name]
    if chance.random() < 0.15:
        data.pop(key)
    else:
        data[key] = copy.deepcopy(chance.choice([*NUMBERS, *TEXTS, *NESTED]))


@pytest.mark.soak
def test_a_spoilt_study_is_read_or_told(tmp_path: Path) -> None:
    file = write(tmp_path)
    whole = yaml_file.parse(STUDY).data
    whole["vary"] |= MORE
    chance, refused = random.Random(11), 0
    warnings.simplefilter("error")
    for _ in range(STUDIES):
        data = copy.deepcopy(whole)
        for _ in range(chance.choice((1, 1, 2, 3))):
            spoil(data, chance)
        try:
            study = build(yaml_file.Document(str(file), "", data, {}))
            draw(study, 0, min(study.runs, 50))
            assert len(study.digest) == 64
        except PushrodError:
            refused += 1
        except Exception as e:
            e.add_note(f"of the study {data}")
            raise
    assert 0.5 * STUDIES < refused < STUDIES
