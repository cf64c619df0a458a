"""A chunk is what its runs are by themselves: the same bits, whatever is computed with them, and the numbers a scenario would judge."""

import numpy as np
import pytest

from pushrod.compiled.rollout import rollout
from pushrod.core.record import put
from pushrod.sim.expectation import judge
from pushrod.sweep.chunk import run_chunk, run_samples
from pushrod.sweep.draw import draw
from pushrod.sweep.one import one, row
from small_study import SCENARIO, STUDY, small

TWO = STUDY.replace("scenarios: [short.yaml]", "scenarios: [short.yaml, long.yaml]").replace("below: 0.25 N.m}", "below: 0.25 N.m, scenario: long}")


def alone(study, index):
    """One run as anybody would make it from what was drawn."""
    sample, number = divmod(index, len(study.cases))
    case = study.cases[number]
    params, state = case.params, case.state or case.world.State()
    for path, values in draw(study, sample, sample + 1).items():
        if path.startswith("initial."):
            state = put(state, path.removeprefix("initial."), float(values[0]))
        else:
            params = put(params, path, float(values[0]))
    how = {"steps": case.scenario.steps, "dt": case.scenario.dt, "seed": case.seed, "instance": sample, "metrics": study.measures}
    return rollout(case.world, params, case.inputs, state=state, dtype=study.dtype, outputs=(), **how)


@pytest.mark.parametrize("dtype", ["float64", pytest.param("float32", marks=pytest.mark.soak)])
def test_any_run_alone_gives_the_same_bits(tmp_path, dtype):
    study = small(tmp_path, STUDY + f"dtype: {dtype}\n")
    assert study.chunks == 4
    for k, index in ((0, 0), (0, 63), (1, 64), (3, 199)):
        chunk = run_chunk(study, k)
        (place,) = np.flatnonzero(chunk.columns["index"] == index)
        assert {name: chunk.columns[name][place] for name in study.metrics} == alone(study, index).metrics
    assert len(set(chunk.columns["rms"])) == chunk.n  # each run has noise of its own


def test_metrics_are_what_a_scenario_would_judge_of_the_same_run(tmp_path):
    study = small(tmp_path, TWO)
    for index in (0, 1, 17, 60):
        whole, folded = one(study, index).simulate(), row(study, index)
        for name, e in study.metrics.items():
            judged = judge(e, whole.t, whole.columns, whole.scenario.dt).value
            assert folded[name] == pytest.approx(judged, rel=1e-12, abs=1e-15), name
    assert study.units["settled"] == "s"


def test_how_it_is_cut_and_on_how_many_cores_changes_nothing(tmp_path):
    study = small(tmp_path)
    whole = run_samples(study, 0, 200).columns
    for size in (1, 7, 200):
        cut = study.cut(size)
        chunks = [run_chunk(cut, k, threads=1) for k in range(min(cut.chunks, 20))]
        for name, column in whole.items():
            joined = np.concatenate([chunk.columns[name] for chunk in chunks])
            assert np.array_equal(joined, column[: len(joined)]), name


def test_every_sample_runs_in_every_scenario(tmp_path):
    study = small(tmp_path, TWO)
    chunk = run_chunk(study, 1)
    assert chunk.columns["index"].tolist() == list(range(128, 256))
    assert chunk.columns["sample"].tolist() == [i // 2 for i in range(128, 256)]
    assert chunk.columns["scenario"].tolist() == [0, 1] * 64
    assert (chunk.columns["lag.T"][::2] == chunk.columns["lag.T"][1::2]).all()
    short = run_chunk(small(tmp_path), 1)
    for name in study.metrics:
        assert np.array_equal(chunk.columns[name][::2], short.columns[name])
    held = chunk.columns["error"] <= 0.25
    assert np.array_equal(chunk.columns["passed"], held | (chunk.columns["scenario"] == 0))


NOISE = """
study: noise
machine: servo
scenarios: [short.yaml, twin.yaml]
runs: 4000
design: random
seed: 7
vary: {noise: {discrete: [0.3]}}
metrics: {rms: {signal: torque_req, metric: rms}}
pass: [{metric: rms, below: 1.0 N.m}]
"""


def test_the_scenarios_of_a_sample_have_independent_noise(tmp_path):
    """Twin scenarios in which noise alone decides: a sample passes in both with probability p^2, not p."""
    (tmp_path / "twin.yaml").write_text(SCENARIO.replace("scenario: short", "scenario: twin"))
    study = small(tmp_path, NOISE)
    columns = run_samples(study, 0, study.runs).columns
    rms = columns["rms"].reshape(-1, 2)
    fine = rms <= np.median(rms)
    p = fine.mean()
    both = fine.all(axis=1).mean()
    assert abs(both - p * p) < 4.0 * np.sqrt(p * p * (1.0 - p * p) / study.runs)
    assert abs(np.corrcoef(rms.T)[0, 1]) < 4.0 / np.sqrt(study.runs)


def test_a_scenario_has_the_same_noise_whatever_other_scenarios_a_study_has(tmp_path):
    (tmp_path / "twin.yaml").write_text(SCENARIO.replace("scenario: short", "scenario: twin"))
    both = run_samples(small(tmp_path, NOISE), 0, 50).columns["rms"].reshape(-1, 2)
    swapped = run_samples(small(tmp_path, NOISE.replace("[short.yaml, twin.yaml]", "[twin.yaml, short.yaml]")), 0, 50).columns["rms"].reshape(-1, 2)
    assert np.array_equal(swapped, both[:, ::-1])


def test_a_run_that_is_no_number_does_not_pass(tmp_path):
    from pushrod.sweep.chunk import passed

    study = small(tmp_path)
    columns = run_samples(study, 0, 4).columns | {"error": np.array([np.nan, 0.1, np.inf, 0.25])}
    assert passed(study, columns).tolist() == [False, True, False, True]
