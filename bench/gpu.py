"""Batches on a GPU: steps per second, agreement with the CPU, and the same servo in JAX and eager PyTorch. Prints Markdown.

python bench/gpu.py [--n 1000000] [--ticks 1000]
"""

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1] / "src")]

from vehicle_drive import DT, drive

from pushrod import metrics
from pushrod.compiled.rollout import batch
from pushrod.sim.worlds.servo import BUS, SERVO, Params

SERVO_DT = 1e-3
SERVO_PARAMS = Params(noise=0.05, bus=BUS.Params(0.0073))
SERVO_METRICS = {
    "peak": metrics.maximum("w"),
    "rms": metrics.rms("q"),
    "end": metrics.final("q"),
    "rise": metrics.crossing_time("q", 0.2),
}
CAR_METRICS = {"peak": metrics.maximum("vx"), "rms": metrics.rms("steer"), "end": metrics.final("vx"), "low": metrics.minimum("steer")}


def servo(n: int, ticks: int, dtype: str, device: str = "cuda", repeats: int = 3):
    J = np.linspace(0.005, 0.1, n)
    runs = [
        batch(
            SERVO, SERVO_PARAMS, {"torque_req": 1.0}, steps=ticks, dt=SERVO_DT, vary={"body.J": J}, metrics=SERVO_METRICS, dtype=dtype, device=device
        )
        for _ in range(repeats)
    ]
    return min(runs, key=lambda run: run.seconds)


def car_vary(n: int) -> dict[str, np.ndarray]:
    """21 parameters that differ between the instances, each by up to 10 %, every one another number."""
    _, params, _, _ = drive("ACTUATION_CMD_MECHANICAL")
    rng = np.random.default_rng(1)
    paths = [f"mechanical_params.{name}" for name in params.mechanical_params._fields]
    return {path: float(getattr(params.mechanical_params, path.split(".")[1])) * rng.uniform(0.9, 1.1, n) for path in paths}


def car(n: int, ticks: int, dtype: str, device: str = "cuda", repeats: int = 3, every: int = 0):
    model, params, state, inputs = drive("ACTUATION_CMD_MECHANICAL")
    how = {"vary": car_vary(n), "metrics": CAR_METRICS, "dtype": dtype, "device": device, "every": every}
    runs = [batch(model, params, inputs, steps=ticks, dt=DT, state=state, **how) for _ in range(repeats)]
    return min(runs, key=lambda run: run.seconds)


def relative(a: np.ndarray, b: np.ndarray) -> float:
    """Largest difference, relative to the size of the column."""
    scale = np.maximum(np.abs(b).max(axis=(0, 2), keepdims=True), 1e-9)
    return float((np.abs(a.astype(float) - b) / scale).max())


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--n", type=int, default=1_000_000)
    options.add_argument("--ticks", type=int, default=1000)
    options.add_argument("--no-compare", action="store_true")
    args = options.parse_args()
    n, ticks = args.n, args.ticks
    from numba import cuda

    print(
        f"{cuda.get_current_device().name.decode() if hasattr(cuda.get_current_device().name, 'decode') else cuda.get_current_device().name}, ",
        end="",
    )
    print(f"{n} instances, {ticks} ticks\n\n| what | steps/s |\n|---|---|")
    rate = {}
    for dtype in ("float32", "float64"):
        rate["servo", dtype] = n * ticks / servo(n, ticks, dtype).seconds
        print(f"| servo (4 metrics), {dtype} | {rate['servo', dtype]:.3g} |", flush=True)
        rate["car", dtype] = n * ticks / car(n, ticks, dtype).seconds
        print(f"| ACTUATION_CMD_MECHANICAL (21 varied parameters, 4 metrics), {dtype} | {rate['car', dtype]:.3g} |", flush=True)
    if not args.no_compare:
        compare(n, ticks, rate["servo", "float32"])
    agree()


def compare(n: int, ticks: int, ours: float) -> None:
    J = np.linspace(0.005, 0.1, n)
    mine = servo(n, ticks, "float32", repeats=1)
    import servo_jax

    seconds, q, _ = servo_jax.run(n, ticks, SERVO_DT, J)
    off = float(np.abs(np.asarray(q) - mine.metrics["end"]).max())
    theirs = n * ticks / seconds
    print(
        f"| the same servo in JAX (jitted fori_loop), float32 | {theirs:.3g} (ours is {ours / theirs:.1f} x; angles differ by {off:.1e} rad) |",
        flush=True,
    )
    import servo_torch

    few = max(1, ticks // 20)
    seconds, q, _ = servo_torch.run(n, few, SERVO_DT, J)
    print(f"| the same servo in eager PyTorch, float32 | {n * few / seconds:.3g} (ours is {ours * seconds / (n * few):.0f} x) |", flush=True)


def agree() -> None:
    n, ticks = 256, 1000
    cpu = car(n, ticks, "float64", "cpu", 1, every=10)
    double = car(n, ticks, "float64", "cuda", 1, every=10)
    single = car(n, ticks, "float32", "cuda", 1, every=10)
    print(f"\nCar, {ticks} ticks, {n} instances, all outputs, relative to the largest value of each output:")
    print(f"CUDA float64 against CPU float64 {relative(double.data, cpu.data):.2e}")
    print(f"CUDA float32 against CPU float64 {relative(single.data, cpu.data):.2e}")


if __name__ == "__main__":
    main()
