"""The log of a run: a command pipeline is found in it under the names of its topics, with units, and with the numbers of the run."""

import json

import numpy as np
import pytest
from mcap.reader import make_reader

from pushrod.live.run import simulate as simulate_live
from pushrod.pipeline.names import TOPICS
from pushrod.pipeline.topic import ActuatorCmd, ActuatorReq, EscOutput, MixerFeedback
from pushrod.sim import machine, scenario
from pushrod.sim.pipeline_topics import pipeline_topics
from pushrod.sim.recording import record
from pushrod.sim.run import simulate
from pushrod.sim.worlds import WORLDS


def read(file):
    with file.open("rb") as stream:
        reader = make_reader(stream)
        channels = reader.get_summary().channels.values()
        units = {channel.topic: json.loads(channel.metadata["units"]) for channel in channels}
        schemas = {reader.get_summary().schemas[c.schema_id].name: json.loads(reader.get_summary().schemas[c.schema_id].data) for c in channels}
        rows: dict[str, list] = {topic: [] for topic in units}
        for _, channel, message in reader.iter_messages():
            rows[channel.topic].append((message.log_time * 1e-9, json.loads(message.data)))
    return units, schemas, rows


@pytest.mark.parametrize("how", [simulate, lambda what, when: simulate_live(what, when).outcome], ids=["offline", "live"])
def test_the_boat(how, tmp_path):
    what = machine.load("boat")
    result = how(what, scenario.load("boat_windup", what, "3 s"))
    units, schemas, rows = read(record(result, tmp_path))
    assert set(units) == {"/in", "/out", *TOPICS}
    for topic, kind in zip(TOPICS, (ActuatorReq, ActuatorCmd, EscOutput, MixerFeedback), strict=True):
        assert tuple(units[topic]) == kind._fields
        assert len(rows[topic]) == 150
        assert schemas[topic]["title"] == topic
    assert (units["ESC_OUTPUT"]["pulse_L"], units["ESC_OUTPUT"]["u_L"]) == ("us", "-")
    t, last = rows["MIXER_FEEDBACK"][-1]
    assert t == pytest.approx(3.0)
    assert last["aw_s_req"] == result.columns["fb.aw_s_req"][-1] != 0.0
    assert [row["u_L"] for _, row in rows["ESC_OUTPUT"]] == result.columns["esc.u_L"].tolist()


def test_the_quad_without_running_it():
    topics = {topic.name: topic for topic in pipeline_topics(WORLDS["quad"])}
    assert tuple(topics) == TOPICS
    assert topics["ACTUATOR_REQ"].paths["req.a3"] == "req.a3"
    assert topics["ACTUATOR_REQ"].paths["reason"] == "pipe.reason"
    assert topics["ACTUATOR_CMD"].paths["cmd.a0"] == "pipe.cmd.a0"
    assert topics["ESC_OUTPUT"].paths["u.e3"] == "pipe.u.e3"
    assert topics["MIXER_FEEDBACK"].paths["ach.a1"] == "pipe.ach.a1"


@pytest.mark.soak
def test_the_quad(tmp_path):
    what = machine.load("quad")
    result = simulate(what, scenario.load(None, what, "2 s"))
    units, _, rows = read(record(result, tmp_path))
    assert set(TOPICS) <= set(units)
    assert units["ACTUATOR_REQ"]["src"] == "-"
    assert [row["u"]["e0"] for _, row in rows["ESC_OUTPUT"]] == result.columns["pipe.u.e0"].tolist()
    assert np.ptp(result.columns["pipe.u.e0"]) > 0.1
    assert {row["src"] for _, row in rows["ACTUATOR_REQ"]} == {1.0}


def test_a_world_without_a_pipeline_has_none():
    assert pipeline_topics(WORLDS["car"]) == []
