"""What `pushrod fit` was asked on its command line, made into what `identify` takes."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from pushrod.cli.output import say
from pushrod.cli.read_log import read_log
from pushrod.core.errors import InputError
from pushrod.core.names import find
from pushrod.core.record import numbers
from pushrod.identify.belief import Belief
from pushrod.identify.experiment import Trial, trial
from pushrod.identify.limit import number, range_of, read_range
from pushrod.identify.search import Progress
from pushrod.log.table import Table
from pushrod.sim.machine import Machine

Range = tuple[float, float] | None


class Asked:
    """The options of one call. Texts are "PATH=..."; a path that is not there is told with the nearest ones that are."""

    def __init__(
        self,
        machine: Machine,
        inputs: list[str],
        outputs: list[str],
        free: list[str],
        constants: list[str],
        starts: list[str],
        offsets: list[str],
        noise: list[str],
        logs: list[Path],
        weights: list[str] | None = None,
    ) -> None:
        world = machine.world
        self.world = world
        self._in, self._out = _units(world.In), _units(world.Out)
        self._params, self._state = _units(world.Params), _units(world.State)
        self._inputs = dict(_pair(text, self._in, f"input of {world.name}", "--input") for text in inputs)
        self._outputs = dict(_pair(text, self._out, f"output of {world.name}", "--output") for text in outputs)
        if not self._outputs:
            raise InputError(f"no --output: say what was measured, such as --output {next(iter(self._out))}; {world.name} has {', '.join(self._out)}")
        self._free, self._noise, self._starts = free, noise, starts
        self._called = called(logs)
        self._constants = [self._constant(text) for text in constants]
        self._weights = dict(_pair(text, dict.fromkeys(self._outputs, "-"), "measured output", "--weight") for text in weights or ())
        for path in offsets:
            find(dict.fromkeys(self._outputs), path, "measured output")

    def trial(self, log: Path, **how: Any) -> Trial:
        table = read_log(log)
        inputs = self._inputs or self._alike(table)
        known = {path: value for only, path, value in self._constants if only is None or only == log}
        given = {path: value for path, value in map(self._start, self._starts) if not isinstance(value, tuple)}
        return trial(
            self.world,
            table,
            inputs=inputs,
            outputs=self._outputs,
            constants=known,
            start=given,
            weights=self._weights,
            name=self._called[log],
            **how,
        )

    def _alike(self, table: Table) -> dict[str, str]:
        """Columns that have the name of an input, as Pushrod's own logs have it or bare; not those that are outputs."""
        free = [name for name in table.channels if name not in self._outputs.values()]
        names = {path: next((name for name in (f"in.{path}", path) if name in free), None) for path in self._in}
        return {path: name for path, name in names.items() if name is not None}

    def free(self) -> dict[str, Range]:
        if not self._free:
            known = ", ".join(f"{path} [{unit}]" if unit != "-" else path for path, unit in self._params.items())
            raise InputError(f"no --free: say which parameters to find; {self.world.name} has {known}")
        return dict(self._range(text, self._params, f"parameter of {self.world.name}", "--free") for text in self._free)

    def free_starts(self) -> dict[str, Range]:
        return {path: value for path, value in map(self._start, self._starts) if isinstance(value, tuple)}

    def noise(self) -> dict[str, float] | None:
        """Of every output or of none: a learnt noise beside a known one would count for nothing."""
        if not self._noise:
            return None
        found = {}
        for text in self._noise:
            path, rest = _pair(text, {path: self._out[path] for path in self._outputs}, "measured output", "--noise")
            found[path] = number(rest, self._out[path], f"--noise {text}")
            if not found[path] > 0.0:
                raise InputError(f"--noise {text}: a standard deviation is above 0")
        if len(found) < len(self._outputs):
            raise InputError(
                f"--noise: say it of every output or of none; {', '.join(path for path in self._outputs if path not in found)} is missing"
            )
        return found

    def _constant(self, text: str) -> tuple[Path | None, str, float]:
        log, colon, rest = text.rpartition(":")
        path, value = _pair(rest, self._params, f"parameter of {self.world.name}", "--constant")
        only = of_name(self._called, log) if colon else None
        return only, path, number(value, self._params[path], f"--constant {text}")

    def _start(self, text: str) -> tuple[str, Any]:
        path, rest = _pair(text, self._state, f"state of {self.world.name}", "--start")
        if ".." in rest:
            return path, tuple(read_range(rest, self._state[path], f"--start {text}"))
        return path, rest if rest in self._outputs else number(rest, self._state[path], f"--start {text}")

    def _range(self, text: str, units: dict[str, str], what: str, option: str) -> tuple[str, Range]:
        if "=" in text:
            path, found = range_of(text, units, what, option)
            return path, (found.lo, found.hi)
        find(units, text, what)
        return text, None


def _units(record: Any) -> dict[str, str]:
    return {leaf.path: str(leaf.meta.unit) for leaf in numbers(record)}  # type: ignore[union-attr]


def _pair(text: str, known: dict[str, str], what: str, option: str) -> tuple[str, str]:
    """The two sides of "PATH=TEXT"; a path alone stands for both."""
    path, eq, rest = (part.strip() for part in text.partition("="))
    find(known, path, what)
    if eq and not rest:
        raise InputError(f"{option} {text}: nothing stands behind the =")
    return path, rest or path


def called(logs: list[Path]) -> dict[Path, str]:
    """What to call each log: its name, or its whole path where another has the same."""
    twice = next((one for i, one in enumerate(logs) if one in logs[:i]), None)
    if twice is not None:
        raise InputError(f"{twice} is given twice: it would count twice, or judge itself")
    names = [one.name for one in logs]
    return {one: one.name if names.count(one.name) == 1 else str(one) for one in logs}


def of_name(logs: dict[Path, str], name: str) -> Path:
    """The log that is called so, or lies there."""
    return find({str(one): one for one in logs} | {short: one for one, short in logs.items()}, name, "log")


def place(file: Path) -> Path:
    """Where the result will be: asked before the search, not after it."""
    if not file.parent.is_dir():
        raise InputError(f"--out {file}: there is no folder {file.parent}")
    return file


def tell_doubts(belief: Belief) -> None:
    for doubt in belief.doubts:
        say(f"doubt: {doubt}", err=True)


def refuse_unexplained(belief: Belief) -> None:
    """A model that explains less than half of an output is no fit: it is not written."""
    unexplained = [one for one in belief.remainders if one.explained < 0.5]
    for one in unexplained:
        share = f"{100.0 * max(one.explained, 0.0):.0f} % of {one.path} in {one.log}"
        say(f"error: the model explains {share}: this is no fit, and nothing was written", err=True)
    if unexplained:
        raise typer.Exit(1)


@contextmanager
def shown() -> Iterator[Callable[[Progress], None]]:
    """A bar with the loss on a terminal, else a line every few seconds."""
    from pushrod.cli.progress import COMPILING, progress

    with progress("fitting", "parts", before=COMPILING) as show:

        def tell(now: Progress) -> None:
            best = f"residual {now.loss:.4g} of the noise" if now.loss < 1e9 else ""
            show(round(100 * (now.seed + now.done)), 100 * now.seeds, words=f"seed {now.seed + 1} of {now.seeds}, {best}".rstrip(", "))

        yield tell
