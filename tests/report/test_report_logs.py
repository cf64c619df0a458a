"""Reports of logs that are not as good as one's own: hostile, torn, of other tools, long; and two against each other."""

import base64
import gzip
import json
import math

import lxml.html
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from report_rig import page_of, rows, section, text, value, write_log
from typer.testing import CliRunner

from counts import examples
from full_disk import full_after
from pushrod.cli.main import app
from pushrod.core.errors import LogError
from pushrod.log.reader import read
from pushrod.log.table import Channel, Table
from pushrod.report import figures, find, page, sections
from pushrod.report.difference import differences
from pushrod.report.drawing import Drawing

EVIL = "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>\"'&{{ 7 * 7 }}</script>"


def hostile_log(file):
    """Text that would like to be code wherever a log has text."""
    unit = {"type": "object", "properties": {"speed_req": {"type": "number", "unit": EVIL, "description": EVIL}, EVIL: {"type": "number"}}}
    out = [(0.01 * k, {"speed_req": math.sin(k), "speed_ach": math.sin(k - 1), EVIL: k, "x": k, "y": k}) for k in range(50)]
    command = {"kind": EVIL, "payload": {EVIL: 1.0, "mode": EVIL}, "source": EVIL, "result": "refused", "reason": EVIL, "detail": EVIL}
    verdict = {"held": False, "expectations": [{"expected": EVIL, "to_be": EVIL, "was": 1.0, "unit": EVIL, "held": False}]}
    return write_log(
        file,
        {
            "/out": out,
            f"/actuator/{EVIL}/command": [(0.1, command), (0.2, command | {"result": EVIL})],
            "/events": [(0.0, {"level": 4, "message": EVIL, "name": EVIL})],
            "/loops": [(0.4, {"name": EVIL, "ticks": 3, "bins": {"1": 3, EVIL: 4}})],
            "/param": [(0.1, {"path": EVIL, "old": EVIL, "new": EVIL, "source": EVIL})],
        },
        dict.fromkeys(("machine", "scenario", "world", "kind", "seed", "started", "pushrod", "override 1"), EVIL) | {"dt": "0.01"},
        {
            "machine.yaml": f"machine: {json.dumps(EVIL)}\nworld: evil.py:WORLD\nparameters: {{{json.dumps(EVIL)}: {json.dumps(EVIL)}}}\n",
            "scenario.yaml": f"about: {json.dumps(EVIL)}\nfaults: [{json.dumps(dict.fromkeys(('channel', 'kind', 'at', 'until'), EVIL))}]\n",
            "verdict.json": json.dumps(verdict),
        },
        {"/out": unit},
    )


def test_text_of_a_log_stays_text(tmp_path):
    tree = page_of(hostile_log(tmp_path / "evil.mcap"))
    scripts = tree.xpath("//script")
    assert [script.get("type") for script in scripts] == ["application/octet-stream", "application/octet-stream", None]
    assert not tree.xpath("//img | //iframe | //object | //embed | //form | //a[@href]")
    assert not [name for element in tree.iter() if isinstance(element.tag, str) for name in element.attrib if name.startswith("on")]
    assert EVIL in text(section(tree, "summary"))
    assert any(EVIL in text(cells[3]) for cells in rows(tree, "commands"))
    assert "49</script>" not in "".join(tree.itertext())  # nobody reckons what a log writes


def test_nothing_a_log_names_is_executed_or_read(tmp_path, monkeypatch):
    (tmp_path / "evil.py").write_text("raise SystemExit('executed')")
    monkeypatch.chdir(tmp_path)
    found = find(read(hostile_log(tmp_path / "evil.mcap")))
    assert any("nothing that a log names is executed" in note for note in found.log.notes)
    secret = tmp_path / "secret.csv"
    secret.write_text("key,1\n2,3\n")
    machine = f"machine: car\nworld: car\nparameters: {{vehicle: {{accel_map: {secret}}}}}\n"
    read_car = find(read(write_log(tmp_path / "car.mcap", {"/out": [(0.0, {"speed": 1.0})]}, {"machine": "car"}, {"machine.yaml": machine})))
    shown = {p.path: p.value for p in read_car.parameters}
    assert shown["vehicle.accel_map.z"] == str(secret)  # named, not read


def test_a_torn_log_is_reported_as_far_as_it_goes_and_says_so(tmp_path):
    whole = write_log(tmp_path / "whole.mcap", {"/out": [(0.01 * k, {"a_req": 1.0 * (k > 50), "a_ach": 1.0 * (k > 60)}) for k in range(20000)]}, {})
    data = whole.read_bytes()
    torn = tmp_path / "torn.mcap"
    torn.write_bytes(data[: len(data) * 2 // 3])
    tree = page_of(torn)
    assert "Torn log" in text(section(tree, "summary"))
    assert find(read(torn)).log.table.torn in text(section(tree, "notes"))
    assert section(tree, "following") is not None
    assert 0.0 < figures(find(read(torn)))["duration"] < figures(find(read(whole)))["duration"]


def lag(t, r, T=0.1):
    a = np.zeros(len(t))
    for i in range(1, len(t)):
        a[i] = a[i - 1] + (r[i - 1] - a[i - 1]) * (1.0 - math.exp(-(t[i] - t[i - 1]) / T))
    return a


def write_csv(file, t, **columns):
    heads = ",".join(["time [s]", *columns])
    np.savetxt(file, np.column_stack([t, *columns.values()]), delimiter=",", header=heads, comments="", fmt="%.9g")
    return file


def test_a_table_of_numbers_gives_a_useful_report(tmp_path):
    t = np.arange(4000) * 1e-3
    r = np.where(t < 0.5, 0.0, 1.0)
    columns = {"angle_req [rad]": r, "angle [rad]": lag(t, r), "current [A]": np.sin(t)}
    tree = page_of(write_csv(tmp_path / "bench.csv", t, **columns))
    assert tree.xpath("//*[@data-verdict]/@data-verdict") == ["none"]
    (cells,) = rows(tree, "responses")
    assert text(cells[0]) == "angle_req → angle"
    assert value(cells[4]) == pytest.approx(math.log(9.0) * 0.1, rel=0.02)  # rise time
    assert value(cells[6]) == pytest.approx(math.log(20.0) * 0.1, rel=0.02)  # settling
    assert [text(name) for name in section(tree, "channels-over-time").xpath(".//span[@class='name']")] == ["current"]
    assert {text(row[0]) for row in rows(tree, "channels")} == {"angle_req", "angle", "current"}
    for missing in ("commands", "timing", "pipeline", "way", "parameters"):
        assert section(tree, missing) is None


def test_channels_nobody_knows_are_drawn_by_unit(tmp_path):
    t = np.arange(100) * 0.1
    tree = page_of(write_csv(tmp_path / "b.csv", t, **{"u [V]": t, "i [A]": t, "v [V]": -t}))
    assert [text(name) for name in section(tree, "channels-over-time").xpath(".//span[@class='name']")] == ["u, v", "i"]


def test_a_constant_difference_of_two_runs_is_found_whatever_their_sampling(tmp_path):
    t, s = np.arange(1000) * 0.01, np.arange(0, 9990, 7) * 1e-3
    first = write_csv(tmp_path / "a.csv", t, **{"ramp [m]": 0.5 * t, "only_a [m]": t})
    second = write_csv(tmp_path / "b.csv", s, **{"ramp [m]": 0.5 * s + 0.25, "only_b [m]": s})
    told = differences(find(read(first)), find(read(second)))
    assert told["signals"]["ramp"]["rms"] == pytest.approx(0.25, rel=1e-6)
    assert told["signals"]["ramp"]["most"] == pytest.approx(0.25, rel=1e-6)
    assert (told["only_a"], told["only_b"]) == (["only_a"], ["only_b"])
    tree = page_of(first, second)
    apart = {text(cells[0]): value(cells[1]) for cells in rows(tree, "differences")}
    assert apart["ramp"] == pytest.approx(0.25, rel=1e-6)


def test_two_runs_are_told_apart_by_what_they_were_made_of(tmp_path):
    files = []
    for n, (delay, seed) in enumerate((("7 ms", "1"), ("12 ms", "2"))):
        out = [(0.01 * k, {"torque_req": float(k > 20), "torque_ach": float(k > 25 + 10 * n)}) for k in range(200)]
        machine = f"machine: servo\nworld: servo\nparameters: {{bus: {{delay: {delay}}}}}\ntrack: [{{request: torque_req, achieved: torque_ach}}]\n"
        verdict = json.dumps({"held": n == 0, "expectations": [{"expected": "e", "to_be": "f", "was": 1.0, "unit": "s", "held": n == 0}]})
        about = {"machine": "servo", "dt": "0.01", "seed": seed}
        files.append(write_log(tmp_path / f"{n}.mcap", {"/out": out}, about, {"machine.yaml": machine, "verdict.json": verdict}))
    told = differences(*(find(read(file)) for file in files))
    assert told["parameters"] == {"bus.delay": [0.007, 0.012]}
    assert told["metadata"] == {"seed": ["1", "2"]}
    assert told["verdict"] == [True, False]
    assert told["responses"][0]["delay"][2] == pytest.approx(0.1)
    tree = page_of(*files)
    assert tree.xpath("//*[@data-verdict]/@data-verdict") == ["held", "failed"]
    assert ["bus.delay", "0.007 s", "0.012 s"] in [[text(cell) for cell in cells] for cells in rows(tree, "differences")]


def test_commands_that_are_alike_are_one_entry_and_refusals_say_why(tmp_path):
    def command(result, position, **more):
        return {"kind": "Position", "payload": {"type": "Position", "position": position}, "source": "ann", "result": result} | more

    said = [(0.001 * k, command("accepted", 0.1 * k)) for k in range(5000)]
    said += [(6.0, command("refused", 1.0, reason="not_armed", detail="arm it"))]
    said += [(7.0, command("clamped", 9.0, done={"position": 1.5}, id="reach"))]
    motion = [(8.0, {"command_id": "reach", "reason": "completed", "position": 1.5})]
    log = write_log(tmp_path / "c.mcap", {"/actuator/arm/elbow/motor/command": said, "/actuator/arm/elbow/motor/EndMotion": motion}, {"robot": "r"})
    tree = page_of(log)
    entries = [[text(cell) for cell in cells] for cells in rows(tree, "commands")]
    assert [entry[4] for entry in entries] == ["accepted ×5\u202f000", "refused: not armed (arm it)", "clamped to 1.5"]
    assert entries[0][0] == "0.000 … 4.999 s"
    assert entries[2][5] == "completed at 8.000 s, at 1.5"
    (sender,) = rows(tree, "senders")
    assert [text(cell) for cell in sender] == ["motor", "ann", "5000", "1", "1", "not armed (1)"]


def test_how_late_loops_were_is_summed_up_in_steps(tmp_path):
    loops = [(1.0, {"name": "a", "ticks": 5, "missed": 0, "p99": 1e-3, "bins": {"0.5": 5}})]
    loops += [(2.0, {"name": "a", "ticks": 9, "missed": 2, "p99": 2e-3, "bins": {"0.5": 5, "1.6": 2, "1.7": 1, "400": 1}})]
    found = find(read(write_log(tmp_path / "l.mcap", {"/loops": loops}, {"kind": "live"})))
    (loop,) = found.loops
    assert (loop.ticks, loop.missed) == (9, 2)
    assert dict(loop.bins) == {1.0: 5, 2.0: 3, 5.0: 0, 10.0: 0, 20.0: 0, 50.0: 0, 100.0: 0, 200.0: 0, 500.0: 1}
    assert text(rows(page_of(found.log.table.file), "loops")[0][4]) == "2 ms"


def test_dropped_messages_and_what_was_not_armed_are_told(tmp_path):
    topics = {
        "/out": [(0.1 * k, {"a": 1.0 * k}) for k in range(101)],
        "/safety": [
            (0.0, {"from": "disarmed", "to": "disarmed"}),
            (2.0, {"from": "disarmed", "to": "armed"}),
            (7.0, {"from": "armed", "to": "error"}),
        ],
        "/recording": [(5.0, {"written": 10, "dropped": 3}), (10.0, {"written": 20, "dropped": 1234})],
    }
    file = write_log(tmp_path / "d.mcap", topics, {"kind": "live"})
    found = find(read(file))
    assert found.not_armed == ((0.0, 2.0), (7.0, 10.0))
    assert "1234 messages dropped" in text(section(page_of(file), "summary"))


@pytest.mark.parametrize("verdict", ["", "null", "[]", "{}", '{"held": 1}', '{"held": true, "expectations": [3]}', "\xff"])
def test_a_verdict_that_is_none_leaves_the_run_unjudged(tmp_path, verdict):
    file = write_log(tmp_path / "v.mcap", {"/out": [(0.0, {"a": 1.0})]}, {}, {"verdict.json": verdict})
    tree = page_of(file)
    assert tree.xpath("//*[@data-verdict]/@data-verdict") == ["none"]
    assert "verdict.json cannot be read" in text(section(tree, "notes"))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("values", [[], [math.nan] * 5, [1.0], [1.0, math.inf, math.nan, -math.inf, 2.0], [1e308, -1e308]])
def test_few_or_strange_numbers_are_no_reason_to_fail(tmp_path, values):
    t = np.arange(len(values), dtype=float)
    channels = {name: Channel(name, "m", "", t, np.array(values, dtype=float), "/s") for name in ("x", "y", "a_req", "a_ach", "a_fault", "yaw")}
    table = Table(tmp_path / "t.csv", "csv", channels)
    assert "<html" in page([find(table)])
    assert page([find(table), find(table)])
    assert figures(find(table))


def test_a_million_samples_make_a_small_page_without_losing_a_peak(tmp_path):
    n = 1_000_000
    t = np.arange(n) * 1e-3
    rng = np.random.default_rng(1)
    channels = {}
    for name in ("speed", "x", "y", "load"):
        values = np.cumsum(rng.normal(size=n)) * 1e-3
        values[123_457] = 1e4
        channels[name] = Channel(name, "m", "", t, values, "/s")
    made = page([find(Table(tmp_path / "big.csv", "csv", channels))])
    assert len(made) < 3e6
    assert "1\u202f000\u202f000" in text(section(lxml.html.document_fromstring(made), "notes"))
    assert max(drawn(made, "speed")) == np.float32(1e4)


def drawn(made, name):
    """The numbers of a line, as the page draws it."""
    data = json.loads(gzip.decompress(base64.b64decode(lxml.html.document_fromstring(made).get_element_by_id("data").text)))
    line = next(line for panel in data["panels"] if panel["type"] == "time" for line in panel["lines"] if line["label"] == name)
    return np.frombuffer(base64.b64decode(data["arrays"][line["y"]]["data"]), "<f4")


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**400), 10**400) | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
FIELDS = {
    "/out": ("x", "y", "yaw", "a_req", "a_ach", "a_fault"),
    "/in": ("armed", "a"),
    "/actuator/a/m/command": ("kind", "payload", "source", "result", "reason", "done", "detail", "id"),
    "/actuator/a/m/EndMotion": ("command_id", "reason", "position"),
    "/events": ("level", "message", "name"),
    "/safety": ("from", "to", "why"),
    "/loops": ("name", "ticks", "missed", "p50", "bins"),
    "/param": ("path", "old", "new", "source"),
    "/recording": ("written", "dropped"),
}
MESSAGES = st.fixed_dictionaries(
    {},
    optional={
        topic: st.lists(st.fixed_dictionaries({}, optional=dict.fromkeys(keys, ANYTHING)) | ANYTHING, max_size=4) for topic, keys in FIELDS.items()
    },
)
FILES = st.fixed_dictionaries({}, optional=dict.fromkeys(("machine.yaml", "scenario.yaml", "verdict.json"), ANYTHING.map(json.dumps)))
MACHINE = st.fixed_dictionaries({"world": st.sampled_from(["servo", "boat"])}, optional=dict.fromkeys(("parameters", "track", "machine"), ANYTHING))


@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(MESSAGES, FILES, MACHINE, st.dictionaries(st.sampled_from(["machine", "dt", "kind", "override 1", "scenario"]), st.text(max_size=8)))
def test_whatever_stands_in_a_log_there_is_a_page(tmp_path, topics, files, machine, about):
    said = {topic: [(0.1 * k, message) for k, message in enumerate(messages)] for topic, messages in topics.items()}
    log = write_log(tmp_path / "any.mcap", said, about, {"machine.yaml": json.dumps(machine)} | files)
    found = find(read(log))
    assert figures(found)
    assert differences(found, found)["parameters"] == {}
    sections.content([found, found], Drawing(["A", "B"], found.log.span))


def test_where_the_page_goes(tmp_path):
    log = write_csv(tmp_path / "a.csv", np.arange(9.0), **{"u [V]": np.arange(9.0)})
    other = write_csv(tmp_path / "b.csv", np.arange(9.0), **{"u [V]": np.arange(9.0)})
    run = lambda *args: CliRunner().invoke(app, ["report", *map(str, args)])  # noqa: E731
    assert run(log).exit_code == 0
    assert (tmp_path / "a.html").read_text().startswith("<!doctype html>")
    assert run(log, other).exit_code == 0
    assert (tmp_path / "a-b.html").exists()
    assert run(log, "--out", tmp_path / "r.html").exit_code == 0
    assert (tmp_path / "r.html").exists()
    before = log.read_bytes()
    got = run(log, "--out", log)
    assert got.exit_code == 2
    assert "that is the log" in got.output
    assert log.read_bytes() == before
    got = run(log, "--out", tmp_path / "no" / "r.html")
    assert got.exit_code == 2
    assert "cannot be written" in got.output
    assert run(tmp_path / "missing.mcap").exit_code == 2
    with pytest.raises(LogError):
        read(tmp_path / "missing.mcap")


def safety(*states):
    return [(t, {"from": before, "to": after, "why": why}) for t, before, after, why in states]


def test_what_went_wrong_in_a_live_run_stands_on_top(tmp_path):
    topics = {
        "/out": [(0.1 * k, {"a": 1.0 * k}) for k in range(101)],
        "/safety": safety((2.0, "disarmed", "armed", ""), (6.0, "armed", "error", "too hot"), (7.0, "error", "estopped", "somebody came near")),
        "/events": [
            (5.0, {"level": 4, "message": "not called for 0.3 s", "name": "guard"}),
            (5.5, {"level": 3, "message": "motor refused Position: not armed", "name": "motor"}),
            (6.0, {"level": 4, "message": "too hot", "name": "base/motor"}),
            (6.0, {"level": 4, "message": "armed -> error: too hot", "name": "safety"}),
        ],
    }
    tree = page_of(write_log(tmp_path / "m.mcap", topics, {"kind": "live"}))
    assert tree.xpath("//*[@data-verdict]/@data-verdict") == ["trouble"]
    told = text(section(tree, "summary"))
    assert "1 e-stop, 1 guard trip, 1 error" in told
    assert "at 7 s: somebody came near" in told
    assert "base/motor: too hot" in told
    quiet = page_of(write_log(tmp_path / "q.mcap", {"/out": topics["/out"]}, {"kind": "live"}))
    assert quiet.xpath("//*[@data-verdict]/@data-verdict") == ["none"]


def test_of_a_torn_log_it_is_said_that_data_are_missing(tmp_path):
    verdict = json.dumps({"held": True, "expectations": [{"expected": "e", "to_be": "f", "was": 1.0, "unit": "s", "held": True}]})
    file = write_log(tmp_path / "t.mcap", {"/out": [(0.1 * k, {"a": 1.0 * k}) for k in range(101)]}, {"machine": "m"}, {"verdict.json": verdict})
    file.write_bytes(file.read_bytes()[:-40])
    tree = page_of(file)
    assert tree.xpath("//*[@data-verdict]/@data-verdict") == ["partly"]
    assert "data are missing" in text(section(tree, "summary"))


def test_a_step_that_was_asked_for_while_it_was_not_armed_is_none(tmp_path):
    """A step of 9 while it is disarmed, and of 1 at 5 s, followed 0.1 s later."""
    out = [(0.01 * k, {"x_req": 9.0 if k < 300 else 0.0 if k < 500 else 1.0, "x_ach": 0.0 if k < 510 else 1.0}) for k in range(1000)]
    out[50:100] = [(t, row | {"x_req": 0.0}) for t, row in out[50:100]]
    topics = {"/out": out, "/safety": safety((0.0, "disarmed", "disarmed", "started"), (4.0, "disarmed", "armed", ""))}
    file = write_log(tmp_path / "s.mcap", topics, {"kind": "live", "dt": "0.01"})
    found = find(read(file))
    (one,) = found.followings
    assert one.response.error_max == 1.0
    assert one.t[one.step.first] == pytest.approx(5.0, abs=0.03)
    assert (one.step.start, one.step.goal) == (0.0, 1.0)
    always = find(read(write_log(tmp_path / "r.mcap", {"/out": out}, {"kind": "live", "dt": "0.01"})))
    assert always.followings[0].response.error_max == 9.0


@pytest.mark.parametrize(("samples", "thinned"), [(2000, False), (5000, True)])
def test_notes_say_of_plots_what_holds_of_them(tmp_path, samples, thinned):
    rows = [(0.01 * k, {"u_req": 1.0, "u_ach": math.sin(0.01 * k)}) for k in range(samples)]
    tree = page_of(write_log(tmp_path / "run.mcap", {"/out": rows}, {"machine": "rig", "dt": "0.01"}))
    notes = [text(note) for note in tree.xpath("//section[@id='notes']//li")]
    assert any(note.startswith("Plots of more than 4") for note in notes) == thinned, notes
    assert any(note.startswith("Channels drawn by choice") for note in notes), notes


def test_a_page_that_finds_no_room_leaves_the_old_one_and_nothing_else(tmp_path):
    (tmp_path / "a.csv").write_text("t,angle [rad]\n0,1\n1,2\n")
    (tmp_path / "a.html").write_text("the old one")
    with full_after(100_000):
        done = CliRunner().invoke(app, ["report", str(tmp_path / "a.csv")])
    assert done.exit_code == 2
    assert "the report cannot be written: File too large" in done.stderr
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.csv", "a.html"]
    assert (tmp_path / "a.html").read_text() == "the old one"
    assert CliRunner().invoke(app, ["report", str(tmp_path / "a.csv")]).exit_code == 0
    assert (tmp_path / "a.html").stat().st_size > 1_000_000
