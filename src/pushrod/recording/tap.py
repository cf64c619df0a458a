"""Where a runtime is tapped: at every gate, so that no command is missed however it came, and at every tick of a simulated machine."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, runtime_checkable

from pushrod.core.errors import InputError
from pushrod.core.model import World
from pushrod.core.record import numbers
from pushrod.recording.topics import Rows, Topics
from pushrod.runtime.gate import Observer
from pushrod.runtime.host import Host
from pushrod.runtime.message import Command
from pushrod.runtime.result import Result
from pushrod.runtime.runtime import Runtime

End = Callable[[], None]
Seen = Callable[[Host, Command, Result, float], None]
Pipeline = tuple[str, Any, Mapping[str, str]]  # a topic, its record, the output that each of its numbers is


@runtime_checkable
class Ticking(Protocol):
    """A simulated machine whose ticks can be seen."""

    world: World
    dt: float

    def observe(self, observer: Callable[[int, Any, Any], object]) -> End: ...


def tap_gates(rt: Runtime, seen: Seen) -> End:
    """`seen` is told of every command from now on, by whoever sent it. InputError where somebody else listens there already."""
    gates = [host.gate for host in rt.hosts.values()]
    if any(gate.observer is not None for gate in gates):
        raise InputError(f"{rt.robot.name} is recorded already: leave that recording first")
    for host in rt.hosts.values():
        host.gate.observer = _of(host, seen)

    def end() -> None:
        for gate in gates:
            gate.observer = None

    return end


def _of(host: Host, seen: Seen) -> Observer:
    return lambda command, result, at: seen(host, command, result, at)


def repeated(machine: object) -> tuple[str, ...]:
    """Topics of a machine whose ticks are recorded that only say the same once more."""
    return tuple(getattr(machine, "repeated", ())) if isinstance(machine, Ticking) else ()


def open_ticks(topics: Topics, machine: Ticking, pipelines: Iterable[Pipeline]) -> int:
    """The topics /in and /out, and those of pipelines in the world, as one row: what the world was told, a tick before, and what it gave."""
    told = {leaf.path: i for i, leaf in enumerate(numbers(machine.world.In))}
    given = {leaf.path: len(told) + i for i, leaf in enumerate(numbers(machine.world.Out))}
    parts: list[Rows] = [("/in", machine.world.In, told, -round(machine.dt * 1e9)), ("/out", machine.world.Out, given, 0)]
    parts += [(name, record, {path: given[at] for path, at in paths.items()}, 0) for name, record, paths in pipelines]
    return topics.rows(parts)
