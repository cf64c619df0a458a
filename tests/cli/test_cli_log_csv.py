"""Channels as CSV: a tick is one line, and a name that nobody knows is answered shortly."""

import csv
import json

from pushrod.log.reader import read


def test_a_tick_is_one_line_with_what_it_was_told_beside_what_it_gave(pushrod, tiny):
    pushrod("run", tiny / "m.yaml", "--out", tiny)
    (log,) = tiny.glob("*.mcap")
    said = pushrod("log", log, "in.angle", "angle_ach", "--csv", tiny / "a.csv").stdout
    assert "100 lines; a tick is one line" in " ".join(said.split())
    head, *rows = csv.reader((tiny / "a.csv").open())
    table = read(log)
    assert [cell.split(" ")[0] for cell in head[1:]] == [name for name in table.channels if name in ("in.angle", "angle_ach")]
    assert all(all(row) for row in rows)
    assert [float(row[0]) for row in rows] == table["angle_ach"].t.tolist()
    place = next(i for i, cell in enumerate(head) if cell.startswith("in.angle"))
    assert [float(row[place]) for row in rows] == table["in.angle"].values.tolist()
    assert rows[20][place] == "0.5"  # told at 0.2 s, which is when this tick begins


def test_an_unknown_name_among_many_is_answered_with_the_nearest_and_a_count():
    from pushrod.core.names import unknown

    said = unknown({f"signal_{i}": i for i in range(87)}, "signl_12", "channel")
    assert "did you mean 'signal_12'" in said
    assert "known: 87 names, from signal_0 to signal_9" in said
    assert len(said) < 200


def test_json_and_csv_do_not_share_stdout(pushrod, tiny):
    pushrod("run", tiny / "m.yaml", "--out", tiny)
    (log,) = tiny.glob("*.mcap")
    got = pushrod("log", log, "angle_ach", "--csv", "-", "--json")
    told = json.loads(got.stdout)
    assert (got.exit_code, told["exit_code"]) == (2, 2)
    assert "--csv - and --json: stdout is for one of both; give a file (--csv OUT), or leave --json out" in told["error"]["message"]
    assert pushrod("log", log, "angle_ach", "--csv", tiny / "a.csv", "--json").exit_code == 0
