"""Replay the two-motor pipeline: `*params*.json` with the parameter sets by id, and `*cases*.csv` of the same name with every tick.

    JSON   [{"id": ..., "set": "core" | "ext", "params": {dotted name: value}}, ...]
    CSV    id, k, src, dt, u_s_req, u_d_req, then what each stage gave

Values within 1e-9, flags equal. The columns `aw_*` hold achieved less commanded with the trim in it; ours has it removed, so the trim is put back
into ours before the two are compared. A set is checked like any other: one that breaks a rule is refused with every reason.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pushrod.core import input_file
from pushrod.core.check import NAN, problems
from pushrod.core.errors import VerifyError
from pushrod.core.names import unknown
from pushrod.core.record import put
from pushrod.pipeline.act import PARAMETERS, Params, Trim
from pushrod.pipeline.names import POLICIES, SOURCES
from pushrod.pipeline.topic import ActuatorReq
from pushrod.pipeline.two_motor_pipeline import In, Out, State, step
from pushrod.sim.verify.csv_rows import Row, header, number, read, zero_or_one
from pushrod.sim.verify.verdict import Tally, Verdict

TOLERANCE = 1e-9
GIVEN = ("id", "k", "src", "dt", "u_s_req", "u_d_req")
VALUES = {
    "cmd": ("u_s_cmd", "u_d_cmd"),
    "alloc": ("u_s_alloc", "u_d_alloc"),
    "esc": ("u_L", "u_R"),
    "fb": ("u_s_ach", "u_d_ach"),
    "diag": ("u_LR_min_eff", "u_LR_max_eff", "u_s_max_eff", "u_d_max_pos_eff", "u_d_max_neg_eff"),
}
FLAGS = {"fb": ("sat_L", "sat_R", "sat_any"), "diag": ("sat_cmd_stage", "sat_alloc", "sat_motor_stage")}
RESIDUALS = ("aw_s", "aw_d")
COLUMNS = (*GIVEN, *(name for names in (*VALUES.values(), *FLAGS.values()) for name in names), *RESIDUALS)
STARTS = ("init_L", "init_R")
# names the parameter files write short; all else must be there in full
SHORT = {
    name.removeprefix("act.shp.").removeprefix("act."): name
    for name in PARAMETERS
    if name.startswith(("act.shp.man", "act.trim", "act.motor", "act.slew"))
}
MUST = (
    *(name for name in PARAMETERS if name.startswith(("act.hw", "act.sw", "act.shp", "act.trim", "act.motor"))),
    *("act.alloc.policy", "act.alloc.w_s", "act.alloc.w_d", "act.slew.up", "act.slew.down"),
)


def cases_of(params: Path) -> Path:
    """The file of cases that goes with one of parameters."""
    return params.with_name(params.stem.replace("params", "cases") + ".csv")


def params_of(cases: Path) -> Path:
    return cases.with_name(cases.stem.replace("cases", "params") + ".json")


def claims(path: Path) -> bool:
    """A list of parameter sets; or a file of ticks whose parameters are not there, so that it is not passed over in silence."""
    if path.suffix == ".csv":
        return {"src", "u_s_req", "u_d_req"} <= set(header(path)) and not (params_of(path) != path and claims(params_of(path)))
    if path.suffix != ".json":
        return False
    try:
        sets = json.loads(input_file.read_text(path))
    except (OSError, ValueError):
        return False
    return isinstance(sets, list) and any(isinstance(entry, dict) and "id" in entry and "params" in entry for entry in sets)


def replay(path: Path) -> Verdict:
    if path.suffix == ".csv":
        raise VerifyError(f"{path}: its parameter sets should be in {params_of(path).name} beside it, which is not there or holds none")
    sets = _sets(path)
    cases = cases_of(path)
    if cases.with_suffix("") == path.with_suffix("") or not cases.is_file():
        raise VerifyError(f"{path}: its ticks should be in {cases.name} beside it, which is not there; the names must have params and cases in them")
    tally = Tally(TOLERANCE, 0.0)
    for name, ticks in _by_id(cases, sets):
        params, s = sets[name]
        for k, row in ticks:
            s, y = step(params, s, In(_request(cases, k, row)), _tick(cases, k, row))
            _compare(tally, cases, k, row, params.act.trim, y)
            tally.rows += 1
    return tally.verdict(str(path), f"{len(sets)} parameter sets")


def _sets(path: Path) -> dict[str, tuple[Params, State]]:
    """The sets by id; VerifyError with everything that is wrong with any of them."""
    sets: dict[str, tuple[Params, State]] = {}
    wrong: list[str] = []
    for n, entry in enumerate(json.loads(input_file.read_text(path))):
        if not isinstance(entry, dict) or not isinstance(entry.get("params"), dict) or isinstance(entry.get("id"), (dict, list, type(None))):
            wrong.append(f"{path}: entry {n} must have an id and params")
            continue
        name = str(entry["id"])
        if name in sets:
            wrong.append(f"{path}: the id {name} is there twice")
        params, state, found = _read_set(entry["params"])
        sets[name] = (params, state)
        wrong += [f"{path}: id {name}: {text}" for text in found]
    if wrong:
        raise VerifyError("\n".join(wrong))
    return sets


def _read_set(given: dict[str, Any]) -> tuple[Params, State, list[str]]:
    """The parameters, the outputs at the start, and everything that is wrong with them."""
    p, starts = Params(), dict.fromkeys(STARTS, 0.0)
    wrong: list[str] = []
    named: set[str] = set()
    unread: set[str] = set()
    for key, value in given.items():
        full = SHORT.get(key, key)
        if full == "act.alloc.policy" and value in POLICIES:
            value = POLICIES.index(value)
        if key not in STARTS and full not in PARAMETERS:
            wrong.append(unknown(dict.fromkeys((*PARAMETERS, *SHORT, *STARTS)), key, "parameter"))
            continue
        if full in named:
            wrong.append(f"{key} is given twice, once by its short name")
        elif isinstance(value, bool) or not isinstance(value, (int, float)):
            wrong.append(f"{key} = {value!r} is not {'one of ' + ', '.join(POLICIES) if full == 'act.alloc.policy' else 'a number'}")
            unread.add(full)
        elif key in STARTS:
            starts[key] = float(value)
        else:
            p = put(p, full, float(value))
        named.add(full)
    missing = [key for key in MUST if key not in named]
    wrong += [f"{key} is missing" for key in missing]
    for key in (*missing, *unread - set(STARTS)):
        p = put(p, key, NAN)
    state = State(starts["init_L"], starts["init_R"])
    return p, state, [*wrong, *problems(p, told={*missing, *unread}), *problems(state, "init")]


def _by_id(path: Path, sets: dict[str, Any]) -> Iterator[tuple[str, list[tuple[int, Row]]]]:
    """The ticks of each id in order, with their row in the file; k must count 0, 1, 2 ..."""
    found: dict[str, list[tuple[int, Row]]] = {}
    for k, row in enumerate(read(path, COLUMNS), 2):
        if row["id"] not in sets:
            raise VerifyError(f"{path}: row {k} has the id {row['id']!r}, for which there is no parameter set")
        ticks = found.setdefault(row["id"], [])
        if number(path, k, row, "k") != len(ticks):
            raise VerifyError(f"{path}: row {k}: id {row['id']} is at k = {row['k']}; the next tick is {len(ticks)}")
        ticks.append((k, row))
    for name in sets:
        if name not in found:
            raise VerifyError(f"{path}: holds no ticks for the parameter set {name}")
    yield from found.items()


def _tick(path: Path, k: int, row: Row) -> float:
    dt = number(path, k, row, "dt")
    if not dt > 0.0:
        raise VerifyError(f"{path}: row {k}: dt = {dt:g} s; a tick must be longer than 0")
    return dt


def _request(path: Path, k: int, row: Row) -> ActuatorReq:
    if row["src"] not in SOURCES[1:]:
        raise VerifyError(f"{path}: row {k}: src = {row['src']!r}; it must be one of {', '.join(SOURCES[1:])}")
    return ActuatorReq(number(path, k, row, "u_s_req"), number(path, k, row, "u_d_req"), float(SOURCES.index(row["src"])))


def _compare(tally: Tally, path: Path, k: int, row: Row, trim: Trim, y: Out) -> None:
    where = f"id {row['id']} k {row['k']}"
    for part, columns in VALUES.items():
        for column in columns:
            tally.compare(column, getattr(getattr(y, part), column), number(path, k, row, column), where)
    for part, columns in FLAGS.items():
        for column in columns:
            tally.equal(column, getattr(getattr(y, part), column), zero_or_one(path, k, row, column), where)
    for column, value in zip(RESIDUALS, _with_trim(trim, y), strict=True):
        tally.compare(column, value, number(path, k, row, column), where)


def _with_trim(trim: Trim, y: Out) -> tuple[float, float]:
    """Achieved less commanded with the trim put back into our residual."""
    s, d = y.fb.aw_s + y.cmd.u_s_cmd, y.fb.aw_d + y.cmd.u_d_cmd
    L, R = trim.gain_L * (s - d) + trim.offset_L, trim.gain_R * (s + d) + trim.offset_R
    return 0.5 * (L + R) - y.cmd.u_s_cmd, 0.5 * (R - L) - y.cmd.u_d_cmd
