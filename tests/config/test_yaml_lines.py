"""Any text is a mapping with the lines of its values, or a ConfigError with a line."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counts import examples
from pushrod.config import yaml_file
from pushrod.core.errors import ConfigError


@settings(max_examples=examples(150))
@given(st.text(max_size=60))
def test_any_text_is_a_mapping_or_refused(text):
    try:
        assert isinstance(yaml_file.parse(text, "f.yaml").data, dict)
    except ConfigError as e:
        assert e.problems  # noqa: PT017
        assert all(problem.startswith("f.yaml:") for problem in e.problems)  # noqa: PT017


def test_lines_are_those_of_the_editor():
    document = yaml_file.parse("# a comment\na:\n  b: 1\n\n  c: [1,\n    2]\n'd': 4\n")
    lines = [document.line(path) for path in (("a",), ("a", "b"), ("a", "c", 1), ("d",), ("a", "gone"), ())]
    assert lines == [2, 3, 6, 7, 2, 2]


def test_half_a_character_is_refused():
    with pytest.raises(ConfigError, match=r"f.yaml:1: a: .* cannot be read"):
        yaml_file.parse('a: "\\ud800"', "f.yaml")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: 1\nb: \x07", r"f.yaml:2: not valid YAML: the character '\\x07' is not allowed"),
        ("a: 1\n\nb: " + "[" * 700, "f.yaml:3: nested too deeply"),
        ("a: 1\nb: " + "[" * 110 + "]" * 110, "f.yaml:2: b.*: nested more than 100 levels deep"),
        ("a: 1\n? [" + "[" * 99 + "]" * 99 + "]\n: 2", "f.yaml:2: .*a key must be text"),
        ("a: 1\nb: " + "9" * 400, "f.yaml:2: b: .* too large"),
    ],
)
def test_what_no_file_should_hold_is_refused_by_line(text, says):
    with pytest.raises(ConfigError, match=says):
        yaml_file.parse(text, "f.yaml")


def test_bytes_that_are_no_text_are_refused_by_line(tmp_path):
    (tmp_path / "f.yaml").write_bytes(b"a: 1\nb: \xff\n")
    with pytest.raises(ConfigError, match=r"f.yaml:2: cannot be read: byte \d+ is 0x[0-9a-f]+, which is no text in UTF-8"):
        yaml_file.load(tmp_path / "f.yaml")


def test_aliases_of_aliases_do_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr(yaml_file, "MOST", 1000)
    laughs = "".join(f"{y}: &{y} [*{x}, *{x}, *{x}]\n" for x, y in itertools.pairwise("abcdefghijklmnopqrstuvwxyz"))
    with pytest.raises(ConfigError, match="f.yaml:.: .*: the file holds more than 1000 values"):
        yaml_file.parse("a: &a [1, 1, 1]\n" + laughs, "f.yaml")
