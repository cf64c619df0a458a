"""The vehicles as worlds: each is its model and no more; under control commands each does what it is asked, or says why it could not."""

import csv
import gzip
import json
import math
import random
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from pushrod.cli.main import app
from pushrod.compiled.link import Linker
from pushrod.core.check import check, problems
from pushrod.core.errors import ConfigError
from pushrod.core.model import Tick, World
from pushrod.core.quantity import Choice
from pushrod.core.record import Leaf, build, get, numbers, put
from pushrod.sim import machine, run, scenario
from pushrod.sim.worlds import WORLDS, vehicle
from pushrod.vehicles import STATUS, VEHICLES, converter, make, steer_pid
from pushrod.vehicles.gear import DRIVE, REVERSE
from pushrod.vehicles.map_file import load_accel_map, load_brake_map, load_steer_map
from pushrod.vehicles.pedal_map import accel_to_throttle
from pushrod.vehicles.vgr import Vgr, wheel_command, wheel_from_tire

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "vehicle"
MAPS = {
    "accel_map": load_accel_map(GOLDEN / "maps" / "accel_map.csv"),
    "brake_map": load_brake_map(GOLDEN / "maps" / "brake_map.csv"),
    "steer_map": load_steer_map(GOLDEN / "maps" / "steer_map.csv"),
}
DT = 0.01
WHEEL_STEERED = ["ACTUATION_CMD_VGR", "ACTUATION_CMD_MECHANICAL"]


def with_maps(p: Any) -> Any:
    return p._replace(**{name: m for name, m in MAPS.items() if name in p._fields})


def params(world: World, **changes: Any) -> Any:
    """Parameters under control commands, with maps of a real shape on both sides; changes by path, dots written as __."""
    p = world.Params()
    p = p._replace(vehicle=with_maps(p.vehicle)._replace(sampling_time=DT), convert=with_maps(p.convert))
    for path, value in changes.items():
        p = put(p, path.replace("__", "."), value)
    return p


def drive(world: World, p: Any, u: Any, seconds: float, v: float = 0.0) -> list[Any]:
    check(p, world.name, DT)
    s = put(world.State(), "vehicle.vx", v)
    outs = []
    for k in range(round(seconds / DT)):
        s, y = world.step(p, s, u, Tick(k, DT))
        outs.append(y)
    return outs


def anything(rng: random.Random, leaf: Leaf) -> float:
    if isinstance(leaf.meta, Choice):
        return float(rng.randrange(len(leaf.meta.names)))
    return rng.uniform(max(leaf.meta.lo, -1.0), min(leaf.meta.hi, 1.0))  # type: ignore[union-attr]


def test_all_are_in_the_table_under_their_own_names() -> None:
    for name in VEHICLES:
        assert WORLDS[name].name == name
    for name in STATUS:
        assert WORLDS[f"{name}_BY_CONTROL"].name == f"{name}_BY_CONTROL"
    assert len(WORLDS) >= 16


@pytest.mark.parametrize("name", [*VEHICLES, *(f"{name}_BY_CONTROL" for name in STATUS)])
def test_each_can_be_linked_and_its_defaults_are_legal(name: str) -> None:
    world = WORLDS[name]
    Linker("float").function(world.step)
    check(world.Params(), dt=0.025)
    check(world.State())
    assert all(leaf.meta.unit for record in (world.In, world.Out) for leaf in numbers(record))  # type: ignore[union-attr]


@pytest.mark.parametrize("name", VEHICLES)
def test_a_world_is_its_vehicle(name: str) -> None:
    """The same states bit for bit, the same report, and the pose and the status that belong to the state."""
    world, model, rng = WORLDS[name], make(name, vehicle.SLOTS), random.Random(name)
    p = with_maps(model.Params())
    s = t = model.State()
    for k in range(120):
        u = build(model.In, lambda leaf: anything(rng, leaf))
        s, y = world.step(p, s, u, Tick(k, DT))
        t, report = model.step(p, t, u, DT)
        assert s == t
        assert (y.x, y.y, y.yaw) == (t.x, t.y, t.yaw)
        assert all(getattr(y, field) == getattr(report, field) for field in report._fields)
        if name in STATUS:
            assert (y.status_valid, y.status_accel, y.status_brake, y.status_steer) == STATUS[name](p, t)
            assert y.steer_ach == t.steer


@pytest.fixture
def reference() -> tuple[dict[str, Any], list[dict[str, float]]]:
    """A reference trajectory: its parameters by name, and its rows."""
    head = GOLDEN / "scenarios" / "ACTUATION_CMD_VGR__gears_slope.json"
    spec = json.loads(head.read_text())
    with gzip.open(head.with_name(spec["data"]), "rt") as lines:
        rows = [{name: float(x) for name, x in row.items()} for row in csv.DictReader(lines)]
    return {kind: {name: entry["value"] for name, entry in spec[kind].items()} for kind in ("parameters", "initial_state")}, rows


def test_the_pose_of_a_reference_trajectory(reference: Any) -> None:
    spec, rows = reference
    world = WORLDS["ACTUATION_CMD_VGR"]
    plain = {name: float(x) for name, x in spec["parameters"].items() if not isinstance(x, str)}
    p = with_maps(world.Params(**plain, sampling_time=rows[0]["dt"]))
    s = world.State(**spec["initial_state"])
    for k, row in enumerate(rows):
        s, y = world.step(p, s, world.In(**{name: row[f"u_{name}"] for name in world.In._fields}), Tick(k, row["dt"]))
        for mine, theirs in (
            *((name, f"state_{name}") for name in ("x", "y", "yaw")),
            *((name, f"out_{name}") for name in ("vx", "ax", "wz", "steer")),
            ("status_accel", "status_accel"),
        ):
            assert getattr(y, mine) == pytest.approx(row[theirs], rel=1e-9, abs=1e-9), (k, mine)


MACHINE = """machine: sedan
world: ACTUATION_CMD_VGR
parameters:
  sampling_time: 10 ms
  wheelbase: 2.8
  accel_map: maps/accel_map.csv
  brake_map: maps/brake_map.csv
track:
  - {request: in.accel_des, achieved: status_accel}
  - {request: in.steer_des, achieved: status_steer}
"""
SCENARIO = """scenario: turn
duration: 4 s
dt: 10 ms
initial: {vx: 5}
signals:
  accel_des: [{constant: 0.35}]
  steer_des: [{at: 1 s, constant: 90 deg}]
expectations:
  - {signal: yaw, metric: final, above: 0.1}
  - {signal: status_accel, metric: final, near: 0.35, within: 0.01}
  - {signal: status_steer, metric: final, near: 90 deg, within: 2 deg}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(GOLDEN / "maps", tmp_path / "maps")
    return tmp_path


def test_a_machine_file_that_names_a_vehicle(folder: Path) -> None:
    (folder / "m.yaml").write_text(MACHINE)
    (folder / "s.yaml").write_text(SCENARIO)
    what = machine.load(str(folder / "m.yaml"))
    result = run.simulate(what, scenario.load(str(folder / "s.yaml"), what))
    assert result.held, [str(outcome) for outcome in result.outcomes]
    assert result.units["status_steer"] == result.units["in.steer_des"] == "rad"
    assert result.units["status_accel"] == result.units["in.accel_des"] == "-"
    s, world = result.scenario.state, what.world
    for k in range(result.scenario.steps):
        u = world.In(*(float(result.columns[f"in.{name}"][k]) for name in world.In._fields))
        s, y = world.step(result.scenario.params, s, u, Tick(k, DT))
        assert [result.columns[name][k] for name in world.Out._fields] == list(y)


def test_a_machine_file_with_a_misfit_is_told_the_line_and_what_to_set(folder: Path) -> None:
    text = "machine: sedan\nworld: ACTUATION_CMD_VGR_BY_CONTROL\nparameters:\n  convert:\n    convert_steer_cmd: none\n"
    (folder / "m.yaml").write_text(text)
    with pytest.raises(ConfigError, match=r"m.yaml:5: .*convert_steer_cmd.* takes a wheel angle; set convert.convert_steer_cmd to vgr"):
        machine.load(str(folder / "m.yaml"))


def test_the_list_says_each_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = CliRunner().invoke(app, ["list", "worlds"]).stdout.splitlines()
    for name in (*VEHICLES, *(f"{name}_BY_CONTROL" for name in STATUS)):
        assert sum(line.split()[:1] == [name] for line in lines) == 1
    first = next(i for i, line in enumerate(lines) if line.split()[0] in VEHICLES)
    assert len(lines) - first == 16


# a steering that answers soon, and feedback to suit: looked up by speed, this map pulls to one side, which only the integral makes up for
PROMPT = {"vehicle__steer_time_delay": 0.1, "vehicle__steer_time_constant": 0.8, "convert__pid": steer_pid.Params(kp=100.0, ki=80.0)}


@pytest.mark.parametrize("reference", [0.0, 1.0])
@pytest.mark.parametrize(
    ("name", "changes"),
    [("ACTUATION_CMD", {}), ("ACTUATION_CMD_STEER_MAP", PROMPT), ("ACTUATION_CMD_VGR", {}), ("ACTUATION_CMD_MECHANICAL", {})],
)
def test_a_controller_gets_what_it_asks_for(name: str, changes: dict[str, Any], reference: float) -> None:
    world = vehicle.by_control(name)
    p = params(world, vehicle__reference=reference, **changes)
    for acceleration, steer, v in ((0.5, 0.1, 5.0), (-1.5, -0.1, 16.0)):
        y = drive(world, p, world.In(acceleration=acceleration, steer=steer), 8.0, v)[-1]
        assert y.acc_req == acceleration
        assert y.ax == pytest.approx(acceleration, abs=0.01)
        # the gear ratio of the moment of asking acts a dead time later, at another speed
        assert y.steer_ach == pytest.approx(steer, rel=0.03)
        assert y.steer_req == steer
    y = drive(world, p, world.In(acceleration=0.0, steer=0.1), 10.0, 8.0)[-1]
    assert y.vx == pytest.approx(8.0, abs=0.1)
    assert y.steer_ach == pytest.approx(0.1, abs=5e-4)


@pytest.mark.parametrize("name", STATUS)
def test_defaults_follow_without_lasting_swings(name: str) -> None:
    world = vehicle.by_control(name)
    p = put(world.Params(), "vehicle.sampling_time", DT)
    late = drive(world, p, world.In(acceleration=0.2, steer=0.1), 12.0, 5.0)[-200:]
    assert all(abs(y.steer_ach - 0.1) < 1e-3 and abs(y.ax - 0.2) < 1e-3 for y in late)


@pytest.mark.parametrize("name", STATUS)
def test_in_reverse_a_positive_acceleration_speeds_it_up_backwards(name: str) -> None:
    world = vehicle.by_control(name)
    p = put(world.Params(), "vehicle.sampling_time", DT)
    y = drive(world, p, world.In(acceleration=0.5, gear=REVERSE), 3.0)[-1]
    assert y.acc_req == -0.5
    assert y.ax == pytest.approx(-0.5, abs=1e-6)
    assert y.vx < -1.0


def test_the_converter_sees_what_the_car_reports_before_the_step() -> None:
    world = vehicle.by_control("ACTUATION_CMD_VGR")
    p = params(world, vehicle__steer_bias=0.02)
    s = put(put(world.State(), "vehicle.vx", 12.0), "vehicle.steer", 0.05)
    _, y = world.step(p, s, world.In(acceleration=0.4, steer=0.1), Tick(0, DT))
    assert y.accel_des == accel_to_throttle(MAPS["accel_map"], 0.4, 12.0).pedal
    assert y.steer_des == wheel_command(Vgr(), 12.0, wheel_from_tire(Vgr(), 12.0, 0.05 + 0.02), 0.1)


@pytest.mark.parametrize(("gear", "way"), [(DRIVE, 1.0), (REVERSE, -1.0)])
def test_an_uphill_is_made_up_for_where_that_is_wanted(gear: float, way: float) -> None:
    world = vehicle.by_control("ACTUATION_CMD")
    p = put(world.Params(), "vehicle.sampling_time", DT)
    u = world.In(acceleration=0.5, gear=gear, slope=-0.4 * way)
    got = [drive(world, put(p, "convert.compensate_slope", wanted), u, 5.0, 5.0 * way)[-1].ax for wanted in (0.0, 1.0)]
    assert got == pytest.approx([0.1 * way, 0.5 * way], abs=1e-6)


def test_the_rate_is_fed_forward_to_a_steering_map() -> None:
    world = vehicle.by_control("ACTUATION_CMD_STEER_MAP")
    p = params(world, convert__use_steer_fb=0.0)
    _, still = world.step(p, world.State(), world.In(), Tick(0, DT))
    _, turning = world.step(p, world.State(), world.In(steer_rate=0.203), Tick(0, DT))
    assert turning.steer_des == pytest.approx(5.0)
    assert abs(still.steer_des) < 0.1


@pytest.mark.parametrize("name", WHEEL_STEERED)
def test_a_car_that_keeps_its_tyre_angle_to_itself_still_follows(name: str) -> None:
    world = vehicle.by_control(name)
    silent = params(world, vehicle__enable_pub_steer=0.0, convert__enable_pub_steer=0.0)
    u = world.In(acceleration=0.2, steer=0.1)
    late = drive(world, silent, u, 8.0, 5.0)[-100:]
    for y in late:
        assert (y.steer, y.steer_valid) == (0.0, 0.0)
        assert y.steer_ach == pytest.approx(0.1, abs=1e-3)
        assert y.steer_meas == pytest.approx(y.steer_ach, rel=1e-9)
    assert all(y.steer_valid == 1.0 and y.steer == y.steer_meas for y in drive(world, params(world), u, 1.0, 5.0))


@pytest.mark.parametrize("name", WHEEL_STEERED)
def test_what_is_derived_is_as_wrong_as_the_ratio_it_is_derived_with(name: str) -> None:
    """So the angle really comes from the actuation status and not from the car's own state."""
    world = vehicle.by_control(name)
    p = params(world, vehicle__enable_pub_steer=0.0, convert__enable_pub_steer=0.0, convert__vgr_coef=Vgr(a=10.0))
    y = drive(world, p, world.In(steer=0.1), 6.0, 5.0)[-1]
    assert y.steer_meas > 1.3 * y.steer_ach


MISFITS = [
    ("ACTUATION_CMD", {"convert.convert_steer_cmd": converter.VGR}, "convert.convert_steer_cmd: ACTUATION_CMD takes a tyre angle; set .* to none"),
    (
        "ACTUATION_CMD_STEER_MAP",
        {"convert.convert_steer_cmd": converter.NONE},
        "convert.convert_steer_cmd: .* takes a steering actuation; .* steer_map",
    ),
    ("ACTUATION_CMD_VGR", {"convert.convert_steer_cmd": converter.STEER_MAP}, "convert.convert_steer_cmd: .* takes a wheel angle; set .* to vgr"),
    ("ACTUATION_CMD_MECHANICAL", {"convert.convert_accel_cmd": 0.0}, "convert.convert_accel_cmd: .* pedal positions; set .* to true"),
    ("ACTUATION_CMD_MECHANICAL", {"convert.convert_brake_cmd": 0.0}, "convert.convert_brake_cmd: .* pedal positions; set .* to true"),
    ("ACTUATION_CMD", {"vehicle.convert_accel_cmd": 0.0}, "vehicle.convert_accel_cmd: .* set convert_accel_cmd to true"),
    ("ACTUATION_CMD_VGR", {"vehicle.enable_pub_steer": 0.0}, "convert.enable_pub_steer: the vehicle does not report .* set .* to false"),
    ("ACTUATION_CMD_VGR", {"convert.enable_pub_steer": 0.0}, "convert.enable_pub_steer: the vehicle reports its tyre angle; set .* to true"),
    ("ACTUATION_CMD", {"vehicle.enable_pub_steer": 0.0}, "vehicle.enable_pub_steer: .* no gear ratio .* set vehicle.enable_pub_steer to true"),
    ("ACTUATION_CMD_STEER_MAP", {"convert.enable_pub_steer": 0.0}, "convert.enable_pub_steer: false needs"),
    ("ACTUATION_CMD_VGR", {"vehicle.steer_time_delay": 9.0}, "vehicle.steer_time_delay = 9 s .* take at most"),
]


@pytest.mark.parametrize(("name", "changes", "why"), MISFITS)
def test_a_converter_that_does_not_fit_its_car_is_refused(name: str, changes: dict[str, float], why: str) -> None:
    p = vehicle.by_control(name).Params()
    for path, value in changes.items():
        p = put(p, path, value)
    found = list(problems(p, "", 0.025))
    assert any(re.match(why, text) for text in found), found


@pytest.mark.parametrize("name", STATUS)
def test_no_time_changes_nothing(name: str) -> None:
    world = vehicle.by_control(name)
    s = world.State()
    for k in range(30):
        s, _ = world.step(world.Params(), s, world.In(acceleration=1.0, steer=0.2), Tick(k, DT))
    again, y = world.step(world.Params(), s, world.In(acceleration=-1.0, steer=-0.2), Tick(30, 0.0))
    assert again == s
    assert all(math.isfinite(x) for x in y)


@pytest.mark.parametrize("name", STATUS)
def test_every_output_answers_to_something(name: str) -> None:
    """Only flags may stand still in a drive that speeds up, turns and brakes."""
    world = vehicle.by_control(name)
    p = params(world, convert__max_throttle=0.3, convert__max_brake=0.3)
    s, rows = world.State(), []
    for k in range(900):
        u = world.In(acceleration=3.0 if k < 300 else -0.6 if k < 600 else -3.0, steer=0.3 * math.sin(0.01 * k))
        s, y = world.step(p, s, u, Tick(k, DT))
        rows.append(y)
    spread = np.ptp(np.array(rows), axis=0)
    still = {leaf.path for leaf, width in zip(numbers(world.Out), spread, strict=True) if width == 0.0}
    assert still <= {"steer_valid", "status_valid", "steer_limited"}
    assert get(rows[100], "accel_limited") == get(rows[700], "brake_limited") == 1.0
