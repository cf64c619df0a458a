"""A designed test tells what it promises, keeps its limits, and runs."""

import json
import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from ruamel.yaml import YAML
from typer.testing import CliRunner

from pushrod.cli.main import app
from pushrod.core.errors import PushrodError
from pushrod.identify.excitation_signal import FAMILIES, Span
from pushrod.identify.excite import excite
from pushrod.identify.excite_file import write
from pushrod.identify.information import covariance, expected, log_det
from pushrod.identify.limit import Range, read_range
from pushrod.identify.plain_yaml import flow
from pushrod.identify.sensitivity import Setup
from pushrod.identify.subject import subject
from pushrod.signals import value
from pushrod.signals.forms import read
from pushrod.sim import scenario as scenarios
from pushrod.sim.run import simulate

LAG = {"inputs": {"u": (-1.0, 1.0)}, "outputs": {"y": 0.01}, "duration": 1.0, "generations": 2}


@pytest.fixture(scope="module")
def lag():
    return subject("first_order", ["T=0.05"])


def setup_of(machine, **others):
    made = Setup(machine.world, machine.params, None, 1e-3, 1000, 10, ("T",), {"y": 0.01}, {}, {}, {})
    return replace(made, **others)


def test_the_information_of_a_step_is_the_one_of_the_books(lag) -> None:
    F = setup_of(lag).information([{"u": 1.0}])[0]
    t = np.arange(1, 101) * 0.01
    slope = -t / 0.05**2 * np.exp(-t / 0.05)  # of 1 - exp(-t / T)
    assert F[0, 0] == pytest.approx(np.sum((slope * 0.05 / 0.01) ** 2), rel=1e-5)


def test_many_fits_scatter_as_expected(lag) -> None:
    """With noise on the output the best T of each of 200 tests lies around the truth as widely as was said."""
    setup, rng = setup_of(lag), np.random.default_rng(4)
    signals = {"u": [{"steps": {"t": [0.1, 0.5], "y": [1.0, -0.5], "initial": 0.0}}]}
    T = np.linspace(0.04, 0.06, 401)
    clean = setup.run([signals] * len(T), T[:, None])["y"]
    truth = clean[:, 200]
    best = [T[np.argmin(np.sum((clean - (truth + 0.01 * rng.standard_normal(100))[:, None]) ** 2, axis=0))] for _ in range(200)]
    sd = expected(setup.information([signals])[0], ["T"], ["s"], setup.values)[0].sd
    assert np.std(best) == pytest.approx(sd, rel=0.15)


def test_a_limit_is_seen_wherever_it_is_left(lag) -> None:
    setup = setup_of(lag, limits={"y": Range(-0.5, 0.5)}, rates={"y": 100.0})
    assert setup.excess([{"u": 0.4}, {"u": 1.0}, {"u": -0.7}]) == pytest.approx([0.0, 0.5, 0.2], abs=1e-6)
    slow = setup_of(lag, rates={"y": 5.0})
    assert slow.excess([{"u": 1.0}])[0] > 1.0


@pytest.mark.parametrize("kind", FAMILIES)
def test_a_signal_stays_within_its_channel_and_its_file_says_the_same(kind) -> None:
    span, rng = Span(-1.0, 3.0, 5.0, 0.2, 20.0), np.random.default_rng(1)
    for _ in range(20):
        track, notes = read("u", FAMILIES[kind].write(rng.uniform(0.0, 1.0, FAMILIES[kind].size), span), None, None)
        got = [value(track, t) for t in np.linspace(0.0, 5.0, 400)]
        assert not notes
        assert -1.0 - 1e-3 <= min(got) <= max(got) <= 3.0 + 1e-3
        assert len(set(got)) > 1


def test_the_best_of_all_kinds_is_taken_and_a_longer_search_is_no_worse(lag) -> None:
    short, longer = excite(lag, **LAG), excite(lag, **LAG | {"generations": 8})
    assert {one.kind for one in short.tried} == set(FAMILIES)
    assert min(one.typical for one in short.tried) == next(one.typical for one in short.tried if one.kind == short.kind)
    assert longer.expected[0].sd <= short.expected[0].sd
    assert longer.expected[0].verdict == "well"


def test_the_test_runs_as_a_scenario_and_its_limits_hold(tmp_path: Path) -> None:
    servo = subject("servo")
    free = ("body.J", "body.b", "body.c", "limit.hi")
    limits = {"q": (-1.0, 1.0), "w": (-10.0, 10.0), "torque_ach": (-2.0, 2.0)}
    found = excite(servo, inputs={"torque_req": (-2.0, 2.0)}, outputs={"q": 0.002}, limits=limits, free=free, duration=2.0, generations=3)
    assert [row.verdict for row in found.expected] == ["well", "well", "well", "unseen"]
    assert "no effect" in found.expected[3].why  # a limit that is not reached
    file = tmp_path / "test.yaml"
    assert write(found, file) == [file]
    result = simulate(servo, scenarios.load(str(file), servo))
    assert result.held
    assert len(result.outcomes) == 6
    assert 0.05 < np.max(np.abs(result.columns["q"])) <= 0.9 + 1e-9  # with the margin
    with pytest.raises(PushrodError, match="there already"):
        write(found, file)


def test_a_sensor_that_is_off_costs_information(lag) -> None:
    setup = setup_of(lag)
    signals = [{"u": 1.0}]
    free = replace(setup, offsets=("y",)).information(signals)[0, 0, 0]
    t = np.arange(1, 101) * 0.01
    slope = -t / 0.05**2 * np.exp(-t / 0.05)
    assert free == pytest.approx(np.sum(((slope - np.mean(slope)) * 0.05 / 0.01) ** 2), rel=1e-5)
    assert free < setup.information(signals)[0, 0, 0]


def test_ctrl_c_keeps_the_best_so_far(lag) -> None:
    def press(done: int, total: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    found = excite(lag, **LAG | {"generations": 10}, progress=press)
    assert found.stopped
    assert [one.kind for one in found.tried] == ["chirp"]
    assert found.expected[0].verdict == "well"

    def at_once(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        excite(lag, **LAG, progress=at_once)


def test_a_car_is_excited_while_it_drives(tmp_path: Path) -> None:
    """The tick, the state at the start and the speed are those of a scenario; a dead time in whole samples cannot be told from small changes."""
    car = subject("DELAY_STEER_VEL", ["sampling_time=20 ms"])
    base = tmp_path / "rolling.yaml"
    base.write_text("scenario: rolling\nduration: 1 s\ndt: 20 ms\ninitial: {vx: 36 km/h}\nsignals: {vx_des: 10}\n")
    free = ("steer_time_constant", "steer_time_delay")
    asked = {"inputs": {"steer_des": (-0.3, 0.3)}, "outputs": {"steer": 0.001, "vx": 0.05}, "limits": {"yaw": (-0.6, 0.6)}, "free": free}
    found = excite(car, **asked, duration=4.0, scenario=scenarios.load(str(base), car), kinds=["multisine"], generations=2)
    assert found.setup.dt == 0.02
    assert [row.verdict for row in found.expected] == ["well", "unseen"]
    file = tmp_path / "steer.yaml"
    assert len(write(found, file)) == 2
    again = subject(str(tmp_path / "steer_machine.yaml"))
    result = simulate(again, scenarios.load(str(file), again))
    assert result.held
    assert result.columns["vx"][0] > 9.8  # it rolls from the start
    assert set(result.columns["in.vx_des"]) == {10.0}


def test_two_channels_at_once() -> None:
    car = subject("DELAY_STEER_VEL", ["sampling_time=20 ms"])
    asked = {"outputs": {"steer": 0.001, "vx": 0.05}, "limits": {"yaw": (-0.6, 0.6)}, "free": ("steer_time_constant", "vel_time_constant")}
    both = excite(car, inputs={"steer_des": (-0.3, 0.3), "vx_des": (0.0, 5.0)}, **asked, duration=4.0, dt=0.02, kinds=["steps"], generations=2)
    assert set(both.signals) == {"steer_des", "vx_des"}
    assert [row.verdict for row in both.expected] == ["well", "well"]
    one = excite(car, inputs={"steer_des": (-0.3, 0.3)}, **asked, duration=4.0, dt=0.02, kinds=["steps"], generations=2)
    assert one.expected[1].verdict == "unseen"  # nobody moved what it is about


def test_what_trades_off_is_named() -> None:
    F = np.array([[1e6, -1e6, 0.0], [-1e6, 1e6, 0.0], [0.0, 0.0, 1e4]])
    rows = expected(F, ["friction.c", "friction.b", "J"], ["N.m", "N.m.s/rad", "kg.m2"], np.ones(3))
    assert [row.verdict for row in rows] == ["unseen", "unseen", "well"]
    assert "trades off with friction.b" in rows[0].why
    assert rows[2].sd == pytest.approx(0.01, rel=1e-3)


def test_what_trades_off_is_seen_however_good_the_data_are() -> None:
    """Two columns differ by the error of finite differences alone, a third is independent; each by itself would be known to a millionth."""
    rng = np.random.default_rng(3)
    a, c = rng.standard_normal((2, 1000)) * 1e5
    J = np.stack([a, a * (1.0 + 1e-7 * rng.standard_normal(1000)), c], axis=1)
    rows = expected(J.T @ J, ["ratio", "k", "J"], ["-", "-", "-"], np.ones(3))
    assert [row.verdict for row in rows] == ["unseen", "unseen", "well"]
    assert np.isfinite(log_det(np.stack([J.T @ J] * 2))).all()
    good = J[:, [0, 2]].T @ J[:, [0, 2]]
    assert log_det(good[None])[0] == pytest.approx(np.linalg.slogdet(good)[1])
    assert covariance(good) == pytest.approx(np.linalg.inv(good), rel=1e-6)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"inputs": {"v": (-1.0, 1.0)}}, "no input channel of first_order named 'v'"),
        ({"inputs": None}, "how far may u go"),
        ({"outputs": {"y": -1.0}}, "above 0"),
        ({"free": ["R"]}, "no parameter of first_order named 'R'"),
        ({"limits": {"q": (-1.0, 1.0)}}, "no output of first_order named 'q'"),
        ({"limits": {"y": (5.0, 6.0)}}, "no signal was found that keeps the limits of y"),
        ({"kinds": ["noise"]}, "no kind of test signal"),
        ({"dt": 2.0}, "the tick must be above 0"),
        ({"margin": 1.0}, "margin"),
        ({"band": (5.0, 1.0)}, "band"),
    ],
)
def test_what_makes_no_sense_is_said(lag, change, says) -> None:
    with pytest.raises(PushrodError, match=says):
        excite(lag, **LAG | {"generations": 1} | change)


def test_a_parameter_that_is_zero_needs_a_guess() -> None:
    with pytest.raises(PushrodError, match="--set noise="):
        excite(subject("servo"), free=["noise"])


def test_noise_that_nobody_states_goes_by_the_largest_sweep_within_the_limits() -> None:
    joint = subject("plant:joint")  # which does not move at all below its friction
    asked = {"inputs": {"u": (-1.0, 1.0)}, "outputs": {"q": None, "w": 0.1}, "duration": 1.0, "kinds": ["chirp"], "generations": 1}
    free, tight = (excite(joint, **asked, limits={"q": (-most, most)}) for most in (100.0, 0.2))
    assert free.setup.outputs["w"] == tight.setup.outputs["w"] == 0.1
    assert 0.0 < tight.setup.outputs["q"] < free.setup.outputs["q"]
    assert "1 % of what a sweep does: q" in " ".join(tight.assumed)
    with pytest.raises(PushrodError, match="nothing that is measured moves, however far u may go"):
        excite(joint, **asked | {"inputs": {"u": (-0.05, 0.05)}, "outputs": None})


def test_ranges_as_people_write_them() -> None:
    assert read_range("90 deg", "rad", "") == pytest.approx((-np.pi / 2, np.pi / 2))
    assert read_range("-20..30 deg", "rad", "") == pytest.approx((np.radians(-20), np.radians(30)))
    assert read_range("-1e-3..2", "m", "") == (-1e-3, 2.0)
    assert read_range("0.1 Hz..2000 mHz", "Hz", "") == (0.1, 2.0)
    for text in ("3..1", "-2", "1 kg", "a..b"):
        with pytest.raises(PushrodError):
            read_range(text, "m", "--limit")


def test_a_machine_file_with_a_value_over_it_from_the_shell(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m.yaml").write_text("machine: valve\nworld: model:first_order\nparameters: {T: 0.2}\n")
    ask = ["excite", "m.yaml", "--input", "u=1", "--output", "y=0.01", "--duration", "1", "--generations", "1", "--set", "T=50 ms"]
    got = CliRunner().invoke(app, [*ask, "--out", "tests/one.yaml", "--json"])
    assert got.exit_code == 0, got.output
    told = json.loads(got.stdout)
    assert told["parameters"]["T"]["value"] == 0.05
    assert told["try"] == "pushrod run m.yaml tests/one.yaml --set 'T=50 ms'"
    assert CliRunner().invoke(app, ["check", "tests/one.yaml"]).exit_code == 0  # it finds its machine from where it lies
    assert CliRunner().invoke(app, [*shlex.split(told["try"])[1:], "--no-log"]).exit_code == 0


ONE_LINE = [{"a": 1e-5, "b": [1.5, -2, True], "c": {"d": "50 ms", "e": "yes", "f": "a b"}}, "", "a: b", 'say "x"', "null ", None, 3]


@pytest.mark.parametrize("data", ONE_LINE)
def test_data_on_one_line_reads_back(data) -> None:
    assert YAML(typ="safe").load(f"x: {flow(data)}")["x"] == data


def test_a_model_by_itself_from_the_shell(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "130")
    ask = ["excite", "model:first_order", "--input", "u=1", "--output", "y=0.01", "--duration", "1", "--generations", "1", "--set", "T=50 ms"]
    got = CliRunner().invoke(app, [*ask, "--json"])
    assert got.exit_code == 0, got.output
    told = json.loads(got.stdout)
    assert told["parameters"]["T"]["verdict"] == "well"
    assert told["try"] == "pushrod run excite_first_order_machine.yaml excite_first_order.yaml"
    assert CliRunner().invoke(app, [*told["try"].split()[1:], "--no-log"]).exit_code == 0
    again = CliRunner().invoke(app, ask)
    assert again.exit_code == 2
    assert "there already" in again.output
    wrong = CliRunner().invoke(app, [*ask, "--limit", "y=1 kg", "--out", "b.yaml"])
    assert wrong.exit_code == 2
    assert "kg" in wrong.output
