"""A machine: a world with its parameters, read from a YAML file.

machine: car                      its name
about: one line
world: car                        a shipped world, a model by itself (model:servo), or my_world.py:MY_WORLD beside the file
scenario: car_default             what `pushrod run` does with it when told nothing else
parameters: {steer: {T: 80 ms}}   nested as the world's Params; what is not mentioned keeps its default. `include: fit.yaml` takes those of a fit
track:                            which request belongs to which achieved signal
  - {request: steer_req, achieved: steer_ach, limit: steer_lim}    see `tracked`
robot: arm                        optional: what commands it when it is live; see `machine_robot`
ports: {shoulder_motor: shoulder}
live: hull                        optional: the world behind the ports, where controllers of the robot do what the whole world does by itself
"""

import importlib.util
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from typing import Annotated as A

import msgspec

from pushrod.config import yaml_file
from pushrod.config.named_code import NOT_IMPORTED, NamedCode, refusal
from pushrod.config.structure import WRONG, read, sound_items
from pushrod.config.yaml_file import Document
from pushrod.core.errors import ConfigError, UnknownNameError
from pushrod.core.model import Model, World
from pushrod.core.names import unknown
from pushrod.core.record import fields
from pushrod.sim.alone import alone
from pushrod.sim.named_world import named_world
from pushrod.sim.record_file import check_ranges, record
from pushrod.sim.room import with_room
from pushrod.sim.tracked import Pair, Tracked, tracked

if TYPE_CHECKING:
    from pushrod.robot.description import Robot

FOLDER = Path(__file__).parent / "machines"
Text = msgspec.Meta


class MachineFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A world with its parameters."""

    machine: A[str, Text(description="name of the machine", pattern=r"^[A-Za-z][\w-]*$")]
    world: A[str, Text(description="a shipped world, a shipped model by itself (model:NAME, plant:NAME), or FILE.py:NAME beside this file")]
    about: A[str, Text(description="one line for `pushrod list`")] = ""
    scenario: A[str | None, Text(description="default scenario: a shipped name or a file beside this one")] = None
    parameters: A[dict[str, Any], Text(description="nested as the world's Params")] = {}
    uncertainty: A[dict[str, Any], Text(description="errors of a fit: sd by parameter, and correlation in that order; for studies")] = {}
    track: A[list[Pair], Text(description="requests and what became of them, for the summary")] = []
    robot: A[str | None, Text(description="what commands it when it is live: a shipped robot, or a .yaml or .urdf file beside this one")] = None
    ports: A[dict[str, str], Text(description="by actuator or sensor of the robot: where its channels are in the world; '' is the top")] = {}
    live: A[str | None, Text(description="the world behind the ports, if only a part of this one; the robot has the controllers")] = None


@dataclass(frozen=True)
class Machine:
    name: str
    about: str
    world: World
    params: Any
    track: tuple[Tracked, ...]
    scenario: str | None
    document: Document
    robot: "Robot | None" = None
    ports: Mapping[str, str] = field(default_factory=dict)
    live: World | None = None  # the world behind the ports, where it is another one


def shipped() -> dict[str, Path]:
    """The machines that come with the package, by name."""
    return {file.stem: file for file in sorted(FOLDER.glob("*.yaml"))}


def locate(name: str, table: dict[str, Path], what: str, beside: Path | None = None) -> Path:
    """A shipped name or a file; a wrong one is answered with what there is."""
    if name in table:
        return table[name]
    file = Path(name) if beside is None else beside / name
    if is_there(file) or file.suffix in (".yaml", ".yml") or "/" in name:
        return file
    raise UnknownNameError(f"{unknown(table, name, what)}; or give the path of a .yaml file")


def is_there(file: Path) -> bool:
    """Whether it is a file; a name that no file can have is none."""
    try:
        return file.is_file()
    except OSError:
        return False


def load(name: str, overrides: Iterable[str] = (), *, trust: bool = False) -> Machine:
    """Return a machine by shipped name or file.

    `overrides` are texts "path=value" put over its parameters. `trust`: import the Python file of a world that the file names.
    """
    return build(yaml_file.load(locate(name, shipped(), "machine")), overrides, trust=trust)


def build(document: Document, overrides: Iterable[str] = (), *, trust: bool = False) -> Machine:
    for text in overrides:
        try:
            override(document, text)
        except ConfigError as e:
            document.problems += [(0, problem) for problem in e.problems]
    head = read(MachineFile, document.data, (), document)
    world = _world(document.data.get("world"), document, "world", trust)
    params: Any = WRONG
    if world is not None and isinstance(document.data.get("parameters"), dict | None):
        world, params = parameters(world, document.data.get("parameters") or {}, document)
    track: tuple[Tracked, ...] = ()
    if world is not None:
        known = world.Params() if params is WRONG else params  # so that all mistakes are told at once
        track = tuple(tracked(pair, world, known, at, document) for at, pair in sound_items(Pair, document.data.get("track"), ("track",), document))
    behind = None if world is None else _live(world, document, trust)
    robot, ports = _robot(behind or world, document)
    document.raise_problems()
    assert world is not None
    return Machine(head.machine, head.about, world, params, track, head.scenario, document, robot, ports, behind)


def _live(world: World, document: Document, trust: bool) -> World | None:
    """The world behind the ports; it has parameters and states of the whole one, by their names."""
    if document.data.get("live") is None:
        return None
    behind = _world(document.data["live"], document, "live", trust)
    if behind is not None:
        for kind, part, whole in (("parameters", behind.Params, world.Params), ("states", behind.State, world.State)):
            strange = [f.name for f in fields(part) if all((f.name, f.type) != (g.name, g.type) for g in fields(whole))]
            if strange:
                document.add(("live",), f"{behind.name} is no part of {world.name}: it has the {kind} {', '.join(strange)}, which that has not")
    return behind


def _robot(world: World | None, document: Document) -> tuple["Robot | None", dict[str, str]]:
    if world is None or not {"robot", "ports"} & document.data.keys():
        return None, {}
    from pushrod.sim.machine_robot import read_robot  # here, because few machines have one

    return read_robot(document, world)


def parameters(world: World, data: dict[str, Any], document: Document) -> tuple[World, Any]:
    """The Params of a world from the nested mapping, and the world with room for its delays; what is wrong with them is noted."""
    before = len(document.problems)
    params = record(world.Params, data, world.Params(), ("parameters",), document)
    if len(document.problems) == before:
        world, params = with_room(world, params, None)
    check_ranges(params, None, ("parameters",), document)
    return world, params


def override(document: Document, text: str) -> None:
    """Put the value of a text "path=value" over what the file says."""
    path, eq, value = text.partition("=")
    if not eq or not path.strip():
        raise ConfigError([f"--set {text}: write --set PATH=VALUE, such as --set steer.T=80ms"])
    data = yaml_file.parse(f"value: {value}", f"--set {text}").data["value"]
    document.override(("parameters", *path.strip().split(".")), data, f"--set {text}")


def named_worlds(document: Document) -> list[NamedCode]:
    """Return the worlds outside Pushrod that a machine file names."""
    named = [(key, document.data.get(key)) for key in ("world", "live")]
    return [
        NamedCode("world", name, f"{document.file}:{document.line((key,))}: {key}", _file_of(name, document))
        for key, name in named
        if isinstance(name, str) and ".py:" in name
    ]


def check_without_code(document: Document) -> None:
    """Raise ConfigError with every problem of a machine file that shows without the code of its world."""
    read(MachineFile, document.data, (), document)
    for key in ("world", "live"):
        name = document.data.get(key)
        if isinstance(name, str) and ".py:" in name:
            if not name.rpartition(":")[2].isidentifier():
                document.add((key,), f"{name!r} names no world: write 'file.py:WORLD'")
            elif not is_there(_file_of(name, document)):
                document.add((key,), f"there is no file {_file_of(name, document)}")
        else:
            _world(name, document, key, trust=False)
    if isinstance(robot := document.data.get("robot"), str):
        from pushrod.sim.machine_robot import load_named

        load_named(robot, document)
    document.raise_problems()


def _file_of(name: str, document: Document) -> Path:
    return document.folder / name.rpartition(":")[0]


def _world(name: Any, document: Document, key: str, trust: bool) -> World | None:
    """The world a file asks for, or None with the problem noted."""
    if not isinstance(name, str):
        return None
    if ".py:" in name:
        return _world_file(name, document, key, trust)
    try:
        return named_world(name)
    except UnknownNameError as e:
        document.add((key,), str(e))
        return None


def _world_file(name: str, document: Document, key: str, trust: bool) -> World | None:
    """Return NAME of FILE.py beside the machine file, a World or a Model; its type is checked before anything of it is called."""
    file, attribute = _file_of(name, document), name.rpartition(":")[2]
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None or not is_there(file):
        document.add((key,), f"there is no file {file}")
        return None
    if not trust:
        document.add((key,), refusal("world", name, file))
        return None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as e:  # a user's file may raise anything
        document.add((key,), f"{file} {NOT_IMPORTED}: {type(e).__name__}: {e}")
        return None
    found = getattr(module, attribute, None)
    if isinstance(found, Model):
        return alone(found)
    if not isinstance(found, World):
        worlds = {key: value for key, value in vars(module).items() if isinstance(value, World | Model)}
        document.add((key,), f"{file}: {unknown(worlds, attribute, 'World')}")
        return None
    return found
