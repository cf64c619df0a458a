"""Channels as CSV: every value at its time in the log, so that a fit of the table is one of the log; unknown names are answered briefly."""

import csv
import json

from pushrod.log.reader import read


def test_inputs_and_outputs_keep_their_times(pushrod, tiny):
    pushrod("run", tiny / "m.yaml", "--trust", "--out", tiny)
    (log,) = tiny.glob("*.mcap")
    said = pushrod("log", log, "in.angle", "angle_ach", "--csv", tiny / "a.csv").stdout
    assert "101 lines; each value has its own time (inputs: start of a tick, outputs: end)" in " ".join(said.split())
    head, *rows = csv.reader((tiny / "a.csv").open())
    assert rows[0][[cell.split(" ")[0] for cell in head].index("angle_ach")] == "", "at 0 s there is an input and no output yet"
    table, again = read(log), read(tiny / "a.csv")
    for name in ("in.angle", "angle_ach"):
        assert again[name].t.tolist() == table[name].t.tolist()
        assert again[name].values.tolist() == table[name].values.tolist()


def test_an_unknown_name_among_many_is_answered_with_the_nearest_and_a_count():
    from pushrod.core.names import unknown

    said = unknown({f"signal_{i}": i for i in range(87)}, "signl_12", "channel")
    assert "did you mean 'signal_12'" in said
    assert "known: 87 names, from signal_0 to signal_9" in said
    assert len(said) < 200


def test_json_and_csv_do_not_share_stdout(pushrod, tiny):
    pushrod("run", tiny / "m.yaml", "--trust", "--out", tiny)
    (log,) = tiny.glob("*.mcap")
    got = pushrod("log", log, "angle_ach", "--csv", "-", "--json")
    told = json.loads(got.stdout)
    assert (got.exit_code, told["exit_code"]) == (2, 2)
    assert "--csv - and --json: stdout is for one of both; give a file (--csv OUT), or leave --json out" in told["error"]["message"]
    assert pushrod("log", log, "angle_ach", "--csv", tiny / "a.csv", "--json").exit_code == 0
