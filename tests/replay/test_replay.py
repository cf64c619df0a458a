"""A log, once more: equal to the last bit for every shipped machine and scenario, however it ran; and what is not equal is found and shown."""

import asyncio
import dataclasses
import math
import re
import time
from pathlib import Path

import msgspec
import numpy as np
import pytest
from replay_rig import commanded, log_of, repacked, rewritten, with_file

from pushrod.core.errors import InputError, LogError
from pushrod.live.payload import Actuation
from pushrod.log import read
from pushrod.recording import Recording
from pushrod.replay import replay
from pushrod.runtime.payload import Position, Velocity
from pushrod.runtime.runtime import Runtime
from pushrod.sim import machine, scenario


def machine_of(name: str) -> str:
    found = re.search(r"^machine: (\w+)", scenario.shipped()[name].read_text(), re.MULTILINE)
    assert found is not None
    return found[1]


def seconds_of(name: str) -> str:
    """Long enough for something to happen, short enough to be replayed in every test run."""
    return "0.5 s" if machine_of(name) in ("arm", "servo") else "3 s"


@pytest.mark.parametrize("name", scenario.shipped())
def test_every_shipped_scenario_is_replayed_to_the_last_bit(name, tmp_path):
    log = log_of(machine_of(name), name, tmp_path, seconds_of(name))
    found = replay(log)
    assert found.identical, found.difference
    assert found.ticks == len(read(log).channels[next(iter(found.log.outputs))]) > 10
    assert np.array_equal(found.data, found.log.table(), equal_nan=True)


@pytest.mark.parametrize("name", [name for name in machine.shipped() if machine.load(name).robot is not None])
def test_every_shipped_machine_with_a_robot_is_replayed_through_the_runtime(name, tmp_path):
    found = replay(log_of(name, None, tmp_path, "0.5 s", live=True))
    assert found.rebuilt.kind == "stepped"
    assert found.identical, (found.difference, found.answer)
    assert found.answers > 0


def test_a_run_with_settings_and_a_seed_is_replayed_with_them(tmp_path):
    log = log_of("car", None, tmp_path, "1 s", settings=("dead_time.accel=0.5 s", "vehicle.wheelbase=3"))
    found = replay(log)
    assert found.identical
    assert found.rebuilt.params.dead_time.accel == 0.5


def test_one_changed_bit_is_found_and_shown_with_what_was_before(tmp_path):
    log = log_of("car", None, tmp_path, "2 s")

    def change(row):
        row["speed"] = math.nextafter(row["speed"], math.inf)

    found = replay(rewritten(log, "/out", 150, change))
    assert not found.identical
    assert found.difference.signal == "speed"
    assert (found.difference.k, found.difference.unit) == (150, "m/s")
    assert found.difference.t == pytest.approx(1.51)
    assert found.difference.recorded == math.nextafter(found.difference.replayed, math.inf)
    assert [sample.k for sample in found.difference.before] == [146, 147, 148, 149]
    assert all(sample.recorded == sample.replayed for sample in found.difference.before)
    assert found.difference.also == ()
    # behind it the rest is as it was
    assert replay(rewritten(log, "/out", 150, change), at=1.52).identical


def test_a_changed_input_shows_in_what_follows_from_it(tmp_path):
    found = replay(rewritten(log_of("car", None, tmp_path, "2 s"), "/in", 120, lambda row: row.update(accel=0.9)))
    assert found.difference.k == 120
    assert "accel_req" in (found.difference.signal, *found.difference.also)


def test_a_changed_answer_is_found(tmp_path):
    log = log_of("arm", None, tmp_path, "0.6 s")

    def change(name, data):
        return data.replace(b'"type": "Accepted"', b'"type": "Refused"', 1) if name == "commands.json" else data

    found = replay(repacked(log, change))
    assert found.difference is None
    assert not found.identical
    assert found.answer.number == 1
    (field,) = found.answer.fields
    assert (field.path, field.recorded, field.replayed) == ("answer.type", "Refused", "Accepted")
    assert str(found.answer).endswith('answer.type was "Refused", is "Accepted"')
    assert len(str(found.answer)) < 150


def test_answers_to_commands_are_counted_apart_from_all_else(tmp_path):
    log = log_of("arm", None, tmp_path, "0.6 s")
    table = read(log)
    sent = sum(info.messages for name, info in table.topics.items() if name.endswith("/command"))
    found = replay(log)
    assert found.identical, (found.difference, found.answer)
    assert found.answers == sent
    assert found.messages >= table.topics["/joint_states"].messages - 2 > 50


def test_of_a_changed_message_only_what_differs_is_told(tmp_path):
    log = log_of("arm", None, tmp_path, "0.6 s")
    changed = rewritten(log, "/joint_states", 20, lambda row: row["joints"][0].update(position=0.125))
    found = replay(changed)
    assert found.answer.topic == "/joint_states"
    assert [field.path for field in found.answer.fields] == ["joints[0].position"]
    assert "joints[0].position was 0.125, is " in str(found.answer)


def test_what_if_tells_what_would_have_been_otherwise(tmp_path):
    log = log_of("car", None, tmp_path, "2 s")
    found = replay(log, settings=["dead_time.accel=1 s"])
    by_name = {d.signal: d for d in found.deviations}
    assert {"accel_cmd", "acc_ach", "speed"} <= set(by_name)
    assert "accel_req" not in by_name
    assert by_name["speed"].end < -0.1
    assert by_name["speed"].unit == "m/s"
    # from a time on: before it nothing is otherwise
    later = replay(log, settings=["dead_time.accel=1 s"], at=1.5)
    assert np.array_equal(later.data[:150], found.log.table()[:150])
    assert 0.0 < {d.signal: d for d in later.deviations}["speed"].most < by_name["speed"].most
    # the same value again is no change
    assert replay(log, settings=["dead_time.accel=120 ms"]).deviations == ()
    with pytest.raises(LogError, match="unknown key"):
        replay(log, settings=["nothing.there=1"])


def test_what_if_through_the_runtime(tmp_path):
    found = replay(log_of("arm", None, tmp_path, "0.8 s"), settings=["arm.payload=2 kg"])
    assert {d.signal for d in found.deviations} >= {"shoulder.q", "shoulder.torque"}


def test_a_run_without_a_scenario_is_replayed_from_its_commands(tmp_path):
    def tick(rt, k):
        if k == 20:
            assert rt["shoulder_motor"].direct.send(Position(0.5)).ok
        if k == 60:
            rt["elbow_motor"].publish.send(Position(9.5), id="far")
            rt["elbow_motor"].direct.send(Position(math.nan))
        if k == 110:
            rt["shoulder_motor"].publish.send(Velocity(-1.0, 0.05))
        if k == 150:
            rt.disarm("for a while")
        if k == 155:
            rt["shoulder_motor"].direct.send(Position(0.1))
        if k == 160:
            assert rt.arm().ok

    log = commanded("arm", tmp_path, 1e-3, 0.25, tick, stepped=True)
    found = replay(log)
    assert found.identical, (found.difference, found.answer)
    assert (found.ticks, found.answers) == (250, 5)
    topic = next(name for name in read(log).topics if name.endswith("elbow_motor/command"))
    changed = replay(rewritten(log, topic, 0, lambda row: row["payload"].update(position=-0.3)))
    assert changed.difference.signal.startswith("in.elbow.")
    changed = replay(rewritten(log, topic, 1, lambda row: row.update(reason="limits")))
    assert changed.difference is None
    assert "malformed" in str(changed.answer)


def test_a_live_run_is_equal_to_the_last_bit_and_its_model_near_what_was_measured(tmp_path):
    sent = []

    def tick(rt, k):
        if k >= 20 and not sent:  # a busy machine may skip a tick
            sent.append(rt["shoulder_motor"].direct.send(Position(0.5)))

    log = commanded("arm", tmp_path, 2e-3, 0.4, tick, stepped=False)
    found = replay(log)
    assert found.rebuilt.kind == "live"
    assert found.identical, found.difference
    assert found.ticks > 50
    measured = {d.signal: d for d in found.measured}
    assert {"shoulder.position", "elbow.velocity", "shoulder.q"} <= set(measured)
    assert measured["shoulder.q"].most < 0.05  # of half a radian: commands are seen a tick or two apart
    table = read(log)
    assert measured["shoulder.q"].when in table["shoulder.q"].t  # not by counting ticks
    assert measured["shoulder.position"].when in table["joint_states.shoulder.position"].t


def standing_still(table, k, seconds):
    """A log as if no tick had been done for so long before tick k."""

    def later(channel):
        return dataclasses.replace(channel, t=np.where(np.arange(len(channel)) >= k, channel.t + seconds, channel.t))

    return dataclasses.replace(table, channels={name: later(c) if c.source in ("/in", "/out") else c for name, c in table.channels.items()})


def test_where_ticks_were_missed_times_are_those_of_the_log(tmp_path):
    log = commanded("car", tmp_path, 0.01, 0.5, lambda rt, k: None, stepped=False)
    table = standing_still(read(rewritten(log, "/out", 30, lambda row: row.update(speed=7.0))), 20, 2.0)
    found = replay(table)
    missed = round((table["speed"].t[found.log.ticks - 1] - table["in.accel"].t[0]) / 0.01) - found.log.ticks
    assert missed >= 199
    assert any(note.startswith(f"{missed} ticks of 0.01 s missed") for note in found.notes)
    assert (found.difference.k, found.difference.t) == (30, table["speed"].t[30])
    begins = table["in.accel"].t
    assert replay(table, at=float(begins[31])).identical
    assert replay(table, at=float(begins[19]) + 1.0).at == 20  # while it stood still: where it went on
    assert not replay(table, at=float(begins[30])).identical
    with pytest.raises(
        InputError, match=rf"by its own time from {begins[0]:g} to {table['speed'].t[found.log.ticks - 1]:g} s; the last one begins at"
    ):
        replay(table, at=9.0)
    otherwise = replay(table, settings=["vehicle.steer_bias=0.1"], at=float(begins[25])).deviations
    assert otherwise
    assert all(d.when > begins[25] for d in otherwise)


def test_a_live_car_with_commands_of_its_own_kind(tmp_path):
    found = replay(commanded("car", tmp_path, 0.01, 0.4, lambda rt, k: rt["controls"].direct.send(Actuation(accel=0.5)), stepped=False))
    assert found.identical, found.difference
    assert found.measured


@pytest.mark.parametrize("stepped", [True, False], ids=["stepped", "live"])
def test_what_a_watchdog_did_is_done_again(tmp_path, stepped):
    def tick(rt, k):
        if k < 20 or 85 <= k < 95:
            rt["controls"].direct.send(Actuation(accel=0.5))
        if k == 84:
            assert rt.clear_watchdog("controls")

    log = commanded("car", tmp_path, 0.01, 1.0, tick, stepped)
    rows = [row for _, row in read(log).messages(next(name for name in read(log).topics if name.endswith("/controls/command")))]
    assert [(row["kind"], row["result"]) for row in rows if row["source"] == "watchdog"] == [("Stop", "accepted")]
    found = replay(log)
    assert found.identical, (found.difference, found.answer)
    if stepped:
        assert found.answers == len(rows)
    else:
        assert next(d for d in found.measured if d.signal == "accel_cmd").rms < 0.15  # of 0.5; a model that goes on is 0.25 off


def test_a_robot_with_drivers_of_its_own_is_compared_with_the_model_that_is_named(tmp_path):
    """An ideal motor moved; the model of the arm is told the same."""
    rt = Runtime(machine.load("arm").robot, simulation=True, guard=False)

    async def through():
        with Recording(rt, tmp_path) as recording:
            async with rt:
                assert rt.arm().ok
                rt["shoulder_motor"].direct.send(Position(0.3))
                await asyncio.sleep(0.6)
                rt.disarm("over")
        return recording.file

    log = asyncio.run(through())
    with pytest.raises(LogError, match="holds no machine.yaml"):
        replay(log)
    found = replay(log, machine="arm")
    position = next(d for d in found.measured if d.signal == "shoulder.position")
    assert position.most > 0.1  # the ideal motor began elsewhere
    assert abs(position.end) < 0.02
    assert found.identical  # nothing to judge
    assert found.ticks == 0


def test_what_was_broken_while_it_ran_breaks_again(tmp_path):
    def tick(rt, k):
        rt["controls"].direct.send(Actuation(accel=0.5, steer=0.01 * k))
        if k == 30:
            rt.parameters.set_many({"fault.steer.kind": "stuck", "fault.accel.kind": "loss", "fault.steer.announced": True})
        if k == 60:
            rt.parameters.set_many({"fault.steer.kind": "none", "world.vehicle.steer_lim": 0.02})

    log = commanded("car", tmp_path, 0.01, 0.9, tick, stepped=False, prepare=lambda live: live.open_to_onlookers())
    table = read(log)
    assert set(table["steer_fault"].values) == {0.0, 1.0}, table.topics
    found = replay(log)
    assert found.identical, found.difference
    assert any("changes of world parameters on the way" in note for note in found.notes)
    accelerated = next(d for d in found.measured if d.signal == "acc_ach")
    assert accelerated.most < 0.3, accelerated  # 0.87 m/s2 of a model whose pedal is whole
    assert any("broken in the model too" in note for note in found.notes)


def test_the_log_of_a_replay_lies_over_the_live_run_it_is_of(tmp_path):
    from pushrod.replay.recording import record

    log = commanded("car", tmp_path, 0.01, 0.3, lambda rt, k: rt["controls"].direct.send(Actuation(accel=0.5)), stepped=False)
    again = read(record(replay(log), tmp_path))
    was = read(log)
    for name in ("steer_ach", "in.accel"):
        n = len(again[name])
        assert n > 10
        assert np.array_equal(again[name].t, was[name].t[:n])
        assert np.array_equal(again[name].values, was[name].values[:n])


@pytest.mark.parametrize("name", ["arm", "boat"])
def test_a_run_that_was_stopped_is_replayed_as_far_as_it_came(name, tmp_path):
    from pushrod.live.run import simulate as simulate_live
    from pushrod.sim.recording import record
    from pushrod.sim.run import Interrupted

    what = machine.load(name)
    how = scenario.load(None, what, "1 s")

    def stop(done, total):
        if done > 0.4 * total:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as stopped:
        simulate_live(what, how, stop, taped=True)
    found = replay(record(stopped.value.result, tmp_path, (), stopped.value.said, "stepped"))
    assert found.identical, (found.difference, found.answer)
    assert 0.4 * how.steps < found.ticks < 0.6 * how.steps
    assert found.answers > 0


def test_a_torn_log_is_replayed_as_far_as_it_goes(tmp_path):
    log = log_of("servo", None, tmp_path, "2 s")
    whole = log.read_bytes()
    log.write_bytes(whole[: int(len(whole) * 0.4)])
    try:
        found = replay(log)
    except LogError as e:
        assert "not in it" in str(e)  # noqa: PT017 (its one chunk is gone)
    else:
        assert found.identical
        assert "torn" in found.notes[0]


@pytest.fixture(scope="module")
def moving_arm(tmp_path_factory):
    """Long enough for several motions to begin and end, and for several chunks."""
    return log_of("arm", None, tmp_path_factory.mktemp("moving"), "4 s")


def cut(log: Path, folder: Path, share: float) -> Path:
    whole = log.read_bytes()
    (folder / "cut.mcap").write_bytes(whole[: int(share * len(whole))])
    return folder / "cut.mcap"


@pytest.mark.parametrize("share", [0.3, 0.5, 0.7, 0.9])
def test_where_a_log_is_cut_the_end_of_what_still_went_on_is_no_difference(moving_arm, tmp_path, share):
    found = replay(cut(moving_arm, tmp_path, share))
    assert 100 < found.ticks < 4000
    assert found.identical, (found.difference, str(found.answer))


def test_what_ended_before_a_cut_is_compared(moving_arm, tmp_path):
    def change(name, data):
        if name != "commands.json":
            return data
        told = msgspec.json.decode(data)
        next(one for one in told["commands"] if one["ended"] is not None and one["ended"] < 1.5)["ended"] += 0.125
        return msgspec.json.encode(told)

    log = cut(repacked(moving_arm, change), tmp_path, 0.8)
    found = replay(log)
    assert 1800 < found.ticks < 4000
    assert found.difference is None
    assert [field.path for field in found.answer.fields] == ["ended"]


def test_where_to_begin_and_how_fast_are_checked(tmp_path):
    log = log_of("servo", None, tmp_path, "0.2 s")
    with pytest.raises(InputError, match=r"at = 7 s: .* from 0 to 0.2 s"):
        replay(log, at=7.0)
    with pytest.raises(InputError, match="a number above 0"):
        replay(log, speed=0.0)


def test_a_paced_replay_keeps_to_the_clock(tmp_path):
    import time

    log = log_of("servo", None, tmp_path, "0.4 s")
    replay(log)
    begin = time.monotonic()
    assert replay(log, at=0.2, speed=1.0).identical
    assert time.monotonic() - begin >= 0.19


def test_a_paced_replay_does_not_catch_up_what_compiling_took(tmp_path, monkeypatch):
    from pushrod.compiled import rollout as module

    plain, calls, seen = module.rollout, [], []

    def slow(*args, **options):
        if not calls:
            time.sleep(0.3)
        calls.append(1)
        return plain(*args, **options)

    log = log_of("servo", None, tmp_path, "0.6 s")
    monkeypatch.setattr(module, "rollout", slow)
    replay(log, speed=1.0, at=0.1, progress=lambda done, of: seen.append((time.monotonic(), done)))
    first = next(i for i, (_, done) in enumerate(seen) if done)
    begin, begun = seen[first]
    assert begun > 100  # ticks that were only run up to
    assert all((done - begun) * 1e-3 <= t - begin + 0.02 for t, done in seen[first:])


def test_a_log_of_others_cannot_be_replayed(tmp_path):
    (tmp_path / "a.csv").write_text("t,x\n0,1\n")
    with pytest.raises(LogError, match="is no log of a run of Pushrod"):
        replay(tmp_path / "a.csv")


# what a log may not do: it is data, whoever wrote it

EVIL = "raise SystemExit('executed')\n"


def text_with(old, new):
    return lambda name, data: data.replace(old, new) if name == "machine.yaml" else data


def test_no_code_that_a_log_names_is_executed(tmp_path, monkeypatch):
    log = log_of("servo", None, tmp_path, "0.1 s")
    (tmp_path / "evil.py").write_text(EVIL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    for world in (b"world: evil.py:WORLD", f"world: {tmp_path}/evil.py:WORLD".encode(), b"world: servo\nlive: evil.py:WORLD"):
        with pytest.raises(LogError, match="which is code; nothing that a log names is executed"):
            replay(repacked(log, text_with(b"world: servo", world)))


@pytest.mark.parametrize("driver", ["evil:Driver", "pushrod.cli.main:main", "os:abort"])
def test_no_driver_that_a_log_names_is_imported(tmp_path, monkeypatch, driver):
    from pushrod.sim import machine_robot

    log = log_of("boat", None, tmp_path, "0.2 s", live=True)
    (tmp_path / "evil.py").write_text(EVIL)
    monkeypatch.syspath_prepend(str(tmp_path))
    robot = machine_robot.shipped()["boat"].read_text().replace("pushrod.live.autopilot:Autopilot", driver)
    forged = repacked(log, lambda name, data: data.replace(b"robot: boat", b"robot: boat.yaml") if name == "machine.yaml" else data)
    assert b"robot: boat.yaml" in read(forged).attachments["machine.yaml"].data
    forged = with_file(forged, "boat.yaml", robot.encode())
    with pytest.raises(InputError, match="has a driver of its own"):
        replay(forged)


@pytest.mark.parametrize("name", ["../outside.yaml", "/tmp/outside.yaml", "a/../../outside.yaml", "..\\outside.yaml", "c:outside.yaml", "outside.py"])
def test_no_file_is_written_outside_and_no_code_is_taken_out(tmp_path, name):
    from pushrod.replay.rebuilding import unpacked

    log = with_file(log_of("servo", None, tmp_path, "0.05 s"), name, b"x: 1\n")
    with unpacked(read(log)) as folder:
        assert {file.name for file in folder.rglob("*") if file.is_file()} <= {"machine.yaml", "scenario.yaml", "verdict.json"}
    assert not list(tmp_path.rglob("*outside*"))
    assert not Path("/tmp/outside.yaml").exists()


@pytest.mark.parametrize("named", ["/etc/passwd", "../../secret.csv"])
def test_no_file_outside_of_the_log_is_read(tmp_path, named):
    log = log_of("car", None, tmp_path, "0.1 s")
    with pytest.raises(LogError, match="which is outside of the log and is not read"):
        replay(repacked(log, text_with(b"accel_map: maps/car_accel.csv", f"accel_map: {named}".encode())))


def test_a_world_of_ones_own_is_replayed_with_its_machine_file(tmp_path, monkeypatch):
    import shutil

    here = Path(__file__).resolve().parents[1] / "sim"
    shutil.copy(here / "tiny_world.py", tmp_path)
    file = tmp_path / "m.yaml"
    file.write_text("machine: tiny\nworld: tiny_world.py:TINY\nscenario: s.yaml\n")
    (tmp_path / "s.yaml").write_text("scenario: open\nduration: 0.5 s\ndt: 10 ms\nsignals: {angle: [{at: 0.2, constant: 0.5}]}\n")
    what = machine.load(str(file), trust=True)
    from pushrod.sim.recording import record
    from pushrod.sim.run import simulate

    log = record(simulate(what, scenario.load(None, what)), tmp_path)
    with pytest.raises(LogError, match="--machine FILE"):
        replay(log)
    with pytest.raises(LogError, match="m.yaml:2: world: the world 'tiny_world.py:TINY' is code outside Pushrod"):
        replay(log, machine=file)
    assert replay(log, machine=file, trust=True).identical
    file.write_text(file.read_text() + "about: changed\n")
    found = replay(log, machine=file, trust=True)
    assert "is not what it was" in found.notes[0]


def test_metadata_that_makes_no_sense_is_told(tmp_path):
    log = log_of("servo", None, tmp_path, "0.05 s")
    with pytest.raises(LogError, match="a run of the kind 'dream' is not known"):
        replay(repacked(log, metadata=lambda entries: entries | {"kind": "dream"}))
    with pytest.raises(LogError, match="machine.yaml:12: parameters.bus: unknown key"):
        replay(repacked(log, text_with(b"world: servo", b"world: arm")))
    with pytest.raises(LogError, match="/out is not that of the world servo as it is now: only there: strange"):
        replay(rewritten(log, "/out", 0, lambda row: row.update(strange=1.0)))


@pytest.mark.soak
@pytest.mark.parametrize("name", scenario.shipped())
def test_every_shipped_scenario_in_full(name, tmp_path):
    head = scenario.shipped()[name].read_text()
    duration = re.search(r"^duration: (.+?)(\s*#.*)?$", head, re.MULTILINE)
    assert duration is not None
    found = replay(log_of(machine_of(name), name, tmp_path, duration[1]))
    assert found.identical, (found.difference, found.answer)
