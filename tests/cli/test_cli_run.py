"""`pushrod run`: summary, log, exit codes, and what it says when something is wrong."""

import contextlib
import json
import os
import pty
import signal
import subprocess
import sys

import pytest
from mcap.reader import make_reader


def test_a_run_ends_with_a_summary_and_a_log_that_holds_every_signal_with_its_unit(pushrod, tiny):
    got = pushrod("run", tiny / "m.yaml", "--trust", "--out", tiny / "logs")
    assert got.exit_code == 0, got.output
    assert "tiny, scenario open: 100 ticks of 0.01 s = 1 s" in got.output
    assert "angle_req → angle_ach" in got.output
    for word in ("error rms", "error max", "delay", "rise time", "overshoot", "saturated", "final of angle_ach", "held"):
        assert word in got.output
    file = tiny / "logs" / "tiny-open.mcap"
    assert f"log: {file}" in got.output
    reader = make_reader(file.open("rb"))
    units = {channel.topic: json.loads(channel.metadata["units"]) for channel in reader.get_summary().channels.values()}
    assert units == {"/in": {"angle": "rad", "push": "N"}, "/out": {"angle_req": "rad", "angle_ach": "rad", "push": "N"}}
    (about,) = reader.iter_metadata()
    assert (about.metadata["seed"], about.metadata["dt"], about.metadata["ticks"]) == ("0", "0.01", "100")
    assert about.metadata["kind"] == "rollout"
    files = {a.name: a.data.decode() for a in reader.iter_attachments()}
    assert files["machine.yaml"] == (tiny / "m.yaml").read_text()
    assert files["scenario.yaml"] == (tiny / "s.yaml").read_text()
    assert json.loads(files["verdict.json"])["held"] is True


def test_a_second_run_does_not_touch_the_log_of_the_first(pushrod, tiny):
    for name in ("tiny-open.mcap", "tiny-open-2.mcap", "tiny-open-3.mcap"):
        assert name in pushrod("run", tiny / "m.yaml", "--trust", "--out", tiny / "logs").output
    logs = [file.read_bytes() for file in sorted((tiny / "logs").iterdir())]
    assert len(logs) == 3
    assert logs[0] == logs[1] == logs[2]


def test_options_go_over_the_files_and_are_kept_in_the_log(pushrod, tiny):
    got = pushrod("run", tiny / "m.yaml", "--trust", "--set", "lag.T=20 ms", "--duration", "500 ms", "--seed", "3", "--out", tiny)
    assert got.exit_code == 0, got.output
    assert "50 ticks" in got.output
    (about,) = make_reader((tiny / "tiny-open.mcap").open("rb")).iter_metadata()
    assert about.metadata["seed"] == "3"
    assert {about.metadata[f"override {i}"] for i in (1, 2, 3)} == {"--set lag.T=20 ms", "--duration 500 ms", "--seed 3"}


def test_no_log_writes_nothing(pushrod, tiny):
    before = set(tiny.iterdir())
    assert pushrod("run", tiny / "m.yaml", "--trust", "--no-log").exit_code == 0
    assert {path for path in tiny.iterdir() if path.name != "__pycache__"} == before


def test_an_expectation_that_fails_makes_the_exit_code_1_and_the_log_is_still_written(pushrod, tiny):
    got = pushrod("run", tiny / "m.yaml", "--trust", "--set", "lag.T=5", "--out", tiny)
    assert got.exit_code == 1
    assert "FAILED" in got.output
    assert (tiny / "tiny-open.mcap").exists()


def test_a_narrow_terminal_stays_readable(pushrod, tiny):
    got = pushrod("run", tiny / "m.yaml", "--trust", "--no-log", columns=60)
    lines = got.stdout.splitlines()
    assert max(len(line) for line in lines) <= 60
    assert any(line.split() == ["rise", "time", "0.22", "s"] for line in lines), got.stdout


def test_a_terminal_without_unicode_gets_plain_signs(tiny):
    environment = os.environ | {"PYTHONIOENCODING": "cp1252", "COLUMNS": "80"}
    got = subprocess.run(
        [sys.executable, "-m", "pushrod", "run", str(tiny / "m.yaml"), "--trust", "--no-log"], capture_output=True, env=environment, check=False
    )
    assert got.returncode == 0, got.stderr
    assert b"angle_req -> angle_ach" in got.stdout
    assert b">= 0.4 rad" in got.stdout


def test_wrong_input_is_one_message_on_stderr_and_exit_code_2(program, tiny):
    (tiny / "m.yaml").write_text("machine: m\nworld: tiny_world.py:TINY\nparameters:\n  lag: {T: 99}\n  mod: 1\n")
    got = program("run", tiny / "m.yaml", "--trust")
    assert (got.returncode, got.stdout) == (2, "")
    assert got.stderr.splitlines() == [
        f"error: {tiny}/m.yaml:4: parameters.lag.T: 99 s is outside its legal range; allowed [0.001, 10] s",
        f"{tiny}/m.yaml:5: parameters.mod: unknown key; did you mean 'mode'? known here: lag, inverted, mode, curve, map, faults",
    ]


def test_an_unknown_machine_or_scenario_is_answered_with_what_there_is(pushrod, tiny):
    got = pushrod("run", "carr")
    assert got.exit_code == 2
    assert "there is no machine named 'carr'; did you mean 'car'" in got.stderr
    got = pushrod("run", tiny / "m.yaml", "--trust", "satelite_slew")
    assert "did you mean 'satellite_slew'" in got.stderr


def test_a_folder_that_cannot_be_made_is_said_so(pushrod, tiny):
    got = pushrod("run", tiny / "m.yaml", "--trust", "--out", tiny / "m.yaml")
    assert got.exit_code == 2
    assert "m.yaml: cannot be made a folder" in got.stderr
    assert "ticks" not in got.stdout, "it is said before the run, not after it"
    assert pushrod("run", tiny / "m.yaml", "--trust", "--out", "/proc").exit_code == 2


def test_a_group_that_is_not_there_is_said_of_the_option_that_named_it(program, tiny):
    got = program("run", tiny / "m.yaml", "--trust", "--no-log", "--set", "gone.x=1", "--set", "gone.y=2", "--set", "lag.t=3")
    assert got.returncode == 2
    assert "--set gone.x=1: parameters.gone: unknown key" in got.stderr
    assert "--set lag.t=3: parameters.lag.t: unknown key" in got.stderr
    assert "m.yaml" not in got.stderr


@pytest.mark.parametrize(
    ("machine", "channel", "live"), [("car", "accel", True), pytest.param("boat", "v_req", True, marks=pytest.mark.soak), ("car", "accel", False)]
)
def test_ctrl_c_in_a_terminal_says_how_far_it_got_and_leaves_a_log_of_that(machine, channel, live, tmp_path):
    (tmp_path / "s.yaml").write_text(f"scenario: s\nduration: {3000 if live else 10000} s\ndt: 10 ms\nsignals: {{{channel}: [{{constant: 0.3}}]}}\n")
    command = [sys.executable, "-m", "pushrod", "run", machine, str(tmp_path / "s.yaml"), *(["--live"] if live else [])]
    subprocess.run([*command, "--duration", "0.1", "--no-log"], check=True, capture_output=True)  # so that it is not stopped while it compiles
    program, terminal = pty.openpty()
    process = subprocess.Popen([*command, "--out", str(tmp_path)], stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True)
    os.close(terminal)
    said = b""
    while b"simulating" not in said:
        said += os.read(program, 4096)
    process.send_signal(signal.SIGINT)
    with contextlib.suppress(OSError):  # it has closed its end
        while more := os.read(program, 4096):
            said += more
    os.close(program)
    assert process.wait(60) == 130, said
    assert b"stopped by Ctrl-C after " in said
    assert (b"all is disarmed" in said) == live
    assert b"Traceback" not in said
    (file,) = tmp_path.glob("*.mcap")
    with file.open("rb") as stream:
        reader = make_reader(stream)
        rows = sum(1 for _ in reader.iter_messages(topics=["/out"]))
        (about,) = [m.metadata for m in reader.iter_metadata()]
    assert rows == int(about["ticks"]) > 0


def test_ctrl_c_ends_with_130_and_a_short_line(tiny):
    (tiny / "s.yaml").write_text("scenario: s\nduration: 100000 s\ndt: 10 ms\n")  # ten million ticks: there is time to stop it
    process = subprocess.Popen(
        [sys.executable, "-m", "pushrod", "run", str(tiny / "m.yaml"), "--trust", "--no-log"],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {"FORCE_COLOR": "1"},
    )
    assert process.stderr is not None
    process.stderr.read(1)  # its first sign of life: the progress bar
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"stopped" in err
    assert b"Traceback" not in err


def test_a_unit_for_what_has_none_is_answered_with_the_number_alone(pushrod, tiny):
    (tiny / "m.yaml").write_text("machine: gear\nworld: model:saturation\nparameters: {lo: -1, hi: 1}\n")
    got = pushrod("check", "--trust", tiny / "m.yaml")
    assert got.exit_code == 0, got.output
    got = pushrod("run", tiny / "m.yaml", "--trust", "--set", "hi=1.5 N.m")
    said = " ".join(got.stderr.split())
    assert "--set hi=1.5 N.m: parameters.hi: '1.5 N.m' is in N.m, but what is asked for has no unit; write the number alone" in said


def test_a_value_that_contradicts_the_file_is_told_by_its_option(pushrod, tiny):
    (tiny / "m.yaml").write_text("machine: gear\nworld: model:saturation\nparameters: {lo: -1, hi: 1}\n")
    got = pushrod("run", tiny / "m.yaml", "--trust", "--set", "hi=-50")
    assert got.exit_code == 2
    assert "error: --set hi=-50: parameters.lo: -1 lies above hi = -50" in " ".join(got.stderr.split()), got.stderr
    (tiny / "m.yaml").write_text("machine: gear\nworld: model:saturation\nparameters: {lo: -1, hi: -50}\n")
    assert "m.yaml:3: parameters.lo: -1 lies above hi = -50" in " ".join(pushrod("run", tiny / "m.yaml", "--trust").stderr.split())
