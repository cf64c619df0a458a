"""The machine and the scenario of a run, built again from the files in its log.

A log may come from anywhere, so it is data only: no Python file that it names is run, no driver that it names is imported unless a shipped robot
has it, and no file outside of it is read. A world or driver outside Pushrod is code; `machine` is the machine file on this computer that names it,
and `trust` allows to load it.
"""

import contextlib
import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from pushrod.config import yaml_file
from pushrod.core.errors import ConfigError, InputError, LogError
from pushrod.core.model import World
from pushrod.core.record import numbers
from pushrod.log.table import Table
from pushrod.log.versions import versions
from pushrod.sim import machine as machines
from pushrod.sim import scenario as scenarios
from pushrod.sim.machine import Machine
from pushrod.sim.scenario import Scenario

KINDS = ("rollout", "stepped", "live")
DATA = (".yaml", ".yml", ".csv", ".urdf", ".json")  # what is taken out of a log
OWN_CODE = (
    "nothing that a log names is executed. Name the machine file of this computer and trust its code: --machine FILE --trust "
    "(in Python: replay(log, machine=FILE, trust=True))"
)


@dataclass(frozen=True)
class Rebuilt:
    """What ran: `world` with `params` from `state` on, a tick every `dt` [s]. `scenario` is None where a machine was served without one."""

    kind: str
    machine: Machine
    scenario: Scenario | None
    world: World
    params: Any
    state: Any
    dt: float
    seed: int
    own: bool  # the machine file is one of this computer, not of the log
    trusted: bool  # drivers outside Pushrod that it names may be loaded
    whole: bool  # the run was not stopped before its end
    notes: tuple[str, ...] = ()

    @property
    def instance(self) -> int:
        return 0 if self.scenario is None else self.scenario.instance


def rebuild(table: Table, machine: str | Path | None = None, settings: tuple[str, ...] = (), *, trust: bool = False) -> Rebuilt:
    """`settings` are texts "path=value" over those of the run. LogError where the log does not say enough."""
    about = table.about
    if about.get("part", "1") != "1":
        before = f"; it continues {about['continues']}" if "continues" in about else ""
        raise LogError(f"{table.file}: part {about['part']} of a recording{before}. Replay the first part: the run starts there.")
    if not about:
        raise LogError(f"{table.file}: is no log of a run of Pushrod: it does not say what ran, so nothing can be run again")
    if "machine.yaml" not in table.attachments and machine is None:
        raise LogError(f"{table.file}: holds no machine.yaml, so there is no model to run again; a robot with drivers of its own has none")
    said = [text for key, text in sorted(about.items(), key=lambda item: _number(item[0])) if key.startswith("override ")]
    overrides = [*(text.removeprefix("--set ") for text in said if text.startswith("--set ")), *settings]
    notes: list[str] = []
    with unpacked(table) as folder:
        try:
            what = _machine(table, folder, machine, overrides, notes, trust)
            how = _scenario(table, folder, what, said)
        except ConfigError as e:
            raise LogError("\n".join(text.replace(f"{folder}/", f"{table.file}: ") for text in e.problems)) from e
    kind = about.get("kind", "stepped" if "commands.json" in table.attachments else "rollout")
    if kind not in KINDS:
        raise LogError(f"{table.file}: a run of the kind {kind!r} is not known; known are {', '.join(KINDS)}")
    return _rebuilt(table, kind, what, how, machine is not None, trust, tuple(notes))


def _rebuilt(table: Table, kind: str, what: Machine, how: Scenario | None, own: bool, trust: bool, notes: tuple[str, ...]) -> Rebuilt:
    ticks = table.about.get("ticks", "")
    whole = True
    if how is not None and ticks.isdecimal() and len(ticks) < 12 and int(ticks) < how.steps:
        how, whole = replace(how, steps=int(ticks)), False
    dt = _dt(table, what) if how is None else how.dt
    world, params = (what.world, what.params) if how is None else (how.world, how.params)
    state = world.State() if how is None or how.state is None else how.state
    if what.live is not None and _is_of(table, what.live) and not _is_of(table, world):  # what moved was the world behind the ports
        from pushrod.live.fitting import part_of

        world, params, state = what.live, part_of(what.live.Params, params), part_of(what.live.State, state)
    said = table.about.get("seed", "0")
    seed = how.seed if how is not None else int(said) if said.isdecimal() and len(said) < 12 else 0
    return Rebuilt(kind, what, how, world, params, state, dt, seed, own, own and trust, whole, notes)


def _is_of(table: Table, world: World) -> bool:
    return {leaf.path or "y" for leaf in numbers(world.Out)} == set(table.of("/out"))


def _number(key: str) -> int:
    found = re.search(r"(\d+)$", key)
    return int(found[1][:9]) if found else 0


def _dt(table: Table, machine: Machine) -> float:
    """The tick of the run; of a machine that the user names for a log of a real robot, that of its scenario."""
    if "dt" not in table.about and machine.scenario is not None:
        return scenarios.load(None, machine).dt
    try:
        value = float(table.about["dt"])
    except (KeyError, ValueError):
        value = 0.0
    if not 1e-6 <= value <= 1.0:
        raise LogError(f"{table.file}: says nothing of its tick: dt = {table.about.get('dt')!r:.40}, allowed are 1e-06 to 1 s")
    return value


@contextlib.contextmanager
def unpacked(table: Table) -> Iterator[Path]:
    """The files of a log in a folder of their own, as long as they are needed. What would lie outside of it is left out, and so is code."""
    with tempfile.TemporaryDirectory(prefix="pushrod-replay-") as name:
        folder = Path(name)
        for attached in table.attachments.values():
            if inside(attached.name) and PurePosixPath(attached.name).suffix.lower() in DATA:
                file = folder / attached.name
                try:
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_bytes(attached.data)
                except OSError as e:
                    raise LogError(f"{table.file}: its file {attached.name!r:.80} cannot be taken out: {e.strerror or e}") from e
        yield folder


def inside(name: str) -> bool:
    """Whether a name means a file of the same folder or below."""
    path = PurePosixPath(name)
    return bool(name) and not path.is_absolute() and ".." not in path.parts and "\0" not in name and "\\" not in name and ":" not in name


def _machine(table: Table, folder: Path, own: str | Path | None, overrides: list[str], notes: list[str], trust: bool) -> Machine:
    text = table.attachments["machine.yaml"].text if "machine.yaml" in table.attachments else None
    if own is not None:
        made = machines.load(str(own), overrides, trust=trust)
        if text is not None and made.document.text != text:
            notes.append(f"{made.document.file} is not what it was when the log was written: differences may come from that")
        return made
    assert text is not None
    document = yaml_file.parse(text, str(folder / "machine.yaml"))
    _check_own(table, document.data)
    _note_robot(table, document.data, notes)
    known = machines.shipped().get(str(document.data.get("machine")))
    try:
        return machines.build(document, overrides)
    except ConfigError:
        if known is None or known.read_text() != text:
            raise
        return machines.load(known.stem, overrides)  # a log that does not hold all files of a shipped machine


def _note_robot(table: Table, data: Mapping[str, Any], notes: list[str]) -> None:
    from pushrod.sim.machine_robot import shipped

    known = shipped().get(str(data.get("robot")))
    if known is not None and "robot.yaml" in table.attachments and table.attachments["robot.yaml"].text != known.read_text(encoding="utf-8"):
        notes.append(f"the shipped robot {data['robot']} is not what it was when the log was written: differences may come from that")


def _check_own(table: Table, data: Mapping[str, Any]) -> None:
    for key in ("world", "live"):
        if isinstance(name := data.get(key), str) and ".py:" in name:
            raise LogError(f"{table.file}: its machine has a {key} of its own, {name!r:.80}, which is code; {OWN_CODE}")
    _check_files(table, data.get("robot"), "robot")
    _check_files(table, data.get("parameters"), "parameters")


def _check_files(table: Table, data: Any, where: str) -> None:
    """Every text that could be the name of a file is one inside of the log."""
    if isinstance(data, dict):
        for key, inner in data.items():
            _check_files(table, inner, f"{where}.{key}")
    elif isinstance(data, list):
        for i, inner in enumerate(data):
            _check_files(table, inner, f"{where}[{i}]")
    elif isinstance(data, str) and ("/" in data or "." in data) and not inside(data):
        raise LogError(f"{table.file}: {where} names the file {data!r:.80}, which is outside of the log and is not read")


def _scenario(table: Table, folder: Path, machine: Machine, said: list[str]) -> Scenario | None:
    if "scenario.yaml" not in table.attachments:
        return None
    document = yaml_file.parse(table.attachments["scenario.yaml"].text, str(folder / "scenario.yaml"))
    _check_files(table, document.data.get("signals"), "signals")
    options = dict(text.removeprefix("--").split(" ", 1) for text in said if text.startswith(("--duration ", "--seed ")))
    try:
        seed = int(options["seed"]) if "seed" in options else None
    except ValueError as e:
        raise LogError(f"{table.file}: --seed {options['seed']!r:.40} of the run is no whole number") from e
    return scenarios.build(document, machine, options.get("duration"), seed)


def check_drivers(rebuilt: Rebuilt, file: Path) -> None:
    """Raise InputError where the runtime would import code that only the log names, ConfigError where that code is of an untrusted machine file."""
    robot = rebuilt.machine.robot
    if robot is None or rebuilt.trusted:
        return
    if rebuilt.own:
        from pushrod.sim.machine_robot import refuse_drivers

        refuse_drivers(rebuilt.machine)
        return
    known = set(shipped_drivers())
    nodes: list[Any] = [*robot.sensors, *robot.controllers]
    for node in nodes:
        if isinstance(node.driver, str) and node.driver not in known:
            raise InputError(f"{file}: {node.name} of its robot has a driver of its own, {node.driver!r:.80}, which is code; {OWN_CODE}")


def shipped_drivers() -> Iterator[str]:
    from pushrod.robot import load
    from pushrod.sim import machine_robot

    for file in machine_robot.shipped().values():
        robot = load(file)
        parts: list[Any] = [*robot.actuators, *robot.sensors, *robot.controllers]
        yield from (part.driver for part in parts if isinstance(part.driver, str))


def other_versions(table: Table) -> dict[str, tuple[str, str]]:
    """What was of another version then: (then, now), by name."""
    now = versions()
    then = {name: table.about[name] for name in now if name in table.about}
    return {name: (was, now[name]) for name, was in then.items() if was != now[name]}
