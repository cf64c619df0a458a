r"""Replays which map files load and what can be looked up in them: two tab-separated tables.

`file kind validation result stderr`: what the reference made of a file (true, false, exception:...) with and without validation.

    false, exception     binds: we refuse the file with a MapError
    "( i, j )" named     binds: it is the last cell in disorder, counted from 0 in the body, by our count as well
    true                 binds: we take the file, unless we are stricter on purpose

Stricter on purpose means an error of kind `axis` (descending, repeated or single-entry axes, a header without rows: the reference loads them, then
throws or crashes at a look-up) or `number` (numeric prefixes such as 1.0x, nan, inf: the reference reads what it can).

`file query result`: one look-up in an unvalidated map. A number binds where we load the file. An exception binds in that we refuse the file
when validation is asked for.

Map names are found under the folder of the table; where several files have the same name, the converter's default maps are meant.
"""

import csv
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pushrod.core import input_file
from pushrod.core.errors import MapError, VerifyError
from pushrod.core.table import lookup_grid
from pushrod.sim.verify.verdict import Tally, Verdict
from pushrod.vehicles import map_file
from pushrod.vehicles.pedal_map import accel_to_brake, accel_to_throttle
from pushrod.vehicles.steer_map import rate_to_steer

LOAD = ["file", "kind", "validation", "result"]
LOOK = ["file", "query", "result"]
STRICTER = {"axis", "number"}
DEFAULT_MAPS = "converter_default_maps"
LOADERS: dict[str, tuple[Callable[..., Any], int]] = {
    "accel": (map_file.load_accel_map, map_file.RISE),
    "brake": (map_file.load_brake_map, map_file.FALL),
    "steer": (map_file.load_steer_map, map_file.RISE),
}

QUERIES: dict[str, tuple[str, Callable[[Any, float, float], float]]] = {
    "getThrottle": ("accel", lambda m, a, v: accel_to_throttle(m, a, v).pedal),
    "getAcceleration": ("accel", lookup_grid),
    "getBrake": ("brake", accel_to_brake),
    "getSteer": ("steer", rate_to_steer),
}


def claims(path: Path) -> bool:
    if path.suffix != ".tsv":
        return False
    head = _head(path)
    return head[: len(LOAD)] == LOAD or head[: len(LOOK)] == LOOK


def replay(path: Path) -> Verdict:
    with input_file.open_text(path, newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    if not rows:
        raise VerifyError(f"{path}: holds no rows to compare with")
    tally = Tally(1e-12, 1e-12)
    stricter: set[str] = set()
    for k, row in enumerate(rows):
        tally.rows += 1
        where = f"row {k} ({row['file']})"
        if None in (row.get(name, "") for name in (*LOAD, *LOOK)):
            raise VerifyError(f"{path}: {where} has too few columns")
        if "query" in row:
            _look(tally, path, row, where, stricter)
        else:
            _load(tally, path, row, where, stricter)
    return tally.verdict(str(path), f"refused on purpose: {', '.join(sorted(stricter))}" if stricter else "")


def find(root: Path, name: str) -> Path:
    """The map file a table means."""
    if (root / name).is_file():
        return root / name
    found = sorted(root.rglob(Path(name).name))
    return next((path for path in found if path.parent.name == DEFAULT_MAPS), found[0] if found else root / name)


def _load(tally: Tally, path: Path, row: dict[str, Any], where: str, stricter: set[str]) -> None:
    kind = row["kind"].removeprefix("sim_")
    if kind not in LOADERS:
        raise VerifyError(f"{path}: {where}: unknown kind of map {row['kind']!r}; known: {', '.join(LOADERS)}, each also with sim_")
    load, way = LOADERS[kind]
    file = find(path.parent, row["file"])
    refused = _refusal(load, file, row["validation"] == "1")
    if row["result"] != "true":
        tally.equal("result", refused is not None, True, where)
        named = re.search(r"\(\s*(\d+),\s*(\d+)\s*\)", row.get("stderr") or "")
        if named and refused is not None and refused.kind == "order":
            last = map_file.unordered(map_file.read(file), way)[-1]
            tally.equal("stderr", last, (int(named[1]), int(named[2])), where)
    elif refused is not None and refused.kind in STRICTER:
        stricter.add(row["file"])
    else:
        tally.equal("result", refused is None, True, where)


def _look(tally: Tally, path: Path, row: dict[str, Any], where: str, stricter: set[str]) -> None:
    call = re.fullmatch(r"(\w+)\((?:\w+=)?([^,=]+),(?:\w+=)?([^,=]+)\)", row["query"].replace(" ", ""))
    if call is None or call[1] not in QUERIES:
        raise VerifyError(f"{path}: {where}: unknown query {row['query']!r}; known: {', '.join(QUERIES)}, each of two numbers")
    kind, answer = QUERIES[call[1]]
    load, _ = LOADERS[kind]
    file = find(path.parent, row["file"])
    try:
        golden = float(row["result"])
    except ValueError:
        tally.equal("result", _refusal(load, file, True) is not None, True, where)
        return
    refused = _refusal(load, file, False)
    if refused is not None:
        tally.equal("result", refused.kind in STRICTER, True, where)
        stricter.add(row["file"])
    else:
        tally.compare("result", answer(load(file, validate=False), float(call[2]), float(call[3])), golden, where)


def _refusal(load: Callable[..., Any], file: Path, validate: bool) -> MapError | None:
    try:
        load(file, validate=validate)
    except MapError as error:
        return error
    return None


def _head(path: Path) -> list[str]:
    try:
        with input_file.open_text(path) as file:
            return file.readline().rstrip("\r\n").split("\t")
    except (OSError, ValueError):
        return []
