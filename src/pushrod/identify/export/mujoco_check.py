"""Run an exported drive in MuJoCo itself beside ours: how far the two are from each other in a step. Needs the extra `mujoco`."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushrod.compiled.rollout import rollout
from pushrod.core.errors import InputError
from pushrod.core.record import numbers
from pushrod.identify.export.drive import Drive
from pushrod.sim.machine import Machine
from pushrod.sim.room import with_room

Array = NDArray[np.float64]
SECONDS = 1.0
COMMANDS = {"position": ("goal", "ref"), "effort": ("torque_req", "volts", "u")}  # channels of the worlds that are drives


def step_in_mujoco(mjcf: str, size: float, seconds: float = SECONDS) -> tuple[Array, Array]:
    """Times [s] and positions of the joint after a step of the command from rest."""
    mujoco = _mujoco()
    model = mujoco.MjModel.from_xml_string(mjcf)
    data = mujoco.MjData(model)
    t, q = [], []
    data.ctrl[0] = size
    for _ in range(round(seconds / model.opt.timestep)):
        mujoco.mj_step(model, data)
        t.append(data.time)
        q.append(data.qpos[0])
    return np.array(t), np.array(q)


def step_here(machine: Machine, drive: Drive, size: float, seconds: float, dt: float) -> Array:
    world, params = with_room(machine.world, machine.params, dt)
    inputs = {command(machine, drive): size}
    return np.asarray(rollout(world, params, inputs, steps=round(seconds / dt), dt=dt, outputs=("q",))["q"], float)


def command(machine: Machine, drive: Drive) -> str:
    """The channel that commands the drive."""
    return next(name for name in COMMANDS[drive.command] if name in machine.world.In._fields)


def command_unit(machine: Machine, drive: Drive) -> str:
    units = {leaf.path: str(leaf.meta.unit) for leaf in numbers(machine.world.In)}  # type: ignore[union-attr]
    return units[command(machine, drive)]


def difference(machine: Machine, drive: Drive, mjcf: str, size: float) -> float:
    """The greatest difference of the two positions, as a share of the way that ours goes."""
    t, there = step_in_mujoco(mjcf, size)
    here = step_here(machine, drive, size, SECONDS, float(t[0]))
    way = float(np.max(np.abs(here)))
    return float(np.max(np.abs(there - here))) / way if way > 0.0 else float(np.max(np.abs(there)))


def _mujoco() -> Any:
    try:
        import mujoco
    except ImportError as e:
        raise InputError("mujoco is not installed here; install it with: pip install 'pushrod[mujoco]'") from e
    return mujoco
