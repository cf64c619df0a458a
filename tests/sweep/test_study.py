"""A study file is read as a whole: all that is wrong is told by its line, and what was meant by shares of the nominal value is what is drawn."""

import re

import numpy as np
import pytest

from pushrod.core.errors import ConfigError, UnknownNameError
from pushrod.sweep import study as studies
from pushrod.sweep.draw import draw
from small_study import STUDY, small


def edited(*pairs):
    text = STUDY
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


WRONG = {
    "a machine that is not there": (
        "machine: servo",
        "machine: serwo",
        "small.yaml:3: machine: there is no machine named 'serwo'; did you mean 'servo'?",
    ),
    "a scenario that is not there": ("[short.yaml]", "[nope.yaml]", "small.yaml:4: scenarios[0]: there is no file"),
    "no runs": ("runs: 200\n", "", "small.yaml:2: runs is missing: say how many samples"),
    "too many runs": ("runs: 200", "runs: 0", "small.yaml:5: runs: Expected int >= 1"),
    "runs that are no number": ("runs: 200", "runs: many", "small.yaml:5: runs: must be a whole number, got text 'many'"),
    "a design that is none": ("design: lhs", "design: monte", "small.yaml:6: design: there is no design named 'monte'"),
    "an unknown parameter": ("lag.T:", "lag.tau:", "vary.lag.tau: there is no parameter or initial state named 'lag.tau'; did you mean 'lag.T'"),
    "no distribution": ("{uniform: [2 ms, 12 ms]}", "{levels: 3}", "vary.bus.delay: give one distribution, of uniform, log_uniform"),
    "an unknown distribution": ("{uniform: [2 ms, 12 ms]}", "{gauss: [2 ms, 12 ms]}", "vary.bus.delay.gauss: unknown key"),
    "a wrong unit": ("[2 ms, 12 ms]", "[2 m, 12 ms]", "vary.bus.delay.uniform[0]: '2 m' is in m, which cannot be turned into s"),
    "ends the wrong way round": ("[2 ms, 12 ms]", "[12 ms, 2 ms]", "vary.bus.delay.uniform: must rise: lowest and highest value, got 0.012, 0.002 s"),
    "beyond the legal range": ("[0.1, 0.5]", "[0.1, 11]", "vary.noise.uniform[1]: 11 N.m is outside the legal range of noise; allowed [0, 10] N.m"),
    "mostly beyond it": (
        "{uniform: [0.1, 0.5]}",
        "{normal: {mean: 0.1, sd: 0.1}}",
        "15.9 % of it lie outside the legal range of noise, allowed [0, 10] N.m",
    ),
    "a share of nothing": ("[0.1, 0.5]", "[50 %, 150 %]", "'50 %' is a share of the nominal value, which is 0; give a value of its own"),
    "a spread of nothing": ("sd: 20 %", "sd: 0", "vary.lag.T.normal.sd: must be greater than 0, got 0"),
    "factors of nothing": ("{uniform: [0.1, 0.5]}", "{log_uniform: [0, 0.5]}", "goes by factors, so that both ends must be greater than 0, got 0"),
    "a signal that is not there": ("signal: w, metric: max}", "signal: v, metric: max}", "metrics.peak.signal: there is no signal named 'v'"),
    "a metric of whole runs": (
        "signal: w, metric: max}",
        "signal: w, metric: overshoot, to: q}",
        "metrics.peak.metric: overshoot looks at a whole run",
    ),
    "two signals for one": ("signal: w, metric: max}", "signal: w, metric: max, to: q}", "metrics.peak.to: metric max is of one signal"),
    "a window after the end": ("until: 0.09 s", "from: 0.2 s", "metrics.end.from: from 0.2 s is after the end of the run at 0.1 s"),
    "a window between two ticks": (
        "until: 0.09 s",
        "from: 0.0502 s, until: 0.0508 s",
        "metrics.end: no tick of the scenario short ends from 0.0502 s",
    ),
    "a name of a column": ("peak:", "sample:", "metrics.sample: 'sample' is the name of another column"),
    "a criterion of nothing": (
        "{metric: error,",
        "{metric: eror,",
        "pass[0].metric: there is no metric of this study named 'eror'; did you mean 'error'?",
    ),
    "a criterion that says nothing": (", below: 0.25 N.m}", "}", "pass[0]: says nothing: give `below`, `above`, or `near` and `within`"),
    "a grid without levels": ("design: lhs", "design: grid", "vary.bus.delay: a grid needs to know its levels: add `levels: 5` here"),
    "an unknown key": ("seed: 7", "sead: 7", "small.yaml:7: sead: unknown key; did you mean 'seed'?"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_told_by_its_line(tmp_path, name):
    old, new, told = WRONG[name]
    with pytest.raises(ConfigError) as e:
        small(tmp_path, edited((old, new)))
    assert any(told in problem for problem in e.value.problems), e.value.problems


def test_all_that_is_wrong_is_told_at_once(tmp_path):
    names = ("an unknown parameter", "a wrong unit", "a signal that is not there", "a criterion that says nothing", "an unknown key")
    with pytest.raises(ConfigError) as e:
        small(tmp_path, edited(*((WRONG[name][0], WRONG[name][1]) for name in names)))
    assert [problem for problem in e.value.problems if all(WRONG[name][2] not in problem for name in names)] == []
    assert len(e.value.problems) == len(names)


def test_what_a_machine_has_against_it_is_told_with_its_own_line(tmp_path):
    (tmp_path / "mine.yaml").write_text("machine: mine\nworld: servo\nparameters: {lag: {T: -1}}\n")
    with pytest.raises(ConfigError, match=r"small.yaml:3: machine: .*mine.yaml:3: parameters.lag.T: -1 s is outside"):
        small(tmp_path, edited(("machine: servo", "machine: mine.yaml")))


def test_a_study_that_is_not_there():
    with pytest.raises(UnknownNameError, match="there is no study named 'servo'; did you mean 'servo_tolerance'?"):
        studies.load("servo")


def test_a_normal_that_is_cut_off_is_noted(tmp_path):
    study = small(tmp_path, edited(("{uniform: [0.1, 0.5]}", "{normal: {mean: 0.2, sd: 0.1}}")))
    (note,) = study.notes
    assert "small.yaml:13: noise: 2.3 % of the normal lie outside the legal range ([0, 10] N.m) and are cut off" in note
    assert draw(study, 0, 200)["noise"].min() >= 0.0


def test_shares_are_of_the_nominal_value_after_what_was_set(tmp_path):
    study = small(tmp_path, edited(("[2 ms, 12 ms]", "[50 %, 150 %]")), overrides=["bus.delay=6 ms", "lag.T=0.1"])
    drawn = draw(study, 0, study.runs)
    assert (drawn["bus.delay"].min(), drawn["bus.delay"].max()) == pytest.approx((0.003, 0.009), abs=1e-4)
    assert drawn["lag.T"].mean() == pytest.approx(0.1, rel=0.01)
    assert drawn["lag.T"].std() == pytest.approx(0.02, rel=0.05)


def test_lines_are_as_long_as_the_longest_delay_needs(tmp_path):
    study = small(tmp_path, edited(("[2 ms, 12 ms]", "[2 ms, 90 ms]")))
    assert study.cases[0].world is not small(tmp_path).cases[0].world


def test_a_grid_has_every_level_with_every_other(tmp_path):
    text = edited(
        ("design: lhs", "design: grid\nlevels: 2"), ("runs: 200\n", ""), ("{uniform: [2 ms, 12 ms]}", "{uniform: [2 ms, 12 ms], levels: 3}")
    )
    study = small(tmp_path, edited_text(text, "{uniform: [0.1, 0.5]}", "{discrete: [0.1, 0.2, 0.4, 0.5]}"))
    assert study.runs == 3 * 2 * 2 * 4 * 2
    drawn = draw(study, 0, study.runs)
    assert len(set(zip(*drawn.values(), strict=True))) == study.runs
    assert sorted(set(drawn["bus.delay"])) == pytest.approx([0.002, 0.007, 0.012])
    assert np.array_equal(draw(study, 17, 40)["noise"], drawn["noise"][17:40])
    with pytest.raises(ConfigError, match="the grid has 96 samples, got 5; leave `runs` out"):
        small(tmp_path, edited_text(text + "runs: 5\n", "{uniform: [0.1, 0.5]}", "{discrete: [0.1, 0.2, 0.4, 0.5]}"))


def edited_text(text, old, new):
    assert old in text
    return text.replace(old, new)


CAR = """
study: faults
machine: car
scenarios: [car_fault]
runs: 50
vary:
  faults.steer.at: {uniform: [5 s, 7 s]}
  faults.steer.kind: {discrete: [none, stuck], weights: [1, 3]}
  initial.vehicle.vx: {uniform: [0, 1]}
metrics: {speed: {signal: speed, metric: max}}
"""


def test_faults_and_states_at_the_start_vary_like_any_parameter(tmp_path):
    drawn = draw(small(tmp_path, CAR), 0, 50)
    kinds, counts = np.unique(drawn["faults.steer.kind"], return_counts=True)
    assert kinds.tolist() == [0.0, 1.0]
    assert counts.tolist() == pytest.approx([12.5, 37.5], abs=1)
    with pytest.raises(ConfigError, match="faults.steer.kind is a choice .*: only `discrete` fits"):
        small(tmp_path, CAR.replace("{discrete: [none, stuck], weights: [1, 3]}", "{uniform: [0, 1]}"))
    with pytest.raises(ConfigError, match="vary.faults.steer.at: reaches 1000, where in the scenario car_fault .* the fault would never be active"):
        small(tmp_path, CAR.replace("[5 s, 7 s]", "[5 s, 1000 s]"))


def test_a_scenario_that_commands_actuators_cannot_be_studied(tmp_path):
    text = CAR.replace("machine: car", "machine: arm").replace("[car_fault]", "[arm_default]")
    with pytest.raises(ConfigError, match="the scenario arm_default commands actuators, so that it runs through the runtime"):
        small(tmp_path, text[: text.index("vary:")] + "vary: {}\nmetrics: {}\n")


GROUP = """correlated:
      mean: {bus.delay: 7 ms, lag.T: nominal}
      sd: {bus.delay: 1 ms, lag.T: 10 %}
      correlation: [[1, 0.9], [0.9, 1]]
"""


def grouped(group):
    head, rest = STUDY[: STUDY.index("  bus.delay")], STUDY[STUDY.index("  body.J") :]
    return f"{head}  drive:\n    {group}{rest}"


def test_parameters_that_vary_together(tmp_path):
    study = small(tmp_path, grouped(GROUP))
    drawn = draw(study, 0, 200)
    assert list(drawn) == ["bus.delay", "lag.T", "body.J", "noise", "initial.drive.body.w"]
    assert np.corrcoef(drawn["bus.delay"], drawn["lag.T"])[0, 1] == pytest.approx(0.9, abs=0.05)
    assert drawn["lag.T"].std() == pytest.approx(0.002, rel=0.1)
    with pytest.raises(ConfigError, match="`correlation` is none"):
        small(tmp_path, grouped(GROUP.replace("[0.9, 1]", "[0.8, 1]")))
    with pytest.raises(ConfigError, match="bus.delay varies twice"):
        small(tmp_path, grouped(GROUP).replace("  body.J", "  bus.delay: {uniform: [1 ms, 2 ms]}\n  body.J"))


FIT = """machine: servo_fit
world: servo
parameters: {lag: {T: 0.03}, bus: {delay: 0.005}}
uncertainty:
  sd: {lag.T: 0.001, bus.delay: 0.0002}
  correlation: [[1, -0.7], [-0.7, 1]]
"""


def test_the_errors_of_a_fit_are_drawn_from(tmp_path):
    (tmp_path / "fit.yaml").write_text(FIT)
    drawn = draw(small(tmp_path, grouped("fit: fit.yaml\n")), 0, 200)
    assert drawn["lag.T"].mean() == pytest.approx(0.03, rel=0.01)
    assert drawn["lag.T"].std() == pytest.approx(0.001, rel=0.1)
    assert np.corrcoef(drawn["bus.delay"], drawn["lag.T"])[0, 1] == pytest.approx(-0.7, abs=0.1)
    wide = draw(small(tmp_path, grouped("fit: fit.yaml\n    scale: 3\n")), 0, 200)
    assert wide["lag.T"].std() == pytest.approx(0.003, rel=0.1)
    (tmp_path / "fit.yaml").write_text(FIT[: FIT.index("uncertainty")])
    with pytest.raises(ConfigError, match="has no `uncertainty` with the errors of a fit"):
        small(tmp_path, grouped("fit: fit.yaml\n"))


UNINFORMED = """machine: servo_fit
world: servo
parameters: {lag: {T: 0.03}, noise: 0, body: {J: 0.02, b: 0}, ramp: {rise: 50}}
uncertainty:
  sd: {lag.T: 0.001, noise: 0.288675, body.J: 3, body.b: 0.01, ramp.rise: 14.4}
  correlation:
    - [1, 0, 0, 0, 0.6]
    - [0, 1, 0, 0, 0]
    - [0, 0, 1, 0, 0]
    - [0, 0, 0, 1, 0]
    - [0.6, 0, 0, 0, 1]
  range:
    noise: {low: 0, high: 1, informed: false}
    body.J: {low: 0.001, high: 10, informed: false, scale: log, size: 0.02}
    body.b: {low: 0, high: 100, informed: true}
    ramp.rise: {low: 40, high: 60, informed: false}
"""


def test_what_a_fit_is_not_informed_of_is_drawn_from_its_range(tmp_path):
    (tmp_path / "fit.yaml").write_text(UNINFORMED)
    others = re.compile(r"  (body\.J|noise): .*\n")
    study = small(tmp_path, others.sub("", grouped("fit: fit.yaml\n")))
    drawn = draw(study, 0, 200)
    assert [drawn["noise"].min() < 0.02, drawn["noise"].max() > 0.98] == [True, True]
    assert drawn["noise"].mean() == pytest.approx(0.5, abs=0.01), "any value in its range, not half a normal at its guess"
    assert np.log10(drawn["body.J"]).mean() == pytest.approx(-1.0, abs=0.03), "by factors where it was searched by factors"
    assert drawn["body.J"].min() >= 0.001
    assert drawn["body.b"].min() >= 0.0, "an estimate at an end of its range: a normal cut off there"
    assert drawn["body.b"].mean() == pytest.approx(0.01 * np.sqrt(2.0 / np.pi), rel=0.15)
    assert [drawn["ramp.rise"].min() >= 40.0, drawn["ramp.rise"].max() <= 60.0] == [True, True]
    assert np.corrcoef(drawn["ramp.rise"], drawn["lag.T"])[0, 1] > 0.4, "what goes with others still does"


@pytest.mark.parametrize("entry", ["1", "{low: 1}", "{low: 2, high: 1}", "{low: a, high: 1}"])
def test_a_range_that_is_none_is_refused(tmp_path, entry):
    (tmp_path / "fit.yaml").write_text(FIT + f"  range: {{lag.T: {entry}}}\n")
    with pytest.raises(ConfigError, match="the range of lag.T is not a mapping"):
        small(tmp_path, grouped("fit: fit.yaml\n"))
