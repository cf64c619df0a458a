"""What varies in a study, read from its file: one distribution per parameter, or a group that varies together.

dead_time.steer: {uniform: [30 ms, 90 ms]}                       # also log_uniform
lag.T: {normal: {mean: nominal, sd: 20 %, low: 5 ms}}            # cut off where the parameter is not legal, and at `low` and `high`
body.J: {triangular: [80 %, nominal, 150 %]}                     # lowest, most likely, highest
faults.steer.kind: {discrete: [none, stuck], weights: [9, 1]}
initial.v: {uniform: [5 m/s, 20 m/s]}                            # a state at the start
motor: {fit: motor_fit.yaml}                                     # values, errors and correlations of a fit; any name
drive: {correlated: {mean: {k: 1, R: 2}, sd: {k: 5 %, R: 0.1}, correlation: [[1, 0.5], [0.5, 1]]}}

`nominal` is the value that the machine has, and a text in % a share of it. `levels: 5` beside a distribution is for a grid.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pushrod.config.structure import WRONG, named, number_of, unknown_keys
from pushrod.config.unit import NUMBER
from pushrod.config.yaml_file import Document, Keys
from pushrod.core.names import unknown
from pushrod.core.quantity import Choice, Q
from pushrod.sweep.correlated import Correlated
from pushrod.sweep.distribution import Discrete, Distribution, LogUniform, Normal, Triangular, Uniform
from pushrod.sweep.varied import Varied

SHARE = re.compile(rf"\s*({NUMBER})\s*%\s*")
SLIGHT, MUCH = 1e-6, 0.1  # shares of a normal that lie where its parameter is not legal: worth a note, and too much


@dataclass(frozen=True)
class Target:
    """What can vary. `nominal` is None where the scenarios of the study differ in it."""

    meta: Q | Choice
    nominal: float | None


class Reader:
    """Reads the `vary` of one document; problems are noted there, and what was cut off in `notes`."""

    def __init__(self, targets: Mapping[str, Target], document: Document) -> None:
        self.targets = targets
        self.document = document
        self.notes: list[str] = []

    def item(self, name: str, data: Any, at: Keys) -> "Varied | Correlated | None":
        """One parameter by its path, or a group of any name."""
        if isinstance(data, dict) and {"fit", "correlated"} & data.keys():
            from pushrod.sweep.together import group

            return group(self, name, data, at)
        return self.varied(name, data, at)

    def varied(self, path: str, data: Any, at: Keys) -> Varied | None:
        """One parameter with its distribution; None with the problem noted."""
        before = len(self.document.problems)
        if path not in self.targets:
            self.document.add(at, unknown(self.targets, path, "parameter or initial state"))
            return None
        target = self.targets[path]
        if not isinstance(data, dict):
            self.document.add(at, f"must be a mapping such as {{uniform: [90 %, 110 %]}}, got {named(data)}")
            return None
        kinds = [key for key in data if key in KINDS]
        unknown_keys([*KINDS, "levels", "weights"], data, at, self.document)
        if len(kinds) != 1 and len(self.document.problems) == before:
            self.document.add(at, f"give one distribution, of {', '.join(KINDS)}")
        if len(self.document.problems) > before:
            return None
        kind = kinds[0]
        if isinstance(target.meta, Choice) and kind != "discrete":
            self.document.add((*at, kind), f"{path} is a choice ({', '.join(target.meta.names)}): only `discrete` fits")
            return None
        if "weights" in data and kind != "discrete":
            self.document.add((*at, "weights"), "goes with `discrete` alone")
        made = KINDS[kind](self, path, target, data[kind], (*at, kind), data.get("weights"))
        levels = self._levels(data.get("levels"), made, (*at, "levels"))
        if made is None or len(self.document.problems) > before:
            return None
        return Varied(path, str(target.meta.unit), made, levels)

    def _levels(self, value: Any, made: Any, at: Keys) -> int | None:
        if isinstance(made, Discrete):
            if value is not None:
                self.document.add(at, "a discrete parameter has its values as levels; leave this out")
            return len(made.values)
        if value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 1):
            return value
        self.document.add(at, f"must be a whole number of at least 1, got {named(value)}")
        return None

    def number(self, value: Any, path: str, at: Keys, spread: bool = False) -> float | None:
        """A value of a parameter: a number, text with a unit, `nominal`, a share of that in %, or the name of a case. None with the problem noted.

        `spread`: a difference of two values, which need not be legal itself.
        """
        target = self.targets[path]
        share = SHARE.fullmatch(value) if isinstance(value, str) else None
        if value == "nominal" or share:
            if target.nominal is None:
                self.document.add(at, f"{value!r}: the scenarios of this study differ in {path}; give a value of its own")
                return None
            if share and target.nominal == 0.0:
                self.document.add(at, f"{value!r} is a share of the nominal value, which is 0; give a value of its own")
                return None
            size = abs(target.nominal) if spread else target.nominal
            found = size * (float(share[1]) / 100.0 if share else 1.0)
        elif isinstance(target.meta, Choice) and isinstance(value, str | bool):
            text = str(value).lower() if isinstance(value, bool) else value
            if text not in target.meta.names:
                self.document.add(at, unknown(dict.fromkeys(target.meta.names), text, f"case of {path}"))
                return None
            found = float(target.meta.names.index(text))
        else:
            read = number_of(str(target.meta.unit), value, at, self.document)
            if read is WRONG:
                return None
            found = float(read)
        if not spread and not target.meta.allows(found):
            written = value if isinstance(value, str) else f"{found:g} {target.meta.unit}".removesuffix(" -")
            self.document.add(at, f"{written} is outside the legal range of {path}; allowed {target.meta.legal()}")
            return None
        return found

    def numbers(self, value: Any, path: str, at: Keys, n: int | None = None, what: str = "") -> list[float] | None:
        """A list of values; of n, in rising order, where n is given."""
        if not isinstance(value, list) or (n is not None and len(value) != n) or not value:
            self.document.add(at, f"must be a list{f' of {n}: {what}' if n is not None else ' of at least one value'}, got {_listed(value)}")
            return None
        found = [self.number(x, path, (*at, i)) for i, x in enumerate(value)]
        sound = [x for x in found if x is not None]
        if len(sound) < len(found):
            return None
        if n is not None and (sound != sorted(sound) or sound[0] == sound[-1]):
            self.document.add(at, f"must rise: {what}, got {', '.join(f'{x:g}' for x in sound)} {self.targets[path].meta.unit}".removesuffix(" -"))
            return None
        return sound

    def cut(self, made: Normal, wide: Normal, path: str, at: Keys) -> None:
        """Say what part of a normal lies where its parameter is not legal."""
        share = 1.0 - (1.0 - made.cut()) / max(1.0 - wide.cut(), 1e-300)
        legal = self.targets[path].meta.legal()
        if share > MUCH:
            what = (
                f"{100.0 * share:.3g} % of it lie outside the legal range of {path}, allowed {legal}; take another distribution, or give low and high"
            )
            self.document.add(at, what)
        elif share > SLIGHT:
            line = f"{self.document.file}:{self.document.line(at)}"
            self.notes.append(f"{line}: {path}: {100.0 * share:.2g} % of the normal lie outside the legal range ({legal}) and are cut off")


def _uniform(r: Reader, path: str, target: Target, data: Any, at: Keys, weights: Any) -> Distribution | None:
    found = r.numbers(data, path, at, 2, "lowest and highest value")
    return None if found is None else Uniform(*found)


def _log_uniform(r: Reader, path: str, target: Target, data: Any, at: Keys, weights: Any) -> Distribution | None:
    found = r.numbers(data, path, at, 2, "lowest and highest value")
    if found is not None and found[0] <= 0.0:
        r.document.add(at, f"goes by factors, so that both ends must be greater than 0, got {found[0]:g}")
        return None
    return None if found is None else LogUniform(*found)


def _triangular(r: Reader, path: str, target: Target, data: Any, at: Keys, weights: Any) -> Distribution | None:
    found = r.numbers(data, path, at, 3, "lowest, most likely and highest value")
    return None if found is None else Triangular(*found)


def _normal(r: Reader, path: str, target: Target, data: Any, at: Keys, weights: Any) -> Distribution | None:
    if not isinstance(data, dict) or not {"mean", "sd"} <= data.keys():
        r.document.add(at, f"must be a mapping {{mean: ..., sd: ...}}, got {named(data)}")
        return None
    before = len(r.document.problems)
    unknown_keys(("mean", "sd", "low", "high"), data, at, r.document)
    mean, sd = r.number(data["mean"], path, (*at, "mean")), r.number(data["sd"], path, (*at, "sd"), spread=True)
    ends = [r.number(data[key], path, (*at, key)) if data.get(key) is not None else default for key, default in (("low", -INF), ("high", INF))]
    if len(r.document.problems) > before or mean is None or sd is None or ends[0] is None or ends[1] is None:
        return None
    if not sd > 0.0:
        r.document.add((*at, "sd"), f"must be greater than 0, got {sd:g}")
        return None
    if not ends[0] < ends[1]:
        r.document.add(at, f"low must be below high, got {ends[0]:g} and {ends[1]:g}")
        return None
    assert isinstance(target.meta, Q)
    wide = Normal(mean, sd, ends[0], ends[1])
    made = Normal(mean, sd, max(ends[0], target.meta.lo), min(ends[1], target.meta.hi))
    if made.cut() > 1.0 - 1e-9:
        r.document.add(at, f"less than a billionth of it lies between {made.lo:g} and {made.hi:g}")
        return None
    r.cut(made, wide, path, at)
    return made


def _discrete(r: Reader, path: str, target: Target, data: Any, at: Keys, weights: Any) -> Distribution | None:
    found = r.numbers(data, path, at)
    if found is None:
        return None
    given = [1.0] * len(found) if weights is None else weights
    sound = (
        isinstance(given, list) and len(given) == len(found) and all(isinstance(w, int | float) and 0 <= w < INF for w in given) and sum(given) > 0
    )
    if not sound:
        what = f"must be a list of {len(found)} numbers of at least 0, one for each value and not all 0, got {_listed(weights)}"
        r.document.add((*at[:-1], "weights"), what)
        return None
    return Discrete(tuple(found), tuple(w / sum(given) for w in given))


def _listed(value: Any) -> str:
    """A list by what is in it, anything else by its kind."""
    return f"[{', '.join(map(str, value))}]" if isinstance(value, list) else named(value)


INF = float("inf")
KINDS = {"uniform": _uniform, "log_uniform": _log_uniform, "triangular": _triangular, "normal": _normal, "discrete": _discrete}
