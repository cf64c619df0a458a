"""Whatever a file holds, reading it ends in a machine, a scenario or a ConfigError with a line; never in a traceback."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counts import examples
from pushrod.config import yaml_file
from pushrod.core.errors import ConfigError
from pushrod.sim import machine, run, scenario

HERE = Path(__file__).parent
WORDS = (
    *("machine", "world", "parameters", "track", "scenario", "duration", "dt", "seed", "signals", "faults", "expectations", "initial", "about"),
    *(
        "lag",
        "T",
        "angle_max",
        "mode",
        "curve",
        "x",
        "y",
        "map",
        "row",
        "col",
        "z",
        "angle",
        "push",
        "request",
        "achieved",
        "limit",
        "limits",
        "rate",
    ),
    *(
        "channel",
        "kind",
        "at",
        "until",
        "for",
        "bias",
        "constant",
        "linear",
        "sine",
        "steps",
        "sum",
        "type",
        "t_start",
        "num_intervals",
        "interval_0",
    ),
    *(
        "signal",
        "metric",
        "to",
        "goal",
        "band",
        "below",
        "above",
        "near",
        "within",
        "from",
        "angle_ach",
        "max",
        "stuck",
        "5 ms",
        "90 deg",
        "1 m//s",
        "-",
    ),
)
words = st.sampled_from(WORDS) | st.text(max_size=5)
scalars = st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | words
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=4), max_leaves=12)
mappings = st.dictionaries(words, values, max_size=6)


def text_of(data):
    return json.dumps(data).replace("NaN", ".nan").replace("Infinity", ".inf")


MACHINE = {
    "machine": "m",
    "world": "tiny_world.py:TINY",
    "parameters": {
        "lag": {"T": "50 ms", "angle_max": 1},
        "inverted": True,
        "mode": "instant",
        "curve": {"x": [0, 1], "y": [0, "50 %"]},
        "map": {"z": [[1, 2], [3, 4]]},
    },
    "track": [{"request": "angle_req", "achieved": "angle_ach", "limits": ["-10 deg", "lag.angle_max"], "rate": 2}],
}
SCENARIO = {
    "scenario": "s",
    "duration": 0.05,
    "dt": "10 ms",
    "initial": {"angle": 0.1},
    "signals": {
        "angle": [{"at": 0, "for": "20 ms", "linear": [0, "10 deg"]}, {"sine": {"amplitude": 1, "frequency": 2}}],
        "push": {"sum": [1, {"steps": [[0.01, 2]]}]},
    },
    "faults": [{"channel": "angle", "kind": "bias", "at": 0, "until": 1, "bias": "1 deg"}],
    "expectations": [{"signal": "angle_ach", "metric": "settling_time", "goal": 0, "band": 1, "below": 1, "from": "10 ms"}],
}


def attempt(read):
    """The problems it was refused for; none where it was read. Anything but a ConfigError fails the test."""
    try:
        read()
    except ConfigError as e:
        assert e.problems  # noqa: PT017
        return e.problems
    return ()


@st.composite
def disturbed(draw, data):
    """The same data with one node, anywhere, replaced by something else, dropped, or renamed."""
    if not isinstance(data, (dict, list)) or not data or draw(st.integers(0, 4)) == 0:
        return draw(values)
    key = draw(st.sampled_from(list(data) if isinstance(data, dict) else range(len(data))))
    if isinstance(data, list):
        return [draw(disturbed(v)) if i == key else v for i, v in enumerate(data)]
    how = draw(st.integers(0, 9))
    if how == 0:
        return {k: v for k, v in data.items() if k != key}
    return {(draw(words) if k == key and how == 1 else k): (draw(disturbed(v)) if k == key and how > 1 else v) for k, v in data.items()}


@settings(max_examples=examples(150))
@given(disturbed(MACHINE) | mappings.map(lambda data: MACHINE | data))
def test_any_machine_is_read_or_refused(data):
    refused = attempt(lambda: machine.build(yaml_file.parse(text_of(data), str(HERE / "m.yaml")), trust=True))
    assert all(re.search(r"m\.yaml:\d+: ", problem) for problem in refused)


@pytest.fixture(scope="module")
def tiny():
    return machine.build(yaml_file.parse("machine: m\nworld: tiny_world.py:TINY\n", str(HERE / "m.yaml")), trust=True)


@settings(max_examples=examples(150))
@given(data=disturbed(SCENARIO) | mappings.map(lambda data: SCENARIO | data))
def test_any_scenario_is_read_or_refused(tiny, data):
    refused = attempt(lambda: run.sample(tiny, scenario.build(yaml_file.parse(text_of(data), str(HERE / "s.yaml")), tiny)))
    assert all(re.search(r"[sm]\.yaml:\d+: ", problem) for problem in refused)
