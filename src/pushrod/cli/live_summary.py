"""What became of the commands of a run, as a table on the terminal."""

from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.table import Table

from pushrod.cli import output

if TYPE_CHECKING:
    from pushrod.live.run import Answered, Difference, Live


def print_commands(run: "Live", on: Console | None = None) -> None:
    """The commands of the script, one row each; commands sent every tick, one line for each actuator."""
    from pushrod.robot.joint import units

    console = on or output.console()
    robot = run.machine.robot
    kinds = {actuator.name: units(robot.joint(actuator.joint).kind) for actuator in robot.actuators}
    if run.answers:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        table.add_column("at", justify="right")
        for head in ("command", "answer", "end"):
            table.add_column(head, overflow="fold")
        for one in run.answers:
            si = kinds[one.command.to]
            table.add_row(f"{one.command.k * run.machine.dt:g} s", f"{one.command.to}: {_asked(one, si)}", _answer(one, si), _end(one, si))
        console.print(table)
    for note in run.notes:
        console.print(f"refused: switching {note}", markup=False)
    for stream in run.streams:
        what = f"{stream.actuator}: {stream.sent} commands, one every tick; {stream.clamped} clamped, {stream.refused} refused"
        console.print(what + (f", the first: {stream.first}" if stream.first else ""), markup=False)


def print_difference(found: "Difference", on: Console | None = None) -> None:
    """How the run compares with a rollout of the same inputs."""
    console = on or output.console()
    what = f"against a rollout of the same inputs: {found.signals} signals, {found.ticks} ticks"
    if found.signal:
        console.print(f"{what}; they differ from {found.since:g} s on, {found.signal} most, by {found.most:.3g}", markup=False)
    else:
        console.print(f"{what}, equal to the last bit", markup=False)


def _asked(one: "Answered", si: dict[str, str]) -> str:
    command = one.command
    if command.verb == "stop":
        return f"stop, {command.values['mode']}"
    if command.verb == "trajectory":
        repeat = command.values["repeat"]
        often = "" if repeat == 1 else f", {repeat}" if repeat == "forever" else f", {repeat} times"
        return f"trajectory of {len(command.values['waypoints'])} points{often}"
    return ", ".join([_with_unit(command.verb, command.values.get(command.verb), si), *_hints(command, si)])


def _hints(command: Any, si: dict[str, str]) -> list[str]:
    return [_with_unit(name, value, si | {"duration": "s"}) for name, value in command.values.items() if name != command.verb]


def _with_unit(name: str, value: float | None, si: dict[str, str]) -> str:
    return name if value is None else f"{name} {value:.4g} {si[name]}"


def _answer(one: "Answered", si: dict[str, str]) -> str:
    from pushrod.runtime.result import Clamped, Refused

    result = one.result
    if isinstance(result, Refused):
        return f"[bold red]refused[/]: {result.reason.replace('_', ' ')}" + (f" ({result.detail})" if result.detail else "")
    info = f" ({', '.join(f'{k} {v:.3g}' for k, v in result.info.items())})" if isinstance(result.info, dict) else ""
    if isinstance(result, Clamped):
        done = getattr(result.done, one.command.verb, None)
        return "[yellow]clamped[/]" + (f" to {done:.4g} {si[one.command.verb]}" if isinstance(done, float) else "") + info
    return f"accepted{info}"


def _end(one: "Answered", si: dict[str, str]) -> str:
    if one.end is None or one.ended is None:
        return "-"
    detail = f" ({one.end.detail})" if one.end.detail else ""
    return f"{one.end.reason.replace('_', ' ')}{detail} at {one.ended:.4g} s, {one.end.position:.4g} {si['position']}"
