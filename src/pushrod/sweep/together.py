"""Groups of parameters that vary together, read from a study: their correlation written out, or the errors of a fit.

motor: {correlated: {mean: {k: nominal, R: 2 ohm}, sd: {k: 5 %, R: 0.1 ohm}, correlation: [[1, 0.5], [0.5, 1]]}}
motor: {fit: motor_fit.yaml}           the file that `pushrod fit` wrote, with its `uncertainty`; `scale: 2` makes its errors twice as large,
                                       and `at: lag` says which part of the machine was fitted, where that was a model by itself
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from pushrod.config import yaml_file
from pushrod.config.structure import named, unknown_keys
from pushrod.config.yaml_file import Keys
from pushrod.core.errors import ConfigError
from pushrod.core.names import unknown
from pushrod.core.quantity import Choice, Q
from pushrod.sweep.correlated import Correlated, cholesky
from pushrod.sweep.counter import uniforms
from pushrod.sweep.distribution import ArcUniform, Distribution, LogUniform, Uniform
from pushrod.sweep.varying import MUCH, SLIGHT, Reader

TRIED = 4096  # draws that tell which share is cut off
MOST_CUT = 0.9  # share that may be cut off where estimates lie at an end of their range: enough draws are left for every sample
APART = 0.1  # correlation below which a parameter that the data do not inform goes with no other one


class Range(NamedTuple):
    """Where an estimate may be, and the distribution of one that the data do not inform."""

    lo: float
    hi: float
    informed: bool
    distribution: Distribution


def group(reader: Reader, name: str, data: dict[str, Any], at: Keys) -> Correlated | None:
    """None with the problems noted."""
    kind = "fit" if "fit" in data else "correlated"
    unknown_keys((kind, "scale", "at") if kind == "fit" else (kind,), data, at, reader.document)
    return _fit(reader, name, data, (*at, "fit")) if kind == "fit" else _written(reader, name, data["correlated"], (*at, "correlated"))


def _written(reader: Reader, name: str, data: Any, at: Keys) -> Correlated | None:
    document = reader.document
    if not isinstance(data, dict) or not all(isinstance(data.get(key), dict) for key in ("mean", "sd")):
        document.add(at, "must be a mapping {mean: {PATH: VALUE}, sd: {PATH: VALUE}, correlation: [[1, ...], ...]}")
        return None
    unknown_keys(("mean", "sd", "correlation"), data, at, document)
    if list(data["mean"]) != list(data["sd"]):
        document.add((*at, "sd"), f"must name the parameters of `mean`, in its order: {', '.join(data['mean'])}; got {', '.join(data['sd'])}")
        return None
    paths = _paths(reader, list(data["mean"]), (*at, "mean"))
    if paths is None:
        return None
    mean = [reader.number(data["mean"][path], path, (*at, "mean", path)) for path in paths]
    sd = [reader.number(data["sd"][path], path, (*at, "sd", path), spread=True) for path in paths]
    if None in mean or None in sd:
        return None
    n = len(paths)
    correlation = data.get("correlation", [[float(i == j) for j in range(n)] for i in range(n)])
    return _group(reader, name, paths, [x for x in mean if x is not None], [x for x in sd if x is not None], correlation, at)


def _fit(reader: Reader, name: str, data: Mapping[str, Any], at: Keys) -> Correlated | None:
    document = reader.document
    if not isinstance(data["fit"], str):
        document.add(at, f"must be the name of a file that `pushrod fit` wrote, got {named(data['fit'])}")
        return None
    scale = data.get("scale", 1.0)
    if isinstance(scale, bool) or not isinstance(scale, int | float) or not 0.0 < scale < float("inf"):
        document.add((*at[:-1], "scale"), f"must be a number greater than 0, got {named(scale)}")
        return None
    try:
        other = yaml_file.load(document.folder_of(at) / data["fit"])
    except ConfigError as e:
        for problem in e.problems:
            document.add(at, problem)
        return None
    told = other.data.get("uncertainty")
    if not isinstance(told, dict) or not isinstance(told.get("sd"), dict) or not told["sd"]:
        document.add(at, f"{other.file}: has no `uncertainty` with the errors of a fit; fit again, which writes them")
        return None
    part = data.get("at", "")
    if not isinstance(part, str):
        document.add((*at[:-1], "at"), f"must be the path of a part of the machine, got {named(part)}")
        return None
    paths = _paths(reader, [f"{part}.{path}" if part else path for path in told["sd"]], at)
    if paths is None:
        return None
    mean, sd = [], []
    for path, own in zip(paths, told["sd"], strict=True):
        value = reader.number(_nested(other.data.get("parameters"), own), path, at)
        spread = reader.number(told["sd"][own], path, at, spread=True)
        if value is None or spread is None:
            return None
        mean.append(value)
        sd.append(spread * scale)
    ranges = _ranges(reader, paths, told, at)
    return None if ranges is None else _group(reader, name, paths, mean, sd, told.get("correlation"), at, ranges)


def _ranges(reader: Reader, paths: Sequence[str], told: Mapping[str, Any], at: Keys) -> dict[int, Range] | None:
    """Return the ranges of estimates at an end of theirs or that the data do not inform, by number of the parameter; None with the problem noted."""
    written = told.get("range", {})
    found = {}
    for i, own in enumerate(told["sd"]):
        entry = written.get(own) if isinstance(written, dict) else None
        if entry is None:
            continue
        low, high = (entry.get("low"), entry.get("high")) if isinstance(entry, dict) else (None, None)
        if not (_is_number(low) and _is_number(high) and low < high):
            reader.document.add(at, f"the range of {paths[i]} is not a mapping {{low: NUMBER, high: NUMBER}} with low below high; fit again")
            return None
        meta = reader.targets[paths[i]].meta
        assert isinstance(meta, Q)
        size = entry.get("size")
        lo, hi = max(float(low), meta.lo), min(float(high), meta.hi)
        scale = entry.get("scale") if _is_number(size) and size > 0.0 else None
        distribution: Distribution = Uniform(lo, hi)
        if scale == "log" and lo > 0.0:
            distribution = LogUniform(lo, hi)
        elif scale == "arc":
            distribution = ArcUniform(lo, hi, float(size))
        found[i] = Range(lo, hi, entry.get("informed", True) is True, distribution)
    return found


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _nested(data: Any, path: str) -> Any:
    for key in path.split("."):
        data = data.get(key) if isinstance(data, dict) else None
    return data


def _paths(reader: Reader, paths: Sequence[str], at: Keys) -> list[str] | None:
    before = len(reader.document.problems)
    for path in paths:
        if path not in reader.targets:
            reader.document.add(at, unknown(reader.targets, path, "parameter or initial state"))
        elif isinstance(reader.targets[path].meta, Choice):
            reader.document.add(at, f"{path} is a choice, which cannot vary together with others; draw it by itself, `discrete`")
    return list(paths) if len(reader.document.problems) == before else None


def _group(
    reader: Reader,
    name: str,
    paths: list[str],
    mean: list[float],
    sd: list[float],
    correlation: Any,
    at: Keys,
    ranges: Mapping[int, Range] | None = None,
) -> Correlated | None:
    document, n = reader.document, len(paths)
    if any(not x > 0.0 for x in sd):
        document.add(at, f"the sd of {paths[next(i for i, x in enumerate(sd) if not x > 0.0)]} must be greater than 0")
        return None
    square = isinstance(correlation, list) and len(correlation) == n and all(isinstance(row, list) and len(row) == n for row in correlation)
    if not square or not all(isinstance(x, int | float) and -1.000001 <= x <= 1.000001 for row in correlation for x in row):
        document.add(at, f"`correlation` must be {n} lists of {n} numbers from -1 to 1, in the order {', '.join(paths)}")
        return None
    ranges = dict(ranges or {})
    own = [i for i, one in ranges.items() if not one.informed and all(abs(x) < APART for j, x in enumerate(correlation[i]) if j != i)]
    correlation = [[x if i == j or not {i, j} & {*own} else 0.0 for j, x in enumerate(row)] for i, row in enumerate(correlation)]
    even = all(abs(correlation[i][j] - correlation[j][i]) < 1e-6 for i in range(n) for j in range(n))
    factor = cholesky(correlation, sd) if even and all(abs(correlation[i][i] - 1.0) < 1e-6 for i in range(n)) else None
    if factor is None:
        what = "has 1 on its diagonal, is the same below and above it, and no two of its parameters contradict a third"
        document.add(at, f"`correlation` is none: it {what} (it must be positive semidefinite)")
        return None
    metas = [reader.targets[path].meta for path in paths]
    ends = [(ranges[i].lo, ranges[i].hi) if i in ranges else (meta.lo, meta.hi) for i, meta in enumerate(metas) if isinstance(meta, Q)]
    units = tuple(str(meta.unit) for meta in metas)
    made = Correlated(name, tuple(paths), units, tuple(mean), factor, tuple(lo for lo, _ in ends), tuple(hi for _, hi in ends))
    made = replace(made, own=tuple((i, ranges[i].distribution) for i in own))
    _tell_cut(reader, made, at, bool(ranges))
    return made


def _tell_cut(reader: Reader, made: Correlated, at: Keys, has_ranges: bool) -> None:
    index = np.arange(TRIED, dtype=np.uint64)
    share = float(np.mean(made.outside(np.stack([uniforms(0, j, index) for j in range(len(made.paths))]))))
    if share > (MOST_CUT if has_ranges else MUCH):
        reader.document.add(at, f"about {100.0 * share:.0f} % of its draws are where a parameter is not legal; narrow the spread")
    elif share > SLIGHT:
        line = f"{reader.document.file}:{reader.document.line(at)}"
        reader.notes.append(f"{line}: about {100.0 * share:.2g} % of the draws of {made.name} are where a parameter is not legal and are cut off")
