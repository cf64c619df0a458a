"""`pushrod log` of recordings with little in them."""

import json

from pushrod.log.writer import Recorder, Said


def test_of_a_log_that_was_cut_at_once_it_says_that_nothing_is_in_it(pushrod, tmp_path):
    file = tmp_path / "ten.mcap"
    with Recorder(file):
        pass
    file.write_bytes(file.read_bytes()[:10])
    got = pushrod("log", file)
    assert got.exit_code == 0
    assert "torn: the file is cut within a record" in got.stdout
    assert "nothing is in it: no message at all" in got.stdout
    assert "channel " not in got.stdout  # no empty table
    assert "cut within a record" in json.loads(pushrod("log", file, "--json").stdout)["torn"]


def run_that(folder, *trouble):
    """A log with a number, and these warnings and errors of its run."""
    file = folder / "run.mcap"
    numbers = ("/out", "Out", {"type": "object", "properties": {"x": {"type": "number"}}}, {})
    events = ("/events", "foxglove.Log", {"type": "object"}, {})
    with Recorder(file) as log:
        log.say(Said(numbers, 0, b'{"x": 1.0}'))
        for i, (level, text) in enumerate([(2, "disarmed -> armed"), *trouble], 1):
            log.say(Said(events, i * 10**8, json.dumps({"level": level, "message": text, "name": "safety"}).encode()))
    return file


def test_it_says_what_went_wrong_in_the_run(pushrod, tmp_path):
    file = run_that(tmp_path, (3, "motor: [busy]"), (4, "armed -> error"))
    said = pushrod("log", file).stdout
    assert said.rstrip().endswith("warnings and errors:\n  0.200 s warning safety: motor: [busy]\n  0.300 s error safety: armed -> error")
    trouble = json.loads(pushrod("log", file, "--json").stdout)["trouble"]
    assert trouble[1] == {"t": 0.3, "level": "error", "text": "armed -> error", "source": "safety"}


def test_of_much_that_went_wrong_it_says_the_last(pushrod, tmp_path):
    file = run_that(tmp_path, *[(3, f"no. {i}") for i in range(12)])
    said = pushrod("log", file).stdout
    assert "warnings and errors, the last 10 of 12: --json has all:" in said
    assert "no. 1\n" not in said
    assert "no. 2\n" in said
    assert len(json.loads(pushrod("log", file, "--json").stdout)["trouble"]) == 12


def test_where_nothing_went_wrong_it_says_nothing_of_it(pushrod, tmp_path):
    assert "warnings" not in pushrod("log", run_that(tmp_path)).stdout
