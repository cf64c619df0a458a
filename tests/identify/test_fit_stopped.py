"""Ctrl-C during `pushrod fit`: the best so far is told and written."""

import csv
import signal
import subprocess
import sys
from pathlib import Path

from fit_rig import recorded, rich

from pushrod.models.first_order import FIRST_ORDER


def test_ctrl_c_writes_the_best_so_far(tmp_path: Path) -> None:
    data = recorded(FIRST_ORDER, FIRST_ORDER.Params(0.08, 1.7), {"u": rich(2000, 0.002)}, 0.002, ("y",))
    with (tmp_path / "a.csv").open("w", newline="") as file:
        sheet = csv.writer(file)
        sheet.writerow(["t [s]", "u", "seen"])
        sheet.writerows(zip(data["t"], data["in_u"], data["y"], strict=True))
    command = [sys.executable, "-m", "pushrod", "fit", "a.csv", "--model", "first_order", "--output", "y=seen", "--free", "T", "--free", "K"]
    endless = ["--seeds", "1000", "--generations", "100000", "--no-report"]
    process = subprocess.Popen([*command, *endless], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    first = next(line for line in process.stderr if not line.startswith("compiling"))  # it tells how far it is once it is under way
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert "fitting: " in first
    assert process.returncode == 0, err
    assert "doubt: the search was stopped before its end" in err
    assert "wrote first_order_fit.yaml" in out
    assert "T: 0.0" in (tmp_path / "first_order_fit.yaml").read_text()
