"""Identification: runs of a servo bench a second, beside the same loss by a plain Python loop, and what a whole fit takes. Prints Markdown.

python bench/identify.py [--n 4096] [--logs 12] [--device cpu]

A run is six seconds of a servo that swings a weight, in ticks of 5 ms (the firmware in steps of 2.5 ms), compared with what was measured: nothing but
its loss leaves the kernel. The plain loop calls the same step functions.
"""

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "src")]

from pushrod import identify
from pushrod.compiled.rollout import rollout
from pushrod.core.model import Tick
from pushrod.core.record import put
from pushrod.identify.scored import of
from pushrod.sim.worlds.servo_bench import SERVO_BENCH

SECONDS, DT = 6.0, 0.005
KP = (0.3, 0.6, 2.3)
FREE: dict[str, tuple[float, float]] = {
    "bus.delay": (0.0, 0.05),
    "drive.motor.k": (0.05, 5.0),
    "drive.motor.R": (0.5, 50.0),
    "drive.J": (1e-4, 0.02),
    "drive.drag.c": (0.0, 0.15),
    "drive.drag.b": (0.0, 0.15),
    "drive.drag.s": (0.0, 0.15),
    "drive.drag.w_s": (0.01, 10.0),
    "drive.drag.mu": (0.0, 0.8),
    "drive.drag.skew_c": (-0.5, 0.5),
    "drive.R_s": (0.0, 20.0),
}


def truth() -> Any:
    params = SERVO_BENCH.Params()
    for path, value in {"bus.delay": 0.011, "drive.drag.s": 0.02, "drive.drag.mu": 0.15, "drive.R_s": 1.0, "drive.drag.w_s": 0.3}.items():
        params = put(params, path, value)
    return params


def log(number: int) -> identify.Trial:
    """A recording of the bench with an encoder of 4096 steps a turn."""
    rng = np.random.default_rng(number)
    steps = round(SECONDS / DT)
    t = np.arange(steps) * DT
    goal = np.repeat(rng.uniform(-1.4, 1.4, 12), 100)[:steps] + 0.3 * np.sin(2.0 * np.pi * (0.3 + 0.1 * number) * t)
    kp = KP[number % len(KP)]
    run = rollout(SERVO_BENCH, put(truth(), "drive.kp", kp), {"goal": goal}, steps=steps, dt=DT)
    q = np.round(run["q"] / (2.0 * np.pi / 4096.0)) * (2.0 * np.pi / 4096.0)
    data = {"t": np.append(t, steps * DT), "goal": np.append(goal, goal[-1]), "q": np.concatenate(([0.0], q))}
    known = {"drive.kp": kp}
    return identify.trial(SERVO_BENCH, data, inputs={"goal": "goal"}, outputs={"q": "q"}, constants=known, dt=DT, name=f"log {number + 1}")


def plain_loss(problem: identify.Problem, z: np.ndarray) -> float:
    """The same loss, tick by tick in plain Python."""
    one = problem.trials[0]
    made = of(problem.world, problem.paths)
    params = put(problem.with_values(z), "drive.kp", one.constants["drive.kp"])
    seen, goal = one.outputs["q"], one.inputs["goal"].tolist()
    value, weight, a = np.zeros(one.steps), np.zeros(one.steps), np.ones(one.steps)
    value[seen.k], a[seen.k], weight[seen.k] = seen.value, seen.a, np.sqrt(seen.count) / problem.noise["q"]
    columns = list(zip(goal, value.tolist(), weight.tolist(), a.tolist(), strict=True))
    (measure,) = made.measures("linear", 1.0, ()).values()
    u = made.world.In()
    s, m, at = made.world.State(), measure.metric.State(), Tick(0, one.dt)
    for k, (g, v, w, x) in enumerate(columns):
        at = Tick(k, one.dt)
        sample = u.data.y0._replace(value=v, weight=w, a=x)
        s, y = made.world.step(params, s, u._replace(u=u.u._replace(goal=g), data=u.data._replace(y0=sample)), at)
        m = measure.metric.fold(measure.params, m, y, at)
    return float(measure.metric.finish(measure.params, m, at))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--n", type=int, default=4096, help="guesses in a population")
    parser.add_argument("--logs", type=int, default=12)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--device", default="cpu")
    asked = parser.parse_args()
    trials = [log(number) for number in range(asked.logs)]
    problem = identify.Problem(SERVO_BENCH, trials[:1], FREE, noise={"q": 0.0015}, device=asked.device)
    Z = np.clip(problem.guess + 0.1 * np.random.default_rng(1).standard_normal((asked.n, len(FREE))), 0.0, 1.0)
    problem.losses(Z[:8])  # compiled
    timed = [_seconds(lambda: problem.losses(Z)) for _ in range(5)]
    fast, busy = (min(column) / asked.n for column in zip(*timed, strict=True))
    few = Z[:3]
    begun = time.process_time()
    slow_losses = [plain_loss(problem, z) for z in few]
    slow = (time.process_time() - begun) / len(few)
    compiled = identify.Problem(SERVO_BENCH, trials[:1], FREE, noise={"q": 0.0015}).losses(few)
    print(f"Identification: six-second runs of the servo bench, compared with a recording; {asked.device}, {os.cpu_count()} cores\n")
    print("| | runs/s |\n|---|---|")
    print(f"| population of {asked.n}, one call | {1.0 / fast:,.0f} |")
    if asked.device == "cpu":
        print(f"| of one core, by the time it worked | {1.0 / busy:,.0f} |")
    print(f"| plain Python step loop, one core, likewise | {1.0 / slow:,.1f} |")
    compared, per_run = ("core for core", busy) if asked.device == "cpu" else ("of the whole GPU to a core", fast)
    print(f"| ratio, {compared} | {slow / per_run:,.0f} |")
    print(f"\nLosses of both equal: {[float(x) for x in compiled] == slow_losses}")
    whole = identify.Problem(SERVO_BENCH, trials, FREE, device=asked.device)
    found = identify.fit(whole, seeds=asked.seeds)
    print(f"\nA fit of {len(FREE)} parameters to {asked.logs} logs: {found.seconds:.1f} s, {found.simulated:,} runs, {asked.seeds} seeds,")
    print(f"residual {found.loss * whole.noise['q'] * 1e3:.2f} mrad (the step of the encoder is 1.53 mrad)")


def _seconds(work: Any) -> tuple[float, float]:
    """Time that passed, and time that all cores together worked on it: the second says what an idle machine would do."""
    begun, worked = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - begun, time.process_time() - worked


if __name__ == "__main__":
    main()
