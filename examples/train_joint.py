"""Learn to bring a joint to an angle, whatever it carries: random search for two gains, 1024 joints at a time.

python examples/train_joint.py
"""

import time

import numpy as np

from pushrod import gym

GOAL = 1.0  # rad
CANDIDATES, EACH = 64, 16  # pairs of gains, and joints that try each of them

rng = np.random.default_rng(1)
envs = gym.make_vec(
    "servo",
    num_envs=CANDIDATES * EACH,
    observe=("q", "w"),
    act={"torque_req": (-3.0, 3.0)},  # N.m
    reward=lambda y: -abs(y["q"] - GOAL) - 0.01 * abs(y["w"]),
    period="10 ms",
    episode="2 s",
    randomise={"body.J": rng.uniform(0.01, 0.04, 1000), "bus.delay": rng.uniform(0.002, 0.012, 1000)},
)


def mean_return(gains: np.ndarray) -> np.ndarray:
    """What each row (kp, kd) of gains earns in an episode, on average over the joints that try it."""
    kp, kd = np.repeat(gains, EACH, axis=0).T
    earned = np.zeros(envs.num_envs)
    (q, w), over = envs.reset(seed=1)[0].T, False
    while not over:
        observation, reward, _, truncated, _ = envs.step((kp * (GOAL - q) - kd * w)[:, None])
        q, w = observation.T
        earned += reward
        over = truncated.all()
    return earned.reshape(CANDIDATES, EACH).mean(axis=1)


best, width = np.array([1.0, 0.1]), np.array([1.0, 0.5])
started = time.perf_counter()
for turn in range(6):
    gains = np.abs(best + width * rng.standard_normal((CANDIDATES, 2)))
    gains[0] = best  # what is best stays until something is better
    returns = mean_return(gains)
    best = gains[np.argmax(returns)]
    width = 0.7 * width
    print(f"turn {turn}: kp {best[0]:.2f} N.m/rad, kd {best[1]:.3f} N.m.s/rad earn {returns.max():.2f}; the first of the turn {returns[0]:.2f}")
steps = 6 * 200 * envs.num_envs
print(f"{steps} steps of an environment in {time.perf_counter() - started:.1f} s, compiling included")
