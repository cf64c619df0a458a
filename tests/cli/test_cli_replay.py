"""`pushrod replay`: what it says, how it ends, and what it writes."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "replay"))

from replay_rig import log_of, rewritten

from pushrod.log import read


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    return log_of("servo", None, tmp_path_factory.mktemp("runs"), "0.3 s")


def test_an_equal_run_says_so_and_writes_a_log_that_can_be_laid_over_it(pushrod, log, tmp_path):
    got = pushrod("replay", log, "--out", tmp_path)
    assert got.exit_code == 0, got.output
    assert "5 signals, 300 ticks: equal to the last bit" in got.stdout
    (written,) = tmp_path.glob("*.mcap")
    first, again = read(log), read(written)
    assert again.about["replay of"] == log.name
    assert again["torque_ach"].values.tobytes() == first["torque_ach"].values.tobytes()
    assert again["in.torque_req"].unit == "N.m"
    assert pushrod("replay", written, "--no-log").exit_code == 0


def test_a_difference_is_shown_with_its_context_and_ends_in_1(pushrod, log):
    changed = rewritten(log, "/out", 200, lambda row: row.update(q=row["q"] + 1e-12))
    got = pushrod("replay", changed, "--no-log")
    assert got.exit_code == 1
    assert "differs from tick 200, t = 0.201 s, on: q [rad]" in got.stdout
    assert all(f" {k} " in got.stdout for k in range(196, 201))
    assert "told in that tick: torque_req = " in got.stdout
    assert "versions: all as they were" in got.stdout
    found = json.loads(pushrod("replay", changed, "--no-log", "--json").stdout)
    assert (found["identical"], found["difference"]["k"], found["difference"]["signal"]) == (False, 200, "q")
    assert pushrod("replay", changed, "--no-log", "--at", "250 ms").exit_code == 0


def test_in_a_narrow_terminal_the_digits_that_differ_are_seen(pushrod, log):
    changed = rewritten(log, "/out", 290, lambda row: row.update(q=row["q"] + 1e-12))
    got = pushrod("replay", changed, "--no-log", columns=60)
    then, now = (read(file)["q"].values[290] for file in (changed, log))
    assert "…" not in got.stdout
    assert "replayed - recorded = -1e-12" in got.stdout
    assert {repr(float(then)), repr(float(now))} <= set(got.stdout.split())


def test_what_if_is_a_table_and_no_verdict(pushrod, log):
    got = pushrod("replay", log, "--set", "lag.T=50 ms", "--no-log")
    assert got.exit_code == 0, got.output
    assert "what if lag.T=50 ms" in got.stdout
    assert "torque_ach" in got.stdout
    found = json.loads(pushrod("replay", log, "--set", "lag.T=50 ms", "--no-log", "--json").stdout)
    assert found["identical"] is None
    assert found["deviations"][0]["most"] > 0.0


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--at", "soon"), "--at: 'soon' is not a number with a unit"),
        (("--at", "7 s"), "from 0 to 0.3 s"),
        (("--speed", "0"), "a number above 0"),
        (("--set", "nothing"), "write --set PATH=VALUE"),
        (("--set", "nothing.here=1"), "unknown key"),
        (("--machine", "gone.yaml"), "gone.yaml"),
    ],
)
def test_wrong_input_is_told(pushrod, log, arguments, why):
    got = pushrod("replay", log, "--no-log", *arguments)
    assert got.exit_code == 2
    assert why in got.stderr
