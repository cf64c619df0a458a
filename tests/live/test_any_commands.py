"""Whatever is sent to the arm, and whenever: every command ends once, set-points do not jump, and nothing pushes once it is disarmed."""

import asyncio

import live_rig
import numpy as np
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from counts import examples
from pushrod.runtime.message import EndMotion
from pushrod.runtime.payload import Effort, Hold, Position, Stop, Trajectory, Velocity, Waypoint

angles = st.floats(-4.0, 4.0)
rates = st.floats(-5.0, 5.0)
durations = st.none() | st.floats(0.01, 1.0)
payloads = st.one_of(
    st.builds(Position, angles, st.none() | st.floats(0.0, 5.0), durations),
    st.builds(Velocity, rates, durations),
    st.builds(Effort, st.floats(-20.0, 20.0), durations),
    st.lists(st.tuples(angles, st.floats(0.05, 0.6)), min_size=1, max_size=3).map(
        lambda points: Trajectory(tuple(Waypoint(x, float(t)) for (x, _), t in zip(points, np.cumsum([h for _, h in points]), strict=True)))
    ),
    st.just(Hold()),
    st.builds(Stop, st.sampled_from(["immediate", "decelerate"])),
)
scripts = st.lists(st.tuples(st.integers(0, 400), st.sampled_from(["shoulder_motor", "elbow_motor"]), payloads), min_size=1, max_size=6)
MOST = {"shoulder": 50.0 * 8.0, "elbow": 50.0 * 15.0}  # acceleration at the motor [rad/s2]


def let_go(script, joint):
    """The ticks in which a joint was left without a set-point, if only until the next command."""
    return {k for k, to, payload in script if to == f"{joint}_motor" and (payload == Stop("immediate") or isinstance(payload, Effort))}


@given(scripts)
@example([(0, "shoulder_motor", Velocity(1.0)), (0, "elbow_motor", Hold()), (13, "elbow_motor", Stop("immediate")), (13, "elbow_motor", Hold())])
@settings(max_examples=examples(15), suppress_health_check=[HealthCheck.too_slow])
def test_every_command_ends_once_and_set_points_do_not_jump(script):
    due = {}
    for i, (k, to, payload) in enumerate(script):
        due.setdefault(k, []).append((f"{i}", to, payload))

    async def body(arm):
        @arm.rt.loop(hz=1000)
        def send(k):
            for id, to, payload in due.get(k, ()):
                assert arm[to].send(payload, id=id).ok

        await asyncio.sleep(0.6005)
        arm.rt.disarm("test")
        end = arm.world.k
        await asyncio.sleep(0.02)
        ends = [m.payload.command_id for m in arm.heard(EndMotion)]
        assert sorted(ends) == sorted(f"{i}" for i in range(len(script)))
        told, y = arm.world.inputs(), arm.world.run()
        for joint, a in MOST.items():
            stiff, x, v = told[f"{joint}.stiff"], told[f"{joint}.position"], told[f"{joint}.velocity"]
            both = (stiff[1:] == 1.0) & (stiff[:-1] == 1.0)
            both[[k - 1 for k in let_go(script, joint) if 0 < k < len(stiff)]] = False  # and caught in the same tick: it goes on from where it is
            assert np.all(np.abs(np.diff(v))[both] <= a * live_rig.DT * (1.0 + 1e-6) + 1e-9), joint
            fastest = np.maximum(np.abs(v[1:]), np.abs(v[:-1]))
            assert np.all(np.abs(np.diff(x))[both] <= fastest[both] * live_rig.DT + 0.5 * a * live_rig.DT**2 + 1e-9), joint
            caught = np.flatnonzero((stiff[1:] == 1.0) & (stiff[:-1] == 0.0))
            assert np.allclose(x[caught + 1], y[f"{joint}.position"][caught], atol=1e-9), "from where it is"
            assert not told[f"{joint}.stiff"][end:].any()
            assert not told[f"{joint}.effort"][end:].any()
            assert np.isfinite(y[f"{joint}.q"]).all()

    live_rig.run(body, jerk=None)
