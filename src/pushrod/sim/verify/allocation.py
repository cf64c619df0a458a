"""Replay two-motor allocations: one CSV file with command, limits and weights, and the answers of the three policies.

    id, u_s_cmd, u_d_cmd, hw_min, hw_max, sw_min, sw_max, w_s, w_d, then {sp,yp,wt}_{u_s,u_d,sat}

Values within 1e-9; `sat` says that an axis changed by more than 1e-6 and must be equal.
"""

from pathlib import Path

from pushrod.core.check import problems
from pushrod.core.errors import VerifyError
from pushrod.pipeline.act import Alloc, Hw, Sw
from pushrod.pipeline.allocate.two_motor import Bounds, allocate
from pushrod.pipeline.feedback import changed
from pushrod.pipeline.names import SPEED_PRIORITY, WEIGHTED, YAW_PRIORITY
from pushrod.sim.verify.csv_rows import header, number, read, zero_or_one
from pushrod.sim.verify.verdict import Tally, Verdict

POLICIES = {"sp": SPEED_PRIORITY, "yp": YAW_PRIORITY, "wt": WEIGHTED}
GIVEN = ("id", "u_s_cmd", "u_d_cmd", "hw_min", "hw_max", "sw_min", "sw_max", "w_s", "w_d")
ANSWERS = tuple(f"{policy}_{name}" for policy in POLICIES for name in ("u_s", "u_d", "sat"))
TOLERANCE = 1e-9


def claims(path: Path) -> bool:
    """A table with a command and at least one answer of a policy."""
    if path.suffix != ".csv":
        return False
    names = header(path)
    return {"u_s_cmd", "u_d_cmd"} <= set(names) and any(name in names for name in ANSWERS)


def replay(path: Path) -> Verdict:
    tally = Tally(TOLERANCE, 0.0)
    seen: set[str] = set()
    for k, row in enumerate(read(path, (*GIVEN, *ANSWERS)), 2):
        if row["id"] in seen:
            raise VerifyError(f"{path}: row {k}: the id {row['id']!r} was there before")
        seen.add(row["id"])
        x = {name: number(path, k, row, name) for name in GIVEN[1:]}
        bounds = _bounds(path, k, x)
        where = f"id {row['id']}"
        tally.rows += 1
        for name, policy in POLICIES.items():
            y = allocate(Alloc(policy, x["w_s"], x["w_d"]), bounds, x["u_s_cmd"], x["u_d_cmd"])
            tally.compare(f"{name}_u_s", y.u_s_alloc, number(path, k, row, f"{name}_u_s"), where)
            tally.compare(f"{name}_u_d", y.u_d_alloc, number(path, k, row, f"{name}_u_d"), where)
            sat = changed(y.u_s_alloc, x["u_s_cmd"]) or changed(y.u_d_alloc, x["u_d_cmd"])
            tally.equal(f"{name}_sat", float(sat), zero_or_one(path, k, row, f"{name}_sat"), where)
    return tally.verdict(str(path), "three policies")


def _bounds(path: Path, k: int, x: dict[str, float]) -> Bounds:
    """What both motors may do. The limits of a case need not be nested, as a parameter set's must; they must leave something."""
    lo, hi = max(x["hw_min"], x["sw_min"]), min(x["hw_max"], x["sw_max"])
    found = [*problems(Hw(x["hw_min"], x["hw_max"])), *problems(Sw(x["sw_min"], x["sw_max"])), *problems(Alloc(0.0, x["w_s"], x["w_d"]))]
    if lo > hi:
        found.append(f"the limits leave nothing: the greater of hw_min and sw_min, {lo:g}, lies above the lesser of hw_max and sw_max, {hi:g}")
    if found:
        raise VerifyError(f"{path}: row {k}: {'; '.join(found)}")
    return Bounds(lo, hi, lo, hi)
