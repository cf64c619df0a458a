"""Replays the expected values of the reference converter's own unit tests: one JSON file of facts.

Bound are the lists it holds for map loading, map contents, look-ups both ways, the PID sequence with its mirror image and decay, and the gear
ratio identities. `simulator_gtest` describes directions only, driven by a wall clock; it is left out and the note says so. Facts that are absent
are skipped, facts of an unknown name are listed in the note.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pushrod.core import input_file
from pushrod.core.errors import MapError, VerifyError
from pushrod.core.table import lookup_grid
from pushrod.sim.verify.map_load import LOADERS, find
from pushrod.sim.verify.verdict import Tally, Verdict
from pushrod.vehicles import steer_pid, vgr
from pushrod.vehicles.pedal_map import accel_to_brake, accel_to_throttle
from pushrod.vehicles.steer_map import rate_to_steer

TOLERANCE = 1e-12


def claims(path: Path) -> bool:
    if path.suffix != ".json":
        return False
    try:
        facts = json.loads(input_file.read_text(path))
    except (OSError, ValueError):
        return False
    return isinstance(facts, dict) and "source" in facts and any(name in facts for name in FACTS)


def replay(path: Path) -> Verdict:
    facts = json.loads(input_file.read_text(path))
    worst: Tally | None = None
    rows = 0
    for name, compare in FACTS.items():
        if name not in facts:
            continue
        fact = facts[name]
        loose = float(fact.get("tolerance", 0.0)) if isinstance(fact, dict) else 0.0
        tally = Tally(max(loose, TOLERANCE), TOLERANCE)
        try:
            compare(tally, path.parent, fact)
        except (MapError, KeyError, TypeError, IndexError) as error:
            raise VerifyError(f"{path}: {name}: {type(error).__name__}: {error}") from error
        if not tally.rows:
            raise VerifyError(f"{path}: {name}: holds nothing to compare with")
        rows += tally.rows
        if worst is None or tally.share > worst.share:
            worst = tally
    assert worst is not None  # claims() saw at least one
    worst.rows = rows
    left = [name for name in facts if name not in FACTS and name != "source"]
    return worst.verdict(str(path), f"left out: {', '.join(left)}" if left else "")


def _map_load(tally: Tally, root: Path, fact: list[dict[str, Any]]) -> None:
    for entry in fact:
        tally.rows += 1
        text, validate = entry["map"], bool(entry["validation"])
        kinds = [entry["kind"]] if "kind" in entry else list(LOADERS)
        for kind in kinds:
            name = (
                text if text.endswith(".csv") else {"default": f"{kind}_map.csv", "test": f"test_{kind}_map.csv"}.get(text.split()[0], "no such file")
            )
            try:
                LOADERS[kind][0](find(root, name), validate=validate)
                loaded = True
            except MapError:
                loaded = False
            tally.equal("map_load", loaded, entry["expect"], f"{text} as {kind}")


def _contents(kind: str, pedal: str) -> Callable[[Tally, Path, Any], None]:
    def compare(tally: Tally, root: Path, fact: Any) -> None:
        m = LOADERS[kind][0](find(root, f"test_{kind}_map.csv"))
        tally.rows += 1
        tally.equal(f"{kind}_map_contents", m, (tuple(fact[pedal]), tuple(fact["vel"]), tuple(z for row in fact["acc"] for z in row)))

    return compare


def _triples(kind: str, answer: Callable[[Any, float, float], float]) -> Callable[[Tally, Path, Any], None]:
    def compare(tally: Tally, root: Path, fact: Any) -> None:
        m = LOADERS[kind][0](find(root, f"test_{kind}_map.csv"))
        for x, state, expected in fact:
            tally.rows += 1
            tally.compare(f"{kind} look-up", answer(m, float(x), float(state)), float(expected), f"({x}, {state})")

    return compare


def _pid(tally: Tally, root: Path, fact: dict[str, Any]) -> None:
    p = steer_pid.Params(**{name: float(value) for name, value in fact["gains"].items()})
    dt, v = float(fact["dt"]), float(fact["vel"])
    for side in (1.0, -1.0):
        s, angle = steer_pid.State(), 0.0
        for k in range(len(fact["fb"])):
            s, y = steer_pid.step(p, s, steer_pid.In(side * fact["target"], side * angle, v), dt)
            tally.rows += 1
            for name, value in (("fb", y.u), ("p", y.p), ("i", y.i), ("d", y.d)):
                tally.compare(f"pid.{name}", side * value, float(fact[name][k]), f"call {k}")
            angle += 0.02 if k < 5 else 0.01
    if "decay_case" in fact:
        s, _ = steer_pid.step(p, steer_pid.State(), steer_pid.In(fact["target"], 0.0, v), dt)
        s, y = steer_pid.step(p, s, steer_pid.In(fact["target"], 0.02, 0.001), dt)
        tally.rows += 1
        for name, value in (("fb", y.u), ("p", y.p), ("i", y.i), ("d", y.d)):
            tally.compare(f"pid.decay_case.{name}", value, float(fact["decay_case"][name]))


def _vgr(tally: Tally, root: Path, fact: dict[str, Any]) -> None:
    p, none = vgr.Vgr(*map(float, fact["coef"])), vgr.Vgr(0.0, 0.0, 0.0)
    tally.rows += 3
    tally.compare("vgr at rest", vgr.ratio(p, 0.0, 0.0), p.a)
    tally.compare("vgr floor", vgr.ratio(none, 0.0, 0.0), 1e-5)
    for q in (p, none):
        tally.compare("vgr round trip", vgr.wheel_command(q, 5.0, 0.1, vgr.tire_from_wheel(q, 5.0, 0.1)), 0.1)


FACTS: dict[str, Callable[[Tally, Path, Any], None]] = {
    "map_load": _map_load,
    "accel_map_contents": _contents("accel", "throttle"),
    "brake_map_contents": _contents("brake", "brake"),
    "throttle_from_acc_vel": _triples("accel", lambda m, a, v: accel_to_throttle(m, a, v).pedal),
    "acc_from_throttle_vel": _triples("accel", lookup_grid),
    "brake_from_acc_vel": _triples("brake", accel_to_brake),
    "acc_from_brake_vel": _triples("brake", lookup_grid),
    "steer_output_from_rate_steer": _triples("steer", rate_to_steer),
    "pid": _pid,
    "vgr": _vgr,
}
