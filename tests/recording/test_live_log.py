"""A robot on the wall clock is recorded: every topic is there, in order, with units, and every command whichever way it came."""

import asyncio
import math
import time
from array import array

import pytest
from jsonschema import Draft202012Validator

from pushrod.core.errors import InputError
from pushrod.live.machine import SimulatedMachine
from pushrod.log import reader as log_reader
from pushrod.log.process import LogProcess
from pushrod.recording import Recording
from pushrod.robot import Joint
from pushrod.runtime import Guard, Position, Runtime, Velocity
from pushrod.sim import machine
from recorded_run import Plain, read, recorded, robot

COMMAND = "/actuator/base/shoulder/motor/command"


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    async def body(rt, recording):
        servo = rt["motor"]
        servo.direct.set_position(0.1)  # refused: not armed
        rt.arm()
        servo.publish.set_position(0.5, velocity=0.5, id="one", validity=2.0)
        servo.direct.set_position(9.0)
        await servo.sync.set_velocity(math.nan)
        rt.send([("motor", Position(0.2)), ("motor", Velocity(0.1))], source="batch")
        rt.parameters.set("gain", 0.75)
        rt.handle("motor", "ann").take_lease()
        servo.direct.hold()
        rt.handle("motor", "ann").release_lease()
        rt.loop(hz=200.0, name="own")(lambda k: None)
        await asyncio.sleep(1.2)  # the loops are told of once a second
        rt.report_error(("base", "motor"), "too hot")
        rt.estop("button")

    before = time.time()
    made = recorded(tmp_path_factory.mktemp("runs"), body, about={"machine": "m", "override 1": "--set a=1"})
    assert made.problem == ""
    assert made.dropped == 0
    found = read(made.file)
    assert made.written == len(found.said)
    assert before - 1.0 < min(one.ns for one in found.said) * 1e-9 < max(one.ns for one in found.said) * 1e-9 < time.time() + 1.0
    return found


def test_every_delivery_is_a_command_with_what_became_of_it(log):
    told = [(c["kind"], c["source"], c["result"], c["reason"]) for c in log.of(COMMAND)]
    assert told == [
        ("Position", "local", "refused", "not_armed"),
        ("Position", "local", "accepted", None),
        ("Position", "local", "clamped", None),
        ("Velocity", "local", "refused", "malformed"),
        ("Position", "batch", "accepted", None),
        ("Velocity", "batch", "accepted", None),
        ("Hold", "local", "refused", "lease"),
    ]
    _, one, clamped, wrong, *_ = log.of(COMMAND)
    assert one["payload"] == {"type": "Position", "position": 0.5, "velocity": 0.5, "duration": None}
    assert (one["id"], one["validity"], one["epoch"]) == ("one", 2.0, 1)
    assert clamped["payload"]["position"] == 9.0
    assert clamped["done"]["position"] == 3.0
    assert wrong["payload"]["velocity"] is None
    assert "finite" in wrong["detail"]


def test_all_topics_are_there(log):
    assert {COMMAND, "/actuator/base/shoulder/motor/BeginMotion", "/actuator/base/shoulder/motor/EndMotion"} <= log.topics
    assert {"/actuator/base/shoulder/motor/LeaseChanged", "/joint_states", "/safety", "/safety/error", "/param", "/events"} <= log.topics
    assert {"/loops", "/recording"} <= log.topics
    assert {(one.topic, one.schema) for one in log.said if one.schema.startswith("foxglove.")} == {
        ("/joint_states", "foxglove.JointStates"),
        ("/events", "foxglove.Log"),
    }
    assert log.encodings == {("jsonschema", "json")}


def test_what_was_reported_comes_back(log):
    assert [(t["from"], t["to"]) for t in log.of("/safety")] == [("disarmed", "disarmed"), ("disarmed", "armed"), ("armed", "estopped")]
    assert log.of("/safety/error") == [{"type": "HardwareError", "path": ["base", "motor"], "error": "too hot"}]
    (changed,) = log.of("/param")
    assert (changed["path"], changed["old"], changed["new"], changed["source"]) == ("gain", 0.5, 0.75, "local")
    (joint,) = log.of("/joint_states")[-1]["joints"]
    assert joint["name"] == "shoulder"
    assert {"position", "velocity"} <= set(joint)


def test_events_are_what_a_person_wants_to_read(log):
    lines = [(event["level"], event["name"], event["message"]) for event in log.of("/events")]
    assert (4, "safety", "armed -> estopped: button") in lines
    assert (4, "base/motor", "too hot") in lines
    assert (2, "gain", "gain: 0.5 -> 0.75, by local") in lines
    (refused,) = [text for level, _, text in lines if "not armed" in text]
    assert "arm the robot first" in refused


def test_loops_are_told_of_once_a_second_and_at_the_end(log):
    told = [loop for loop in log.of("/loops") if loop["name"] == "own"]
    assert len(told) >= 2
    assert told[-1]["ticks"] + told[-1]["missed"] > 150
    assert sum(told[-1]["bins"].values()) == told[-1]["ticks"]
    assert 0.0 <= told[-1]["p50"] <= told[-1]["p99"] <= told[-1]["worst"]
    assert max(map(float, told[-1]["bins"])) >= told[-1]["worst"] * 1e6 * 0.9


def test_the_log_says_what_it_is(log):
    assert (log.about["kind"], log.about["robot"], log.about["machine"], log.about["override 1"]) == ("live", "lift", "m", "--set a=1")
    assert {"pushrod", "numpy", "numba", "python", "started"} <= set(log.about)
    (counts,) = log.of("/recording")
    assert counts == {"written": len(log.said), "dropped": 0, "queued": 0}


def test_every_message_is_as_its_schema_says_and_numbers_have_units(log):
    for one in log.said:
        Draft202012Validator(_or_null(log.schemas[one.topic])).validate(one.data)
    payload = log.schemas[COMMAND]["properties"]["payload"]["properties"]
    assert (payload["position"]["unit"], payload["velocity"]["unit"], payload["duration"]["unit"]) == ("rad", "rad/s", "s")
    assert payload["position"]["description"] == "[rad]"
    assert log.schemas["/loops"]["properties"]["p99"]["unit"] == "s"


def _or_null(schema):
    """What is not there is null, which viewers want said in fewer words than JSON Schema does."""
    if "properties" in schema:
        schema = schema | {"properties": {name: _or_null(one) for name, one in schema["properties"].items()}}
    if "items" in schema:
        schema = schema | {"items": _or_null(schema["items"])}
    schema = {key: value for key, value in schema.items() if key != "enum"}
    return schema | ({"type": [schema["type"], "null"]} if "type" in schema else {})


def test_times_do_not_run_backwards_within_a_topic(log):
    for topic in log.topics:
        times = [one.ns for one in log.said if one.topic == topic]
        assert times == sorted(times)


def test_refusals_are_told_at_most_once_a_second(tmp_path):
    async def body(rt, recording):
        for _ in range(500):
            rt["motor"].direct.set_position(0.1)

    log = read(recorded(tmp_path, body, {"motor": Plain}).file)
    assert len(log.of(COMMAND)) == 500
    assert len([event for event in log.of("/events") if "not armed" in event["message"]]) == 1


def test_every_tick_of_a_simulated_machine(tmp_path):
    arm = SimulatedMachine(machine.load("arm"), dt=1e-2, record=True)

    async def main():
        rt = Runtime(arm.robot, machine=arm, guard=Guard(limit=10.0))
        with Recording(rt, tmp_path) as recording:
            async with rt:
                rt.arm()
                rt["elbow_motor"].direct.set_position(0.5)
                await asyncio.sleep(0.5)
        return recording

    log = read(asyncio.run(main()).file)
    told, given = arm.inputs(), arm.run()
    assert [row["elbow"]["position"] for row in log.of("/in")] == told["elbow.position"].tolist()
    assert [row["elbow"]["q"] for row in log.of("/out")] == given["elbow.q"].tolist()
    assert log.schemas["/out"]["properties"]["elbow"]["properties"]["q"]["unit"] == "rad"
    assert log.about["dt"] == "0.01"


def test_no_message_is_before_the_first(tmp_path):
    """A tick's input is stamped when the tick began, perhaps before the recording: readers and replays would count negative time."""
    ns, tick = 1_700_000_000 * 10**9, 10**7
    process = LogProcess(tmp_path / "run.mcap", {}, [], ns, part=10**6)
    assert process.begin(10.0), process.problem
    topics = [process.open(name, name, {"type": "object"}, {}) for name in ("/safety", "/in", "/out")]
    rows = process.open_rows([(topics[1], {"y": 0}, -tick), (topics[2], {"y": 0}, 0)])
    process.put(topics[0], ns, b"{}")
    for k in range(3):
        process.put_row(rows, ns + tick // 2 + k * tick, array("d", [float(k)]).tobytes())
    process.close()
    table = log_reader.read(tmp_path / "run.mcap")
    assert table["in.y"].t.tolist() == [0.0, 0.005, 0.015]
    assert table["y"].t.tolist() == [0.005, 0.015, 0.025]


def test_joints_have_their_units_and_what_every_tick_says_is_there_once(tmp_path):
    arm = SimulatedMachine(machine.load("arm"), dt=1e-2)
    arm.open_to_onlookers()

    async def main():
        rt = Runtime(arm.robot, machine=arm, guard=Guard(limit=10.0))
        with Recording(rt, tmp_path) as recording:
            async with rt:
                await asyncio.sleep(0.2)
        return recording

    table = log_reader.read(asyncio.run(main()).file)
    units = {name.rpartition(".")[2]: channel.unit for name, channel in table.of("/joint_states").items()}
    assert {key: units[key] for key in ("position", "velocity")} == {"position": "rad", "velocity": "rad/s"}
    assert len(table["elbow.q"]) > 5
    assert "/sensor/world/WorldNow" not in table.topics
    assert "/sensor/world/WorldTold" in table.topics


def test_one_recording_at_a_time(tmp_path):
    async def body(rt, recording):
        with pytest.raises(InputError, match="recorded already"), Recording(rt, tmp_path):
            pass
        rt.arm()
        assert rt["motor"].direct.set_position(0.1).ok

    log = read(recorded(tmp_path, body, {"motor": Plain}).file)
    assert len(log.of(COMMAND)) == 1


def test_names_that_are_taken_are_left_alone(tmp_path):
    async def body(rt, recording):
        return

    files = {recorded(tmp_path, body, {"motor": Plain}).file for _ in range(3)}
    assert len(files) == 3
    assert set(tmp_path.iterdir()) == files


def test_a_joint_that_slides_has_its_units():
    from pushrod.recording.schema import units_of

    assert units_of(Joint("j", "prismatic", "a", "b").kind)["position"] == "m"
    assert robot().joint("shoulder").kind == "revolute"
