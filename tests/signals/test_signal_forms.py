"""The ways to write a channel, what is refused, and the schema."""

import json
import math
import re
import warnings

import pytest

from pushrod.core.errors import SignalError, SignalWarning
from pushrod.signals import parse, schema, value

SHORT = [{"at": 1, "for": 2, "linear": [0.5, 3]}, {"at": 4, "until": 6, "quadratic": {"y_start": 1, "y_mid": 5, "t_mid": 4.5, "y_end": 2}}]
TYPED = [
    {"type": "linear", "t_start": 1.0, "t_end": 3.0, "y_start": 0.5, "y_end": 3.0},
    {"type": "quadratic", "t_start": 4.0, "t_end": 6.0, "t_mid": 4.5, "y_start": 1.0, "y_mid": 5.0, "y_end": 2.0},
]
PARAMETERS = {"num_intervals": 2, "interval_0": TYPED[0], "interval_1": TYPED[1]}


def test_all_forms_of_one_signal_are_equal():
    assert parse("x", SHORT) == parse("x", TYPED) == parse("x", PARAMETERS) == parse("x", {"sum": [SHORT]})
    assert parse("x", SHORT[0]) == parse("x", TYPED[0]) == parse("x", SHORT[:1])


def test_further_kinds_read_the_same_by_type():
    typed = {"num_intervals": 1, "interval_0": {"type": "chirp", "t_start": 1, "t_end": 9, "amplitude": 2, "f_start": 1, "f_end": 3}}
    assert parse("x", typed) == parse("x", {"at": 1, "until": 9, "chirp": [2, 1, 3]})
    assert parse("x", {"type": "steps", "t": [0, 1], "y": [1, 2]}) == parse("x", {"steps": [[0, 1], [1, 2]]})


def test_parameters_left_out_are_zero():
    y = parse("x", {"num_intervals": 1, "interval_0": {"type": "linear", "t_end": 2.0, "y_end": 4.0}})
    assert value(y, 1.0) == 2.0
    y = parse("x", {"num_intervals": 1, "interval_0": {"y_start": 4.0, "t_end": 1.0}})
    assert value(y, 0.5) == 4.0
    assert value(parse("x", {"num_intervals": 0}), 1.0) == value(parse("x", {}), 1.0) == value(parse("x", []), 1.0) == 0.0


def test_an_unknown_type_warns_and_is_constant():
    with pytest.warns(SignalWarning, match=r"x\.interval_0.*'Linear'.*did you mean 'linear'.*constant") as caught:
        y = parse("x", {"num_intervals": 1, "interval_0": {"type": "Linear", "t_end": 2.0, "y_start": 1.0, "y_end": 3.0, "bend": 1}})
    assert caught[0].message.kind == "unknown_type"
    assert caught[0].filename == __file__
    assert [value(y, t) for t in (0.0, 1.0, 3.0)] == [1.0, 1.0, 1.0]


def test_more_than_max_intervals_warns_and_reads_the_first():
    many = {"num_intervals": 12} | {f"interval_{k}": {"t_start": k, "t_end": k + 1, "y_start": k} for k in range(12)}
    with pytest.warns(SignalWarning, match="12 intervals.*max_intervals = 10"):
        y = parse("x", many)
    assert value(y, 50.0) == 9.0
    assert value(parse("x", many, max_intervals=12), 50.0) == 11.0
    with pytest.warns(SignalWarning, match="max_intervals = 1"):
        y = parse("x", SHORT, max_intervals=1)
    assert value(y, 50.0) == 3.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parse("x", [{"at": k, "constant": k} for k in range(50)])


def test_an_interval_beyond_num_intervals_is_pointed_out():
    with pytest.warns(SignalWarning, match=r"x\.interval_1 is not read"):
        assert parse("x", PARAMETERS | {"num_intervals": 1}) == parse("x", SHORT[:1])


def interval(**fields):
    return {"num_intervals": 1, "interval_0": {"type": "linear", "t_start": 0.0, "t_end": 1.0} | fields}


BAD = [
    (interval(t_end=-1.0), "reversed_interval", r"x\.interval_0\.t_end = -1\.0 s lies before its start at 0\.0 s"),
    (interval(t_end=0.0), "degenerate", r"x\.interval_0\.t_end = 0\.0 equals t_start"),
    (interval(type="quadratic", t_mid=0.0), "degenerate", r"x\.interval_0\.t_mid = 0\.0 falls together with t_start"),
    (interval(type="quadratic", t_mid=1.0), "degenerate", r"x\.interval_0\.t_mid = 1\.0 falls together with t_end"),
    (interval(y_end=math.nan), "not_finite", r"x\.interval_0\.y_end = nan is not a finite number"),
    (interval(t_start=-math.inf), "not_finite", r"x\.interval_0\.t_start = -inf is not a finite number \[s\]"),
    (interval(type="constant", t_mid=math.nan), "not_finite", r"x\.interval_0\.t_mid = nan"),
    (interval(y_end="3"), "malformed", r"x\.interval_0\.y_end = '3' is not a number"),
    (interval(y_end=True), "malformed", r"x\.interval_0\.y_end = True is not a number"),
    (interval(y_ende=1.0), "unknown_field", r"x\.interval_0\.y_ende = 1\.0 is not understood.*did you mean 'y_end'"),
    (interval(type=3), "malformed", r"x\.interval_0\.type = 3"),
    ({"num_intervals": -1}, "malformed", r"x\.num_intervals = -1"),
    ({"num_intervals": 2, "interval_0": {}}, "missing", r"x\.num_intervals = 2 promises interval_1"),
    ({"num_intervals": 1, "interval_0": 5}, "malformed", r"x\.interval_0 = 5 is not an interval"),
    ({"num_interval": 1, "interval_0": {}}, "unknown_field", r"x\.num_interval = 1.*did you mean 'num_intervals'"),
    ([{"at": 0, "for": 2, "constant": 1}, {"at": 1, "constant": 2}], "overlap", r"x\[1\]\.at = 1\.0 s lies within x\[0\], .* 0\.0 s to 2\.0 s"),
    ([{"at": 0, "for": 9, "constant": 1}, {"at": 3, "for": 0, "constant": 2}], "overlap", r"x\[1\]\.at = 3"),
    ([{"at": 0, "constant": 1}, {"at": 0, "constant": 2}], "overlap", r"x\[1\]\.at = 0\.0 s lies within x\[0\]"),
    ([{"at": 1, "linear": [0, 1]}], "missing", r"x\[0\]: linear has no end; give `until` or `for`"),
    ([{"at": 1, "constant": 1}, {"constant": 2}], "missing", r"x\[1\].*needs `at`"),
    ([{"at": 5, "until": 4, "constant": 1}], "reversed_interval", r"x\[0\]\.until = 4\.0 s lies before its start at 5\.0 s"),
    ([{"for": -1, "constant": 1}], "out_of_range", r"x\[0\]\.for = -1\.0.*\[0, inf\] s"),
    ([{"for": 1, "until": 2, "constant": 1}], "malformed", r"x\[0\]\.for = 1 and `until`"),
    ([{"for": 0, "chirp": [1, 1, 2]}], "degenerate", r"x\[0\]\.for = 0\.0 equals t_start"),
    ([{"cosine": [1, 1]}], "unknown_field", r"x\[0\]\.cosine.*did you mean 'sine'"),
    ([{"at": 1}], "missing", r"x\[0\].*exactly one kind"),
    ([{"sine": [1, 1], "constant": 1}], "missing", r"x\[0\].*exactly one kind"),
    ({"sine": {"amplitude": 1}}, "missing", r"x\.sine.*lacks frequency"),
    ({"sine": {"amplitude": 1, "frequency": -2}}, "out_of_range", r"x\.sine\.frequency = -2\.0.*\[0, 1e\+06\] Hz"),
    ({"sine": {"amplitude": 1, "frequency": 2, "for": 1}}, "unknown_field", r"x\.sine\.for"),
    ({"sine": [1, 2, 3, 4, 5]}, "malformed", r"x\.sine = \[1, 2, 3, 4, 5\].*by name"),
    (
        {"for": 1, "chirp": {"amplitude": 1, "f_start": 0, "f_end": 1, "sweep": "logarithmic"}},
        "malformed",
        r"x\.chirp\.f_start = 0\.0 has no logarithm",
    ),
    (
        {"for": 1, "chirp": {"amplitude": 1, "f_start": 0, "f_end": 1, "sweep": "log"}},
        "malformed",
        r"x\.chirp\.sweep = 'log' is none of linear, logarithmic",
    ),
    ({"prbs": {"dwell": 0.1, "order": 2.5}}, "malformed", r"x\.prbs\.order = 2\.5 is not a whole number"),
    ({"prbs": {"dwell": 0.1, "order": 40}}, "out_of_range", r"x\.prbs\.order = 40\.0.*\[2, 16\]"),
    ({"ramp_hold": {"levels": [1], "ramp": 1}}, "malformed", r"x\.ramp_hold\.levels = \[1\.0\] needs at least two"),
    ({"steps": [[0, 1], [0, 2]]}, "malformed", r"x\.steps\.t\[1\] = 0\.0 does not lie after t\[0\] = 0\.0 s"),
    ({"steps": [[0, 1], [1]]}, "malformed", r"x\.steps\[1\] = \[1\] is not a pair"),
    ({"recorded": {"t": [0, 1], "y": [1]}}, "malformed", r"x\.recorded\.y = '1 values' does not match the 2 times"),
    ({"recorded": {"t": [0, math.nan], "y": [1, 2]}}, "not_finite", r"x\.recorded\.t\[1\] = nan"),
    ({"recorded": {"t": 5, "y": [1]}}, "malformed", r"x\.recorded\.t = 5 is not a list of numbers \[s\]"),
    ({"recorded": []}, "malformed", r"x\.recorded\.t = \[\] holds no points"),
    ({"recorded": {"file": "x.csv", "t": [1]}}, "malformed", r"x\.recorded\.t = \[1\] and `file` are both given"),
    ({"at": 1e308, "for": 1e308, "constant": 1.0}, "not_finite", r"x\.for = inf s is too near or too far"),
    ({"for": 1e-320, "chirp": [1, 2, 3]}, "not_finite", r"x\.for = .* too near or too far to reckon a chirp"),
    ({"constant": 10**400}, "not_finite", r"x\.constant\.y_start = inf is not a finite number"),
    ({"num_intervals": 0, None: 1}, "unknown_field", r"x\.None = 1 is not understood"),
    ({"constant": [[[[[[[[[0]]]]]]]]]}, "malformed", r"x\.constant\.y_start = \[\[\[\[\[\.\.\.\]\]\]\]\] is not a number"),
    ({"recorded": {"file": "a\0b"}}, "malformed", r"x\.recorded\.file = .* cannot be read: embedded null"),
    ({"recorded": {"file": "is_not_there.csv"}}, "malformed", r"x\.recorded\.file = 'is_not_there\.csv' cannot be read"),
    ({"sum": [1, {"sum": [1]}]}, "malformed", r"x\.sum\[1\].*sum within a sum"),
    ({"sum": [1], "sine": [1, 1]}, "malformed", r"x\.sum.*stand alone"),
    ({"sum": [1, [{"at": 0, "for": 1, "linear": [0, math.inf]}]]}, "not_finite", r"x\.sum\[1\]\[0\]\.linear\.y_end = inf"),
    (math.nan, "not_finite", r"x = nan"),
    (None, "malformed", r"x = None is not a signal; write"),
    (True, "malformed", r"x = True is not a signal"),
    ([1, 2], "malformed", r"x\[0\] = 1 is not an interval"),
]


@pytest.mark.parametrize(("data", "kind", "text"), BAD, ids=[re.sub(r"\W+", "_", text)[:50] for _, _, text in BAD])
def test_bad_input_is_named_by_channel_interval_field_and_value(data, kind, text):
    with pytest.raises(SignalError, match="signal " + text) as caught:
        parse("x", data)
    assert caught.value.kind == kind


def test_the_path_of_an_error_leads_into_the_data():
    with pytest.raises(SignalError) as caught:
        parse("x", {"sum": [1, [{"at": 0, "for": 1, "linear": {"y_end": "no"}}]]})
    assert caught.value.path == ("sum", 1, 0, "linear", "y_end")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "column names"),
        ("t,y\n0,1\n1,two\n", "row 3, column 2"),
        ("t,y\n0,1\n1\n", "row 3, column 2"),
        ("t,speed\n0,1\n", "did you mean|known: speed, t"),
    ],
)
def test_a_bad_file_is_named_with_row_and_column(tmp_path, text, words):
    (tmp_path / "run.csv").write_text(text)
    with pytest.raises(SignalError, match=words):
        parse("x", {"recorded": {"file": "run.csv", "t_column": "t", "y_column": "y"}}, folder=tmp_path)


# A reader of the part of JSON Schema that `schema` uses, so that the schema is tested for what it lets through.
def fits(data, rule, root):
    if "$ref" in rule:
        target = root
        for part in rule["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        return fits(data, target, root)
    if "anyOf" in rule and not any(fits(data, option, root) for option in rule["anyOf"]):
        return False
    types = {"number": (int, float), "integer": int, "string": str, "array": list, "object": dict}
    if "type" in rule and (not isinstance(data, types[rule["type"]]) or isinstance(data, bool)):
        return False
    if data != rule.get("const", data) or data not in rule.get("enum", [data]):
        return False
    if isinstance(data, (int, float)) and not rule.get("minimum", -math.inf) <= data <= rule.get("maximum", math.inf):
        return False
    if isinstance(data, list):
        ok = rule.get("minItems", 0) <= len(data) <= rule.get("maxItems", math.inf)
        return ok and all(fits(item, rule.get("items", {}), root) for item in data)
    if isinstance(data, dict):
        for key, item in data.items():
            rules = [rule.get("properties", {})[key]] if key in rule.get("properties", {}) else []
            rules += [sub for pattern, sub in rule.get("patternProperties", {}).items() if re.search(pattern, key)]
            if not rules and rule.get("additionalProperties") is False:
                return False
            if not all(fits(item, sub, root) for sub in rules):
                return False
        return all(key in data for key in rule.get("required", ()))
    return True


GOOD = [
    0.3,
    SHORT,
    TYPED,
    PARAMETERS,
    {"sine": {"amplitude": 0.1, "frequency": 0.5, "phase": 1}},
    {"at": 3, "sine": [0.1, 0.5]},
    {"for": 5, "chirp": {"amplitude": 1, "f_start": 1, "f_end": 2, "sweep": "logarithmic"}},
    [{"at": 0, "constant": 1}, {"at": 2, "linear": [1, 3]}, {"at": 4, "prbs": 0.1}],
    {"steps": [[0, 1], [2, 3]]},
    {"steps": {"t": [0, 2], "y": [1, 3], "initial": 2}},
    {"recorded": {"t": [0, 1], "y": [3, 4], "between": "held"}},
    {"ramp_hold": {"levels": [0, 1], "ramp": 1}},
    {"sum": [1, SHORT, {"sine": [1, 1]}]},
    {"num_intervals": 0},
]


@pytest.mark.parametrize("data", GOOD, ids=lambda data: json.dumps(data)[:40])
def test_what_is_read_fits_the_schema(data):
    parse("x", data)
    assert fits(data, schema(), schema())
    moved = {"$defs": {"signal": schema("#/$defs/signal")}}
    assert fits(data, {"$ref": "#/$defs/signal"}, moved)


@pytest.mark.parametrize(
    "data",
    [
        None,
        "1",
        {"sine": {"amplitude": 1}},
        {"sine": {"amplitude": 1, "frequency": -1}},
        {"cosine": [1, 1]},
        [1, 2],
        {"sum": 1},
        {"sum": [{"sum": [1]}]},
        {"at": 1},
        {"for": 5, "chirp": {"amplitude": 1, "f_start": 1, "f_end": 2, "sweep": "log"}},
        {"type": "linear", "y_ende": 1},
        {"num_intervals": -1},
    ],
    ids=str,
)
def test_what_is_refused_does_not_fit_the_schema(data):
    with pytest.raises(SignalError):
        parse("x", data)
    assert not fits(data, schema(), schema())


def test_the_schema_is_plain_data():
    assert json.loads(json.dumps(schema(), allow_nan=False)) == schema()
