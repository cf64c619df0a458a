"""A machine's delay lines are as long as its delays and the tick of the scenario ask for; nobody has to build one."""

import numpy as np
import pytest

from pushrod.config import yaml_file
from pushrod.core.errors import ConfigError
from pushrod.sim import machine, scenario
from pushrod.sim.run import simulate


def made(name, overrides=(), dt="1 ms", more=""):
    what = machine.load(name, overrides)
    return what, scenario.build(yaml_file.parse(f"scenario: s\nduration: 0.4 s\ndt: {dt}\n{more}", "s.yaml"), what)


@pytest.mark.parametrize("name", machine.shipped())
def test_every_machine_runs_at_a_tick_of_a_millisecond_and_of_less(name):
    assert made(name)[1].steps == 400
    assert made(name, dt="0.1 ms")[1].steps == 4000


def test_a_long_dead_time_in_short_ticks_is_kept():
    signal = "signals: {wheel: [{at: 50 ms, constant: 1}]}"
    what, how = made("car", ["dead_time.steer=200 ms"], more=signal)
    arrived = simulate(what, how).columns["wheel_cmd"]
    assert np.flatnonzero(arrived)[0] == 250


@pytest.mark.parametrize(
    ("name", "overrides"),
    [
        ("car", ["dead_time.steer=10 s"]),
        ("car_control", ["dead_time.brake=10 s"]),
        ("satellite", ["bus.delay=10 s"]),
        ("servo", ["bus.delay=10 s"]),
        ("car", ["vehicle.steer_time_delay=1 s", "vehicle.sampling_time=1 ms"]),
    ],
)
def test_the_longest_delay_that_may_be_declared_fits(name, overrides):
    assert made(name, overrides)[1].world.name == name


def test_a_vehicle_counts_in_its_sampling_time_and_gets_room_as_soon_as_it_is_read(tmp_path):
    (tmp_path / "m.yaml").write_text("machine: m\nworld: ACTUATION_CMD_VGR\nparameters: {sampling_time: 1 ms, steer_time_delay: 1 s}\n")
    assert machine.load(str(tmp_path / "m.yaml")).params.steer_time_delay == 1.0


def test_what_fits_the_longest_line_no_more_is_told_by_delay_and_dt():
    with pytest.raises(ConfigError, match=r"--set dead_time.accel=10 s: parameters.dead_time.accel: .*lengthen dt of the scenario"):
        made("car", ["dead_time.accel=10 s"], dt="10 us", more="")


def test_a_delay_that_a_fault_makes_too_long_is_told_by_the_line_of_the_fault():
    fault = "faults:\n  - {channel: steer, kind: delay, at: 1 s, extra_delay: 5 s}\n"
    with pytest.raises(ConfigError) as raised:
        made("car", dt="0.1 ms", more=fault)
    assert [text.split(": delay")[0] for text in raised.value.problems] == ["s.yaml:5: faults[0].extra_delay"]
