"""Make a study of what its file says: machine and scenarios loaded, names looked up, texts turned into SI; all that is wrong is told at once."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pushrod.config.structure import WRONG, Aside, loose, read, sound_items
from pushrod.config.yaml_file import Document
from pushrod.core.errors import ConfigError, UnknownNameError
from pushrod.core.names import find, unknown
from pushrod.metrics.metric import window
from pushrod.sim import machine as machines
from pushrod.sim import scenario as scenarios
from pushrod.sim.expectation import METRICS, Expectation, ExpectationEntry, compile_entry
from pushrod.sim.machine import Machine, is_there, locate
from pushrod.sim.scenario import Scenario
from pushrod.sim.tracked import signals_of
from pushrod.sweep.case import Case, case_of, targets
from pushrod.sweep.correlated import Correlated
from pushrod.sweep.design import DESIGNS, LEAST, MOST_SOBOL
from pushrod.sweep.files import packed
from pushrod.sweep.study import Criterion, Study
from pushrod.sweep.study_attained import read_attained
from pushrod.sweep.study_file import DTYPES, FOLDED, MOST_RUNS, MetricEntry, PassEntry, StudyFile
from pushrod.sweep.varied import Varied, names_of
from pushrod.sweep.varying import Reader

COLUMNS = ("index", "sample", "scenario", "passed")
WORK = 20_000_000  # ticks in a chunk: some seconds of a few cores
LEAST_CHUNK, MOST_CHUNK = 64, 65_536  # samples


def build(
    document: Document,
    overrides: Iterable[str] = (),
    runs: int | None = None,
    seed: int | None = None,
    dtype: str | None = None,
    *,
    trust: bool = False,
) -> Study:
    for key, value in (("runs", runs), ("seed", seed), ("dtype", dtype)):
        if value is not None:
            document.override((key,), value, f"--{key} {value}")
    read(StudyFile, document.data, (), document)
    head = loose(StudyFile, document.data, (), document)  # what is sound is looked at further, whatever else is not
    for key, known in (("design", DESIGNS), ("dtype", DTYPES)):
        if getattr(head, key) is not WRONG and getattr(head, key) not in known:
            document.add((key,), unknown(dict.fromkeys(known), getattr(head, key), key))
    machine = _machine(head.machine, overrides, document, trust)
    found = [] if machine is None else _scenarios(machine, head, document)
    reader = Reader(targets(found), document)
    vary = _vary(head.vary, reader, head.design, head.levels) if found else ()
    wanted = _metrics(found, document) if found else {}
    criteria = _criteria(wanted, found, document) if found else ()
    attained = read_attained(head.attained, found, names_of(vary), document) if found and vary else None
    n = _runs(head, vary, document)
    _check_names(vary, wanted, document)
    cases: tuple[Case, ...] = ()
    if machine is not None and not document.problems:
        spans = {path: span for item in vary for path, span in zip(item.paths, item.spans, strict=True)}
        cases = tuple(case_of(machine, scenario, spans, head.seed, document) for scenario in found)
    document.raise_problems()
    assert machine is not None
    ticks = sum(case.scenario.steps for case in cases)
    notes = [*reader.notes, *(note for case in cases for note in case.scenario.notes)]
    rows = len(vary) + 2 if head.design == "saltelli" else 1
    points = n // rows
    if head.design in ("sobol", "saltelli") and points & (points - 1):
        near = f"{rows * (1 << (points.bit_length() - 1))} or {rows * (1 << points.bit_length())}"
        of = "" if rows == 1 else f" of {rows} rows each"
        notes.append(f"{document.file}: {n} runs: the design is balanced where its points{of} are a power of two, as with {near}")
    return Study(
        name=head.study,
        about=head.about,
        machine=machine,
        cases=cases,
        vary=vary,
        design=head.design,
        runs=n,
        seed=head.seed,
        chunk=min(n, head.chunk or min(max(WORK // ticks, LEAST_CHUNK), MOST_CHUNK)),
        metrics=wanted,
        criteria=criteria,
        dtype=head.dtype,
        document=document,
        packed=packed(document, machine.document, (scenario.document for scenario in found)),
        notes=tuple(notes),
        attained=attained,
    )


def _machine(name: Any, overrides: Iterable[str], document: Document, trust: bool) -> Machine | None:
    if name is WRONG:
        return None
    try:
        return machines.load(_beside(name, machines.shipped(), "machine", document), overrides, trust=trust)
    except (ConfigError, UnknownNameError) as e:
        _note(("machine",), e, document)
    return None


def _beside(name: str, table: dict[str, Path], what: str, document: Document) -> str:
    file = locate(name, table, what, document.folder)
    if not is_there(file):
        raise UnknownNameError(f"there is no file {file}")
    return str(file)


def _note(at: tuple[str | int, ...], error: ConfigError | UnknownNameError, document: Document) -> None:
    for problem in error.problems if isinstance(error, ConfigError) else (str(error),):
        document.add(at, problem)


def _scenarios(machine: Machine, head: Any, document: Document) -> list[Scenario]:
    """All of them, or none with the problems noted by the lines that name them."""
    names: Sequence[str | None] = [None] if head.scenarios is WRONG or not head.scenarios else head.scenarios
    duration = None if head.duration is WRONG else head.duration
    found: list[Scenario] = []
    for i, name in enumerate(names):
        at: tuple[str | int, ...] = ("machine",) if name is None else ("scenarios", i)
        if name is WRONG:
            continue
        try:
            made = scenarios.load(None if name is None else _beside(name, scenarios.shipped(), "scenario", document), machine, duration)
        except (ConfigError, UnknownNameError) as e:
            _note(at, e, document)
            continue
        if made.live:
            document.add(at, f"the scenario {made.name} commands actuators, so that it runs through the runtime; a study runs the world alone")
        elif any(made.name == other.name for other in found):
            document.add(at, f"a scenario named {made.name} is there already; name each once")
        else:
            found.append(made)
    return found if len(found) == len(names) else []


def _vary(data: Any, reader: Reader, design: Any, levels: Any) -> tuple[Varied | Correlated, ...]:
    document = reader.document
    if data is WRONG:
        return ()
    if not data:
        document.add(("vary",), "nothing varies; name at least one parameter and how it is drawn")
    made = [reader.item(path, entry, ("vary", path)) for path, entry in data.items()]
    items = [item for item in made if item is not None]
    paths = names_of(items)
    for path in dict.fromkeys(path for path in paths if paths.count(path) > 1):
        document.add(("vary",), f"{path} varies twice")
    return tuple(item.on_grid(levels if isinstance(levels, int) else None, document) for item in items) if design == "grid" else tuple(items)


def _metrics(found: Sequence[Scenario], document: Document) -> dict[str, Expectation]:
    """By name; what is wrong with one of them is noted once."""
    wanted: dict[str, Expectation] = {}
    given = document.data.get("metrics")
    if not given and isinstance(given, dict):
        document.add(("metrics",), "no metric is given; name at least one number to keep of every run")
    for name in given if isinstance(given, dict) else ():
        at = ("metrics", name)
        entry = read(MetricEntry, given[name], at, Aside())
        if entry is WRONG:
            continue  # noted where the file as a whole was read
        if entry.metric in METRICS and entry.metric not in FOLDED:
            what = f"{entry.metric} looks at a whole run, of which a study keeps nothing; it has the metrics {', '.join(FOLDED)}"
            document.add((*at, "metric"), what)
            continue
        if entry.metric not in METRICS:
            document.add((*at, "metric"), unknown(dict.fromkeys(FOLDED), entry.metric, "metric"))
            continue
        for scenario in found:
            made = compile_entry(expectation(entry), signals_of(scenario.world), at, document, scenario.steps * scenario.dt, bounded=False)
            if made is None:
                break
            wanted[name] = made
            first, last = window(made.since, made.until, scenario.dt)
            if first > last:
                document.add(at, f"no tick of the scenario {scenario.name} ends from {made.since:g} s until {made.until:g} s")
                break
    return wanted


def expectation(entry: MetricEntry, bounds: PassEntry | None = None) -> ExpectationEntry:
    """A metric as scenarios have it, with the bounds of a criterion."""
    given = {} if bounds is None else {key: getattr(bounds, key) for key in ("below", "above", "near", "within")}
    return ExpectationEntry(
        signal=entry.signal, metric=entry.metric, to=entry.to, goal=entry.goal, band=entry.band, since=entry.since, until=entry.until, **given
    )


def _criteria(wanted: dict[str, Expectation], found: Sequence[Scenario], document: Document) -> tuple[Criterion, ...]:
    names = {scenario.name: i for i, scenario in enumerate(found)}
    given = document.data.get("metrics")
    criteria: list[Criterion] = []
    for at, entry in sound_items(PassEntry, document.data.get("pass"), ("pass",), document):
        if entry.metric not in wanted:
            if isinstance(given, dict) and entry.metric not in given:
                document.add((*at, "metric"), unknown(given, entry.metric, "metric of this study"))
            continue
        if entry.scenario is not None and entry.scenario not in names:
            document.add((*at, "scenario"), unknown(names, entry.scenario, "scenario of this study"))
            continue
        metric = read(MetricEntry, document.data["metrics"][entry.metric], (), Aside())
        made = compile_entry(expectation(metric, entry), signals_of(found[0].world), at, document)
        if made is not None:
            scenario = None if entry.scenario is None else find(names, entry.scenario, "scenario")
            criteria.append(Criterion(entry.metric, made.low, made.high, made.unit, scenario))
    return tuple(criteria)


def _runs(head: Any, vary: Sequence[Varied | Correlated], document: Document) -> int:
    """How many samples there are; of a grid that follows from its levels."""
    asked = None if head.runs is WRONG else head.runs
    if head.design == "grid":
        n = 1
        for item in vary:
            n *= item.levels or 1
        if asked is not None and asked != n and not document.problems:
            document.add(("runs",), f"the grid has {n} samples, got {asked}; leave `runs` out, or change the levels")
        if n > MOST_RUNS:
            document.add(("vary",), f"the grid has {n} samples; {MOST_RUNS} are allowed")
        return n
    if asked is None and head.runs is not WRONG:
        document.add((), "runs is missing: say how many samples")
    rows = len(vary) + 2
    if head.design == "saltelli" and asked is not None and vary and (asked % rows or asked < LEAST * rows):
        near = " or ".join(str(n) for n in sorted({max(LEAST, asked // rows) * rows, max(LEAST, asked // rows + 1) * rows}))
        what = f"{rows} rows for each of at least {LEAST} base points ({len(vary)} parameters or groups and 2)"
        document.add(("runs",), f"a Saltelli design has {what}, got {asked}; use {near}")
    if head.design == "sobol" and asked is not None and asked > MOST_SOBOL:
        document.add(("runs",), f"Sobol's sequence has {MOST_SOBOL} samples, got {asked}; take design: lhs")
    return asked or 1


def _check_names(vary: Sequence[Varied | Correlated], wanted: Iterable[str], document: Document) -> None:
    """Every column of the results has a name of its own."""
    taken = {*COLUMNS, *names_of(vary)}
    for name in wanted:
        if name in taken:
            document.add(("metrics", name), f"{name!r} is the name of another column of the results; choose another")
