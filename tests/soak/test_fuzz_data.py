"""Maps and signals, spoilt at random, are sound or refused with a place; a spoilt reference neither crashes a replay nor passes for a whole one."""

import csv
import gzip
import io
import math
import random
import re
import reprlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from edits import edited, examples, told

from pushrod.core.check import check
from pushrod.core.errors import MapError, SignalError, VerifyError
from pushrod.core.table import lookup_grid
from pushrod.signals import parse, value
from pushrod.sim import machine
from pushrod.sim.verify.table import FORMATS, find, replay
from pushrod.sim.verify.verdict import Verdict
from pushrod.vehicles import map_file

pytestmark = pytest.mark.soak

GOLDEN = Path(__file__).resolve().parents[1] / "golden"


def test_map_files(tmp_path: Path) -> None:
    maps = [*(machine.FOLDER / "maps").glob("*.csv"), *(GOLDEN / "vehicle" / "maps").glob("*.csv")]
    loaders = [*map_file.LOADERS.values(), lambda path: map_file.load_brake_map(path, validate=False)]
    file = tmp_path / "map.csv"
    for number, rng in examples("map", 10_000):
        text = edited(rng.choice(maps).read_text(), number, rng)
        with told("map", number, text):
            file.write_bytes(text.encode("utf-8", "surrogatepass"))
            try:
                made = rng.choice(loaders)(file)
                check(made)
                far = rng.choice((-1e300, 0.0, 0.5, 1e300))
                assert min(made.z) <= lookup_grid(made, far, rng.choice((-1e300, 3.0, 1e300))) <= max(made.z)
            except MapError as e:
                assert re.match(rf"{re.escape(str(file))}: row [1-9]\d*, column [1-9]\d*: .", str(e)), e  # noqa: PT017


SIGNALS: list[Any] = [
    0.3,
    [{"at": 1.0, "for": 0.5, "linear": [0, 0.6]}, {"for": 5, "constant": 0.6}, {"until": 23.0, "constant": 0.18}],
    [{"at": 10.0, "for": 2.5, "sine": {"amplitude": 1.5, "frequency": 0.4}}, {"constant": 0}],
    {"at": 1.0, "until": 5.0, "quadratic": {"y_start": 0, "y_mid": 1, "t_mid": 2.5, "y_end": 3}},
    {"for": 20.0, "chirp": {"amplitude": 1.0, "f_start": 2.0, "f_end": 7.0, "sweep": "logarithmic"}},
    {"at": 1.0, "steps": {"t": [0.5, 2.0], "y": [3.0, -1.0], "initial": 0.25}},
    {"prbs": {"dwell": 0.1, "order": 5, "low": -2.0, "high": 2.0, "seed": 3}},
    {"at": 10.0, "ramp_hold": {"levels": [0.0, 1.0, -1.0], "ramp": 2.0, "hold": 3.0}},
    {"recorded": {"t": [0, 1, 2], "y": [1, 2, 3], "between": "held"}},
    {"sum": [1.0, {"steps": [[0.5, 2]]}, {"at": 1, "for": 2, "linear": [0, 1]}]},
    [{"type": "linear", "t_start": 0, "t_end": 1, "y_start": 0, "y_end": 1}, {"type": "constant", "t_start": 2, "t_end": 3, "value": 1}],
    {"num_intervals": 1, "interval_0": {"type": "quadratic", "t_start": 0, "t_end": 1, "y_start": 0, "y_mid": 1, "y_end": 1, "t_mid": 0.5}},
]
LEAVES: tuple[Any, ...] = (
    *(0, -1, 1, 0.0, -0.0, 1e-320, 1e308, -1e308, 10**400, math.nan, math.inf, -math.inf, True, False, None, "", "x", "1.5", "linear", "äöü\ud800"),
    *([], {}, [[]], [1], [1, 2, 3], {"a": 1}, {"constant": 1}, {"sum": []}, [None], {"": 0}, {1: 2}, {None: None}, (1, 2), b"1", 1j, object),
    *("a" * 9999, [0] * 5000, {f"k{i}": i for i in range(300)}),
)


def places(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value but those too deep to reach."""
    if len(path) > 12:
        return []
    inside = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [path, *(deeper for key, inner in inside for deeper in places(inner, (*path, key)))]


def spoilt(data: Any, path: tuple[Any, ...], change: Callable[[Any, Any], Any]) -> Any:
    """A copy of the data where `change` was let loose on the container and key at the end of the path."""
    if not path:
        return change(None, None)
    copied = dict(data) if isinstance(data, dict) else list(data)
    if len(path) == 1:
        change(copied, path[0])
    else:
        copied[path[0]] = spoilt(copied[path[0]], path[1:], change)
    return copied


def spoil(data: Any, number: int, rng: random.Random) -> Any:
    def put(box: Any, key: Any) -> Any:
        leaf = LEAVES[number] if number < len(LEAVES) else rng.choice(LEAVES)
        if box is None:
            return leaf
        box[key] = leaf

    def drop(box: Any, key: Any) -> Any:
        if box is None:
            return None
        del box[key]

    def rename(box: Any, key: Any) -> Any:
        if isinstance(box, dict):
            box[rng.choice(("", "at", "for", "until", "constant", "sine", "type", "t_end", "sum", "x" * 50, 7, None))] = box.pop(key)
        return data if box is None else None

    def wrap(box: Any, key: Any) -> Any:
        inner = data if box is None else box[key]
        for _ in range(rng.choice((1, 2, 50, 900))):
            inner = rng.choice(([inner], {"sum": [inner]}, {"constant": inner}))
        if box is None:
            return inner
        box[key] = inner

    def double(box: Any, key: Any) -> Any:
        if isinstance(box, list):
            box.insert(key, box[key])
        return data if box is None else None

    for _ in range(1 if number < 2 * len(LEAVES) else rng.choice((1, 2, 4))):
        data = spoilt(data, rng.choice(places(data)), rng.choice((put, put, put, drop, rename, wrap, double)))
    return data


def largest(data: Any) -> float:
    found = [get(data, path) for path in places(data)]
    return max((abs(x) for x in found if isinstance(x, int | float)), default=0.0)


def get(data: Any, path: tuple[Any, ...]) -> Any:
    return get(data[path[0]], path[1:]) if path else data


@pytest.mark.filterwarnings("ignore")
def test_signals() -> None:
    for number, rng in examples("signal", 60_000):
        data = spoil(rng.choice(SIGNALS), number, rng)
        with told("signal", number, reprlib.repr(data)):
            try:
                track = parse("x", data)
                check(track)
                for t in (-1e9, 0.0, 1.0, 2.5, rng.uniform(0.0, 30.0), 1e9):
                    assert math.isfinite(value(track, t)) or not largest(data) < 1e100, t
            except SignalError as e:
                assert "x" in str(e)  # noqa: PT017


def references(format: str) -> list[Path]:
    return [reference.file for reference in find([GOLDEN]) if reference.format == format]


def stem(file: Path) -> str:
    """Its name without what kind of file it is; a name may have dots of its own."""
    return re.sub(r"(\.(json|yaml|csv|gz))+$", "", file.name)


def copied(file: Path, folder: Path) -> Path:
    """A reference with all that belongs to it, in a folder of its own."""
    shutil.rmtree(folder, ignore_errors=True)
    tree = folder / file.parent.name
    tree.mkdir(parents=True)
    for beside in file.parent.iterdir():
        partner = "pipeline_cases.csv" if stem(file) == "pipeline_params" else "expected.csv"
        if stem(beside) == stem(file) or beside.name == partner:
            shutil.copy(beside, tree)
    if (file.parent.parent / "maps").is_dir():
        shutil.copytree(file.parent.parent / "maps", folder / "maps")
    return tree / file.name


def data_of(file: Path) -> Path:
    return next(f for f in sorted(file.parent.iterdir()) if f.suffix in (".csv", ".gz"))


def read(file: Path) -> str:
    raw = file.read_bytes()
    return (gzip.decompress(raw) if file.suffix == ".gz" else raw).decode()


def write(file: Path, text: str) -> None:
    raw = text.encode("utf-8", "surrogatepass")
    file.write_bytes(gzip.compress(raw, 1) if file.suffix == ".gz" else raw)


def verified(file: Path) -> Verdict | None:
    """The verdict, or None where the file was refused."""
    try:
        (reference,) = find([file])
        return replay(reference)
    except VerifyError as e:
        assert str(file.parent) in str(e), e  # noqa: PT017
        return None


@pytest.mark.parametrize("format", FORMATS)
def test_spoilt_reference_files_do_not_crash_a_replay(format: str, tmp_path: Path) -> None:
    files = references(format)
    for number, rng in examples(f"reference {format}", 250):
        file = copied(rng.choice(files), tmp_path / "one")
        spot = rng.choice((file, file, data_of(file)))
        text = edited(read(spot), number, rng)
        with told(f"reference {format}, {spot.name}", number, text):
            write(spot, text)
            if rng.random() < 0.05 and spot.suffix == ".gz":
                spot.write_bytes(spot.read_bytes()[: rng.randrange(40)])
            verified(file)


def binding(format: str, file: Path, head: list[str]) -> list[str]:
    """Columns of which every value counts."""
    if format == "vehicle":
        return [c for c in head if c.startswith(("state_", "out_", "mech_")) or c in ("status_valid", "status_accel")]
    if format == "actuator_driver":
        return [c for c in head if c not in ("op_index", "t", "k", "op")]
    if format == "signals":
        return ["value"]
    if format == "allocation":
        return [c for c in head if c.startswith(("sp_", "yp_", "wt_"))]
    if format == "pipeline":
        return [c for c in head if c not in ("id", "k", "src", "dt", "u_s_req", "u_d_req")]
    return [c for c in head if c in ("throttle", "brake", "acc_from_throttle", "acc_from_brake", "rate", "output", "gear_ratio", "fb", "err_int")]


@pytest.mark.parametrize("format", FORMATS)
def test_a_changed_value_is_noticed(format: str, tmp_path: Path) -> None:
    files = [f for f in references(format) if not f.name.startswith(("zoh", "closedloop"))]  # those do not bind
    for number, rng in examples(f"value {format}", 150):
        file = copied(rng.choice(files), tmp_path / "one")
        spot = data_of(file)
        rows = list(csv.reader(io.StringIO(read(spot))))
        head, body = rows[0], [row for row in rows[1:] if "region" not in rows[0] or row[rows[0].index("region")] == "inside"]
        row = rng.choice((body[0], body[-1], rng.choice(body)))
        j = head.index(rng.choice(binding(format, file, head)))
        before = row[j]
        x = float(before)
        little = 1e-3 * max(1.0, abs(x))
        row[j] = rng.choice((repr(x + little), repr(x - little), "nan", "inf", "-inf", "1e300", repr(-x) if abs(x) > little else "1"))
        with told(f"value {format}", number, f"{file.name}, column {head[j]}: {before} -> {row[j]}"):
            out = io.StringIO()
            csv.writer(out, lineterminator="\n").writerows(rows)
            write(spot, out.getvalue())
            verdict = verified(file)
            assert verdict is None or not verdict.passed, verdict
