"""Environment steps a second: a vector environment against a Python loop over single ones.

python bench/envs.py [MACHINE]
"""

import sys
import time
from typing import Any

from pushrod import gym

TASKS: dict[str, dict[str, Any]] = {
    "servo": {"observe": ("q", "w"), "act": {"torque_req": (-3.0, 3.0)}, "reward": lambda y: -abs(y["q"] - 1.0)},
    "car": {"observe": ("speed", "steer_ach"), "act": {"accel": (0.0, 1.0), "wheel": (-3.0, 3.0)}, "reward": lambda y: -abs(y["steer_ach"])},
}
ROUNDS = 50
ROUND = 2e-3  # [s], short: one of so many is likely to have a core for itself


def best(step: Any, action: Any) -> float:
    """Seconds a call, the best of many rounds."""
    step(action)
    started = time.perf_counter()
    step(action)
    calls = max(1, round(ROUND / (time.perf_counter() - started)))
    times = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        for _ in range(calls):
            step(action)
        times.append((time.perf_counter() - started) / calls)
    return min(times)


def main(machine: str) -> None:
    told = TASKS[machine] | {"episode": 1000.0}
    env = gym.make(machine, **told)
    env.reset(seed=1)
    action = env.action_space.sample()
    one = best(env.step, action)
    print(f"{machine}: a single environment, {one * 1e6:.1f} us a step")
    print("| environments | threads | us a step of all | steps of an environment a second | times a loop over single ones |\n|---|---|---|---|---|")
    for n in (1, 16, 256, 4096, 65536):
        for threads in (1, 2):
            envs = gym.make_vec(machine, num_envs=n, threads=threads, **told)
            envs.reset(seed=1)
            all_ = best(envs.step, envs.action_space.sample())
            print(f"| {n} | {threads} | {all_ * 1e6:.0f} | {n / all_:.3g} | {one * n / all_:.1f} |", flush=True)
            envs.close()


if __name__ == "__main__":
    main(*(sys.argv[1:] or ["servo"]))
