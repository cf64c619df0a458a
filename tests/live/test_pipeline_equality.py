"""The pipeline behind the runtime gives the numbers of a rollout, bit for bit, whatever its sources ask and whenever they fall silent."""

import asyncio
import math
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from pipeline_rig import ACT, DT, HZ, Boat, boat, run

from counts import examples
from pushrod import rollout
from pushrod.core.record import flat
from pushrod.live.pipeline.request import NEVER
from pushrod.pipeline import n_act
from pushrod.pipeline.act import Act, Alloc, Man, Motor, Params, Shp, Slew, Trim
from pushrod.pipeline.n_motor_pipeline import N_MOTOR_PIPELINE
from pushrod.pipeline.n_topic import Out as NOut
from pushrod.pipeline.names import AUTOPILOT, BY_IDLE, BY_TIMEOUT, MODES, NONE
from pushrod.pipeline.two_motor_pipeline import TWO_MOTOR_PIPELINE

RICH = Act(
    shp=Shp(man=Man(0.8, 0.6, 0.05, 0.4)),
    alloc=Alloc(policy=2.0, w_s=1.0, w_d=3.0),
    trim=Trim(0.95, 1.05, 0.02, -0.01),
    motor=Motor(0.03),
    slew=Slew(2.0, 3.0, 0.4),
)
asked = st.floats(-2.0, 2.0)
pulse = st.sampled_from([700.0, 1000.0, 1320.0, 1500.0, 1777.0, 2000.0])
step = st.one_of(
    st.tuples(st.just("switch"), st.sampled_from(MODES[:4])),
    st.tuples(st.just("autopilot"), asked, asked),
    st.tuples(st.just("manual"), pulse, pulse),
    st.tuples(st.just("test"), asked, asked),
)


def inputs(script: list[tuple[int, Any]], ticks: int) -> dict[str, np.ndarray]:
    """What a world would be told: the newest request of each source, its age, and the mode, at every tick. A script has half ticks."""
    newest = {"autopilot": (-math.inf, 0.0, 0.0), "manual": (-math.inf, 1500.0, 1500.0), "test": (-math.inf, 0.0, 0.0)}
    mode, left, rows = "idle", list(script), []
    for k in range(ticks):
        while left and left[0][0] < k:
            half, (what, *values) = left.pop(0)
            if what == "switch":
                mode = values[0]
            else:
                newest[what] = ((half * 10_000_000 + 5_000_000) * 1e-9, *values)
        now = (k * 10_000_000) * 1e-9
        row = [float(MODES.index(mode)), 1.0]
        for time, *values in newest.values():
            row += [*values, min(now - time, NEVER)]
        rows.append(row)
    names = ["mode", "armed", "u_s_raw", "u_d_raw", "ap_age", "rc_s", "rc_d", "man_age", "u_s_test", "u_d_test", "test_age"]
    return {f"sources.{name}": np.array(rows)[:, j] for j, name in enumerate(names)}


def play(script: list[tuple[int, Any]], ticks: int) -> Any:
    """The same through the runtime: each entry half a tick after the tick it names."""

    async def body(b: Boat) -> list[list[float]]:
        k = 0.0
        for half, (what, *values) in script:
            await asyncio.sleep((half + 0.5 - k) * DT)
            k = half + 0.5
            if what == "switch":
                assert b.helm.switch(*values).ok
            else:
                getattr(b.helm, what)(*values)
        await asyncio.sleep((ticks - 0.5 - k) * DT)
        return b.rows()

    return body


@settings(max_examples=examples(15))
@given(st.lists(st.tuples(st.integers(0, 150), step), max_size=30).map(lambda s: sorted(s, key=lambda entry: entry[0])))
def test_live_and_rollout_are_equal_to_the_last_bit(script: list[tuple[int, Any]]) -> None:
    ticks = 200
    live = run(play(script, ticks), boat(RICH))
    world = rollout(TWO_MOTOR_PIPELINE, Params(RICH), inputs(script, ticks), steps=ticks, dt=DT)
    assert len(live) == ticks
    assert np.array_equal(np.array(live), world.data[:, :, 0])


def test_a_change_of_parameters_acts_from_the_next_tick_on_as_in_a_rollout_that_goes_on_with_others() -> None:
    script = [(0, ("switch", "autopilot")), *((k, ("autopilot", 0.9, 0.4)) for k in range(0, 100, 10))]
    changed = ACT._replace(alloc=ACT.alloc._replace(policy=1.0), slew=ACT.slew._replace(up=5.0))

    async def body(b: Boat) -> list[list[float]]:
        b.rt.clock.later(0.305, lambda: b.rt.parameters.set_many({"act.alloc.policy": "ALLOC_YAW_PRIORITY", "act.slew.up": 5.0}))
        rows: list[list[float]] = await play(script, 100)(b)
        return rows

    told = inputs(script, 100)
    first = rollout(TWO_MOTOR_PIPELINE, Params(ACT), told, steps=31, dt=DT)
    after = {name: values[31:] for name, values in told.items()}
    second = rollout(TWO_MOTOR_PIPELINE, Params(changed), after, steps=69, dt=DT, state=first.state_rows, k0=31)
    assert np.array_equal(np.array(run(body)), np.concatenate([first.data[:, :, 0], second.data[:, :, 0]]))


def test_the_pipeline_of_n_effectors_is_equal_too() -> None:
    act = n_act.Act(slew=n_act.Slew((2.0,) * 4, (3.0,) * 4, 0.4))
    robot = boat(act, ("m0", "m1", "m2", "m3"))

    async def body(b: Boat) -> list[list[float]]:
        await asyncio.sleep(0.095)
        b.helm.switch("autopilot")
        b.helm.axes("AUTOPILOT", 2.0, 0.5, -0.3, 0.1)
        await asyncio.sleep(1.1)
        assert b.gives() == (0.0,) * 4
        return [flat(out) for out in b.heard(NOut)]

    live = run(body, robot)
    src = np.array([NONE if k < 10 or k * DT - 0.095 > 0.5 else AUTOPILOT for k in range(len(live))])
    told = {f"req.a{i}": np.where(src == AUTOPILOT, x, 0.0) for i, x in enumerate((2.0, 0.5, -0.3, 0.1))}
    told |= {"src": src, "reason": np.array([BY_IDLE if k < 10 else BY_TIMEOUT if s == NONE else 0.0 for k, s in enumerate(src)])}
    world = rollout(N_MOTOR_PIPELINE, n_act.Params(act), told, steps=len(live), dt=1.0 / HZ)
    assert world["u.e0"].max() > 0.3
    assert np.array_equal(np.array(live), world.data[:, :, 0])
