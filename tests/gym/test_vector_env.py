"""Many environments at once are what Gymnasium makes of single ones, and a single one is what a rollout gives: bit for bit."""

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from rover import rover

from pushrod import gym
from pushrod.compiled.rollout import rollout
from pushrod.core.errors import InputError
from pushrod.sweep.draw import draw
from pushrod.sweep.study import load

N = 5
MASSES = {"m": np.linspace(0.5, 2.0, 7)}


def task(folder: Path, **more: Any) -> dict[str, Any]:
    return {
        "machine": rover(folder),
        "observe": ("x_meas", "in.slope", "v"),
        "act": ("force", "gear"),
        "reward": lambda y: -abs(y["x_meas"] - 1.0) - 0.1 * y["in.force"],
        "ended": lambda y: y["x"] > 1.02,
        "also": ("x", "x_meas", "in.force"),
        "period": "20 ms",
        "episode": 0.5,
        "randomise": MASSES,
    } | more


TERMS = {
    "error": {"signal": "x", "to": "in.slope", "metric": "rms_error", "weight": -1.0},
    "peak": {"signal": "v", "metric": "max_abs", "weight": -0.3},
    "end": {"signal": "x_meas", "metric": "final"},
}


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_it_is_what_gymnasium_makes_of_single_ones(tmp_path: Path, mode: AutoresetMode) -> None:
    told = task(tmp_path, **({"reward": TERMS} if mode == AutoresetMode.SAME_STEP else {}))
    ours = gym.make_vec(num_envs=N, autoreset_mode=mode, **told)
    theirs = SyncVectorEnv([lambda: gym.make(**told) for _ in range(N)], autoreset_mode=mode)
    ours.action_space.seed(3)
    assert ours.single_action_space == theirs.single_action_space
    assert ours.observation_space == theirs.observation_space
    same(ours.reset(seed=11), theirs.reset(seed=11))
    ends = 0
    for _ in range(90):
        action = ours.action_space.sample()
        action["real"] *= 1.1  # now and then more than there is
        a, b = ours.step(action), theirs.step(action)
        same(a, b)
        over = a[2] | a[3]
        ends += int(over.sum())
        if mode == AutoresetMode.DISABLED and over.any():
            same(ours.reset(options={"reset_mask": over})[0], theirs.reset(options={"reset_mask": over.copy()})[0])
    assert ends > 2 * N
    same(ours.reset()[0], theirs.reset()[0])  # each goes on with its own seed


def same(a: Any, b: Any) -> None:
    assert type(a) is type(b)
    if isinstance(a, dict):
        assert a.keys() == b.keys()
        for key in a:
            mask = a.get(f"_{key}", b.get(f"_{key}"))
            same(a[key], b[key]) if mask is None or isinstance(a[key], dict) else same(a[key][mask], b[key][mask])
    elif isinstance(a, tuple) or (isinstance(a, np.ndarray) and a.dtype == object):
        for x, y in zip(a, b, strict=True):
            same(x, y)
    else:
        assert np.array_equal(a, b)


def test_an_episode_is_a_rollout(tmp_path: Path) -> None:
    machine = rover(tmp_path)
    env = gym.make(machine, observe=("x", "x_meas", "v"), act=("force", "gear", "brake"), reward=lambda y: 0.0)
    rng = np.random.default_rng(1)
    for episode in range(2):
        env.reset(seed=7 if episode == 0 else None)
        force, gear, seen, truncated = [], [], [], False
        while not truncated:
            force.append(rng.uniform(-5, 5))
            gear.append(float(rng.integers(3)))
            observation, _, _, truncated, _ = env.step({"real": np.array([force[-1]]), "gear": int(gear[-1]), "brake": 0})
            seen.append(observation)
        scenario = env.task.scenario
        inputs = {"force": np.array(force), "gear": np.array(gear), "slope": env.task.signals["slope"][:-1]}
        run = rollout(scenario.world, scenario.params, inputs, steps=50, dt=0.01, state=scenario.state, seed=7, instance=episode)
        assert np.array_equal(np.array(seen)[:, 0], run["x"])
        assert np.array_equal(np.array(seen)[:, 1], run["x_meas"])


def test_metrics_are_paid_for_action_by_action(tmp_path: Path) -> None:
    """The same numbers from the ticks of a rollout."""
    env = gym.make(**task(tmp_path, reward=TERMS, act=("force", "gear"), randomise=None, ended=None, period="50 ms"))
    env.reset(seed=3)
    paid = [env.step({"real": np.array([2.0]), "gear": 2})[1] for _ in range(10)]
    scenario, slope = env.task.scenario, env.task.signals["slope"][:-1]
    run = rollout(scenario.world, scenario.params, {"force": 2.0, "gear": 2.0, "slope": slope}, steps=50, dt=0.01, state=scenario.state, seed=3)
    x, v, x_meas = (run[name].reshape(10, 5) for name in ("x", "v", "x_meas"))
    error = np.sqrt(np.mean((x - slope.reshape(10, 5)) ** 2, axis=1))
    assert np.allclose(paid, -error - 0.3 * abs(v).max(axis=1) + x_meas[:, -1], rtol=1e-12, atol=1e-12)


LAG = {
    "slow.yaml": "machine: slow\nworld: lag\nscenario: step.yaml\n",
    "step.yaml": "scenario: step\nduration: 0.1 s\ndt: 1 ms\n",
    "worn.yaml": """
study: worn
machine: slow.yaml
runs: 500
seed: 4
vary:
  bus.delay: {uniform: [10 ms, 80 ms]}
  initial.q: {normal: {mean: 0, sd: 1}}
metrics: {end: {signal: q, metric: final}}
""",
}


def test_a_study_is_drawn_from(tmp_path: Path) -> None:
    """Parameters and states at the start, and a delay that is longer than the line of the scenario holds."""
    for name, text in LAG.items():
        (tmp_path / name).write_text(text)
    study = load(tmp_path / "worn.yaml")
    drawn = draw(study, 0, 500)
    told: dict[str, Any] = {"observe": ("q", "goal"), "reward": lambda y: y["q"]}
    envs = gym.make_vec(str(tmp_path / "slow.yaml"), num_envs=200, randomise=study, **told)
    first, infos = envs.reset(seed=0)
    assert np.array_equal(first[:, 0], drawn["initial.q"][infos["sample"]])
    arrived = np.full(200, -1)
    for k in range(100):
        observation = envs.step(np.ones((200, 1)))[0]
        arrived[(arrived < 0) & (observation[:, 1] > 0.0)] = k
    assert np.array_equal(arrived, np.floor(drawn["bus.delay"][infos["sample"]] / 1e-3).astype(int))
    with pytest.raises(InputError, match="the study worn is of the world lag, this machine has rover"):
        gym.make(**task(tmp_path, randomise=study))


def test_the_first_observation_is_the_state_at_the_start_with_noise_of_its_own(tmp_path: Path) -> None:
    envs = gym.make_vec(**task(tmp_path, observe=("x", "v", "x_meas", "in.slope"), act=("force",)), num_envs=50)
    first, _ = envs.reset(seed=0)
    assert (first[:, 0] == 0.25).all()
    assert (first[:, 1] == 1.0).all()
    assert (first[:, 3] == 0.0).all()
    second = envs.step(np.zeros((50, 1)))[0]
    noise = np.stack([first[:, 2] - first[:, 0], second[:, 2] - second[:, 0]])
    assert len(np.unique(noise)) == 100
    assert abs(noise).max() <= 0.1


def test_threads_change_no_bit(tmp_path: Path) -> None:
    told = task(tmp_path)
    runs = []
    for threads in (1, 3):
        envs = gym.make_vec(num_envs=3000, threads=threads, **told)
        envs.action_space.seed(0)
        seen = [envs.reset(seed=5)[0]] + [np.column_stack(envs.step(envs.action_space.sample())[:2]) for _ in range(30)]
        runs.append(seen)
        envs.close()
    for a, b in zip(*runs, strict=True):
        assert np.array_equal(a, b)


def test_an_episode_takes_a_sample_and_tells_which(tmp_path: Path) -> None:
    """From rest on the flat, without noise: v = force t / m."""
    envs = gym.make_vec(**task(tmp_path, act=("force", "gear", "slope"), observe=("v",), period="10 ms", ended=None), num_envs=400)
    _, infos = envs.reset(seed=2)
    action = {"real": np.tile([2.0, 0.0], (400, 1)), "gear": np.full(400, 2)}
    v = envs.step(action)[0][:, 0] - 1.0
    assert np.allclose(v, 0.01 * 2.0 / MASSES["m"][infos["sample"]], rtol=1e-12)
    assert np.bincount(infos["sample"], minlength=7).min() > 25  # of 57 on average
    _, again = envs.reset()
    assert (again["sample"] == infos["sample"]).mean() < 0.3
    assert (envs.reset(seed=2)[1]["sample"] == infos["sample"]).all()
    envs.reset(seed=[3] * 400)
    assert len(np.unique(envs.step(action)[0])) == 1  # one seed for all: the same for all


def test_a_machine_that_runs_away_ends_its_episode(tmp_path: Path) -> None:
    told = task(tmp_path, randomise={"growth": np.array([-1.0, 1e9])}, observe=("x", "v"), ended=None, episode=5.0)
    envs = gym.make_vec(num_envs=8, **told)
    _, infos = envs.reset(seed=0)
    wild = infos["sample"] == 1
    assert 0 < wild.sum() < 8
    action = {"real": np.zeros((8, 1)), "gear": np.ones(8, int)}
    over = np.zeros(8, bool)
    for _ in range(30):
        observation, reward, terminated, _, infos = envs.step(action)
        assert np.isfinite(observation).all()
        assert np.isfinite(reward).all()
        assert (terminated == infos.get("diverged", np.zeros(8, bool))).all()
        over |= terminated
        if (over == wild).all():
            return
    raise AssertionError(over)


def runaway(folder: Path, growth: float = 1e9, **more: Any) -> dict[str, Any]:
    """A cart that grows beyond all numbers after some steps, at a cost of its distance from 1 a step."""
    return task(folder, randomise={"growth": np.array([growth])}, observe=("x", "v", "gear"), also=(), ended=None, episode=5.0, act=("force",)) | more


def until_over(env: Any, seed: int = 0) -> tuple[list[float], Any, dict[str, Any]]:
    """Rewards, last observation and last info of an episode of a cart that is left alone."""
    env.reset(seed=seed)
    rewards: list[float] = []
    while True:
        observation, reward, terminated, truncated, info = env.step(np.zeros(1))
        assert observation in env.observation_space
        assert np.isfinite(observation.astype(np.float32)).all()
        assert np.isfinite(np.float32(reward))
        rewards.append(reward)
        if terminated or truncated:
            return rewards, observation, info


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_divergence_costs_the_worst_reward_for_every_step_that_is_left(tmp_path: Path, dtype: str) -> None:
    """An agent must not earn more by breaking the simulation than by staying at the worst until the end."""
    env = gym.make(**runaway(tmp_path, reward=lambda y: -abs(y["x"] - 1.0), dtype=dtype))
    rewards, _, info = until_over(env)
    assert info["diverged"]
    left = env.task.steps - len(rewards) + 1
    assert left > 100
    largest = float(np.finfo(np.float32).max)
    assert rewards[-1] == max(left * min(rewards[:-1]), -largest)
    assert rewards[-1] < min(rewards[:-1])


def test_divergence_never_pays_where_every_reward_is_a_gain(tmp_path: Path) -> None:
    env = gym.make(**runaway(tmp_path, reward=lambda y: 1.0 + 0.0 * y["x"]))
    rewards, _, info = until_over(env)
    assert info["diverged"]
    assert rewards[-1] == -(env.task.steps - len(rewards) + 1.0)
    assert min(rewards[:-1]) == 1.0


def test_divergence_in_the_first_step_costs_something(tmp_path: Path) -> None:
    told = runaway(tmp_path, reward=lambda y: -np.abs(y["x"]) * np.inf)
    rewards, _, info = until_over(gym.make(**told))
    assert info["diverged"]
    assert len(rewards) == 1
    assert rewards[0] == -gym.make(**told).task.steps


@pytest.mark.parametrize(
    "reward",
    [lambda y: -1000.0 * abs(y["x"] - 1.0), {"far": {"signal": "x", "metric": "max_abs", "weight": -3000.0}}],
    ids=["function", "metrics"],
)
def test_divergence_in_the_first_step_costs_what_the_start_costs_for_every_step(tmp_path: Path, reward: Any) -> None:
    """An agent that dislikes its start must gain nothing by breaking the simulation at once: both rewards are -750 at x = 0.25."""
    env = gym.make(**runaway(tmp_path, reward=reward, period=1.0))
    rewards, _, info = until_over(env)
    assert info["diverged"]
    assert rewards == [-750.0 * env.task.steps]


def test_an_environment_that_begins_anew_after_divergence_has_not_diverged(tmp_path: Path) -> None:
    """With metrics as rewards: those of the diverged step are still there when the next episode begins."""
    told = runaway(tmp_path, reward={"far": {"signal": "x", "metric": "max_abs", "weight": -1.0}})
    envs = gym.make_vec(num_envs=2, **told)
    envs.reset(seed=0)
    for _ in range(60):
        _, _, terminated, _, infos = envs.step(np.zeros((2, 1)))
        if terminated.all():
            break
    assert infos["diverged"].all()
    observation, reward, terminated, _, infos = envs.step(np.zeros((2, 1)))
    assert "diverged" not in infos
    assert not terminated.any()
    assert (reward == 0.0).all()
    assert (observation[:, 0] == 0.25).all()


def test_more_than_the_bounds_is_cut_and_told(tmp_path: Path) -> None:
    envs = gym.make_vec(**task(tmp_path, act={"force": (-2.0, 2.0)}, observe=("in.force",)), num_envs=3)
    envs.reset(seed=0)
    observation, _, _, _, infos = envs.step(np.array([[1.0], [-7.0], [2.0]]))
    assert observation[:, 0].tolist() == [1.0, -2.0, 2.0]
    assert infos["clipped"].tolist() == [False, True, False]
    assert "clipped" not in envs.step(np.zeros((3, 1)))[4]


BAD_ACTIONS = [
    ({"real": [[1.0], [np.nan]], "gear": [1, 1]}, "action of environment 1 for 'force' is nan; allowed: a number from -5 to 5"),
    ({"real": [[1.0], [1.0]], "gear": [1, 3]}, "action of environment 1 for 'gear' is 3; allowed: a whole number from 0 to 2"),
    ({"real": [[1.0], [1.0]], "gear": [0.5, 1]}, "action of environment 0 for 'gear' is 0.5"),
    ({"real": [[1.0]], "gear": [1, 1]}, r"shape \(1, 1\); 2 environments with 1 numbers each"),
    (np.zeros((2, 2)), "an action is a dict with the keys real, gear"),
    ({"real": "hard", "gear": [1, 1]}, "an action is numbers, got 'hard'"),
]


@pytest.mark.parametrize(("action", "says"), BAD_ACTIONS)
def test_an_action_that_is_none_is_refused_and_changes_nothing(tmp_path: Path, action: Any, says: str) -> None:
    envs = gym.make_vec(**task(tmp_path), num_envs=2)
    with pytest.raises(InputError, match="call reset"):
        envs.step(action)
    envs.reset(seed=0)
    good = {"real": np.ones((2, 1)), "gear": np.full(2, 2)}
    first = envs.step(good)
    envs.reset(seed=0)
    with pytest.raises(InputError, match=says):
        envs.step(action)
    same(first, envs.step(good))


def test_a_reset_that_is_none_is_refused(tmp_path: Path) -> None:
    envs = gym.make_vec(**task(tmp_path), num_envs=3, autoreset_mode="Disabled")
    with pytest.raises(InputError, match="2 seeds were given for 3"):
        envs.reset(seed=[1, 2])
    with pytest.raises(InputError, match="an array of 3 flags"):
        envs.reset(options={"reset_mask": np.array([True, False])})
    with pytest.raises(InputError, match="NextStep, SameStep, Disabled"):
        gym.make_vec(**task(tmp_path), num_envs=3, autoreset_mode="sometimes")
    with pytest.raises(InputError, match="num_envs = 0"):
        gym.make_vec(**task(tmp_path), num_envs=0)
    envs.reset(seed=0)
    action = {"real": np.zeros((3, 1)), "gear": np.ones(3, int)}
    for _ in range(25):
        truncated = envs.step(action)[3]
    assert truncated.all()
    with pytest.raises(InputError, match="is over: begin it anew"):
        envs.step(action)


def test_gymnasium_makes_them_by_name() -> None:
    names = gym.register()
    assert "pushrod/servo-v0" in names
    told: dict[str, Any] = {"act": {"torque_req": (-1.0, 1.0)}, "reward": lambda y: -(y["q"] ** 2), "episode": "20 ms"}
    envs = gymnasium.make_vec("pushrod/servo-v0", num_envs=3, vectorization_mode="vector_entry_point", **told)
    one = gymnasium.make("pushrod/servo-v0", **told)
    many, single = envs.reset(seed=4)[0], one.reset(seed=6)[0]
    for _ in range(20):
        many, reward, _, truncated, _ = envs.step(np.full((3, 1), 0.5))
        single, alone, _, cut, _ = one.step(np.array([0.5]))
        assert np.array_equal(many[2], single)
        assert (reward[2], truncated[2]) == (alone, cut)
    assert cut
