"""Ladders: a recording is told once for all worlds, rungs nest, and the simplest that is not beaten is the one the data were made with."""

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from pushrod.cli.main import app
from pushrod.compiled.rollout import rollout
from pushrod.core.errors import DiagnosisError, InputError, UnknownNameError
from pushrod.core.record import put
from pushrod.identify.ladder import climb
from pushrod.identify.ladders import LADDERS
from pushrod.identify.rung import Log, prepared
from pushrod.identify.rungs_servo import servo
from pushrod.identify.rungs_steering import steering
from pushrod.sim.worlds.lag import LAG
from pushrod.sim.worlds.steering import MECHANICAL_STEERING, SECOND_ORDER_STEERING

DT, N = 0.02, 500


def goals(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.repeat(rng.uniform(-0.4, 0.4, N // 25), 25) + 0.1 * np.sin(2.0 * DT * np.arange(N) * (1 + seed))


def recorded(world, params, seed: int) -> Log:
    goal = goals(seed)
    q = np.concatenate(([0.0], rollout(world, params, {"goal": goal}, steps=N, dt=DT)["q"][:-1]))
    noise = 0.002 * np.random.default_rng(100 + seed).standard_normal(N)
    return Log({"t": DT * np.arange(N), "goal": goal, "q": q + noise}, {"goal": "goal", "q": "q"}, start={"q": 0.0}, name=f"run {seed}")


def climbed(world, params):
    logs = [recorded(world, params, seed) for seed in (1, 2)]
    return climb(steering(), logs[:1], logs[1:], rungs=["first", "limited", "second"], dt=DT, seeds=1, generations=25, loss="linear")


def test_a_lag_is_found_to_be_a_lag() -> None:
    found = climbed(LAG, put(put(LAG.Params(), "lag.T_0", 0.15), "bus.delay", 0.0437))
    assert found.recommended.rung.name == "first"
    assert found.recommended.fit.values["lag.T_0"] == pytest.approx(0.15, rel=0.02)
    assert found.recommended.fit.values["bus.delay"] == pytest.approx(0.0437, abs=0.002)
    assert found.recommended.held_error < 0.002


def test_a_part_of_a_recording_with_holes_is_climbed_as_it_is_fitted() -> None:
    log = recorded(LAG, put(LAG.Params(), "lag.T_0", 0.15), 1)
    columns = {name: values.copy() for name, values in log.recorded.items()}
    columns["q"][60:70] = np.nan  # dropped, and
    columns["q"][350:] += 5.0  # beyond what is to be used
    spoilt = Log(columns, log.columns, start=log.start, name="spoilt")
    how = {"rungs": ["first"], "dt": DT, "seeds": 1, "generations": 25, "loss": "linear"}
    with pytest.raises(DiagnosisError, match="10 of 500 values are no numbers"):
        climb(steering(), [spoilt], **how)
    found = climb(steering(), [spoilt], missing="drop", end=6.9, **how)
    assert found.recommended.fit.values["lag.T_0"] == pytest.approx(0.15, rel=0.03)


def test_ctrl_c_ends_the_whole_climb_and_keeps_what_was_found() -> None:
    logs = [recorded(LAG, put(LAG.Params(), "lag.T_0", 0.15), seed) for seed in (1, 2)]
    seen: list[str] = []

    def told(rung, now) -> None:
        seen.append(rung.name)
        if len(seen) == 4:
            raise KeyboardInterrupt

    found = climb(steering(), logs[:1], logs[1:], rungs=["first", "limited"], dt=DT, seeds=1, generations=25, loss="linear", told=told)
    assert set(seen) == {"first"}
    (step,) = found.steps
    assert step.fit.stopped
    assert found.recommended.rung.name == "first"


def test_a_second_order_is_found_to_be_no_lag() -> None:
    found = climbed(SECOND_ORDER_STEERING, put(put(SECOND_ORDER_STEERING.Params(), "wheel.w", 8.0), "wheel.z", 0.5))
    assert found.recommended.rung.name == "second"
    assert found.steps[0].held_error > 3.0 * found.recommended.held_error
    assert found.recommended.fit.values["wheel.w"] == pytest.approx(8.0, rel=0.02)
    assert [row["recommended"] for row in found.table()] == [False, False, True]


def test_a_mechanical_steering_is_found_to_be_one() -> None:
    """Its friction and torque limit are no lag of any order; what the data tell of it is found."""
    truth = {"bus.delay": 0.045, "wheel.kp": 300.0, "wheel.damping": 90.0, "wheel.friction": 1.5, "wheel.steering_torque_limit": 25.0}
    params = MECHANICAL_STEERING.Params()
    for path, value in truth.items():
        params = put(params, path, value)
    logs = [recorded(MECHANICAL_STEERING, params, seed) for seed in (1, 2)]
    found = climb(steering(), logs[:1], logs[1:], rungs=["limited", "mechanical"], dt=DT, seeds=1, generations=20, loss="linear")
    assert found.recommended.rung.name == "mechanical"
    assert found.recommended.held_error < 0.0018, "the noise, of which it is 0.0016"
    assert found.steps[0].held_error > 5.0 * found.recommended.held_error
    for path in ("wheel.kp", "wheel.damping", "wheel.steering_torque_limit"):
        assert found.recommended.fit.values[path] == pytest.approx(truth[path], rel=0.05)
    assert found.recommended.fit.values["bus.delay"] == pytest.approx(0.045, abs=0.003)


def test_a_rung_has_nothing_of_an_effect_that_is_not_its_own() -> None:
    """The rate limit that one rung found is not left behind in the next, which has none."""
    log = recorded(LAG, put(put(LAG.Params(), "lag.T_0", 0.15), "lag.rate", 0.5), 1)
    limited, first = climb(steering(), [log], rungs=["limited", "first"], dt=DT, seeds=1, generations=15, loss="linear").steps
    assert limited.fit.values["lag.rate"] < 1.0
    assert first.fit.problem.params.lag.rate == LAG.Params().lag.rate
    assert first.fit.loss > 1.5 * limited.fit.loss


@pytest.mark.parametrize("name", LADDERS)
def test_every_rung_is_of_its_world_and_adds_to_what_stands_below(name: str) -> None:
    ladder = LADDERS[name]({})
    names = [rung.name for rung in ladder.rungs]
    assert len(set(names)) == len(names)
    for rung in ladder.rungs:
        params = rung.kind.world.Params()
        for path, asked in rung.free.items():
            put(params, path, 0.0)
            assert asked is not None
            assert asked[0] < asked[1]
        for path, value in rung.fixed.items():
            params = put(params, path, value)


def test_what_a_ladder_does_not_know_is_refused_by_name() -> None:
    ladder = servo()
    log = Log({"t": [0.0, 1.0], "q": [0.0, 1.0]}, {"q": "q", "aim": "q"})
    with pytest.raises(UnknownNameError, match="aim"):
        prepared(ladder, ladder.rungs[0].kind, log)
    with pytest.raises(UnknownNameError, match="weight"):
        prepared(ladder, ladder.rungs[0].kind, Log({}, {"q": "q"}, {"weight": 1.0}))
    with pytest.raises(InputError, match="the ladder servo compares q: say which column that is"):
        prepared(ladder, ladder.rungs[0].kind, Log({}, {"goal": "g"}))
    with pytest.raises(UnknownNameError, match="rung of the ladder servo"):
        climb(ladder, [log], rungs=["M9"])


def test_a_ladder_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From JSON with facts beside the records to the table, the machine file and the report of the recommended rung."""
    monkeypatch.chdir(tmp_path)
    for seed in (1, 2):
        log = recorded(LAG, put(LAG.Params(), "lag.T_0", 0.2), seed)
        columns = {name: [float(x) for x in values] for name, values in log.recorded.items()}
        (tmp_path / f"{seed}.json").write_text(json.dumps({"kp": 200, **columns}))
    told = ["1.json", "--holdout", "2.json", "--ladder", "servo", "--rung", "lag", "--rung", "delay", "--input", "goal", "--output", "q"]
    quick = ["--constant", "kp=kp*0.003", "--seeds", "1", "--generations", "10"]
    done = CliRunner().invoke(app, ["fit", *told, *quick, "--json"])
    assert done.exit_code == 0, done.output
    answer = json.loads(done.stdout)
    assert [row["rung"] for row in answer["rungs"]] == ["lag", "delay"]
    assert answer["recommended"] == "lag"
    page = (tmp_path / "servo_fit.html").read_text()
    assert "+ transport delay" in page, "the page shows all rungs"
    assert "first-order lag, gain and lag by kp (recommended)" in page
    assert "T_0: 0.2" in (tmp_path / "servo_fit.yaml").read_text()
    part = CliRunner().invoke(app, ["fit", *told, *quick, "--from", "99", "--missing", "drop"])
    assert part.exit_code == 2
    assert "nothing is left of the log" in part.output
    wrong = CliRunner().invoke(app, ["fit", *told, "--constant", "kp=gain"])
    assert wrong.exit_code == 2
    neither = CliRunner().invoke(app, ["fit", "1.json"])
    assert neither.exit_code == 2
    mixed = CliRunner().invoke(app, ["fit", *told, "--noise", "q=1", "--ignore-problems"])
    assert mixed.exit_code == 2
    assert "--noise, --ignore-problems cannot be used with --ladder" in " ".join(mixed.output.replace("│", " ").split())
    mixed = CliRunner().invoke(app, ["fit", "1.json", "--model", "model:servo", "--rung", "lag"])
    assert "--rung cannot be used with --model" in " ".join(mixed.output.replace("│", " ").split())
