"""The reference cases of the pipeline, replayed in plain Python: every stage, flag and limit of two motors."""

from pathlib import Path

import pytest

from pushrod.sim.verify import allocation, pipeline

FOLDER = Path(__file__).resolve().parents[1] / "golden" / "pipeline"


@pytest.mark.parametrize(("replay", "file"), [(allocation.replay, "alloc_cases.csv"), (pipeline.replay, "pipeline_params.json")])
def test_the_reference_cases_are_met(replay, file):
    verdict = replay(FOLDER / file)
    assert verdict.passed, verdict
    assert verdict.rows > 100
