"""Speed on this machine's CPU, each figure a ratio taken in one run. Prints Markdown.

make bench        (or: python bench/run.py)
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from vehicle_drive import DT, drive

from pushrod.compiled.rollout import batch, rollout
from pushrod.compiled.stepper import Stepper
from pushrod.core.record import unflat
from pushrod.sim.worlds.servo import SERVO

REFERENCE_NS = {"ACTUATION_CMD": 2709.0, "ACTUATION_CMD_MECHANICAL": 3365.0}  # the C++ reference, best of its passes, on a like machine
TICKS = 400_000


def best(measure: Callable[[], float], times: int = 5) -> float:
    return min(measure() for _ in range(times))


def rollout_seconds(name: str, ticks: int = TICKS) -> float:
    model, params, state, inputs = drive(name)
    tiled = {key: np.resize(value, ticks) if np.ndim(value) else value for key, value in inputs.items()}
    return best(lambda: rollout(model, params, tiled, steps=ticks, dt=DT, state=state, every=ticks).seconds) / ticks


def pure_seconds(name: str, ticks: int = 4096) -> float:
    model, params, state, inputs = drive(name)
    columns = np.array([np.resize(inputs.get(field, 0.0), ticks) for field in model.In._fields])
    us = [unflat(model.In, column) for column in columns.T.tolist()]

    def once() -> float:
        s = state
        started = time.perf_counter()
        for u in us:
            s, _ = model.step(params, s, u, DT)
        return time.perf_counter() - started

    return best(once, 3) / ticks


def batch_seconds(name: str, n: int = 2048, ticks: int = 500, times: int = 40) -> tuple[float, float]:
    """On one thread and on two: the best of many short runs, taken in turns, so that what else the machine does weighs on both alike."""
    model, params, state, inputs = drive(name)
    how = {"steps": ticks, "dt": DT, "state": state, "vary": {"wheelbase": np.linspace(2.5, 3.0, n)}}
    pairs = [[batch(model, params, inputs, threads=threads, **how).seconds for threads in (1, 2)] for _ in range(times)]
    one, two = (min(column) / (n * ticks) for column in zip(*pairs, strict=True))
    return one, two


def stepper_seconds(name: str, ticks: int = 20_000) -> float:
    model, params, state, _ = drive(name)
    stepper = Stepper(model, params, dt=DT, state=state)

    def once() -> float:
        started = time.perf_counter()
        for _ in range(ticks):
            stepper.advance()
        return time.perf_counter() - started

    return best(once) / ticks


def program_seconds(*command: str, env: dict[str, str] | None = None, times: int = 5) -> float:
    def once() -> float:
        started = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True, env=env)
        return time.perf_counter() - started

    return best(once, times)


def start_up() -> None:
    python = sys.executable
    bare = program_seconds(python, "-c", "pass")
    ours = program_seconds(python, "-c", "import pushrod") - bare
    print(f"| `import pushrod` (above bare Python, {1e3 * bare:.0f} ms) | {1e3 * ours:.0f} ms | < 200 ms |")
    print(f"| `pushrod --help`, whole process | {1e3 * program_seconds(python, '-m', 'pushrod', '--help'):.0f} ms | < 400 ms |")
    for machine in ("car", "satellite"):
        with tempfile.TemporaryDirectory() as cache:
            env = {**os.environ, "PUSHROD_CACHE": cache}
            program = (
                "import time; a = time.perf_counter(); from pushrod.compiled.rollout import rollout; from pushrod.sim.worlds import WORLDS\n"
                f"rollout(WORLDS['{machine}'], None, None, steps=10, dt=0.01); print(time.perf_counter() - a)"
            )
            cold, warm = (
                float(subprocess.run([python, "-c", program], check=True, capture_output=True, text=True, env=env).stdout) for _ in range(2)
            )
        print(f"| `{machine}`: imports, first compile and run | {cold:.1f} s | < 15 s |")
        print(f"| `{machine}`: the same from the disk cache | {warm:.2f} s | < 1.5 s |")


def main() -> None:
    print("| what | measured | target |\n|---|---|---|")
    for name, theirs in REFERENCE_NS.items():
        ours = 1e9 * rollout_seconds(name)
        ratio = f"{ours:.0f} ns a step: the C++ reference's {theirs:.0f} ns is {theirs / ours:.1f} times that"
        print(f"| {name} in a rollout, one core | {ratio} | 6 times, aim 10 |", flush=True)
    name = "ACTUATION_CMD_MECHANICAL"
    slow, fast = pure_seconds(name), rollout_seconds(name)
    print(f"| {name}: pure Python {1e6 * slow:.1f} us a step over the rollout | {slow / fast:.0f} times | 150 times |", flush=True)
    one, two = batch_seconds(name)
    print(f"| {name}: batch on 2 threads over 1 thread ({1e9 * one:.0f} ns a step) | {one / two:.2f} times | 1.8 times |", flush=True)
    print(f"| {name}: live `Stepper.advance()` | {1e6 * stepper_seconds(name):.2f} us a tick | about 1 us |", flush=True)
    ticks = 200_000
    servo = best(lambda: rollout(SERVO, None, {"torque_req": 1.0}, steps=ticks, dt=1e-3, every=ticks).seconds) / ticks
    print(f"| servo world in a rollout | {1e9 * servo:.0f} ns a step | - |", flush=True)
    start_up()
    print(flush=True)
    runtime = Path(__file__).with_name("runtime.py")  # in a process of its own, as a robot has
    subprocess.run([sys.executable, str(runtime)], check=True)
    print(flush=True)
    subprocess.run([sys.executable, str(Path(__file__).with_name("guard.py")), "--times", "20"], check=True)
    print(flush=True)
    subprocess.run([sys.executable, str(Path(__file__).with_name("net.py"))], check=True)


if __name__ == "__main__":
    main()
