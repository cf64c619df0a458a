"""From the command line: a log in, a machine file, a report and figures out."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from fit_rig import recorded, rich
from typer.testing import CliRunner

from pushrod.cli.main import app
from pushrod.config import yaml_file
from pushrod.core.errors import ConfigError
from pushrod.models.first_order import FIRST_ORDER
from pushrod.sim import machine as machines
from pushrod.sweep.building import build
from pushrod.sweep.draw import draw

DT = 0.002
U = rich(500, DT)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, seed, gain in (("a.csv", 0, 1.7), ("b.csv", 1, 0.9)):
        data = recorded(FIRST_ORDER, FIRST_ORDER.Params(0.08, gain), {"u": U}, DT, ("y",), seed)
        with Path(name).open("w", newline="") as file:
            sheet = csv.writer(file)
            sheet.writerow(["t [s]", "command", "seen"])
            sheet.writerows(zip(data["t"], data["in_u"], data["y"], strict=True))
    return tmp_path


def pushrod(*arguments: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, list(arguments))
    return done.exit_code, done.stdout, done.stderr


ASK = ("--model", "first_order", "--input", "u=command", "--output", "y=seen", "--seeds", "1", "--generations", "20")


STUDY = """
study: tolerance
machine: servo
runs: 500
vary: {drive: {fit: first_order_fit.yaml, at: lag}}
metrics: {peak: {signal: w, metric: max}}
"""


def test_a_fit_writes_a_machine_and_a_report(folder: Path) -> None:
    code, out, _ = pushrod("fit", "a.csv", *ASK, "--free", "T", "--free", "K=0..10", "--holdout-share", "0.2")
    assert code == 0, out
    assert "wrote first_order_fit.yaml" in out
    assert "held out" in out
    made = machines.load("first_order_fit.yaml")
    assert list(made.params) == pytest.approx([0.08, 1.7], rel=0.02)
    text = Path("first_order_fit.yaml").read_text()
    assert "world: model:first_order" in text
    assert "# s, 95 %: 0.0" in text
    drawn = draw(build(yaml_file.parse(STUDY, "study.yaml")), 0, 500)  # and a study draws from its errors
    assert drawn["lag.T"].mean() == pytest.approx(made.params.T, rel=0.01)
    known = made.document.data["uncertainty"]
    assert drawn["lag.T"].std() == pytest.approx(known["sd"]["T"], rel=0.1)
    assert np.corrcoef(drawn["lag.T"], drawn["lag.K"])[0, 1] == pytest.approx(known["correlation"][0][1], abs=0.1)
    page = Path("first_order_fit.html").read_text()
    assert "Simulated and measured" in page
    assert "http://" not in page.split('id="data"')[0]


def test_figures_as_json(folder: Path) -> None:
    code, out, _ = pushrod(
        "fit",
        "a.csv",
        "b.csv",
        *ASK,
        "--free",
        "T",
        "--constant",
        "a.csv:K=1.7",
        "--constant",
        "b.csv:K=0.9",
        "--offset",
        "y",
        "--no-report",
        "--json",
    )
    said = json.loads(out)
    assert code == 0
    assert said["parameters"]["T"]["value"] == pytest.approx(0.08, rel=0.02)
    low, high = said["parameters"]["T"]["interval"]
    assert low < 0.08 < high
    assert [one["of"] for one in said["others"]] == ["offset", "offset"]
    assert np.shape(said["correlation"]) == (3, 3)
    assert [one["log"] for one in said["residuals"]] == ["a.csv", "b.csv"]
    assert said["written"] == ["first_order_fit.yaml"]


def test_what_is_known_of_all_logs_is_in_the_file(folder: Path) -> None:
    """Else the machine would run with a default that nobody fitted with."""
    code, out, err = pushrod("fit", "a.csv", *ASK, "--free", "T", "--constant", "K=1.7", "--no-report")
    assert code == 0, err
    assert "rms 0.0" in out
    assert " -," not in out
    assert "best of 1 seed\n" in out
    assert machines.load("first_order_fit.yaml").params.K == 1.7
    pushrod("fit", "a.csv", "b.csv", *ASK, "--free", "T", "--constant", "a.csv:K=1.7", "--constant", "b.csv:K=0.9", "--no-report")
    assert "# K was 1.7, 0.9 in the logs: say yours; here it is 1" in Path("first_order_fit.yaml").read_text()


def test_logs_of_one_name_are_told_apart(folder: Path) -> None:
    for name in ("a", "b"):
        Path(name).mkdir()
        Path(f"{name}.csv").rename(f"{name}/log.csv")
    ask = ("fit", "a/log.csv", "b/log.csv", *ASK, "--free", "T", "--no-report")
    code, out, err = pushrod(*ask, "--constant", "a/log.csv:K=1.7", "--constant", "b/log.csv:K=0.9")
    assert code == 0, err
    assert "a/log.csv: y fitted" in out
    assert "b/log.csv: y fitted" in out
    code, _, err = pushrod(*ask, "--constant", "log.csv:K=1.7")
    assert code == 2
    assert "no log named 'log.csv'" in err
    code, _, err = pushrod("fit", "a/log.csv", "a/log.csv", *ASK, "--free", "T")
    assert code == 2
    assert "a/log.csv is given twice" in err


def test_where_nothing_can_be_written_nothing_is_searched(folder: Path) -> None:
    code, out, err = pushrod("fit", "a.csv", *ASK, "--free", "T", "--out", "nowhere/a.yaml")
    assert (code, out) == (2, "")
    assert "there is no folder nowhere" in err


def test_a_ladder_that_explains_nothing_is_not_written(folder: Path) -> None:
    rows = Path("a.csv").read_text().splitlines()
    Path("still.csv").write_text("\n".join([rows[0], *(f"{t},0.3,{y}" for t, _, y in (row.split(",") for row in rows[1:]))]))
    ask = ("--ladder", "steering", "--rung", "first", "--input", "goal=command [rad]", "--output", "q=seen [rad]", "--seeds", "1")
    code, _, err = pushrod("fit", "still.csv", *ask, "--generations", "5", "--no-report")
    assert code == 1, err
    assert "this is no fit, and nothing was written" in err
    assert not Path("steering_fit.yaml").exists()


def test_a_machine_file_includes_a_fit(folder: Path) -> None:
    Path("fit.yaml").write_text("world: servo\nparameters: {lag: {T: 0.031}, bus: {delay: 4 ms}, body: {J: 0.5}}\n")
    Path("lag.yaml").write_text("world: model:first_order\nparameters: {T: 0.07}\n")
    Path("mine.yaml").write_text("machine: mine\nworld: servo\nparameters:\n  include: fit.yaml\n  body: {J: 0.02}\n")
    Path("part.yaml").write_text("machine: part\nworld: servo\nparameters: {lag: {include: lag.yaml}}\n")
    whole, part = machines.load("mine.yaml"), machines.load("part.yaml", ["lag.K=2"])
    assert (whole.params.lag.T, whole.params.bus.delay, whole.params.body.J) == (0.031, 0.004, 0.02)
    assert (part.params.lag.T, part.params.lag.K) == (0.07, 2.0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("include: none.yaml", "none.yaml: cannot be read"),
        ("include: 3", "must be the name of a file"),
        ("include: wrong.yaml", r"wrong.yaml:2: parameters.lag.T: .*nonsense"),
        ("include: bare.yaml", "has no `parameters:`"),
    ],
)
def test_what_is_wrong_with_an_included_file_is_told(folder: Path, text: str, said: str) -> None:
    Path("wrong.yaml").write_text("world: servo\nparameters: {lag: {T: nonsense}}\n")
    Path("bare.yaml").write_text("world: servo\n")
    Path("m.yaml").write_text(f"machine: m\nworld: servo\nparameters: {{{text}}}\n")
    with pytest.raises(ConfigError, match=said):
        machines.load("m.yaml")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--free", "tau"), "no parameter of first_order named 'tau'"),
        ((), "no --free: say which parameters to find; first_order has T [s], K"),
        (("--free", "T", "--constant", "c.csv:K=1"), "no log named 'c.csv'"),
        (("--free", "T=5..1"), "holds nothing"),
        (("--free", "T", "--noise", "y=0"), "above 0"),
        (("--free", "T", "--output", "y=sen"), "no channel named 'sen'; did you mean 'seen'"),
        (("--free", "T", "--from", "9"), "nothing is left of the log"),
    ],
)
def test_wrong_input_is_one_message(folder: Path, more: tuple[str, ...], said: str) -> None:
    code, out, err = pushrod("fit", "a.csv", *ASK, *more)
    assert code == 2
    assert said in err
    assert "Traceback" not in err + out
    assert not list(folder.glob("*_fit.*"))


def test_what_is_no_fit_is_not_written(folder: Path) -> None:
    """A gain that is held at the wrong sign explains nothing."""
    code, _, err = pushrod("fit", "b.csv", *ASK, "--free", "T", "--set", "K=-1", "--out", "other.yaml")
    assert code == 1
    assert "this is no fit, and nothing was written" in err
    assert not Path("other.yaml").exists()
    code, _, err = pushrod("fit", "b.csv", *ASK, "--free", "T", "--set", "K=-1", "--out", "other.yaml", "--ignore-problems")
    assert code == 0
    assert "lies at the upper end of its range" in err
    assert "No fit" in Path("other.html").read_text()


def test_a_log_and_its_csv_give_the_same_fit(folder: Path) -> None:
    """Inputs once stood a tick late in the table, which a delay made up for."""
    assert pushrod("run", "servo", "--duration", "2", "--out", "runs")[0] == 0
    (log,) = Path("runs").glob("*.mcap")
    assert pushrod("log", str(log), "in.torque_req", "torque_ach", "w", "--csv", "run.csv")[0] == 0
    ask = ("--model", "servo", "--output", "torque_ach", "--free", "bus.delay=0..0.05", "--free", "lag.T", "--seeds", "1", "--generations", "10")
    found = []
    for file in (str(log), "run.csv"):
        code, out, _ = pushrod("fit", file, *ask, "--no-report", "--out", f"{Path(file).suffix[1:]}.yaml", "--json")
        assert code == 0, out
        found.append({path: one["value"] for path, one in json.loads(out)["parameters"].items()})
    assert found[0] == pytest.approx({"bus.delay": 0.0073, "lag.T": 0.02}, rel=1e-4)
    assert found[1] == pytest.approx(found[0], rel=1e-9)


def test_a_fitted_machine_keeps_what_else_the_machine_has(folder: Path) -> None:
    """So that it runs, is served and is studied like the one that was fitted."""
    assert pushrod("run", "boat", "--duration", "20", "--out", "runs")[0] in (0, 1)
    (log,) = Path("runs").glob("*.mcap")
    code, out, err = pushrod("fit", str(log), "--model", "boat", "--output", "v", "--free", "hull.m=20..40", "--seeds", "1", "--no-report")
    assert code == 0, out + err
    assert "try: pushrod run boat_fit.yaml; or pushrod new study NAME --from boat_fit.yaml" in out
    made, boat = machines.load("boat_fit.yaml"), machines.load("boat")
    assert made.robot == boat.robot
    assert (made.ports, made.scenario, made.live, made.track) == (boat.ports, boat.scenario, boat.live, boat.track)
    assert pushrod("run", "boat_fit.yaml", "--duration", "1", "--no-log")[0] in (0, 1)
    assert pushrod("check", "boat_fit.yaml")[0] == 0
    assert pushrod("new", "study", "again", "--like", "boat_fit.yaml")[0] == 0
    assert build(yaml_file.load(Path("again.yaml"))).machine.name == "boat_fit"


def test_files_of_a_machine_are_found_from_where_the_fit_is_written(folder: Path) -> None:
    Path("bench").mkdir()
    assert pushrod("new", "machine", "mine", "--like", "servo", "--dir", "bench")[0] == 0
    assert pushrod("run", "bench/mine.yaml", "--out", "runs")[0] in (0, 1)
    (log,) = Path("runs").glob("*.mcap")
    Path("out").mkdir()
    ask = ("--model", "bench/mine.yaml", "--output", "w", "--free", "body.J=0.001..1", "--seeds", "1", "--no-report", "--out", "out/fit.yaml")
    code, out, err = pushrod("fit", str(log), *ask)
    assert code == 0, out + err
    assert 'scenario: "../bench/mine_default.yaml"' in Path("out/fit.yaml").read_text()
    assert pushrod("run", "out/fit.yaml", "--no-log")[0] in (0, 1)


def test_a_new_study_varies_what_a_fit_leaves_uncertain(folder: Path) -> None:
    assert pushrod("run", "servo", "--set", "noise=0.5", "--out", "runs")[0] in (0, 1)
    (log,) = Path("runs").glob("*.mcap")
    ask = ("--model", "servo", "--output", "w", "--free", "body.J=0.001..1", "--free", "body.b=0..1", "--free", "body.c=0..1")
    code, out, err = pushrod("fit", str(log), *ask, "--seeds", "1", "--no-report")
    assert code == 0, out + err
    Path("studies").mkdir()
    code, out, err = pushrod("new", "study", "tolerance", "--from", "servo_fit.yaml", "--dir", "studies")
    assert code == 0, out + err
    text = Path("studies/tolerance.yaml").read_text()
    assert "fitted: {fit: ../servo_fit.yaml}" in text
    assert "#   body.J" not in text
    study = build(yaml_file.load(Path("studies/tolerance.yaml")))
    told = yaml_file.load(Path("servo_fit.yaml")).data["uncertainty"]["sd"]
    drawn = draw(study, 0, 2000)
    assert set(told) == {"body.J", "body.b", "body.c"}
    assert np.std(drawn["body.J"]) == pytest.approx(told["body.J"], rel=0.1)
    code, _, err = pushrod("new", "study", "other", "--from", str(machines.shipped()["servo"]))
    assert code == 2
    assert "give a file that `pushrod fit` wrote" in err
    code, _, err = pushrod("new", "machine", "other", "--from", "servo_fit.yaml")
    assert code == 2
    assert "start --like servo_fit.yaml" in err
