"""Parameters: checked, changed all at once, told in order, kept in a file that is whole or is not used."""

import itertools
import json
import logging
import math
import os
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counts import examples
from pushrod.core.errors import ConfigError, ParameterError, PushrodError, UnknownNameError
from pushrod.robot import Actuator, Joint, Limits, Parameter, ParameterRef, Robot, Store, Transmission, references, resolve

DECLARED = (
    Parameter("motion.speed", float, 1.0, 0, 10, "m/s", "how fast"),
    Parameter("motion.effort", float, 5.0, 0, 100, "N.m"),
    Parameter("motion.steps", int, 3, 1, 9),
    Parameter("mode.quiet", bool, False),
    Parameter("mode.name", str, "slow"),
    Parameter("zero", float, unit="rad"),
)


def test_reading():
    store = Store(DECLARED)
    assert store.get("motion.speed") == 1.0
    assert store.snapshot() == {"motion.speed": 1.0, "motion.effort": 5.0, "motion.steps": 3, "mode.quiet": False, "mode.name": "slow"}
    with pytest.raises(ParameterError, match="zero: has no value yet: it was declared without a default; set it first"):
        store.get("zero")
    with pytest.raises(UnknownNameError, match=r"motion\.sped: unknown parameter.*did you mean 'speed'"):
        store.get("motion.sped")
    with pytest.raises(TypeError):
        store.snapshot()["motion.speed"] = 2.0


def test_listing():
    store = Store(DECLARED, startup={"mode.name": "fast"})
    assert [(e.parameter.path, e.value, e.source) for e in store.list("mode")] == [("mode.quiet", False, "init"), ("mode.name", "fast", "startup")]
    assert [e.parameter.path for e in store.list()] == [p.path for p in DECLARED]
    assert store.list("motion.speed") == (store.list()[0],)
    assert store.list("mot") == ()
    assert store.list("zero")[0].value is None


@pytest.mark.parametrize(
    ("path", "value", "why"),
    [
        ("motion.speed", -0.1, r"motion\.speed: must be at least 0\.0 m/s, got -0\.1"),
        ("motion.speed", "11 m/s", r"motion\.speed: must be at most 10\.0 m/s, got 11\.0"),
        ("motion.speed", math.nan, r"motion\.speed: must be a finite number \[m/s\], got nan"),
        ("motion.speed", math.inf, "must be a finite number"),
        ("motion.speed", True, r"must be a number \[m/s\], got true"),
        ("motion.speed", None, "must be a number"),
        ("motion.speed", 10**400, "must be a number"),
        ("motion.speed", "fast", "'fast' is not a number with a unit"),
        ("motion.speed", "3 s", "cannot be turned into m/s"),
        ("motion.steps", 2.0, "must be a whole number, got a number 2.0"),
        ("motion.steps", True, "must be a whole number"),
        ("motion.steps", 10, "must be at most 9, got 10"),
        ("mode.quiet", 1, "must be true or false, got a whole number 1"),
        ("mode.name", 3, "must be text, got a whole number 3"),
        ("mode.name", "\ud800", "must be text without half characters"),
    ],
)
def test_what_is_not_allowed_is_refused_and_nothing_changes(path, value, why):
    store = Store(DECLARED)
    before = store.snapshot()
    told = []
    store.watch("", told.append)
    with pytest.raises(ParameterError, match=why):
        store.set(path, value)
    with pytest.raises(ParameterError, match=why):
        store.set_many({"motion.effort": 7.0, path: value})
    assert store.snapshot() == before
    assert told == []


def test_whole_numbers_and_units_become_si():
    store = Store(DECLARED)
    store.set_many({"motion.speed": 3, "motion.effort": "50 N.cm", "zero": "90 deg"})
    assert store.snapshot() == {**Store(DECLARED).snapshot(), "motion.speed": 3.0, "motion.effort": 0.5, "zero": math.pi / 2}
    assert isinstance(store.get("motion.speed"), float)


def test_all_that_is_wrong_with_a_set_is_told():
    with pytest.raises(ParameterError) as e:
        Store(DECLARED).set_many({"motion.speed": -1, "motion.effort": 1, "nothing": 1, "motion.x": 1})
    assert [p.split(":")[0] for p in e.value.problems] == ["motion.speed", "nothing", "motion.x"]


def test_a_wrong_declaration_is_refused():
    with pytest.raises(ConfigError, match=r"parameters\.a\.lo: lo 2\.0 exceeds hi 1\.0"):
        Store([Parameter("a", float, 0, 2, 1)])


def test_watchers_are_told_once_for_all_of_a_set_and_see_it_whole():
    store = Store(DECLARED)
    told = []
    store.watch("motion", lambda changes: told.append((changes, store.get("motion.speed"), store.get("motion.effort"), store.get("mode.name"))))
    store.set_many({"motion.speed": 2.0, "mode.name": "x", "motion.effort": 6.0}, source="remote")
    changes = (("motion.speed", 1.0, 2.0, "remote"), ("motion.effort", 5.0, 6.0, "remote"))
    assert told == [(changes, 2.0, 6.0, "x")]
    store.set("mode.quiet", True)
    assert len(told) == 1


def test_who_watches_a_prefix_is_not_told_of_its_namesake():
    store = Store([Parameter("mot", float, 0), Parameter("motion.a", float, 0)])
    told = []
    store.watch("mot", told.append)
    store.set("motion.a", 1.0)
    assert told == []
    store.set("mot", 1.0)
    assert len(told) == 1


def test_who_has_cancelled_is_told_nothing_even_within_a_notification():
    store = Store(DECLARED)
    told = []
    cancels = []
    store.watch("", lambda changes: cancels[0]())
    cancels.append(store.watch("", told.append))
    store.set("motion.speed", 2.0)
    assert told == []
    cancels[0]()
    store.set("motion.speed", 3.0)
    assert told == []


def test_a_watcher_that_fails_stops_nobody(caplog):
    store = Store(DECLARED)
    told = []

    def fail(changes):
        raise RuntimeError("my mistake")

    store.watch("", fail)
    store.watch("", told.append)
    with caplog.at_level(logging.ERROR):
        store.set("motion.speed", 2.0)
    assert len(told) == 1
    assert "a watcher of motion.speed failed" in caplog.text
    assert "my mistake" in caplog.text


def test_a_watcher_may_set_and_all_are_told_in_the_order_of_the_changes():
    store = Store(DECLARED)
    told = []

    def follow(changes):
        if changes[0].path == "motion.speed" and changes[0].new < 3.0:
            store.set("motion.speed", changes[0].new + 1.0)

    store.watch("", follow)
    store.watch("", lambda changes: told.append((changes[0].old, changes[0].new)))
    store.set("motion.speed", 1.5)
    assert told == [(1.0, 1.5), (1.5, 2.5), (2.5, 3.5)]


def test_another_thread_never_sees_half_of_a_set():
    store = Store([Parameter("a", int, -1), Parameter("b", int, -1)], check=lambda v: [] if v["a"] == v["b"] else ["a and b differ"])
    both = {"x": ParameterRef("a"), "y": [ParameterRef("b")]}
    seen = []
    store.watch("", lambda changes: seen.append((changes, dict(store.snapshot()))))
    done = threading.Event()

    def observe():
        halves = reads = 0
        while not done.is_set() or reads < 100:
            now, resolved = store.snapshot(), resolve(both, store)
            halves += now["a"] != now["b"] or resolved["x"] != resolved["y"][0]
            reads += 1
        return halves, reads

    def change(start):
        for i in range(start, 1500, 2):
            store.set_many({"a": i, "b": i})

    with ThreadPoolExecutor(3) as pool:
        observer = pool.submit(observe)
        for writer in [pool.submit(change, 0), pool.submit(change, 1)]:
            writer.result()
        done.set()
        halves, reads = observer.result()
    assert halves == 0
    assert reads >= 100
    assert all(now["a"] == now["b"] for _, now in seen)
    assert len(seen) == 1500
    for (one, _), (two, _) in itertools.pairwise(seen):
        assert [c.old for c in two] == [c.new for c in one]  # told in the order in which they happened


def test_precedence(tmp_path):
    file = tmp_path / "p.json"
    Store(DECLARED, file).set_many({"motion.speed": 2.0, "motion.effort": 6.0})
    store = Store(DECLARED, file, startup={"motion.effort": "7 N.m"})
    assert {e.parameter.path: (e.value, e.source) for e in store.list("motion")} == {
        "motion.speed": (2.0, "persisted"),
        "motion.effort": (7.0, "startup"),
        "motion.steps": (3, "init"),
    }
    store.set("motion.steps", 4)
    assert json.loads(file.read_text()) == {"motion.speed": 2.0, "motion.effort": 6.0, "motion.steps": 4}  # what start-up said is not kept
    assert Store(DECLARED, file).get("motion.effort") == 6.0


@settings(max_examples=examples(25))
@given(st.floats(0, 10), st.integers(1, 9), st.booleans(), st.text(st.characters(exclude_categories=("Cs",)), max_size=8))
def test_what_is_kept_is_exactly_what_was_set(tmp_path_factory, speed, steps, quiet, name):
    file = tmp_path_factory.mktemp("kept") / "new folder" / "p.json"
    store = Store(DECLARED, str(file))
    assert not file.exists()
    store.set_many({"motion.speed": speed, "motion.steps": steps, "mode.quiet": quiet, "mode.name": name})
    again = Store(DECLARED, file)
    assert again.snapshot() == store.snapshot()
    assert again.problems == ()
    assert [f.name for f in file.parent.iterdir()] == ["p.json"]


def test_a_torn_file_is_reported_and_the_defaults_used(tmp_path, caplog):
    whole = tmp_path / "whole.json"
    Store(DECLARED, whole).set_many({"motion.speed": 2.0, "motion.effort": 6.0, "mode.name": "ü"})
    text = whole.read_bytes()
    file = tmp_path / "p.json"
    for n in range(len(text) - 1):  # the last byte is a newline, which nobody misses
        file.write_bytes(text[:n])
        store = Store(DECLARED, file)
        assert store.snapshot() == Store(DECLARED).snapshot()
        assert len(store.problems) == 1
        assert store.problems[0].startswith(str(file))
        assert store.problems[0].endswith("the defaults are used")
    assert store.problems[0] in caplog.text
    store.set("motion.speed", 4.0)  # and it works on; the torn file is put aside
    assert Store(DECLARED, file).get("motion.speed") == 4.0
    assert (tmp_path / "p.json.broken").read_bytes() == text[:n]


@pytest.mark.parametrize("data", [b"\x00" * 50, b"[1, 2]", b"null", b"\xff\xfe", b"[" * 100_000, b'{"a": NaN}x'])
def test_a_file_that_is_something_else_is_reported(tmp_path, data):
    file = tmp_path / "p.json"
    file.write_bytes(data)
    store = Store(DECLARED, file)
    assert len(store.problems) == 1
    assert store.snapshot() == Store(DECLARED).snapshot()


def test_what_is_sound_in_a_file_is_used_and_the_rest_reported_and_left_there(tmp_path):
    file = tmp_path / "p.json"
    file.write_text('{\n "motion.speed": 2.0,\n "motion.effort": 1e6,\n "gone": 3,\n "mode.quiet": "yes",\n "motion.steps": NaN\n}\n')
    store = Store(DECLARED, file)
    assert store.get("motion.speed") == 2.0
    assert store.get("motion.effort") == 5.0
    assert [p.removeprefix(str(file)).split(": ")[:2] for p in store.problems] == [
        [":3", "motion.effort"],
        [":4", "gone"],
        [":5", "mode.quiet"],
        [":6", "motion.steps"],
    ]
    file.write_text(file.read_text().replace("NaN", "4"))
    Store(DECLARED, file).set("motion.effort", 8.0)
    assert json.loads(file.read_text()) == {"motion.speed": 2.0, "motion.effort": 8.0, "gone": 3, "mode.quiet": "yes", "motion.steps": 4}


@pytest.mark.parametrize("stage", ["fsync", "replace", "open"])
def test_a_disk_that_fails_leaves_the_old_file_whole_and_the_robot_running(tmp_path, monkeypatch, stage):
    file = tmp_path / "p.json"
    store = Store(DECLARED, file)
    store.set("motion.speed", 2.0)

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(Path if stage == "open" else os, stage, full)
        store.set("motion.speed", 3.0)
    assert store.get("motion.speed") == 3.0
    assert store.unsaved is not None
    assert "No space left on device" in store.unsaved
    assert json.loads(file.read_text()) == {"motion.speed": 2.0}
    assert [f.name for f in tmp_path.iterdir()] == ["p.json"]
    store.set("motion.effort", 6.0)
    assert store.unsaved is None
    assert json.loads(file.read_text()) == {"motion.speed": 3.0, "motion.effort": 6.0}


def test_the_file_is_replaced_and_keeps_to_the_usual_rights(tmp_path):
    file = tmp_path / "p.json"
    store = Store(DECLARED, file)
    store.set("motion.speed", 2.0)
    first = file.stat()
    with file.open() as reader:
        store.set("motion.speed", 3.0)
        assert json.load(reader) == {"motion.speed": 2.0}  # who reads meanwhile reads the whole old file
    beside = tmp_path / "beside"
    beside.touch()
    assert file.stat().st_ino != first.st_ino
    assert stat.S_IMODE(file.stat().st_mode) == stat.S_IMODE(beside.stat().st_mode)


@pytest.mark.parametrize("startup", [{"motion.speed": -1.0}, {"motion.sped": 1.0}, {"motion.steps": "3"}])
def test_a_wrong_start_up_value_stops_the_start(startup):
    with pytest.raises(ConfigError, match=r"start-up parameters: motion\."):
        Store(DECLARED, startup=startup)


def geared(**more):
    return Robot(
        "arm",
        ["base", "link"],
        [Joint("shoulder", "revolute", "base", "link", limits=Limits(-1, ParameterRef("arm.upper"), ParameterRef("arm.speed"), effort=1))],
        [Actuator("motor", "shoulder", options={"deep": [{"gear": ParameterRef("arm.gear")}]}, transmission=Transmission(ParameterRef("arm.gear")))],
        parameters=[
            Parameter("arm.upper", float, 1, unit="rad"),
            Parameter("arm.speed", float, 1, unit="rad/s"),
            Parameter("arm.gear", float, 50),
        ],
        **more,
    )


def test_a_value_that_would_spoil_the_robot_cannot_be_set(tmp_path):
    robot = geared()
    store = Store.of(robot)
    for path, value, why in (
        ("arm.gear", 0, r"with arm\.gear = 0\.0: actuators\.motor\.transmission\.reduction: must be above 0"),
        ("arm.upper", "-90 deg", r"joints\.shoulder\.limits\.lower: lower -1 rad exceeds upper"),
        ("arm.speed", 0, "'motor' could never move the joint"),
    ):
        with pytest.raises(ParameterError, match=why):
            store.set(path, value)
    assert store.snapshot() == {"arm.upper": 1.0, "arm.speed": 1.0, "arm.gear": 50.0}
    with pytest.raises(ConfigError, match=r"start-up parameters: with arm\.gear"):
        Store.of(robot, startup={"arm.gear": -1})
    file = tmp_path / "p.json"
    file.write_text('{"arm.gear": 0.0, "arm.speed": 2.0}')
    store = Store.of(robot, file)
    assert store.get("arm.speed") == 1.0
    assert "none of its values is used" in store.problems[0]
    store.set("arm.speed", 3.0)
    assert Store.of(robot, file).get("arm.speed") == 3.0  # no crash loop: the bad file was put aside
    assert (tmp_path / "p.json.broken").exists()


def test_resolving():
    robot = geared()
    store = Store.of(robot, startup={"arm.gear": 20, "arm.upper": 2})
    motor = robot.actuator("motor")
    assert resolve(motor.transmission, store) == Transmission(20.0)
    assert resolve(motor.options, store) == {"deep": [{"gear": 20.0}]}
    assert resolve(robot.joint("shoulder").limits, store) == Limits(-1, 2, 1, effort=1)
    assert resolve(Limits(0, 1), store) == Limits(0, 1)
    assert references(robot) == {"arm.upper", "arm.speed", "arm.gear"}
    given = motor.options
    resolve(given, store)["deep"][0]["gear"] = 0
    assert given == {"deep": ({"gear": ParameterRef("arm.gear")},)}  # what a driver does with its copy is its own business
    with pytest.raises(ParameterError) as e:
        resolve([ParameterRef("x"), {"a": ParameterRef("arm.x")}], store)
    assert [p.split(":")[0] for p in e.value.problems] == ["arm.x", "x"]
    assert isinstance(e.value, PushrodError)


def test_a_value_set_to_what_it_is_is_told_to_nobody_but_counts_as_set(tmp_path):
    told = []
    store = Store(DECLARED, tmp_path / "kept.json")
    store.watch("", told.append)
    store.set("motion.speed", 1.0, "remote")
    assert (told, store.list("motion.speed")[0].source) == ([], "remote")
    store.set_many({"motion.speed": 1.0, "motion.effort": 6.0})
    assert [[(c.path, c.old, c.new) for c in changes] for changes in told] == [[("motion.effort", 5.0, 6.0)]]
    store.set("zero", 0.0)
    assert told[-1][0].old is None
    assert Store((Parameter("motion.speed", float, 2.0, unit="m/s"), *DECLARED[1:]), tmp_path / "kept.json").get("motion.speed") == 1.0
