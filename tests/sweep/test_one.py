"""One run of a study again: its row to the last bit, and a log that can be replayed."""

import pickle

import pytest

from pushrod.core.errors import InputError
from pushrod.log.reader import read
from pushrod.replay.run import replay
from pushrod.sim.recording import record
from pushrod.sweep import parts
from pushrod.sweep.one import one, row
from pushrod.sweep.run import run
from small_study import STUDY, small, write

TWO = STUDY.replace("scenarios: [short.yaml]", "scenarios: [short.yaml, long.yaml]")


def test_any_run_can_be_had_again_from_the_folder_alone(tmp_path):
    run(small(tmp_path, TWO), tmp_path / "out")
    for file in tmp_path.glob("*.yaml"):
        file.unlink()
    study = parts.study_of(tmp_path / "out")
    frame = parts.read(tmp_path / "out")
    for index in (0, 1, 133, 399):
        assert row(study, index) == frame.row(index, named=True)
    with pytest.raises(InputError, match="run 400; the study small has the runs 0 to 399"):
        row(study, 400)


def test_it_is_a_machine_and_a_scenario_of_their_own(tmp_path):
    study = small(tmp_path, TWO)
    for index in (6, 7):
        made = one(study, index)
        result = made.simulate()
        found = row(study, index)
        assert made.values["lag.T"] == found["lag.T"]
        assert result.columns["w"].max() == found["peak"]  # to the last bit, noise included
        assert abs(result.columns["torque_ach"][result.t >= 0.0305]).max() == found["size"]
        assert made.scenario.name == found["scenario"]


def test_its_log_is_replayed_to_the_last_bit(tmp_path):
    made = one(small(tmp_path, TWO), 7)
    file = record(made.simulate(), tmp_path / "logs")
    assert replay(file).identical
    assert read(file).about["seed"] == str(made.scenario.seed)


CAR = """
study: faults
machine: car
scenarios: [car_fault]
runs: 50
duration: 1 s
vary:
  faults.steer.at: {uniform: [0.2 s, 0.7 s]}
  faults.accel.kind: {discrete: [none, loss]}
metrics: {speed: {signal: speed, metric: max}}
"""


def test_a_fault_goes_where_the_scenario_has_it(tmp_path):
    study = small(tmp_path, CAR)
    made = one(study, 3)
    assert made.scenario.params.faults.steer.at == made.values["faults.steer.at"]
    assert made.scenario.params.faults.accel.kind == made.values["faults.accel.kind"]
    assert made.scenario.steps == study.cases[0].scenario.steps


def test_a_study_travels_to_another_process_with_all_it_is_made_of(tmp_path):
    study = small(tmp_path).cut(50)
    packed = pickle.dumps(study)
    for file in tmp_path.glob("*.yaml"):
        file.unlink()
    again = pickle.loads(packed)
    assert (again.digest, again.chunk, again.files) == (study.digest, 50, study.files)
    assert row(again, 5) == row(study, 5)


def test_files_that_lie_elsewhere_travel_with_a_study(tmp_path, monkeypatch):
    for name in ("fits", "machines", "studies", "here"):
        (tmp_path / name).mkdir()
    (tmp_path / "fits" / "drive.yaml").write_text("parameters: {lag: {T: 0.03}}\nuncertainty: {sd: {lag.T: 0.001}, correlation: [[1]]}\n")
    (tmp_path / "machines" / "mine.yaml").write_text("machine: mine\nworld: servo\nparameters: {include: ../fits/drive.yaml}\n")
    (tmp_path / "here" / "other.yaml").write_text("world: model:first_order\nparameters: {K: 2}\n")
    write(tmp_path / "studies")
    monkeypatch.chdir(tmp_path / "here")
    text = STUDY.replace("machine: servo", "machine: ../machines/mine.yaml").replace(
        "lag.T: {normal: {mean: nominal, sd: 20 %}}", "d: {fit: ../fits/drive.yaml}"
    )
    study = small(tmp_path / "studies", text, overrides=["lag={include: other.yaml}"])
    assert study.machine.params.lag.K == 2.0
    expected = row(study, 5)
    packed = pickle.dumps(study)
    for file in tmp_path.rglob("*.yaml"):
        file.unlink()
    again = pickle.loads(packed)
    assert again.files == study.files
    assert again.digest == study.digest
    assert row(again, 5) == expected
