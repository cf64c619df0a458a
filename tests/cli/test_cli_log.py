"""`pushrod log` of recordings with little in them."""

import json

from pushrod.log.writer import Recorder


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
