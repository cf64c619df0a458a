"""The world of the arm: its servos hold it, sag without their integral, let go when told, and the description fits it."""

import math

import numpy as np
import pytest

from pushrod.compiled.rollout import rollout
from pushrod.core.errors import ParameterError
from pushrod.core.model import Tick
from pushrod.models import fault
from pushrod.plants import two_link_arm
from pushrod.robot import forward
from pushrod.sim import machine
from pushrod.sim.worlds.arm import ARM, In, Params, Port, State, step

DT = 1e-3


def motor(p, q):
    return (-50.0 if p.reversed else 50.0) * (q - p.offset)


def run(p=None, seconds=3.0, dt=DT, state=None, q1=0.0, q2=0.0, **channels):
    p = p or Params()
    held = {"shoulder.stiff": 1.0, "elbow.stiff": 1.0, "shoulder.position": motor(p.shoulder, q1), "elbow.position": motor(p.elbow, q2)}
    told = held | {name.replace("__", "."): value for name, value in channels.items()}
    return rollout(ARM, p, told, steps=round(seconds / dt), dt=dt, state=state)


def at(q1, q2=0.0):
    return State(arm=two_link_arm.State(q1, q2))


def test_it_goes_where_both_motors_are_told():
    y = run(q1=1.2, q2=-0.7)
    assert (y["shoulder.q"][-1], y["elbow.q"][-1]) == (pytest.approx(1.2, abs=1e-3), pytest.approx(-0.7, abs=1e-3))
    assert y["shoulder.q_req"][-1] == pytest.approx(1.2)
    assert y["elbow.q_req"][-1] == pytest.approx(-0.7)
    assert y["shoulder.q"].max() < 1.2 * 1.25


def test_without_the_integral_it_sags_by_weight_over_stiffness():
    p = Params()
    p = p._replace(
        shoulder=p.shoulder._replace(ki=0.0),
        elbow=p.elbow._replace(kp=10.0, ki=0.0, kd=0.05),
        arm=p.arm._replace(shoulder=p.arm.shoulder._replace(c=0.0)),
    )
    y = run(p, 6.0, q1=math.pi / 2.0)
    q = y["shoulder.q"][-1]
    weight = two_link_arm.weight(p.arm, q, y["elbow.q"][-1]).a
    assert weight > 8.0
    assert math.pi / 2.0 - q == pytest.approx(weight / (50.0 * 50.0 * p.shoulder.efficiency * p.shoulder.kp), rel=1e-3)
    assert abs(run(q1=math.pi / 2.0, seconds=6.0)["shoulder.q"][-1] - math.pi / 2.0) < 1e-3


def test_let_go_it_falls_as_the_bare_arm_does():
    y = run(state=at(1.0, 0.4), shoulder__stiff=0.0, elbow__stiff=0.0, seconds=0.5)
    s = two_link_arm.State(1.0, 0.4)
    for _ in range(500):
        s, _ = two_link_arm.step(Params().arm, s, two_link_arm.In(), DT)
    assert (y["shoulder.q"][-1], y["elbow.q"][-1]) == (s.q1, s.q2)
    assert y["shoulder.q_req"][-1] == y["shoulder.q"][-1]
    assert np.all(y["shoulder.torque"] == 0.0)


def test_an_effort_reaches_the_joint_through_gear_and_efficiency():
    p = Params()
    p = p._replace(arm=p.arm._replace(g=0.0, elbow=p.arm.elbow._replace(c=1e3)), shoulder=p.shoulder._replace(lag=p.shoulder.lag._replace(T=0.0)))
    y = run(p, 0.01, shoulder__stiff=0.0, elbow__stiff=0.0, shoulder__effort=0.2)
    joint = 50.0 * 0.85 * 0.2 - p.arm.shoulder.c
    assert y["shoulder.w"][-1] == pytest.approx(0.01 * joint / two_link_arm.inertia(p.arm, 0.0).m11, rel=0.01)
    assert y["elbow.position"][-1] == pytest.approx(50.0 * 0.3), "reversed, with an offset"


def test_torque_is_limited_and_the_integral_does_not_wind_up():
    p = Params()
    weak = p._replace(shoulder=p.shoulder._replace(torque_max=0.1))
    y = run(weak, 10.0, q1=np.where(np.arange(10_000) < 5000, 1.5, 0.1) * 1.0)
    assert np.max(np.abs(y["shoulder.torque"])) <= 0.1
    assert y["shoulder.limited"].max() == 1.0
    assert y["shoulder.q"][4999] < 1.0, "it cannot lift it so far"
    assert y["shoulder.q"][7500] == pytest.approx(0.1, abs=0.02), "and follows at once when it can"


def test_switching_on_where_it_stands_moves_nothing_much():
    q = 0.9
    y = run(seconds=2.0, state=at(q), q1=q)
    assert np.max(np.abs(y["shoulder.q"] - q)) < 0.04


def test_halving_the_tick_halves_the_difference():
    coarse, half, fine = (run(dt=DT / n, seconds=0.5, q1=0.8)["shoulder.q"][n - 1 :: n] for n in (1, 2, 16))
    assert np.max(np.abs(half - fine)) < 0.6 * np.max(np.abs(coarse - fine))


def test_no_time_changes_nothing():
    s = State()
    u = In(Port(1.0, 30.0), Port(1.0, -20.0, 3.0, 0.1))
    for k in range(20):
        s, _ = step(Params(), s, u, Tick(k, DT))
    assert step(Params(), s, u, Tick(20, 0.0))[0] == s
    assert step(Params(), s, In(), Tick(20, 0.0))[0] == s


@pytest.mark.parametrize("channel", ["position", "velocity", "effort"])
@pytest.mark.parametrize("joint", ["shoulder", "elbow"])
def test_each_input_moves_its_own_joint(joint, channel):
    still, moved = run(seconds=0.05), run(seconds=0.05, **{f"{joint}__{channel}": 30.0 if channel != "effort" else 0.2})
    assert abs(moved[f"{joint}.torque"][0] - still[f"{joint}.torque"][0]) > 1e-3
    other = "elbow" if joint == "shoulder" else "shoulder"
    assert moved[f"{other}.torque"][0] == still[f"{other}.torque"][0]


def test_the_description_and_the_world_speak_of_the_same_arm():
    """Gears, senses, zeros, lengths, masses and friction; and the tip is where forward kinematics says."""
    what = machine.load("arm")
    for actuator, place in what.ports.items():
        gear, servo, link = what.robot.actuator(actuator).transmission, getattr(what.params, place), getattr(what.params.arm, place)
        joint = what.robot.joint(what.robot.actuator(actuator).joint)
        assert (gear.reduction, gear.offset, gear.reversed) == (link.N, servo.offset, bool(servo.reversed))
        assert (joint.dynamics.damping, joint.dynamics.friction) == (link.b, link.c)
        assert joint.limits.effort <= servo.torque_max * link.N
    for link, part in (("upper_arm", what.params.arm.upper), ("forearm", what.params.arm.fore)):
        body = what.robot.link(link).inertial
        assert (body.mass, -body.origin.xyz[2], body.inertia[0]) == (part.mass, part.com, part.I)
    q = (0.8, -1.1)
    y = run(state=at(*q), q1=q[0], q2=q[1], seconds=DT)
    tip = forward(what.robot, {"shoulder": y["shoulder.q"][-1], "elbow": y["elbow.q"][-1]})["tip"]
    assert (y["x"][-1], y["z"][-1]) == (pytest.approx(tip.position[0]), pytest.approx(tip.position[2]))


def test_a_motor_that_lost_torque_lets_the_arm_sag_and_one_that_is_healthy_does_not():
    p = Params()
    weak = p._replace(faults=p.faults._replace(shoulder=fault.Params(kind=fault.LOSS, at=2.0, effectiveness=0.0, announced=1.0)))
    healthy, y = run(p, 4.0, q1=math.pi / 2.0), run(weak, 4.0, q1=math.pi / 2.0)
    before = round(2.0 / DT) - 1
    assert np.array_equal(healthy["shoulder.q"][:before], y["shoulder.q"][:before])
    assert np.all(y["shoulder.torque"][before + 2 :] == 0.0)
    assert y["shoulder.q"][-1] < 1.0
    assert set(y["shoulder.reported"]) == {fault.NONE, fault.LOSS}
    assert np.all(healthy["shoulder.reported"] == fault.NONE)


def test_a_torque_cannot_come_later():
    p = Params()
    late = p._replace(faults=p.faults._replace(elbow=fault.Params(kind=fault.DELAY, extra_delay=0.1)))
    with pytest.raises(ParameterError, match="elbow.kind: the torque of this motor takes no time"):
        run(late, 0.1)
