"""A machine that is looked at while it runs: its world on the bus, and what can break in it as parameters of its robot."""

import asyncio

import pytest

from pushrod.core.errors import InputError, ParameterError
from pushrod.core.record import numbers
from pushrod.live.autopilot import Course
from pushrod.live.machine import SimulatedMachine
from pushrod.live.payload import Actuation
from pushrod.live.plain_request import understood
from pushrod.live.world_sensor import WorldNow, WorldTold
from pushrod.runtime import SteppedClock, run
from pushrod.runtime.message import ParameterChanged
from pushrod.runtime.runtime import Runtime
from pushrod.sim import machine as machines

MACHINES = ("arm", "car", "boat", "quad", "satellite")


def looked_at(name, dt=1e-2):
    made = SimulatedMachine(machines.load(name), dt=dt)
    made.open_to_onlookers()
    return made


def through(made, main):
    """`main(rt)` within a runtime of it on a stepped clock."""
    clock = SteppedClock()

    async def whole():
        async with Runtime(made.robot, machine=made, clock=clock) as rt:
            return await main(rt)

    return run(whole(), clock)


@pytest.mark.parametrize("name", MACHINES)
def test_the_world_of_every_machine_is_on_the_bus_with_names_and_units(name):
    made = looked_at(name)

    async def main(rt):
        heard = rt.subscribe("sensor/world", (WorldTold, WorldNow), latched=True)
        await asyncio.sleep(1.0)
        return [message.payload for message in iter(heard.poll, None)]

    told, *rows = sorted(through(made, main), key=lambda one: isinstance(one, WorldNow))
    assert len(told.names) == len(told.units) == len(told.abouts) == len(told.words)
    assert all(len(row.values) == len(told.names) for row in rows)
    assert 40 <= len(rows) <= 52
    assert rows[-1].t == pytest.approx(rows[-1].k * 1e-2)
    assert all(request in told.names and achieved in told.names for request, achieved in told.pairs)


async def told_for(rt, seconds, payload):
    """Again and again, as its watchdog wants it."""
    for _ in range(round(seconds / 0.1)):
        rt["controls"].direct.send(payload)
        await asyncio.sleep(0.1)


def test_what_breaks_while_it_runs_is_seen_in_the_world_and_told():
    made = looked_at("car")

    async def main(rt):
        rt.arm()
        told = rt.subscribe("param", (ParameterChanged,))
        await told_for(rt, 2.0, Actuation(accel=0.0, steer=1.0))
        turned = made.output("steer_ach")
        rt.parameters.set_many({"fault.steer.kind": "stuck"}, "ann")
        await told_for(rt, 2.0, Actuation(accel=0.0, steer=-1.0))
        stuck = made.output("steer_ach")
        rt.parameters.set("fault.steer.kind", "none")
        await told_for(rt, 2.0, Actuation(accel=0.0, steer=-1.0))
        return turned, stuck, made.output("steer_ach"), [message.payload for message in iter(told.poll, None)]

    turned, stuck, mended, changes = through(made, main)
    assert turned > 0.02
    assert stuck == pytest.approx(turned, abs=1e-3)
    assert mended < -0.02
    assert [(change.path, change.new, change.source) for change in changes] == [
        ("fault.steer.kind", "stuck", "ann"),
        ("fault.steer.kind", "none", "local"),
    ]


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"fault.left.kind": "exploded"}, "allowed are none, stuck, loss, bias, delay"),
        ({"fault.left.effectiveness": 1.5}, "1"),
        ({"fault.left.kind": "delay"}, "takes no time that a fault could add to"),
        ({"fault.left.kind": "loss", "fault.left.at": 5.0, "fault.left.until": 4.0}, "not after at"),
    ],
)
def test_a_fault_that_cannot_be_changes_nothing(values, says):
    made = looked_at("boat", dt=2e-2)

    async def main(rt):
        with pytest.raises(ParameterError, match=says):
            rt.parameters.set_many(values)
        return rt.parameters.get("fault.left.kind")

    assert through(made, main) == "none"
    assert made.params.faults == made.world.Params().faults


def test_a_parameter_of_the_world_acts_from_the_next_tick_on():
    made = looked_at("arm", dt=1e-3)

    async def main(rt):
        rt.arm()
        rt["shoulder_motor"].direct.set_position(1.0)
        await asyncio.sleep(2.0)
        held = made.output("shoulder.q")
        rt.parameters.set("world.shoulder.torque_max", 0.0)
        await asyncio.sleep(2.0)
        return held, made.output("shoulder.q")

    held, dropped = through(made, main)
    assert held == pytest.approx(1.0, abs=0.02)
    assert abs(dropped) < 0.7  # the motor has no torque left: it falls


def test_values_that_do_not_go_together_are_refused_whole():
    """The delay line of the satellite has room for either delay, not for their sum."""
    made = looked_at("satellite", dt=1e-2)
    before = made.params

    async def main(rt):
        rt.parameters.set("world.bus.delay", 0.4)
        with pytest.raises(ParameterError, match="extra_delay"):
            rt.parameters.set_many({"fault.torque_x.kind": "delay", "fault.torque_x.extra_delay": 0.4})
        return rt.parameters.get("world.bus.delay")

    assert through(made, main) == 0.4
    assert made.params == before._replace(bus=before.bus._replace(delay=0.4))


@pytest.mark.parametrize("name", MACHINES)
def test_every_number_of_a_world_that_is_in_no_table_is_a_parameter_of_the_robot(name):
    made = looked_at(name)
    leaves = {leaf.path for leaf in numbers(type(made.params)) if not leaf.path.startswith("faults.")}
    assert {one.path.removeprefix("world.") for one in made.robot.parameters if one.path.startswith("world.")} == leaves


def test_plain_data_is_understood_as_the_request_it_names():
    assert understood({"type": "Course", "v_req": 1.0, "psi_req": 0.5}, (Course,)) == Course(1.0, 0.5)
    assert understood("course", (Course,)) == "course"
    with pytest.raises(InputError, match="there are Course"):
        understood({"type": "Dance"}, (Course,))
    with pytest.raises(InputError, match="v_req"):
        understood({"type": "Course", "v_req": "fast"}, (Course,))
