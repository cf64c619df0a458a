"""Run a study into a folder: chunks as they come, each a part on the disk at once, so that whatever stops it costs one chunk.

An executor is a function (study, chunks) -> chunks as they are done, in any order: `local.on_cores`, `local.on_gpu`, or a cluster's.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

from pushrod.core.errors import StudyError
from pushrod.core.names import count
from pushrod.sweep import parts
from pushrod.sweep.chunk import Chunk
from pushrod.sweep.local import on_cores
from pushrod.sweep.study import Study

Executor = Callable[[Study, Iterable[int]], Iterator[Chunk]]


class Progress(Protocol):
    """Told how many runs are done, of how many, and what else there is to say."""

    def __call__(self, done: int, of: int, /, words: str = "") -> None: ...


class Outcome(NamedTuple):
    """What a study came to. `computed` of its `runs` were computed by this call, in `seconds` in all and `inside` of compiled loops.

    A sample has a run in each scenario; it is among the `passed` if all of them pass.
    """

    study: Study
    folder: Path
    runs: int
    passed: int
    computed: int
    seconds: float
    inside: float
    redone: tuple[str, ...]  # why parts that were there had to be computed again

    @property
    def samples(self) -> int:
        return self.runs // len(self.study.cases)

    @property
    def whole(self) -> bool:
        return self.runs == self.study.n


class Stopped(KeyboardInterrupt):
    """Ctrl-C: every part that was done is on the disk; `outcome` is how far it came."""

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome
        super().__init__()


def run(
    study: Study,
    folder: Path | str,
    executor: Executor = on_cores,
    progress: Progress = lambda done, of, words="": None,
    device: str | None = "cpu",
    told: Callable[[str], None] = lambda text: None,
) -> Outcome:
    """All chunks that are not in the folder yet. `device`: the kind the executor uses; None where it may be any. `told` gets what is worth a line."""
    folder = Path(folder)
    study = parts.prepare(folder, study)
    there = parts.look(folder, study)
    for why in there.spoilt.values():
        told(f"{why}; it is computed again")
    if device is not None and any(other != device for other in there.devices):
        raise StudyError(
            f"{folder}: its parts were computed by {', '.join(there.devices)}, and {device} gives other last digits; "
            f"go on with --device {there.devices[0]}, or give another folder by --out"
        )
    runs, passed, computed, inside, started = there.runs, there.passed, 0, 0.0, time.perf_counter()

    def outcome() -> Outcome:
        return Outcome(study, folder, runs, passed, computed, time.perf_counter() - started, inside, tuple(there.spoilt.values()))

    if runs and (changed := parts.other_versions(folder)):
        told(f"{folder}: {changed}: last digits of new parts may differ from those that are there")
    if runs:
        told(f"{folder}: {count(study.chunks - len(there.missing), 'part')} of {study.chunks} are there already")
    progress(runs, study.n)
    chunk, counted = None, -1
    try:
        for chunk in executor(study, there.missing):
            parts.write(folder, study, chunk)
            runs, passed, computed, inside, counted = runs + chunk.n, passed + chunk.passed, computed + chunk.n, inside + chunk.seconds, chunk.k
            progress(runs, study.n, f"{100.0 * passed * len(study.cases) / runs:.1f} % pass" if study.criteria else "")
    except KeyboardInterrupt:
        try:  # noqa: SIM105  (it would come within suppress(), before that holds)
            time.sleep(0.0)  # while polars writes, one Ctrl-C comes twice: by polars, and here by Python itself
        except KeyboardInterrupt:
            pass
        if chunk is not None and chunk.k != counted and chunk.k not in there.spoilt and parts.part_file(folder, chunk.k).exists():
            runs, passed, computed, inside = runs + chunk.n, passed + chunk.passed, computed + chunk.n, inside + chunk.seconds
        raise Stopped(outcome()) from None
    return outcome()
