"""What is to be identified, by name: a machine, a world, a model or a plant, all of them as a machine.

servo              a shipped machine, else a world, else a model, else a plant of that name
my_arm.yaml        a machine file
model:servo        the model where a machine or a world has the same name; likewise world:, plant:
valve.py:VALVE     somebody's own Model or World
"""

from collections.abc import Iterable
from pathlib import Path

from pushrod.config import yaml_file
from pushrod.core.errors import UnknownNameError
from pushrod.core.names import unknown
from pushrod.sim import machine as machines
from pushrod.sim.machine import Machine


def subject(name: str, overrides: Iterable[str] = (), *, trust: bool = False) -> Machine:
    """The machine of that name, or one made of the world, model or plant of that name with its default parameters.

    `overrides` are texts "path=value" put over its parameters. `trust`: import the Python file of a world that a machine file names. A Python
    file that is the name itself is imported in any case: the caller asks for that code, no file does.
    """
    world = _world(name)
    if world is None:
        return machines.load(name, overrides, trust=trust)
    return machines.build(yaml_file.parse(machine_text(name, world), name), overrides, trust=True)


def machine_text(name: str, world: str) -> str:
    """The machine file that says no more than which world."""
    last = name.rpartition(":")[2]
    return f"machine: {last}\nworld: {world}\n"


def _world(name: str) -> str | None:
    """What `world:` of a machine file says for it; None for what is a machine already."""
    if ".py:" in name or name.startswith(("model:", "plant:")):
        return name
    if name.startswith("world:"):
        return name.removeprefix("world:")
    shipped = machines.shipped()
    if name in shipped or Path(name).suffix in (".yaml", ".yml") or machines.is_there(Path(name)):
        return None
    from pushrod.models import MODELS
    from pushrod.plants import PLANTS
    from pushrod.sim.worlds import WORLDS

    for table, prefix in ((WORLDS, ""), (MODELS, "model:"), (PLANTS, "plant:")):
        if name in table:
            return prefix + name
    known = {**dict.fromkeys(shipped), **dict.fromkeys(WORLDS), **dict.fromkeys(MODELS), **dict.fromkeys(PLANTS)}
    raise UnknownNameError(f"{unknown(known, name, 'machine, world, model or plant')}; or give a machine file, or FILE.py:NAME")
