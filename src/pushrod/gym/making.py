"""Environments by the name of a machine. Everything but the number of environments and how they begin anew is told to `task`."""

from typing import TYPE_CHECKING, Any

from pushrod.core.errors import InputError
from pushrod.gym.task import task
from pushrod.sim.machine import Machine, shipped

if TYPE_CHECKING:
    from pushrod.gym.single import MachineEnv
    from pushrod.gym.vector import MachineVectorEnv


def import_gymnasium() -> Any:
    try:
        import gymnasium
    except ImportError as e:
        raise InputError("gymnasium is not installed here; install it with: pip install 'pushrod[rl]'") from e
    return gymnasium


def make(machine: str | Machine, scenario: str | None = None, **of_task: Any) -> "MachineEnv":
    """One environment."""
    import_gymnasium()
    from pushrod.gym.single import MachineEnv

    return MachineEnv(task(machine, scenario, **of_task))


def make_vec(
    machine: str | Machine,
    scenario: str | None = None,
    *,
    num_envs: int = 1,
    autoreset_mode: Any = "NextStep",
    threads: int | None = None,
    **of_task: Any,
) -> "MachineVectorEnv":
    """Many environments, of which number i does what `make` does when seeded with seed + i, bit for bit.

    `autoreset_mode` is Gymnasium's: NextStep, SameStep or Disabled. `threads`: as many as there are cores, if not said.
    """
    import_gymnasium()
    from pushrod.gym.vector import MachineVectorEnv

    return MachineVectorEnv(task(machine, scenario, **of_task), num_envs, autoreset_mode, threads)


def register() -> list[str]:
    """Make the shipped machines known to `gymnasium.make` and `gymnasium.make_vec` as pushrod/NAME-v0; gives these names."""
    gymnasium = import_gymnasium()
    names = {f"pushrod/{name}-v0": name for name in shipped()}
    for known, name in names.items():
        if known not in gymnasium.registry:
            gymnasium.register(
                known,
                entry_point="pushrod.gym.making:make",
                vector_entry_point="pushrod.gym.making:make_vec",
                kwargs={"machine": name},
                disable_env_checker=True,  # `check_env` asks more, and only where it is asked for
            )
    return list(names)
