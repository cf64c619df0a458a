"""The JSON Schemas accept every shipped file and refuse what the loader refuses; units and ranges are in them."""

import copy

import jsonschema
import pytest

from pushrod.config import yaml_file
from pushrod.core.record import numbers
from pushrod.sim import json_schema, machine, scenario
from pushrod.sim.worlds import WORLDS

MACHINES, SCENARIOS = machine.shipped(), scenario.shipped()


@pytest.fixture(scope="module")
def machine_schema():
    made = json_schema.machine_schema(WORLDS)
    jsonschema.Draft202012Validator.check_schema(made)
    return jsonschema.Draft202012Validator(made)


def scenario_schema(world):
    made = json_schema.scenario_schema(world)
    jsonschema.Draft202012Validator.check_schema(made)
    return jsonschema.Draft202012Validator(made)


@pytest.mark.parametrize("name", MACHINES)
def test_a_shipped_machine_is_valid(machine_schema, name):
    machine_schema.validate(yaml_file.load(MACHINES[name]).data)


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_shipped_scenario_is_valid_also_for_its_machine(name):
    data = yaml_file.load(SCENARIOS[name]).data
    scenario_schema(None).validate(data)
    scenario_schema(machine.load(data["machine"]).world).validate(data)


def changed(name, **parts):
    data = copy.deepcopy(yaml_file.load((MACHINES | SCENARIOS)[name]).data)
    for path, value in parts.items():
        *front, last = path.split("__")
        node = data
        for part in front:
            node = node[part]
        node[last] = value
    return data


@pytest.mark.parametrize(
    "parts",
    [
        {"wrld": "car"},
        {"world": "carr"},
        {"parameters__vehicl": {}},
        {"parameters__vehicle__wheelbase": 99},
        {"parameters__vehicle__wheelbase": "long"},
        {"parameters__vehicle__reference": "perhaps"},
        {"parameters__vehicle__accel_map": 3},
        {"track": [{"request": "a"}]},
    ],
)
def test_a_wrong_machine_is_not_valid(machine_schema, parts):
    assert not machine_schema.is_valid(changed("car", **parts))


@pytest.mark.parametrize(
    "parts",
    [
        {"dt": 0},
        {"duration": "long"},
        {"seed": 1.5},
        {"signals__accell": 1},
        {"signals__accel": [{"linr": [0, 1]}]},
        {"signals__accel": [{"constant": "reverse"}]},
        {"signals__gear": [{"constant": "revers"}]},
        {"faults": [{"channel": "stear", "kind": "stuck", "at": 1}]},
        {"faults": [{"channel": "steer", "kind": "stuk", "at": 1}]},
        {"expectations": [{"signal": "nope", "metric": "max", "below": 1}]},
        {"expectations": [{"signal": "speed", "metric": "maks", "below": 1}]},
        {"initial": {"nope": 1}},
    ],
)
def test_a_wrong_scenario_is_not_valid(parts):
    assert not scenario_schema(WORLDS["car"]).is_valid(changed("car_default", **parts))


@pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS)
def test_every_number_has_its_unit_and_range(world):
    made = json_schema.machine_schema({world.name: world})["$defs"][f"{world.name}_parameters"]
    for leaf in numbers(world.Params):
        node = made
        for part in leaf.path.split("."):
            node = node["properties"][part]
        if hasattr(leaf.meta, "names"):
            assert len(node["enum"]) == 2 * len(leaf.meta.names)
        else:
            assert node["unit"] == leaf.meta.unit
            assert f"[{leaf.meta.unit}" in node["description"]
            assert node.get("minimum", -float("inf")) == leaf.meta.lo
            assert node.get("maximum", float("inf")) == leaf.meta.hi
