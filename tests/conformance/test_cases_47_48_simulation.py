"""Cases 47 and 48: the open-loop estimator, and what a simulation puts in the place of what."""

import asyncio

import pytest
from fixture_r import TOPIC, Probe, drive, heard, near, position, robot, simulate

from pushrod.motion import EASINGS
from pushrod.robot import Controller, Parameter, ParameterRef, Sensor
from pushrod.runtime import BeginMotion, DriverError, EndMotion, JointState, Message, Stop, Velocity
from pushrod.runtime.simulated import OpenLoopEstimator


class Quiet(Probe):
    """Says nothing of its own; the test speaks for it."""


def estimate(body, **options):
    """An estimator beside a motor that is silent; `said(rt)` gives what it publishes."""
    probe = Quiet()
    sensor = Sensor("estimator", options={"actuator": "motor", **options}, joint="shoulder")
    return drive(robot(sensors=[sensor]), {"motor": lambda: probe, "estimator": OpenLoopEstimator}, lambda rt: body(rt, probe.context.publish))


def states(watch) -> list[tuple[float, float]]:
    found = []
    while (message := watch.poll()) is not None:
        found.append((message.time, message.payload.positions[0]))
    return found


async def settle() -> None:
    await asyncio.sleep(0)
    await asyncio.sleep(1e-6)


def test_47_publishes_at_its_rate() -> None:
    async def body(rt, report):
        watch = rt.subscribe(("sensor",), [JointState])
        report(BeginMotion(0.0, 0.75, 0.055))
        await asyncio.sleep(0.2)
        return states(watch)

    found = estimate(body, publish_rate=100.0)
    assert [t for t, _ in found] == [near(0.01 * k, 1e-6) for k in range(1, 6)] + [near(0.055, 1e-6)]
    assert found[-1][1] == 0.75


def test_47_breaks_its_silence() -> None:
    async def body(rt, report):
        watch = rt.subscribe(("sensor",), [JointState])
        await asyncio.sleep(5.0)
        before = states(watch)
        report(BeginMotion(0.0, 0.75, 0.0))
        await asyncio.sleep(5.0)
        return before, states(watch)

    before, after = estimate(body, max_silence=2.0)
    assert before == []  # nothing before the first motion
    assert after == [(near(5.0 + 2.0 * k, 1e-6), 0.75) for k in range(3)]


def test_47_what_should_have_arrived_has() -> None:
    async def body(rt, report):
        watch = rt.subscribe(("sensor",), [JointState])
        await asyncio.sleep(3.0)
        report(BeginMotion(0.0, 0.75, 2.0))
        await settle()
        return states(watch)

    assert estimate(body) == [(3.0, 0.75)]


def test_47_what_does_not_change_is_not_published() -> None:
    async def body(rt, report):
        watch = rt.subscribe(("sensor",), [JointState])
        report(BeginMotion(0.75, 0.75, 0.5))
        await asyncio.sleep(1.0)
        return states(watch)

    assert [x for _, x in estimate(body)] == [0.75, 0.75]  # the first tick, and the arrival


def test_47_commands_are_not_motions() -> None:
    async def body(rt, report):
        watch = rt.subscribe(("sensor",), [JointState])
        rt.arm()
        rt["motor"].publish.set_position(1.0)
        await asyncio.sleep(0.5)
        return states(watch)

    assert estimate(body) == []


def eased(easing: str, share: float) -> float:
    async def body(rt, report):
        watch = rt.subscribe(("sensor",), [JointState])
        report(BeginMotion(0.0, 0.75, 1.0))
        await asyncio.sleep(share + 1e-6)
        return states(watch)[-1][1]

    return estimate(body, easing=easing)


def test_47_easings_differ_on_the_way() -> None:
    assert eased("linear", 0.2) == near(0.15, 1e-6)
    assert eased("ease_in_quad", 0.2) < eased("linear", 0.2) < eased("ease_out_quad", 0.2)


@pytest.mark.parametrize("easing", EASINGS)
def test_47_easings_end_exactly(easing: str) -> None:
    assert eased(easing, 1.0) == 0.75


def test_47_all_22_easings_are_there() -> None:
    assert len(EASINGS) == 22


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"easing": "sideways"}, "sideways"),
        ({"publish_rate": 0}, "publish_rate"),
        ({"max_silence": -1}, "max_silence"),
        ({"actuator": "nobody"}, "nobody"),
    ],
    ids=str,
)
def test_47_wrong_options_end_the_start(options: dict, says: str) -> None:
    async def body(rt, report):
        raise AssertionError("must not start")

    with pytest.raises(DriverError, match=says):
        estimate(body, **options)


def test_47_stop_and_the_end_of_a_motion_count() -> None:
    # adapted: the reference's estimator ignores both; its own list of weaknesses says so
    async def body(rt, report):
        watch = rt.subscribe(("sensor",), [JointState])
        report(BeginMotion(0.0, 1.0, 1.0))
        await asyncio.sleep(0.5)
        report(EndMotion(0.42, "limit_reached"))
        await asyncio.sleep(1.0)
        return states(watch)

    assert estimate(body)[-1] == (near(0.5, 1e-6), 0.42)


def test_48_simulated_motors_report_by_themselves() -> None:
    # adapted: a kinematic motor reports where it is, so no estimator is put beside it; one that is declared runs
    async def body(rt):
        rt.arm()
        rt["motor"].direct.set_position(0.5)
        await asyncio.sleep(3.0)
        return rt["motor"].joint_state, list(rt.nodes)

    state, nodes = simulate(body)
    assert (state.names, state.positions, nodes) == (("shoulder",), (near(0.5),), [])


def test_48_a_declared_estimator_runs_in_simulation() -> None:
    async def body(rt):
        watch = rt.subscribe(("sensor",), [JointState])
        rt.arm()
        rt["motor"].direct.set_position(0.5)
        await asyncio.sleep(3.0)
        return states(watch)[-1][1]

    sensor = Sensor("estimator", "pushrod.runtime.simulated:OpenLoopEstimator", {"actuator": "motor"}, joint="shoulder")
    assert simulate(body, sensors=[sensor]) == near(0.5)


STARTED: list[str] = []


class Balance:
    def init(self, context, options):
        STARTED.append(context.path[-1])

    def handle_request(self, request):
        return f"{request} from the controller"


CONTROLLERS = [Controller(name, f"{__name__}:Balance", simulation=name) for name in ("omit", "mock", "start")]


def test_48_controllers_are_left_out_replaced_or_started() -> None:
    STARTED.clear()

    async def body(rt):
        return list(rt.nodes), await rt.request("mock", "anything"), await rt.request("start", "hello")

    nodes, mocked, started = simulate(body, controllers=CONTROLLERS)
    assert nodes == ["mock", "start"]
    assert (mocked, started) == (None, "hello from the controller")
    assert STARTED == ["start"]


def test_48_outside_a_simulation_all_are_started() -> None:
    STARTED.clear()

    async def body(rt):
        return list(rt.nodes)

    assert drive(robot(controllers=CONTROLLERS), {"motor": Probe}, body) == ["omit", "mock", "start"]
    assert STARTED == ["omit", "mock", "start"]


def test_48_the_options_are_those_of_the_driver_that_is_replaced() -> None:
    async def body(rt):
        rt.parameters.set("port", 7)
        rt.arm()
        return rt["motor"].direct.set_position(0.1).ok

    assert simulate(body, options={"port": ParameterRef("port"), "baud": 1_000_000}, parameters=[Parameter("port", int, 3)])


def test_48_all_six_verbs_move_it() -> None:
    # adapted: the reference accepts five of the six and does nothing
    async def body(rt):
        servo, x = rt["motor"].direct, []
        rt.arm()
        servo.set_velocity(0.5)
        await asyncio.sleep(1.0)
        x.append((await rt["motor"].request("state"))["velocity"])
        servo.hold()
        await asyncio.sleep(1.0)
        x.append((await rt["motor"].request("state"))["velocity"])
        servo.set_effort(-0.5, 0.5)
        await asyncio.sleep(0.25)
        x.append((await rt["motor"].request("state"))["velocity"])
        servo.stop()
        x.append((await rt["motor"].request("state"))["velocity"])
        return x

    assert simulate(body) == [near(0.5), 0.0, near(-0.125), 0.0]


def test_48_estops_stop_what_moves() -> None:
    async def body(rt):
        watch = rt.subscribe(TOPIC, [EndMotion])
        rt.arm()
        rt["motor"].direct.send(Velocity(1.0), id="go")
        await asyncio.sleep(1.0)
        rt.estop("button")
        before = await position(rt)
        await asyncio.sleep(1.0)
        after = await position(rt)
        rt.reset()
        rt.arm()
        rt["motor"].direct.send(Stop())
        return before, after, heard(watch)

    before, after, ends = simulate(body)
    assert before == after > 0.5
    assert (ends[0].command_id, ends[0].reason) == ("go", "cancelled")


def test_48_messages_reach_an_estimator_of_its_own_robot_only() -> None:
    async def body(rt, report):
        watch = rt.subscribe(("sensor",), [JointState])
        rt.bus.publish(Message(BeginMotion(0.0, 0.75, 0.0), TOPIC, 0.0, 0.0, "another"))
        await asyncio.sleep(0.1)
        return states(watch)

    assert estimate(body) == []
