"""The JSON Schema of study files takes what can be read and refuses what cannot."""

import pytest
from jsonschema import Draft202012Validator

from pushrod.config import yaml_file
from pushrod.sim import machine as machines
from pushrod.sweep import study as studies
from pushrod.sweep.json_schema import study_schema
from small_study import STUDY


def valid(data, world=None):
    Draft202012Validator.check_schema(study_schema(world))
    return Draft202012Validator(study_schema(world)).is_valid(data)


@pytest.mark.parametrize("name", studies.shipped())
def test_a_shipped_study_is_valid_and_can_be_read(name):
    data = yaml_file.load(studies.shipped()[name]).data
    assert valid(data)
    assert valid(data, machines.load(data["machine"]).world)
    assert studies.load(name).name == name


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("design: lhs", "design: monte"),
        ("runs: 200", "runs: 0"),
        ("{uniform: [2 ms, 12 ms]}", "{uniform: [2 ms]}"),
        ("{uniform: [2 ms, 12 ms]}", "{gauss: [2 ms, 3 ms]}"),
        ("{normal: {mean: nominal, sd: 20 %}}", "{normal: {mean: nominal}}"),
        ("signal: w, metric: max", "signal: w, metric: overshoot"),
        ("signal: w, metric: max", "signal: speed, metric: max"),
        ("sd: 20 %", "sd: [1]"),
        ("pass:", "passes:"),
    ],
)
def test_a_wrong_study_is_not_valid(old, new):
    world = machines.load("servo").world
    assert valid(yaml_file.parse(STUDY).data, world)
    assert old in STUDY
    assert not valid(yaml_file.parse(STUDY.replace(old, new)).data, world)
