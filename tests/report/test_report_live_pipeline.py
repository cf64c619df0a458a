"""A boat whose loops and pipeline are nodes of its robot: its report has all that a simulated one has, and says who asked what of whom."""

import asyncio
from dataclasses import replace

import numpy as np
import pytest
from report_rig import page_of, rows, section, text, value

from pushrod.live.autopilot import Course
from pushrod.live.machine import SimulatedMachine
from pushrod.live.pipeline import Helm
from pushrod.log import read
from pushrod.log.writer import Attachment
from pushrod.recording import Recording
from pushrod.report import find
from pushrod.runtime import Runtime, SteppedClock
from pushrod.runtime import run as run_on
from pushrod.sim import machine

DT = 0.02


@pytest.fixture(scope="module")
def sailed(tmp_path_factory):
    """Asked for more speed than there is, with a motor that fails on the way; and what nobody may ask."""
    what = machine.load("boat")
    live = SimulatedMachine(what, dt=DT)
    live.open_to_onlookers()
    clock = SteppedClock()
    rt = Runtime(live.robot, machine=live, clock=clock, guard=False)
    files = [Attachment("machine.yaml", "application/yaml", what.document.text)]

    async def through():
        with Recording(rt, tmp_path_factory.mktemp("sailed"), about={"machine": "boat", "world": live.world.name}, attachments=files) as recording:
            async with rt:
                assert rt.arm().ok
                await asyncio.sleep(0.5)
                assert (await rt.request("pipeline", {"type": "Switch", "mode": "autopilot", "by": "operator"}, source="ann")).ok
                assert not Helm(rt, by="bob").switch("manual").ok
                await rt.request("autopilot", {"type": "Course", "v_req": 1.8, "psi_req": 0.0}, source="ann")
                await asyncio.sleep(3.0)
                rt.parameters.set("fault.right.kind", "loss", "ann")
                await asyncio.sleep(0.5)
                rt.parameters.set("fault.right.kind", "none", "ann")
                await rt.request("autopilot", Course(1.0, 0.0))
                with pytest.raises(Exception, match="v_req"):
                    await rt.request("autopilot", Course(float("inf"), 0.0), source="ann")
                await rt.request("autopilot", "course", source="ann")
                await asyncio.sleep(0.5)
                rt.disarm("over")
        return recording.file

    return run_on(through(), clock)


def test_requests_stages_losses_and_limits_are_found_below_their_nodes(sailed):
    found = find(read(sailed))
    pairs = {one.names: one for one in found.followings}
    assert {("v_req", "v"), ("psi_req", "psi"), ("req.u_s_req", "fb.u_s_ach")} <= set(pairs)
    speed = pairs["v_req", "v"]
    assert speed.step is not None
    assert speed.step.goal == 1.8
    assert speed.response.rise_time
    assert ("measured", "v_meas") in speed.lines
    surge = pairs["req.u_s_req", "fb.u_s_ach"]
    assert surge.saturated
    axis = next(axis for axis in found.axes if axis.name == "s")
    assert set(axis.stages) == {"req", "cmd", "alloc", "ach"}
    log = found.log
    given = log.table["controller/pipeline/MIXER_FEEDBACK/Diagnostics.loss_s.envelope"].values
    loss = next(loss for loss in axis.losses if loss.cause == "envelope")
    assert loss.most == given.max() > 0.1
    assert loss.total == pytest.approx(abs(given).sum() * DT)


def test_a_fault_that_was_put_in_by_hand_is_a_band(sailed):
    found = find(read(sailed))
    ((begin, end),) = found.faults["right"]
    assert (begin, end) == pytest.approx((3.5, 4.0), abs=0.05)
    assert any(band["kind"] == "fault" and "right" in band["label"] for band in found.bands)


def test_each_channel_is_listed_once_by_its_name_in_the_log(sailed):
    log = find(read(sailed)).log
    assert set(log.listed) == {name for name, channel in log.table.channels.items() if len(channel)}
    assert log.renamed["v_req"] == "controller/autopilot/STEERING/Steering.v_req"


def test_what_was_asked_of_controllers_is_in_the_log_with_source_and_result(sailed):
    table = read(sailed)
    switches = [row for _, row in table.messages("/controller/pipeline/request")]
    assert [(row["source"], row["kind"], row["payload"]["mode"], row["result"]) for row in switches] == [
        ("ann", "Switch", "autopilot", "accepted"),
        ("bob", "Switch", "manual", "refused"),
    ]
    assert switches[1]["reason"]
    courses = [row for _, row in table.messages("/controller/autopilot/request")]
    assert [(row["source"], row["kind"], row["payload"]["v_req"], row["result"]) for row in courses] == [
        ("ann", "Course", 1.8, "accepted"),
        ("local", "Course", 1.0, "accepted"),
        ("ann", "Course", None, "refused"),
    ]
    assert "v_req" in courses[2]["reason"]


def test_they_stand_in_the_ledger_beside_the_commands_whose_range_is_told(sailed):
    tree = page_of(sailed)
    listed = [[text(cell) for cell in row] for row in rows(tree, "commands")]
    assert ["autopilot", "ann", "Course v_req 1.8 m/s, psi_req 0 rad", "accepted"] in [row[1:5] for row in listed]
    assert any(row[1:4] == ["pipeline", "bob", "Switch mode manual, by bob"] and row[4].startswith("refused: ") for row in listed)
    throttle = [row[3] for row in listed if row[3].startswith("Throttle")]
    assert any("u 0 … 1" in asked for asked in throttle), throttle
    senders = {(text(row[0]), text(row[1])): [value(cell) for cell in row[2:5]] for row in rows(tree, "senders")}
    assert senders["autopilot", "ann"] == [1.0, 0.0, 1.0]
    assert section(tree, "following") is not None


def test_figures_of_a_live_run_leave_out_when_the_autopilot_was_not_in_charge(sailed):
    table = read(sailed)
    live = find(replace(table, metadata={"pushrod": {**table.about, "kind": "live"}}))
    speed = next(one for one in live.followings if one.names == ("v_req", "v"))
    log = live.log
    r, a, on = log.columns["v_req"], log.columns["v"], log.columns["req.src"] == 1.0
    assert 0 < on.sum() < len(on) - 20
    assert speed.response.error_rms == pytest.approx(np.sqrt(np.mean((r - a)[on] ** 2)))
