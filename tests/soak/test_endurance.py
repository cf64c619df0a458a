"""Days of machine time: the shipped machines go through their scenario again and again, and nothing wears out."""

import gc
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pushrod import metrics
from pushrod.compiled.result import Run
from pushrod.compiled.rollout import batch, rollout
from pushrod.compiled.stepper import Stepper
from pushrod.core.model import World
from pushrod.core.quantity import Choice
from pushrod.core.record import get, leaves
from pushrod.core.ring import Ring
from pushrod.live import simulate
from pushrod.models import MODELS
from pushrod.sim import machine, run, scenario
from pushrod.sim.worlds import WORLDS

pytestmark = pytest.mark.soak

BEYOND = 2**24  # up to here float32 can count
TICKS = {
    "arm": 5_000_000,
    "boat": 5_000_000,
    "car": 5_000_000,
    "car_control": 5_000_000,
    "quad": 2_000_000,
    "satellite": 5_000_000,
    "servo": 40_000_000,
}
# where float32 must stay near float64: everything that is steered or that dies away. What only adds up (angles, positions) may drift.
NEAR = {
    "arm": {"shoulder.q": 1e-2, "elbow.q": 1e-2, "shoulder.torque": 1e-2},
    "boat": {"v": 1e-2, "psi": 1e-2, "fb.u_s_ach": 5e-2, "I_s": 1e-2},
    "car": {"speed": 1e-2, "steer_ach": 1e-5, "yaw_rate": 1e-4},
    "car_control": {"speed": 1e-2, "steer_ach": 1e-5, "yaw_rate": 1e-4},
    "quad": {"z": 1e-2, "roll": 1e-2, "pitch": 1e-2, "yaw": 1e-2, "pipe.ach.a0": 1e-2},
    "satellite": {"roll": 1e-4, "pitch": 1e-4, "yaw": 1e-4, "w_x": 1e-4, "torque_ach_z": 1e-2},
    "servo": {"torque_ach": 1e-4, "w": 1e-3},
}

# beside those of the machine's summary
BOUNDS = {"boat": [("esc.u_L", -1.0, 1.0), ("esc.u_R", -1.0, 1.0), ("fb.u_s_ach", -1.0, 1.0), ("fb.u_d_ach", -0.6, 0.6)]}


def again_and_again(name: str, ticks: int, dtype: str) -> Iterator[Run]:
    """The machine's own scenario, over and over, each time from where the last one ended."""
    made = machine.load(name)
    how = scenario.load(None, made)
    once = simulate(made, how).machine.inputs() if how.live else run.sample(made, how)
    times = max(1, 200_000 // how.steps)
    inputs = {channel: np.tile(values, times) for channel, values in once.items()}
    state, k = None, 0
    while k < ticks:
        part = rollout(made.world, how.params, inputs, steps=times * how.steps, dt=how.dt, state=state, k0=k, seed=1, every=7, dtype=dtype)
        yield part
        state, k = part.state_rows, k + part.ticks


def out_of_range(world: World, state: Any) -> list[str]:
    """What of a state has left its range, and what was late or cut: counters that ran away, slots that are none."""
    found = []
    for leaf in leaves(world.State):
        x = get(state, leaf.path)
        if isinstance(leaf.meta, Ring):
            found += [] if len(x) == leaf.meta.slots else [leaf.path]
        elif not leaf.meta.allows(x) or (leaf.path.endswith((".late", ".cut")) and x != 0.0):  # type: ignore[union-attr]
            found.append(f"{leaf.path} = {x}")
    return found


@pytest.mark.parametrize("name", TICKS)
def test_a_machine_runs_for_days(name: str) -> None:
    """Finite and within its limits in both widths, which stay together, and the last round is as the first."""
    made = machine.load(name)
    limits = [(pair.achieved, pair.low, pair.high) for pair in made.track if pair.low is not None and pair.high is not None]
    limits += BOUNDS.get(name, [])
    assert limits
    runs = [again_and_again(name, TICKS[name], dtype) for dtype in ("float64", "float32")]
    first: Run | None = None
    for wide, narrow in zip(*runs, strict=True):
        first = wide if first is None else first
        for part, slack in ((wide, 1e-12), (narrow, 1e-5)):
            assert np.isfinite(part.data).all()
            for signal, low, high in limits:
                assert part[signal].min() >= low - slack
                assert part[signal].max() <= high + slack
        for signal, most in NEAR[name].items():
            apart = np.abs(wide[signal] - narrow[signal]).max()
            assert apart <= most, f"{signal} is {apart:g} apart by tick {wide.k0 + wide.ticks}"
    for part in (wide, narrow):
        assert not out_of_range(made.world, part.state())
    assert first is not None
    for signal, most in NEAR[name].items():
        # on average: the noise differs, and the first round starts from rest where all others start where one ended
        assert np.abs(wide[signal] - first[signal]).mean() <= most + 5e-3 * np.abs(first[signal]).max()


@pytest.mark.parametrize(("dtype", "most"), [("float64", 1e-14), ("float32", 1e-6)])
def test_the_attitude_of_the_satellite_stays_a_rotation(dtype: str, most: float) -> None:
    for part in again_and_again("satellite", 1_000_000, dtype):
        q = part.state().craft.body.q
        assert abs(math.sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z) - 1.0) <= most


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", ["delay", "queue"])
def test_a_line_delivers_after_more_ticks_than_float32_can_count(name: str, dtype: str) -> None:
    """2^24 ticks of one value, then another: it comes when it should, in the tick it should, and no sooner."""
    line = MODELS[name]
    p = line.Params(delay=0.0253) if name == "delay" else line.Params(delay=0.025, sampling_time=0.001)
    before = rollout(line, p, {"value": 1.0}, steps=BEYOND + 4321, dt=1e-3, every=BEYOND, dtype=dtype)
    after = rollout(line, p, {"value": 2.0}, steps=60, dt=1e-3, state=before.state_rows, k0=before.ticks, dtype=dtype)
    y = after["after.value"] if name == "delay" else after["value"]
    assert list(y) == [1.0] * 25 + [2.0] * 35
    if name == "delay":
        assert after["h"][25] == pytest.approx(0.0003, abs=1e-8)
        assert list(after["before.value"]) == [1.0] * 26 + [2.0] * 34
        assert (after.state().late, after.state().cut) == (0.0, 0.0)


def test_the_clock_of_the_reference_steering_goes_round() -> None:
    """In float32 a clock that only adds up would stand still after 262144 s, and the steering with it."""
    world = WORLDS["ACTUATION_CMD_MECHANICAL"]
    p = world.Params()
    p = p._replace(mechanical_params=p.mechanical_params._replace(torque_delay_time=0.305))
    wheel = np.repeat([1.0, -1.0], 500)
    ends = []
    for clock in (0.0, 1020.0):
        state = world.State()
        state = state._replace(mechanical=state.mechanical._replace(clock=clock))
        ends.append(rollout(world, p, {"accel_des": 0.2, "steer_des": wheel}, steps=1000, dt=0.01, state=state, dtype="float32"))
    for signal in ends[0].names:
        assert np.abs(ends[0][signal] - ends[1][signal]).max() <= 1e-3 * max(np.abs(ends[0][signal]).max(), 1.0), signal
    state = None
    for k in range(0, 30_000_000, 10_000_000):
        state = rollout(world, p, {"accel_des": 0.0}, steps=10_000_000, dt=0.01, state=state, k0=k, every=10_000_000, dtype="float32").state_rows
    late = rollout(world, p, {"accel_des": 0.2, "steer_des": wheel}, steps=1000, dt=0.01, state=state, dtype="float32")
    assert np.ptp(late["steer"]) == pytest.approx(np.ptp(ends[0]["steer"]), rel=1e-2)


def test_metrics_after_more_ticks_than_float32_can_count() -> None:
    watched = {
        "rms": metrics.rms("y"),
        "settled": metrics.settling_time("y", target=1.0, band=0.5),
        "never": metrics.settling_time("y", target=5.0, band=0.5),
        "crossed": metrics.crossing_time("y", 0.5),
    }
    steps = 3 * BEYOND // 2 + 1
    got = rollout(MODELS["first_order"], None, 1.0, steps=steps, dt=1e-3, every=steps, metrics=watched, dtype="float32").metrics
    assert got["rms"] == pytest.approx(1.0, rel=1e-5)
    assert got["never"] == math.inf
    assert got["settled"] == got["crossed"] < 1.0


@pytest.mark.parametrize("name", [name for name in WORLDS if name not in TICKS])
def test_a_world_without_a_machine_runs_for_hours(name: str) -> None:
    """Slow sweeps of every input it has, within what people do with it. Vehicles keep their speed limit; ideal cars, hulls and drives have none."""
    world = WORLDS[name]
    t = np.arange(200_000) * 0.02
    swing = {
        leaf.path: (0.4 if leaf.meta.lo >= 0.0 else 0.8) * np.maximum(np.sin(2e-3 * (j + 1) * t + j), max(leaf.meta.lo, -1.0))  # type: ignore[union-attr]
        for j, leaf in enumerate(leaves(world.In))
        if not isinstance(leaf.meta, Choice)  # a gear stays in, a motor on
    }
    state, p = None, world.Params()
    limit = getattr(p.vehicle if hasattr(p, "vehicle") else p, "vel_lim", math.inf)
    for k in range(0, 1_000_000, len(t)):
        part = rollout(world, p, swing, steps=len(t), dt=0.02, state=state, k0=k, every=50)
        state = part.state_rows
        assert np.isfinite(part.data).all()
        assert "vx" not in part or np.abs(part["vx"]).max() <= limit
    assert not out_of_range(world, part.state())


def resident() -> int:
    """Kilobytes of memory that this process holds."""
    status = Path("/proc/self/status")
    if not status.exists():
        pytest.skip("the system does not say how much memory a process holds")
    gc.collect()
    return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmRSS:"))


def test_memory_does_not_grow() -> None:
    world = WORLDS["servo"]
    u = {"torque_req": np.sin(0.01 * np.arange(5000))}

    def work() -> None:
        last = rollout(world, None, u, steps=5000, dt=1e-3, metrics={"peak": metrics.maximum("q")})
        batch(world, None, u, n=64, steps=500, dt=1e-3, vary={"lag.T": np.linspace(0.01, 0.1, 64)})
        stepper = Stepper(world, dt=1e-3, state=last.state())
        for _ in range(20):
            stepper.step(world.In(1.0))

    for _ in range(100):
        work()
    before = resident()
    for _ in range(1000):
        work()
    assert resident() - before < 4000  # [kB]; one kept trajectory would be 200 kB a time
