"""Machine files: what they set, and that each mistake in one is answered with file, line and path."""

import re
import shutil
from pathlib import Path

import pytest

from pushrod.core.errors import ConfigError, UnknownNameError
from pushrod.sim import machine, scenario

HERE = Path(__file__).parent
HEAD = "machine: m\nworld: tiny_world.py:TINY\n"


@pytest.fixture
def load(tmp_path):
    shutil.copy(HERE / "tiny_world.py", tmp_path)

    def load_text(text, overrides=()):
        (tmp_path / "m.yaml").write_text(text)
        return machine.load(str(tmp_path / "m.yaml"), overrides, trust=True)

    return load_text


def problems(load, text, overrides=()):
    with pytest.raises(ConfigError) as raised:
        load(text, overrides)
    return list(raised.value.problems)


def test_parameters_are_set_and_the_rest_keeps_its_default(load):
    p = load(HEAD + "parameters: {lag: {T: 50 ms, angle_max: 90 deg}, inverted: true, mode: instant, curve: {y: [0, 50 %]}}").params
    assert p.lag.T == 0.05
    assert p.lag.angle_max == pytest.approx(1.5707963267948966, abs=0)
    assert (p.inverted, p.mode, p.curve.x, p.curve.y) == (1.0, 1.0, (0.0, 1.0), (0.0, 0.5))


def test_a_key_with_nothing_after_it_keeps_its_default(load):
    assert load(HEAD + "parameters:\ntrack:\nabout:\n").params.lag.T == 0.1


def test_exponents_are_numbers(load):
    assert load(HEAD + "parameters: {lag: {T: 5e-3}}").params.lag.T == 5e-3


def test_a_map_may_be_given_by_its_csv_file_beside_the_machine(load, tmp_path):
    (tmp_path / "map.csv").write_text("default,0,10,20\n0,0,0,0\n1,1,2,3\n")
    m = load(HEAD + "parameters: {map: map.csv}").params.map
    assert (m.row, m.col, m.z) == ((0.0, 1.0), (0.0, 10.0, 20.0), (0.0, 0.0, 0.0, 1.0, 2.0, 3.0))


def test_a_grid_may_be_written_row_by_row(load):
    assert load(HEAD + "parameters: {map: {z: [[1, 2], [3, 4]]}}").params.map.z == (1.0, 2.0, 3.0, 4.0)


def test_limits_of_a_tracked_pair_may_be_parameters_numbers_or_texts(load):
    text = HEAD + "track:\n  - {request: angle_req, achieved: angle_ach, limit: lag.angle_max, rate: 90 deg/s}\n"
    (pair,) = load(text + "parameters: {lag: {angle_max: 0.7}}").track
    assert (pair.low, pair.high, pair.rate) == (-0.7, 0.7, 1.5707963267948966)
    (pair,) = load(HEAD + "track: [{request: angle_req, achieved: angle_ach, limits: [-10 deg, 1]}]").track
    assert (pair.low, pair.high) == (-0.17453292519943295, 1.0)
    (pair,) = load(HEAD + "track: [{request: angle_req, achieved: angle_ach, when: {angle_req: 180 deg}, saturated: [angle_ach]}]").track
    assert (pair.when, pair.saturated) == ((("angle_req", 3.141592653589793),), ("angle_ach",))
    (first, *_) = machine.load("boat").track
    assert first.when == (("req.src", 1.0),)


@pytest.mark.parametrize(
    ("text", "line", "path", "what"),
    [
        ("parameterz: {}", 3, "parameterz", "did you mean 'parameters'"),
        ("parameters:\n  lagg: {T: 1}", 4, "parameters.lagg", "did you mean 'lag'"),
        ("parameters:\n  lag:\n    t: 1", 5, "parameters.lag.t", "unknown key; did you mean 'T'"),
        ("parameters: 5", 3, "parameters", "must be a mapping"),
        ("parameters:\n  lag: 5", 4, "parameters.lag", r"must be a mapping of Lag fields \(T, angle_max\), got a whole number 5"),
        ("parameters:\n  lag: {T: [1]}", 4, "parameters.lag.T", r"must be a number \[s\] or text with a unit, got a list"),
        ("parameters:\n  lag: {T: true}", 4, "parameters.lag.T", "got true$"),
        ("parameters:\n  lag: {T: .nan}", 4, "parameters.lag.T", "not a finite number"),
        ("parameters:\n  lag: {T: 99}", 4, "parameters.lag.T", r"99 s is outside its legal range; allowed \[0.001, 10\] s"),
        ("parameters:\n  lag: {T: 5 deg}", 4, "parameters.lag.T", "cannot be turned into s"),
        ("parameters:\n  lag: {T: 5 sek}", 4, "parameters.lag.T", "unknown unit 'sek'"),
        ("parameters:\n  inverted: maybe", 4, "parameters.inverted", "must be one of false, true"),
        ("parameters:\n  mode: instnt", 4, "parameters.mode", "did you mean 'instant'"),
        ("parameters:\n  mode: 2", 4, "parameters.mode", "must be one of lagged, instant"),
        ("parameters:\n  curve: {x: [1, 0]}", 4, "parameters.curve.x", "an axis must rise strictly"),
        ("parameters:\n  curve: {y: 3}", 4, "parameters.curve.y", "must be a list of numbers"),
        ("parameters:\n  map: nowhere.csv", 4, "parameters.map", "nowhere.csv: cannot be opened"),
        ('parameters:\n  map: "a\\0b"', 4, "parameters.map", "cannot be opened .*null"),
        ("parameters:\n  map: {z: [1, 2, 3]}", 4, "parameters.map.z", "its axes ask for"),
        ("about: 5", 3, "about", "must be text, got a whole number 5"),
        ("track: {}", 3, "track", "must be a list, got a mapping"),
        ("track:\n  - {request: angle_reg, achieved: angle_ach}", 4, r"track\[0\].request", "did you mean 'angle_req'"),
        ("track:\n  - {request: angle_req}", 4, r"track\[0\]", "achieved is missing"),
        ("track:\n  - request: angle_req\n    achieved: angle_ach\n    limit: lag.max", 6, r"track\[0\].limit", "no parameter named 'lag.max'"),
        ("track:\n  - request: angle_req\n    achieved: angle_ach\n    limit: 5 m", 6, r"track\[0\].limit", "cannot be turned into rad"),
        ("track:\n  - {request: angle_req, achieved: angle_ach, saturated: [full]}", 4, r"track\[0\].saturated\[0\]", "no signal named 'full'"),
        ("track:\n  - {request: angle_req, achieved: angle_ach, when: {who: 1}}", 4, r"track\[0\].when.who", "no signal named 'who'"),
        ("track:\n  - {request: angle_req, achieved: angle_ach, when: {angle_req: 5 m}}", 4, r"track\[0\].when.angle_req", "turned into rad"),
        ("machine: again", 3, "machine", "given twice"),
    ],
)
def test_a_mistake_is_answered_with_file_line_and_path(load, text, line, path, what):
    (problem,) = problems(load, HEAD + text)
    assert re.search(rf"m\.yaml:{line}: {path}: .*{what}", problem), problem


def test_all_mistakes_are_told_at_once_in_the_order_of_the_file(load):
    text = "parameters:\n  lag: {T: 99, angle_max: x}\n  mod: 1\ntrack: [{request: a, achieved: angle_ach}, {request: b}]\nabout: 3\n"
    found = problems(load, HEAD + text)
    assert [p.split(": ")[1] for p in found] == [
        "parameters.lag.T",
        "parameters.lag.angle_max",
        "parameters.mod",
        "track[1]",
        "track[0].request",
        "about",
    ]


def test_the_world_may_be_missing_unknown_or_broken(load, tmp_path):
    assert "world is missing" in problems(load, "machine: m\n")[0]
    assert re.search(r"m.yaml:2: world: there is no world named 'nope'; .*known:", problems(load, "machine: m\nworld: nope\n")[0])
    assert "there is no file" in problems(load, "machine: m\nworld: nope.py:X\n")[0]
    (tmp_path / "broken.py").write_text("import nothing_of_that_name\n")
    assert "broken.py cannot be imported: ModuleNotFoundError" in problems(load, "machine: m\nworld: broken.py:X\n")[0]
    assert re.search("did you mean 'TINY'", problems(load, "machine: m\nworld: tiny_world.py:TINYY\n")[0])


@pytest.mark.parametrize(
    ("text", "line"), [("a: [1", 1), ("a: b: c", 1), ("x: 1\n\ty: 2", 2), ("a: &x [*x]", 1), ("- a\n- b", 1), ("", 1), ("a: !python/object 3", 1)]
)
def test_what_is_not_a_yaml_mapping_is_told_by_line(load, text, line):
    assert re.search(rf"m\.yaml:{line}: ", problems(load, text)[0])


def test_a_missing_file_and_an_unknown_name_say_so(tmp_path):
    with pytest.raises(ConfigError, match="gone.yaml: cannot be read: No such file"):
        machine.load(str(tmp_path / "gone.yaml"))
    with pytest.raises(UnknownNameError, match=r"there is no machine named 'servoo'; did you mean 'servo'.*or give the path of a .yaml file"):
        machine.load("servoo")


def test_a_map_named_by_an_option_is_looked_for_in_the_current_folder(load, tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    (tmp_path / "here" / "map.csv").write_text("default,0,10\n0,0,0\n1,1,2\n")
    assert load(HEAD, ["map=map.csv"]).params.map.col == (0.0, 10.0)


def test_an_override_goes_over_the_file_and_is_named_where_it_is_wrong(load):
    assert load(HEAD + "parameters: {lag: {T: 1}}", ["lag.T=20 ms", "mode=instant"]).params.lag.T == 0.02
    assert problems(load, HEAD, ["lag.T=99"]) == ["--set lag.T=99: parameters.lag.T: 99 s is outside its legal range; allowed [0.001, 10] s"]
    assert "did you mean 'lag'" in problems(load, HEAD, ["lug.T=1"])[0]
    assert "--set PATH=VALUE" in problems(load, HEAD, ["lag.T"])[0]


def test_no_mistake_in_a_parameter_hides_another():
    wrong = ["act.sw.u_LR_max=20", "act.sw.u_s_min=3", "act.sw.u_bogus=1", "act.hw.u_LR_min=abc", "act.alloc.policy=FAST", "act.sw", "arm=-1 cm"]
    with pytest.raises(ConfigError) as caught:
        machine.load("boat", wrong)
    told = [text.partition(": ") for text in caught.value.problems]
    assert sorted(origin for origin, _, _ in told) == sorted(f"--set {text}" for text in [*wrong, "act.sw.u_LR_max=20"])
    said = "\n".join(what for _, _, what in told)
    for says in (
        "parameters.act.sw.u_LR_max: 20 is outside its legal range",
        "parameters.act.sw.u_LR_max: 20 lies above hw.u_LR_max = 1",
        "parameters.act.sw.u_s_min: 3 lies above sw.u_s_max = 1",
        "parameters.act.sw.u_bogus: unknown key",
        "'abc' is not a number",
        "must be one of ALLOC_SPEED_PRIORITY",
        "parameters.arm: -1 cm is outside its legal range",
    ):
        assert says in said


@pytest.mark.parametrize(("name", "says"), [("nope", "there is no scenario named 'nope'"), ("gone.yaml", "there is no file .*gone.yaml")])
def test_a_default_scenario_that_is_not_there_is_told_by_the_line_that_names_it(load, name, says):
    with pytest.raises(ConfigError, match=rf"m\.yaml:3: scenario: {says}"):
        scenario.load(None, load(f"{HEAD}scenario: {name}\n"))
