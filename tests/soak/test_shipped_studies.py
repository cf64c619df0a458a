"""The shipped studies, run: what physics says of them is found again in their results."""

from pathlib import Path

import numpy as np
import pytest

from pushrod.sweep import parts
from pushrod.sweep.findings import find
from pushrod.sweep.page import page
from pushrod.sweep.results import results
from pushrod.sweep.run import run
from pushrod.sweep.study import load

pytestmark = pytest.mark.soak


def made(name: str, folder: Path, runs: int | None = None) -> Path:
    run(load(name, (), runs), folder / name)
    assert len(page(find(results(folder / name)))) < 3e6
    return folder / name


def test_the_steering_of_most_cars_is_good_enough_and_friction_decides(tmp_path: Path) -> None:
    found = find(results(made("car_steering", tmp_path, 4000)))
    assert found.share is not None
    assert 0.8 < found.share.value < 0.97
    assert found.influence["rest"]["vehicle.mechanical_params.friction"].is_seen
    assert found.influence["slalom"]["dead_time.steer"].rho > 0.3  # late is wrong
    assert not found.influence["overshoot"]["vehicle.accel_time_constant"].S > 0.01


def test_a_boat_with_a_dead_motor_does_not_make_way_and_with_two_halves_it_does(tmp_path: Path) -> None:
    frame = parts.read(made("boat_motors", tmp_path, 4000))
    left, right, passed = (frame[name].to_numpy() for name in ("faults.left.effectiveness", "faults.right.effectiveness", "passed"))
    assert passed[(left == 0.0) & (right == 0.0)].mean() == 0.0
    assert passed[np.minimum(left, right) == 0.0].mean() < 0.2
    assert passed[np.minimum(left, right) >= 0.5].mean() > 0.95


def test_what_a_boat_attains_is_what_its_thrusters_give(tmp_path: Path) -> None:
    """Thrust goes with the square of what a motor turns by, beyond its dead band; a dead one leaves a line, two a point."""
    found = results(made("boat_attainable", tmp_path))
    ahead, left, right = (found.values(name) for name in ("ahead", "faults.left.effectiveness", "faults.right.effectiveness"))
    dead, F, F_astern, arm = 0.0625, 51.5, 40.2, 0.35
    turned = np.maximum(np.array([left, right]) - dead, 0.0) / (1.0 - dead)
    np.testing.assert_allclose(ahead, F * (turned * turned).sum(axis=0), rtol=0.02, atol=0.3)
    sets = found.sets
    assert sets is not None
    cells = {(r, c): sets.cells[j][i] for j, r in enumerate(sets.rows) for i, c in enumerate(sets.columns)}
    assert cells[1.0, 1.0].share == 1.0
    for k in (0.0, 0.25, 0.5, 0.75, 1.0):
        line = cells[0.0, k]
        np.testing.assert_allclose(line.y, arm * line.x, atol=1e-9)  # starboard alone: N = arm X
        assert line.share < 1e-6
        assert cells[k, 0.0].y == pytest.approx(-arm * cells[k, 0.0].x, abs=1e-9)
    assert cells[0.0, 1.0].x.min() == pytest.approx(-F_astern, rel=0.02)
    areas = [[cells[r, c].share for c in sets.columns] for r in sets.rows]
    assert np.all(np.diff(areas, axis=0) >= -1e-9)
    assert np.all(np.diff(areas, axis=1) >= -1e-9)


def test_a_quad_stays_up_where_two_rotors_carry_it_and_the_dead_one_says_so(tmp_path: Path) -> None:
    frame = parts.read(made("quad_motor_loss", tmp_path, 3000))
    m, F, told, passed = (frame[name].to_numpy() for name in ("body.m", "rotor.F_ahead", "faults.e1.announced", "passed"))
    spare = 2.0 * F / (m * 9.81)
    assert passed[told == 0.0].mean() == 0.0
    assert passed[(told == 1.0) & (spare > 1.15)].mean() > 0.95
    assert passed[spare < 1.0].mean() == 0.0
