"""What an environment is told: spaces follow from the records, and what cannot be is refused in words."""

import sys
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env
from rover import rover

from pushrod import gym
from pushrod.core.errors import PushrodError
from pushrod.sim import machine

EXPECTED = ("is -infinity", "is infinity", "symmetric and normalized")  # what worlds declare of their outputs and channels is theirs to say
QUICK = ("servo",)


def reward(y: Any) -> Any:
    return -abs(next(iter(y.values())))


def passes(name: str) -> None:
    gym.register()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        env = gymnasium.make(f"pushrod/{name}-v0", reward=reward)
        check_env(env.unwrapped)
        env.close()
    assert not [str(w.message) for w in said if not any(text in str(w.message) for text in EXPECTED)]


@pytest.mark.parametrize("name", QUICK)
def test_gymnasiums_checker_has_nothing_to_say(name: str) -> None:
    passes(name)


@pytest.mark.soak
@pytest.mark.parametrize("name", [name for name in machine.shipped() if name not in QUICK])
def test_gymnasiums_checker_has_nothing_to_say_of_any_machine(name: str) -> None:
    passes(name)


def test_spaces_follow_from_the_records(tmp_path: Path) -> None:
    it = rover(tmp_path)

    def made(**told: Any) -> Any:
        return gym.make(it, reward=reward, **told)

    assert made(act=("force",)).action_space == spaces.Box(-5.0, 5.0, (1,), np.float64)
    assert made(act={"slope": (-0.5, 1), "force": (0, 2)}).action_space == spaces.Box(np.array([-0.5, 0.0]), np.array([1.0, 2.0]), dtype=np.float64)
    assert made(act=("gear",)).action_space == spaces.Discrete(3)
    assert made(act=("brake", "gear")).action_space == spaces.MultiDiscrete([2, 3])
    box = spaces.Box(np.array([-5.0, -1.0]), np.array([5.0, 1.0]), dtype=np.float64)
    mixed = spaces.Dict({"real": box, "gear": spaces.Discrete(3), "brake": spaces.Discrete(2)})
    assert made().action_space == mixed
    seen = made(observe=("x", "gear", "in.force"), dtype="float32").observation_space
    assert seen == spaces.Box(np.array([-np.inf, 0, -5], np.float32), np.array([np.inf, 2, 5], np.float32), dtype=np.float32)
    for told in ({"act": ("gear",)}, {"act": ("brake", "gear")}, {}, {"act": ("force",), "dtype": "float32"}):
        env = made(**told)
        env.action_space.seed(1)
        env.reset(seed=1)
        for _ in range(5):
            observation = env.step(env.action_space.sample())[0]
            assert observation in env.observation_space


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"reward": None}, "what is the agent paid for"),
    ({"reward": {}}, "give a function of the signals, or metrics by name"),
    ({"reward": {"e": 3}}, "reward: e: must be a metric such as"),
    ({"reward": {"e": {"signal": "x"}}}, "reward: e.metric: is missing|reward: e: .*metric"),
    ({"reward": {"e": {"signal": "z", "metric": "rms"}}}, "reward: e.signal: there is no signal named 'z'"),
    ({"reward": {"e": {"signal": "x", "metric": "settling_time", "goal": 1, "band": 1}}}, "e.metric: settling_time is not there in every tick"),
    ({"reward": {"e": {"signal": "x", "metric": "rms", "from": 1}}}, "e: is of every action; leave `from` and `until` out"),
    ({"reward": {"e": {"signal": "x", "metric": "rms", "weight": "much"}}}, "e.weight: must be a number, got 'much'"),
    ({"observe": ("speed",)}, "no signal of rover named 'speed'"),
    ({"observe": "x"}, "give a list of signals"),
    ({"act": ("forces",)}, "no input channel of rover named 'forces'; did you mean 'force'"),
    ({"act": ()}, "act is empty"),
    ({"act": {"force": (-6, 2)}}, r"act\['force'\]: bounds -6 and 2; they must lie within \[-5, 5\] N"),
    ({"act": {"force": (2, 1)}}, "the lower one first"),
    ({"act": {"gear": (0, 1)}}, "choices have none"),
    ({"period": "15 ms"}, "whole number of ticks of 0.01 s"),
    ({"randomise": {"m": [100.0]}}, r"vary\['m'\]\[0\] = 100 kg is outside"),
    ({"randomise": {"mass": [1.0]}}, "'mass'; did you mean|named 'mass'"),
    ({"randomise": {"m": [1.0], "noise": [0.1, 0.2]}}, "number of instances disagrees"),
    ({"randomise": {"initial.u": [1.0]}}, "named 'u'"),
    ({"randomise": 3}, "randomise = 3; give parameters by path"),
]


@pytest.mark.parametrize(("told", "says"), REFUSED)
def test_what_cannot_be_is_refused(tmp_path: Path, told: dict[str, Any], says: str) -> None:
    with pytest.raises(PushrodError, match=says):
        gym.make(rover(tmp_path), **{"reward": reward, **told})


def test_a_reward_of_the_wrong_shape_is_told(tmp_path: Path) -> None:
    envs = gym.make_vec(rover(tmp_path), num_envs=4, act=("force",), reward=lambda y: np.zeros(3))
    with pytest.raises(PushrodError, match=r"reward gave an array of shape \(3,\); one value for each of 4"):
        envs.reset(seed=0)


def test_a_reward_that_looks_at_what_it_is_not_shown_is_told(tmp_path: Path) -> None:
    env = gym.make(rover(tmp_path), act=("force",), reward=lambda y: y["in.slope"])
    with pytest.raises(PushrodError, match=r"reward looks at 'in.slope', which is not observed: add it to also=\(...\)"):
        env.reset(seed=0)


def test_commands_to_actuators_need_the_runtime_unless_the_agent_has_all_channels() -> None:
    with pytest.raises(PushrodError, match="commands actuators, which an environment does not do, and act leaves out shoulder.stiff"):
        gym.task("arm", act=("shoulder.effort",), reward=reward)


def test_without_gymnasium_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    with pytest.raises(PushrodError, match=r"pip install 'pushrod\[rl\]'"):
        gym.make("servo", reward=reward)
