"""Machines as Gymnasium environments: one, or thousands that move in one compiled call. Needs the extra `rl`.

from pushrod import gym
envs = gym.make_vec("servo", num_envs=1024, observe=("q", "w"), act={"torque_req": (-3, 3)}, reward=lambda y: -abs(y["q"] - 1), episode="2 s")
"""

from pushrod.gym.making import make, make_vec, register
from pushrod.gym.task import Task, task

__all__ = ["Task", "make", "make_vec", "register", "task"]
