"""`pushrod sweep` and `pushrod sweep one`: what they say, keep and give back."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from pushrod.sweep import parts
from small_study import STUDY, write


def told(got):
    return json.loads(got.stdout.splitlines()[-1])


def test_a_study_runs_and_goes_on_and_one_of_its_runs_is_had_again(pushrod, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path)
    got = pushrod("sweep", "small.yaml", "--runs", "100")
    assert got.exit_code == 0
    assert "small: 100 of 100 runs, " in got.stdout
    assert "runs/s" in got.stdout
    assert "results: sweeps/small" in got.stdout
    found = told(pushrod("sweep", "small.yaml", "--runs", "100", "--json"))
    assert (found["done"], found["computed"], found["complete"], found["out"]) == (100, 0, True, "sweeps/small")
    frame = parts.read(tmp_path / "sweeps" / "small")
    assert found["passed"] == frame["passed"].sum()
    one = told(pushrod("sweep", "one", "sweeps/small", "42", "--json"))
    row = frame.row(42, named=True)
    assert one["values"]["lag.T"] == row["lag.T"]
    assert one["metrics"]["peak"] == row["peak"]
    assert one["units"]["peak"] == "rad/s"
    assert one["passed"] == row["passed"]
    assert (one["kept_by"], one["differs"]) == ("cpu", {})
    assert Path(one["log"]).is_file()
    assert pushrod("replay", one["log"]).exit_code == 0
    said = pushrod("sweep", "one", "sweeps/small", "42", "--no-log").stdout
    assert "lag.T = " in said
    assert "as in the results, to the last bit" in said
    (tmp_path / "sweeps" / "small" / "part-000001.parquet").write_bytes(b"hello")
    assert "not compared with the results: sweeps/small/part-000001.parquet: is damaged" in pushrod("sweep", "one", "sweeps/small", "99").stdout
    assert (tmp_path / "sweeps" / "small" / "runs" / "small-run99.mcap").is_file()
    got = pushrod("sweep", "report", "sweeps/small")
    assert got.exit_code == 2
    assert "`pushrod sweep` of this study into this folder computes it again" in got.stderr
    (tmp_path / "sweeps" / "small" / "part-000001.parquet").unlink()
    assert "36 of 100 runs are still to be made" in pushrod("sweep", "report", "sweeps/small").stderr
    assert "it is not among the results yet" in pushrod("sweep", "one", "sweeps/small", "99", "--no-log").stdout


def test_a_sample_passes_if_it_does_in_every_scenario_whoever_says_so(pushrod, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, STUDY.replace("[short.yaml]", "[short.yaml, long.yaml]").replace("below: 0.25", "below: 0.58"))
    said = pushrod("sweep", "small.yaml", "--runs", "100").stdout
    frame = parts.read(tmp_path / "sweeps" / "small")
    passed = int(frame.group_by("sample").agg(pl.col("passed").all())["passed"].sum())
    assert 0 < passed < frame["passed"].sum() / 2
    assert f"small: 200 of 200 runs, {passed} of 100 samples pass in all 2 scenarios ({passed:.2f} %)" in said
    assert f"({passed} of 100 samples in all 2 scenarios; " in pushrod("sweep", "report", "sweeps/small").stdout
    assert told(pushrod("sweep", "small.yaml", "--runs", "100", "--json"))["passed"] == passed  # of parts that were there


def test_what_cannot_be_done_is_said_in_one_message(pushrod, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path)
    assert pushrod("sweep", "small.yaml", "--runs", "70").exit_code == 0
    for words, message in (
        (("sweep", "small.yaml", "--runs", "71"), "holds the results of small as it was before it changed in study.yaml (runs: 70, now 71)"),
        (("sweep", "smal.yaml"), "smal.yaml: cannot be read: No such file or directory"),
        (("sweep", "nope"), "there is no study named 'nope'; known: "),
        (("sweep", "one", "sweeps/small", "70"), "run 70; the study small has the runs 0 to 69"),
        (("sweep", "one", "sweeps", "0"), "sweeps: is no folder of a study's results"),
        (("sweep", "small.yaml", "--set", "lag.tau=1"), "--set lag.tau=1: parameters.lag.tau: unknown key"),
        (("sweep", "small.yaml", "--runs", "70", "--device", "any"), "--device any is for clusters: say which by --cluster"),
        (("sweep", "small.yaml", "--runs", "70", "--cluster", "127.0.0.1:1"), "no Ray cluster answers at 127.0.0.1:1: Connection refused"),
    ):
        got = pushrod(*words)
        assert got.exit_code == 2
        assert message in got.stderr
        assert "Traceback" not in got.stderr
    got = pushrod("sweep", "small.yaml", "--runs", "70", "--device", "cuda")
    assert got.exit_code == 2
    assert "its parts were computed by cpu, and cuda gives other last digits" in got.stderr


def test_ctrl_c_keeps_the_parts_that_are_done_and_says_how_to_go_on(tmp_path):
    file = write(tmp_path, STUDY.replace("runs: 200", "runs: 1000000").replace("chunk: 64", "chunk: 500"))
    words = [sys.executable, "-c", "from pushrod.cli.main import main; main()", "sweep", str(file), "--out", str(tmp_path / "out")]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ))
    try:
        until = time.monotonic() + 60.0
        while not (tmp_path / "out" / "part-000001.parquet").exists() and time.monotonic() < until:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert f"stopped by Ctrl-C; go on with: pushrod sweep {file} --out {tmp_path / 'out'}" in err
    assert "Traceback" not in err
    done = sorted((tmp_path / "out").glob("part-*.parquet"))
    assert len(done) >= 2
    assert f"small: {500 * len(done)} of 1000000 runs" in out
    assert len(parts.read(tmp_path / "out")) == 500 * len(done)


@pytest.mark.parametrize("verb", ["sweep", "sweep one"])
def test_help_tells_exit_codes(pushrod, verb):
    assert "Exit codes: 0 " in pushrod(*verb.split(), "--help", columns=60).stdout


def test_what_was_found_is_a_page_or_figures(pushrod, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path)
    assert pushrod("sweep", "small.yaml", "--runs", "100").exit_code == 0
    got = pushrod("sweep", "report", "sweeps/small")
    assert got.exit_code == 0
    passed = int(parts.read(tmp_path / "sweeps" / "small")["passed"].sum())
    assert f"({passed} of 100 samples; 95 % interval " in got.stdout
    assert "report: sweeps/small/report.html" in got.stdout
    assert "pushrod sweep one sweeps/small " in (tmp_path / "sweeps" / "small" / "report.html").read_text()
    found = told(pushrod("sweep", "report", "sweeps/small", "--json", "--out", "none.html"))
    assert found["pass"]["passed"] == passed
    assert not (tmp_path / "none.html").exists()
    assert pushrod("sweep", "small.yaml", "--runs", "100").exit_code == 0  # a report in the folder is in nobody's way
    got = pushrod("sweep", "report", "nowhere")
    assert got.exit_code == 2
    assert "nowhere: is no folder of a study's results" in got.stderr


def test_a_study_file_is_checked_like_any_other(pushrod, tmp_path):
    file = write(tmp_path)
    assert "ok, study small of servo: 200 runs, 5 parameters drawn, 12 metrics, 1 to pass" in pushrod("check", file).stdout
    write(tmp_path, STUDY.replace("lag.T:", "lag.tau:").replace("below: 0.25 N.m", "below: 0.25 m"))
    got = pushrod("check", file)
    assert got.exit_code == 2
    assert f"{file}:11: vary.lag.tau: there is no parameter or initial state named 'lag.tau'; did you mean 'lag.T'" in got.stderr
    assert "pass[0].below: '0.25 m' is in m, which cannot be turned into N.m" in got.stderr
    assert "servo_tolerance" in pushrod("list", "studies").stdout
    assert "initial.drive.body.w" in pushrod("schema", "study", "--machine", "servo").stdout
