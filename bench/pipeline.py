"""The command pipeline: a two-motor step inside a rollout, weighted allocation beside DAQP, and batches on a GPU where there is one. Prints Markdown.

python bench/pipeline.py [--n 1000000] [--ticks 1000]
"""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "src")]

from pushrod import metrics
from pushrod.compiled.rollout import batch, rollout
from pushrod.compiled.stepper import Stepper
from pushrod.core.errors import DeviceError
from pushrod.core.model import Model
from pushrod.core.record import put
from pushrod.pipeline import N_MOTOR_PIPELINE, PRIORITY, TWO_MOTOR, TWO_MOTOR_ALLOCATION, WEIGHTED
from pushrod.pipeline.act import Params as Act
from pushrod.pipeline.allocate.effectiveness import Params as Law
from pushrod.pipeline.names import POLICIES
from pushrod.sim.worlds import WORLDS

TICKS = 200_000
DT = 0.01
N, M = 8, 6
GAMMA = 1e-9  # DAQP wants a positive definite matrix; as small as it takes well


def best(measure: Callable[[], float], times: int = 7) -> float:
    return min(measure() for _ in range(times))


def busy(policy: int) -> Act:
    """Every stage at work: expo, dead bands, trim, slew."""
    p = Act()
    for path, value in {
        "act.alloc.policy": float(policy),
        "act.shp.man.expo": 0.3,
        "act.shp.man.deadband": 0.05,
        "act.trim.gain_L": 0.95,
        "act.trim.offset_R": 0.02,
        "act.motor.deadband": 0.03,
        "act.slew.up": 5.0,
        "act.slew.down": 5.0,
    }.items():
        p = put(p, path, value)
    return p


def two_motor(policy: int) -> tuple[float, float]:
    """Seconds a step in a rollout that keeps the last tick, and in one that keeps all outputs of every tick."""
    rng = np.random.default_rng(policy)
    asks = {"req.u_s_req": rng.uniform(-1.2, 1.2, TICKS), "req.u_d_req": rng.uniform(-1.2, 1.2, TICKS), "req.src": 1.0 + np.arange(TICKS) // 50 % 2}
    runs = (lambda every=every: rollout(TWO_MOTOR, busy(policy), asks, steps=TICKS, dt=DT, every=every).seconds / TICKS for every in (TICKS, 1))
    last, every = (best(run) for run in runs)
    return last, every


def law(rng: np.random.Generator) -> Law:
    B = rng.normal(size=(M, N))
    return Law(
        tuple(map(float, B.ravel())),
        tuple(map(float, rng.uniform(0.5, 5.0, M))),
        tuple(map(float, range(M))),
        (-1.0,) * N,
        (1.0,) * N,
        (0.0,) * N,
        (1.0,) * N,
        1e3,
    )


def beside_daqp(size: float, count: int = 4000) -> dict[str, float]:
    """Seconds an allocation: ours in a rollout, ours called tick by tick, DAQP called tick by tick; and the largest difference of cost."""
    import daqp

    rng = np.random.default_rng(7)
    p = law(rng)
    V = size * rng.normal(size=(count, M))
    B, w = np.array(p.B).reshape(M, N), np.array(p.weight)
    inputs = {f"v.a{i}": V[:, i] for i in range(M)}
    out: dict[str, float] = {}
    run = rollout(WEIGHTED, p, inputs, steps=count, dt=DT)
    out["rounds"] = float(run["rounds"].mean())
    out["optimality"] = float(run["optimality"].max())
    out["rollout"] = best(lambda: rollout(WEIGHTED, p, inputs, steps=count, dt=DT, every=count).seconds) / count

    stepper = Stepper(WEIGHTED, p, dt=DT)

    def ours() -> float:
        started = time.perf_counter()
        for v in V:
            stepper.u[:M] = v
            stepper.advance()
        return (time.perf_counter() - started) / count

    out["stepper"] = best(ours, 5)
    H = B.T @ (w[:, None] * B) + GAMMA * np.eye(N)
    fs = [np.ascontiguousarray(-B.T @ (w * v)) for v in V]
    A, hi, lo, sense = np.zeros((0, N)), np.ones(N), -np.ones(N), np.zeros(N, np.int32)
    answers = np.empty((count, N))

    def theirs() -> float:
        started = time.perf_counter()
        for f in fs:
            daqp.solve(H, f, A, hi, lo, sense)
        return (time.perf_counter() - started) / count

    out["daqp.solve"] = best(theirs, 5)
    model = daqp.Model()
    model.setup(H, fs[0], A, hi, lo, sense)

    def warm() -> float:
        started = time.perf_counter()
        for f in fs:
            model.update(f=f)
            model.solve()
        return (time.perf_counter() - started) / count

    out["daqp.Model"] = best(warm, 5)
    for k, f in enumerate(fs):
        answers[k] = daqp.solve(H, f, A, hi, lo, sense)[0]
    U = np.stack([run[f"u.e{j}"] for j in range(N)], axis=-1).reshape(count, N)
    cost = [((X @ B.T - V) ** 2 * w).sum(1) for X in (U, np.clip(answers, -1.0, 1.0))]
    out["behind"] = float((cost[0] - cost[1]).max())
    return out


def plain_steps() -> dict[str, float]:
    rng = np.random.default_rng(3)
    p = law(rng)
    count = 4000
    V = 1.0 * rng.normal(size=(count, M))
    inputs = {f"v.a{i}": V[:, i] for i in range(M)}
    out = {"priority 8 x 6": best(lambda: rollout(PRIORITY, p, inputs, steps=count, dt=DT, every=count).seconds) / count}
    quad = {f"req.a{i}": rng.normal(size=TICKS) for i in range(4)} | {"src": 1.0}
    out["n_motor_pipeline, 4 x 4"] = best(lambda: rollout(N_MOTOR_PIPELINE, None, quad, steps=TICKS // 10, dt=DT, every=TICKS // 10).seconds) / (
        TICKS // 10
    )
    for name, asks in (("boat", {"v_req": 1.5, "psi_req": 0.5}), ("quad", {"z_req": 3.0, "yaw_req": 0.5})):
        out[f"world {name}"] = best(
            lambda name=name, asks=asks: rollout(WORLDS[name], None, asks, steps=TICKS // 10, dt=DT, every=TICKS // 10).seconds
        ) / (TICKS // 10)
    return out


def per_second(model: Model, params: Any, inputs: dict[str, Any], ticks: int, vary: dict[str, Any], watched: dict[str, Any], dtype: str) -> float:
    n = len(next(iter(vary.values())))
    seconds = best(lambda: batch(model, params, inputs, steps=ticks, dt=DT, vary=vary, metrics=watched, dtype=dtype, device="cuda").seconds, 3)
    return n * ticks / seconds


def gpu(n: int, ticks: int) -> None:
    """Allocations and whole steps a second: limits, weights and policies differ between instances, commands from tick to tick."""
    rng = np.random.default_rng(5)
    s, d = rng.uniform(-1.2, 1.2, (2, 256))
    V = rng.normal(size=(64, M))
    policies = rng.integers(0, 3, n).astype(float)
    bounds = {"bounds.b_L": rng.uniform(0.3, 1.0, n), "bounds.a_R": rng.uniform(-1.0, 0.0, n), "alloc.w_s": rng.uniform(0.1, 10.0, n)}
    trims = {"act.trim.gain_L": rng.uniform(0.9, 1.1, n), "act.slew.up": rng.uniform(1.0, 10.0, n)}
    some = max(1, n // 10)
    print(f"\n| batch on the GPU, n = {n:g}, {ticks} ticks | float32, steps/s | float64, steps/s | target |\n|---|---|---|---|")
    for name, target, job in [
        (
            "two-motor allocation, the three policies mixed",
            "1e8",
            (
                *(TWO_MOTOR_ALLOCATION, None, {"u_s_cmd": s, "u_d_cmd": d}, ticks, bounds | {"alloc.policy": policies}),
                {"s": metrics.rms("u_s_alloc"), "d": metrics.rms("u_d_alloc")},
            ),
        ),
        (
            "whole two-motor step",
            "",
            (
                *(TWO_MOTOR, busy(0), {"req.u_s_req": s, "req.u_d_req": d, "req.src": 1.0}, ticks, trims | {"act.alloc.policy": policies}),
                {"s": metrics.rms("fb.u_s_ach"), "aw": metrics.maximum("fb.aw_d_req")},
            ),
        ),
        (
            f"weighted 8 x 6 (n = {some:g}, 64 ticks)",
            "",
            (
                *(WEIGHTED, law(rng), {f"v.a{i}": V[:, i] for i in range(M)}, 64, {"gain_max": rng.uniform(50.0, 1000.0, some)}),
                {"optimality": metrics.maximum("optimality")},
            ),
        ),
    ]:
        rates = [per_second(*job, dtype) for dtype in ("float32", "float64")]  # type: ignore[arg-type]
        print(f"| {name} | {rates[0]:.3g} | {rates[1]:.3g} | {target} |")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--n", type=int, default=1_000_000)
    parser.add_argument("--ticks", type=int, default=1000)
    parser.add_argument("--gpu", action="store_true", help="only the GPU")
    options = parser.parse_args()
    if not options.gpu:
        print("| two-motor step in a rollout | last tick kept | every output of every tick kept | target |\n|---|---|---|---|")
        for policy, name in enumerate(POLICIES):
            last, every = two_motor(policy)
            print(f"| {name} | {last * 1e9:.0f} ns | {every * 1e9:.0f} ns | 150 ns |")
        heads = ("weighted 8 x 6, commands of size", "in a rollout", "tick by tick", "`daqp.solve`", "`daqp.Model`")
        print(f"\n| {' | '.join(heads)} | rounds | optimality | cost above DAQP's |\n|---|---|---|---|---|---|---|---|")
        for size in (0.3, 1.0, 3.0):
            x = beside_daqp(size)
            us = " | ".join(f"{x[name] * 1e6:.2f} us" for name in ("rollout", "stepper", "daqp.solve", "daqp.Model"))
            print(f"| {size} | {us} | {x['rounds']:.1f} | {x['optimality']:.1e} | {x['behind']:.1e} |")
        for name, seconds in plain_steps().items():
            print(f"\n{name}: {seconds * 1e6:.2f} us in a rollout")
    try:
        gpu(options.n, options.ticks)
    except DeviceError as error:
        print(f"\nno GPU: {error}")


main()
