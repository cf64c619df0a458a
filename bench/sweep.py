"""Studies: runs per second on cores and on a GPU, whether the cost of a run stays the same however many there are. Prints Markdown.

python bench/sweep.py [--most 100000]      on the cores of this computer: 1e3 runs, ten times as many, ... up to --most, into a folder
python bench/sweep.py --dump FILE.npz      the study as plain arrays, for a computer that has nothing but numpy and numba
python bench/sweep.py --gpu FILE.npz       there: the same study on its GPU [--runs 1000000] [--dtype float32]
"""

import argparse
import json
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[0] / "src")]
STUDY = HERE / "car_sweep.yaml"


def on_cores(most: int) -> None:
    from pushrod.compiled.rollout import cores as available
    from pushrod.sweep import local
    from pushrod.sweep.chunk import run_samples
    from pushrod.sweep.run import run
    from pushrod.sweep.study import load

    cores = available()
    study = load(STUDY)
    with tempfile.TemporaryDirectory() as folder:
        run(load(STUDY, runs=64), folder)  # compiled, and libraries loaded
    steps = sum(case.scenario.steps for case in study.cases)
    print(f"{cores} cores; {steps} ticks a run, {len(study.names)} parameters drawn, {len(study.metrics)} metrics, float64\n")
    print("| runs | cores | runs/s | us a run | CPU us a run | us outside the loop |\n|---|---|---|---|---|---|")
    n = 1000
    while n <= most:
        for threads in sorted({1, cores}) if n <= 10_000 else (cores,):
            with tempfile.TemporaryDirectory() as folder:
                begun = time.process_time()
                found = run(load(STUDY, runs=n), folder, partial(local.on_cores, threads=threads))
                used = time.process_time() - begun
            told(n, threads, found.seconds, used, found.seconds - found.inside)
        n *= 10
    last = study.runs - 1000
    started = time.perf_counter()
    run_samples(study, last, study.runs, threads=cores)
    print(f"\nThe last 1000 of {study.runs}: {(time.perf_counter() - started) * 1e3:.0f} us a run")


def told(n: int, threads: int, seconds: float, used: float, outside: float) -> None:
    print(f"| {n} | {threads} | {n / seconds:.0f} | {1e6 * seconds / n:.1f} | {1e6 * used / n:.1f} | {1e6 * outside / n:.1f} |", flush=True)


def dump(file: Path) -> None:
    """What `batch` needs, as numbers and texts."""
    from dataclasses import asdict

    from pushrod.core.record import get, leaves
    from pushrod.sweep.study import load

    study = load(STUDY)
    (case,) = study.cases
    plain = {leaf.path: get(case.params, leaf.path) for leaf in leaves(type(case.params)) if leaf.path != ""}
    about = {
        "params": plain,
        "slots": _slots(case.world),
        "vary": [
            {"path": item.path, "unit": item.unit, "kind": type(item.distribution).__name__, **asdict(item.distribution)} for item in study.vary
        ],
        "design": study.design,
        "runs": study.runs,
        "seed": study.seed,
        "noise": case.seed,
        "steps": case.scenario.steps,
        "dt": case.scenario.dt,
        "metrics": {
            name: {"metric": m.metric.name, "path": m.path, "params": list(m.params), "to": m.to, "since": m.since, "until": m.until}
            for name, m in study.measures.items()
        },
    }
    np.savez_compressed(file, about=json.dumps(about), **case.inputs)
    print(f"wrote {file}: {file.stat().st_size} bytes")


def _slots(world: object) -> int:
    """Of the delay lines of a car."""
    from pushrod.core.record import leaves
    from pushrod.core.ring import Ring

    return next(leaf.meta.slots for leaf in leaves(world.State) if isinstance(leaf.meta, Ring))  # type: ignore[attr-defined]


def on_gpu(file: Path, runs: int, dtype: str, repeats: int) -> None:
    from pushrod.compiled.rollout import batch
    from pushrod.core.record import put
    from pushrod.metrics import METRICS, Measure
    from pushrod.sim.worlds.car import VEHICLE, pedalled
    from pushrod.sweep import distribution
    from pushrod.sweep.draw import draw
    from pushrod.sweep.varied import Varied

    arrays = np.load(file)
    about = json.loads(str(arrays["about"]))
    world = pedalled(VEHICLE, about["slots"])
    params = world.Params()
    for path, value in about["params"].items():
        params = put(params, path, tuple(value) if isinstance(value, list) else value)
    measures = {}
    for name, m in about["metrics"].items():
        metric = METRICS[m["metric"]]
        measures[name] = Measure(metric, m["path"], metric.Params(*m["params"]), m["to"], m["since"], m["until"])
    vary = []
    for item in about["vary"]:
        path, unit, kind = item.pop("path"), item.pop("unit"), item.pop("kind")
        vary.append(Varied(path, unit, getattr(distribution, kind)(**item)))
    study = SimpleNamespace(design=about["design"], seed=about["seed"], runs=runs, vary=vary)
    inputs = {name: arrays[name] for name in arrays.files if name != "about"}
    how = {"steps": about["steps"], "dt": about["dt"], "seed": about["noise"], "outputs": (), "metrics": measures}

    def go(n: int, device: str, kind: str = dtype):
        return batch(world, params, inputs, vary=draw(study, 0, n), dtype=kind, device=device, **how)

    started = time.perf_counter()
    drawn = draw(study, 0, runs)
    drawing = time.perf_counter() - started
    go(1024, "cuda")  # compiled
    kernel, whole = [], []
    for _ in range(repeats):
        started = time.perf_counter()
        found = batch(world, params, inputs, vary=drawn, dtype=dtype, device="cuda", **how)
        whole.append(time.perf_counter() - started)
        kernel.append(found.seconds)

    def same_alone(i: int) -> bool:
        one = batch(world, params, inputs, vary=draw(study, i, i + 1), dtype=dtype, device="cuda", instance=i, **how)
        return all(one.metrics[name][0] == found.metrics[name][i] or np.isnan(one.metrics[name][0]) for name in measures)

    ticks, best = about["steps"], min(kernel)
    print(f"{runs} runs of {ticks} ticks, {len(vary)} parameters drawn, {len(measures)} metrics, {dtype}")
    print(f"kernel {best:.4f} s ({runs * ticks / best:.3g} steps/s), with transfers {min(whole):.3f} s; drawing on one core {drawing:.2f} s")
    alone = [i for i in (0, runs // 3, runs - 1) if not same_alone(i)]
    print(f"runs computed alone on the GPU: {'the same bits' if not alone else f'other bits of {alone}'}")
    n = min(2000, runs)
    cpu, gpu = go(n, "cpu", "float64"), go(n, "cuda", "float64")
    for name in measures:
        double, single = (difference(one.metrics[name][:n], cpu.metrics[name]) for one in (gpu, found))
        print(
            f"{name}: largest difference to CPU float64: CUDA float64 {double.max():.2e}, {dtype} {single.max():.2e} (median {np.median(single):.2e})"
        )


def difference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Of numbers that are finite in both; where one alone is not, infinite."""
    with np.errstate(invalid="ignore"):
        return np.where(a == b, 0.0, np.where(np.isfinite(a) & np.isfinite(b), np.abs(a - b), np.inf))


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--most", type=int, default=100_000)
    options.add_argument("--dump", type=Path)
    options.add_argument("--gpu", type=Path)
    options.add_argument("--runs", type=int, default=1_000_000)
    options.add_argument("--dtype", default="float32")
    options.add_argument("--repeats", type=int, default=3)
    args = options.parse_args()
    if args.dump:
        dump(args.dump)
    elif args.gpu:
        on_gpu(args.gpu, args.runs, args.dtype, args.repeats)
    else:
        on_cores(args.most)


if __name__ == "__main__":
    main()
