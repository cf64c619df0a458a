"""What `pushrod verify` says: marks, counts, tables that fit, and which file stands for which."""

import json
import shutil
import signal

import pytest


def test_verify_keeps_what_does_not_bind_apart(pushrod, golden, tmp_path):
    for name in ("zoh_wrap", "zoh_burst_sends", "event_wrap"):
        for suffix in (".json", ".csv"):
            shutil.copy(golden / "actuator_driver" / (name + suffix), tmp_path)
    got = pushrod("verify", tmp_path)
    assert got.exit_code == 0
    assert "3 files, 241 rows: 1 within tolerance, 2 do not bind\n" in got.stdout
    file = tmp_path / "zoh_wrap.csv"
    head, first, *rest = file.read_text().splitlines()
    cells = first.split(",")
    cells[head.split(",").index("wx")] = "8.1"
    file.write_text("\n".join([head, ",".join(cells), *rest]))
    for columns in (60, 130):
        got = pushrod("verify", tmp_path, columns=columns)
        assert got.exit_code == 0
        assert got.stdout.count("info, off") == 1
        assert got.stdout.count(" ok") == 1
        assert "zoh_wrap.json: does not bind; worst at op_index 4" in got.stdout
        assert "3 files, 241 rows: 1 within tolerance, 2 do not bind (1 of them off)" in got.stdout


def test_verify_counts_what_could_not_be_read(pushrod, golden, tmp_path):
    for name in ("event_wrap.json", "event_wrap.csv"):
        shutil.copy(golden / "actuator_driver" / name, tmp_path)
    (tmp_path / "event_torn.json").write_text('{"variant": "event", "ops": [')
    (tmp_path / "ACTUATION_CMD__torn.json").write_text("{")
    got = pushrod("verify", tmp_path)
    assert got.exit_code == 2
    assert "3 files, 81 rows: 1 within tolerance, 2 could not be read" in got.stdout
    assert "event_torn.json: cannot be read as JSON" in got.stderr
    assert "ACTUATION_CMD__torn.json: cannot be read as JSON" in got.stderr


def test_verify_takes_a_data_file_for_its_pair(pushrod, golden, tmp_path):
    scenario = next((golden / "vehicle" / "scenarios").glob("*.csv.gz"))
    for data in (golden / "signals" / "expected.csv", golden / "actuator_driver" / "event_wrap.csv", scenario):
        got = pushrod("verify", data)
        assert got.exit_code == 0, got.output
        assert "1 file, " in got.stdout
    for name, wanted in (("expected.csv", "cases.json"), ("run.csv.gz", "run.json")):
        (tmp_path / name).write_text("t\n")
        got = pushrod("verify", tmp_path / name)
        assert got.exit_code == 2
        assert "no known format by itself" in got.stderr
        assert wanted in got.stderr


@pytest.mark.parametrize("columns", [80, 100, 200])
def test_verify_shows_a_table_that_fits(pushrod, golden, columns):
    got = pushrod("verify", golden / "vehicle", columns=columns)
    lines = [line.rstrip() for line in got.stdout.splitlines()]
    assert max(map(len, lines)) <= columns
    scenarios = [line for line in lines if line.startswith(("ACTUATION", "DELAY", "IDEAL"))]
    assert len(scenarios) == 29
    assert len({line.split()[0] for line in scenarios}) == 29
    assert all(len(line.split()) == 5 and line.endswith(" ok") for line in scenarios)
    assert any("…" in line for line in scenarios) == (columns == 80)


def test_what_was_replayed_until_ctrl_c_is_told(pushrod, golden, monkeypatch):
    from pushrod.sim.verify import table

    whole, seen = table.replay, []

    def replay(reference):
        seen.append(reference)
        if len(seen) == 3:
            raise KeyboardInterrupt
        return whole(reference)

    monkeypatch.setattr(table, "replay", replay)
    before = signal.getsignal(signal.SIGINT)
    try:
        got = pushrod("verify", golden / "vehicle" / "lookups", "--json")
    finally:
        signal.signal(signal.SIGINT, before)  # whoever is ending hears no second one
    assert got.exit_code == 130
    found = json.loads(got.stdout)
    assert [file["status"] for file in found["files"]] == ["ok", "ok"]
    assert found["summary"].endswith("; 5 not replayed")
    assert found["error"]["message"] == "stopped"
