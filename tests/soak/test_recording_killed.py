"""Fifty times: a recorded machine at 1 kHz is killed at a random moment; every log opens, and at most the last half second is missing."""

import random

import pytest

from recorded_run import killed_after

pytestmark = [pytest.mark.soak, pytest.mark.timeout(1800)]

TIMES = 50
MISSING = 0.5  # [s]


def test_killed_at_random_moments(tmp_path):
    moments, missing = random.Random(6), []
    for i in range(TIMES):
        seconds = moments.uniform(0.0, 3.0)
        killed = killed_after(seconds, tmp_path / str(i))
        assert killed.commands == [x for _, x in killed.sent][: len(killed.commands)]
        assert killed.log.of("/events")[-1]["message"].startswith("the recorded process ended")
        missing.append(killed.missing)
    missing.sort()
    print(f"missing at the end of {TIMES} logs: p50 {1e3 * missing[TIMES // 2]:.1f} ms, worst {1e3 * missing[-1]:.1f} ms")
    assert missing[-1] < MISSING
