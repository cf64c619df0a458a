"""The values of a robot's parameters while it runs: checked, changed all at once, told to those who watch, kept in a file.

A value comes from the default, over it what was kept from last time, over that what was said at start-up, over that what is set.
Reading never waits. Watchers are called after the change, outside the lock, in the order of the changes.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from pushrod.core.check import NAN, SPEAKS_OF_NAN
from pushrod.core.errors import ConfigError, ParameterError, UnknownNameError
from pushrod.core.names import unknown
from pushrod.robot.findings import DescriptionError, Findings
from pushrod.robot.flaws import flaws
from pushrod.robot.kept import Kept
from pushrod.robot.parameter import Parameter
from pushrod.robot.parameter_flaws import defaults, outside, parameter_flaws, readable

if TYPE_CHECKING:
    from pushrod.robot.description import Robot

Values = Mapping[str, Any]
log = logging.getLogger("pushrod.parameters")


class Change(NamedTuple):
    """source: local, remote, init, persisted or startup, or a word of whoever set it."""

    path: str
    old: Any
    new: Any
    source: str


class Entry(NamedTuple):
    """A parameter with its value now (None: none yet) and where that came from."""

    parameter: Parameter
    value: Any
    source: str


Watcher = Callable[[tuple[Change, ...]], None]


class Store:
    """`persisted`: the file values are kept in. `startup`: values that win over those kept, and are not kept themselves.

    `check(values)` says what is wrong with a set of values as a whole; what it finds fault with is not set.
    `problems` tells what was wrong with the file; the parameters it speaks of have their defaults.
    """

    def __init__(
        self,
        declarations: Iterable[Parameter],
        persisted: str | Path | None = None,
        startup: Values = MappingProxyType({}),
        check: Callable[[Values], Iterable[str]] = lambda values: (),
    ) -> None:
        self._declared = declared = {p.path: p for p in _sound(declarations)}
        self._check = check
        self._lock = threading.Lock()
        self._told: deque[tuple[Change, ...]] = deque()
        self._telling = False
        self._watchers: dict[object, tuple[str, Watcher]] = {}
        self._values: Values = defaults(declared.values())
        self._sources = dict.fromkeys(self._values, "init")
        self._kept = Kept(None if persisted is None else Path(persisted))
        self.problems = self._take_kept()
        for problem in self.problems:
            log.warning("%s", problem)
        self._take_startup(startup)

    @classmethod
    def of(
        cls,
        robot: "Robot",
        persisted: str | Path | None = None,
        startup: Values = MappingProxyType({}),
        check: Callable[[Values], Iterable[str]] = lambda values: (),
    ) -> "Store":
        """The parameters of a robot. A value that would make its description unsound (lower above upper, reduction 0) cannot be set."""
        return cls(robot.parameters, persisted, startup, lambda values: (*DescriptionError(flaws(robot, values)).problems, *check(values)))

    def get(self, path: str) -> Any:
        """The value, in SI. UnknownNameError where there is no such parameter, ParameterError where it has no value yet."""
        try:
            return self._values[path]
        except KeyError:
            if path not in self._declared:
                raise UnknownNameError(self._unknown(path)) from None
            raise ParameterError([self.why_no_value(path)]) from None

    def snapshot(self) -> Values:
        """All values of one moment."""
        return MappingProxyType(self._values)

    def set(self, path: str, value: Any, source: str = "local") -> None:
        """Change one value; text with a unit is taken where the parameter is a real number."""
        if path not in self._declared:
            raise UnknownNameError(self._unknown(path))
        self.set_many({path: value}, source)

    def set_many(self, values: Values, source: str = "local") -> None:
        """Change all of them at once, or none: ParameterError names each that is not allowed, and all that is wrong with the set as a whole.

        A value that is set to what it is already is kept as one that was set, but as nothing has changed, nobody is told.
        """
        with self._lock:
            new, told = self._tried(values)
            candidate = {**self._values, **new}
            problems = [*told.values(), *self._unsound(candidate, new, told)]
            if problems:
                raise ParameterError(problems)
            old = self._values
            changes = tuple(Change(path, old.get(path), value, source) for path, value in new.items() if path not in old or old[path] != value)
            self._values = candidate
            self._sources.update(dict.fromkeys(new, source))
            self._kept.put(new)
            if changes:
                self._told.append(changes)
        self._tell()

    def list(self, prefix: str = "") -> tuple[Entry, ...]:
        """Every parameter at or below a path."""
        with self._lock:
            return tuple(Entry(p, self._values.get(path), self._sources.get(path, "")) for path, p in self._declared.items() if _below(path, prefix))

    def watch(self, prefix: str, callback: Watcher) -> Callable[[], None]:
        """Call back with the changes at or below a path, those of one `set_many` together. Calling what is returned ends it."""
        key = object()
        with self._lock:
            self._watchers[key] = (prefix, callback)

        def cancel() -> None:
            with self._lock:
                self._watchers.pop(key, None)

        return cancel

    @property
    def unsaved(self) -> str | None:
        """Why the file does not hold the values that were set last; None where it does."""
        return self._kept.failure

    def why_no_value(self, path: str) -> str:
        """The sentence for a parameter that has no value."""
        return f"{path}: has no value yet: it was declared without a default; set it first" if path in self._declared else self._unknown(path)

    def _unknown(self, path: str) -> str:
        group, _, name = path.rpartition(".")
        siblings = {p.rpartition(".")[2]: p for p in self._declared if p.rpartition(".")[0] == group}
        if siblings and group:
            return f"{path}: unknown parameter: {unknown(siblings, name, f'parameter in group {group!r}')}"
        return f"{path}: unregistered parameter: {unknown(self._declared, path, 'parameter')}"

    def _tried(self, values: Values) -> tuple[dict[str, Any], dict[str, str]]:
        """The values as they would be held, and what is wrong with single ones, by path.

        So that the whole can be looked at in any case, one that is out of its bounds is among them, and NaN for a number that cannot be read.
        """
        new: dict[str, Any] = {}
        told: dict[str, str] = {}
        for path, value in values.items():
            parameter = self._declared.get(path)
            if parameter is None:
                told[path] = self._unknown(str(path))
                continue
            try:
                new[path] = readable(parameter, value)
                why = outside(parameter, new[path])
            except ValueError as e:
                why = str(e)
                if parameter.type == "float":
                    new[path] = NAN
            if why:
                told[path] = f"{path}: {why}"
        return new, told

    def _unsound(self, candidate: Values, new: Values, told: Collection[str] = ()) -> tuple[str, ...]:
        """What is wrong with the values as a whole, once the new ones are among them; nothing of what was told of single ones."""
        among = ", ".join(f"{path} = {value}" for path, value in new.items() if value == value)
        found = [
            "\n".join(line for line in text.split("\n") if not (told and (SPEAKS_OF_NAN.search(line.lower()) or _repeats(line, told))))
            for text in self._check(candidate)
        ]
        return tuple(f"with {among}: {text}" if among else text for text in found if text)

    def _take_kept(self) -> tuple[str, ...]:
        """What the file holds over the defaults, as far as it is sound."""
        problems = tuple(self._kept.load())
        found: dict[str, Any] = {}
        for path, value in self._kept.values.items():
            new, wrong = self._tried({path: value})
            found |= {} if wrong else new
            problems += tuple(f"{self._kept.where(path)}: {text}; the default is used" for text in wrong.values())
        whole = self._unsound({**self._values, **found}, found) if found else ()
        if whole:
            self._kept.refuse()
            return (*problems, *(f"{self._kept.file}: {text}; none of its values is used, all defaults are" for text in whole))
        self._values = {**self._values, **found}
        self._sources.update(dict.fromkeys(found, "persisted"))
        return problems

    def _take_startup(self, startup: Values) -> None:
        new, told = self._tried(startup)
        candidate = {**self._values, **new}
        problems = [*told.values(), *self._unsound(candidate, new, told)]
        if problems:
            raise ConfigError([f"start-up parameters: {text}" if startup else text for text in problems])
        self._values = candidate
        self._sources.update(dict.fromkeys(new, "startup"))

    def _tell(self) -> None:
        """Whoever comes first tells everything there is to tell, one change after the other; the others need not wait."""
        while True:
            with self._lock:
                if self._telling or not self._told:
                    return
                self._telling = True
                changes = self._told.popleft()
                watchers = tuple(self._watchers.items())
            try:
                for key, (prefix, callback) in watchers:
                    self._call(key, callback, tuple(c for c in changes if _below(c.path, prefix)))
            finally:
                with self._lock:
                    self._telling = False

    def _call(self, key: object, callback: Watcher, changes: tuple[Change, ...]) -> None:
        if not changes or key not in self._watchers:  # cancelled meanwhile
            return
        try:
            callback(changes)
        except Exception:  # one watcher's mistake is not the others'
            log.exception("a watcher of %s failed", ", ".join(c.path for c in changes))


def _below(path: str, prefix: str) -> bool:
    return not prefix or path == prefix or path.startswith(f"{prefix}.")


def _repeats(text: str, told: Collection[str]) -> bool:
    """Whether a text says again that a value is out of its range; an element of a table may be act.hw.u_max.e0 here and act.hw.u_max[0] there."""
    return "outside its legal range" in text and any(f"{path} = " in text or f"{path.rpartition('.')[0]}[" in text for path in told)


def _sound(declarations: Iterable[Parameter]) -> tuple[Parameter, ...]:
    parameters = tuple(declarations)
    f = Findings({}, {})
    parameter_flaws(parameters, f)
    if f.found:
        raise DescriptionError(f.found)
    return parameters
