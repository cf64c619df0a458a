"""`pushrod sweep`: run a study, or go on with one."""

import contextlib
import functools
import shlex
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING
from typing import Annotated as A

import typer

from pushrod.cli.extras import require
from pushrod.cli.output import STOPPED, answer, say
from pushrod.cli.trust import Trust
from pushrod.core.errors import InputError

if TYPE_CHECKING:
    from pushrod.sweep.run import Executor, Outcome


class Device(StrEnum):
    cpu = "cpu"
    cuda = "cuda"
    any = "any"


class Dtype(StrEnum):
    float64 = "float64"
    float32 = "float32"


def sweep(
    study: A[str, typer.Argument(help="A shipped study (see `pushrod list studies`) or a study file.")],
    out: A[Path | None, typer.Option(help="Folder for the results; sweeps/NAME if left out. One that is there is gone on with.")] = None,
    runs: A[int | None, typer.Option(min=1, help="Samples, over what the study says.")] = None,
    seed: A[int | None, typer.Option(min=0, help="Of all that is drawn, over what the study says.")] = None,
    dtype: A[Dtype | None, typer.Option(help="Numbers of the simulation, over what the study says; float32 is quick on a GPU.")] = None,
    device: A[Device, typer.Option(help="Where to simulate; any: on whatever each node of a cluster has, each part says on what.")] = Device.cpu,
    cluster: A[
        str | None, typer.Option(metavar="local|ADDRESS", help="On a Ray cluster: one started here for the study, or the one at HOST:PORT.")
    ] = None,
    threads: A[int | None, typer.Option(min=1, help="Cores to use; all if left out.")] = None,
    set_: A[
        list[str] | None, typer.Option("--set", metavar="PATH=VALUE", help="Put a value over a parameter of the machine; may be repeated.")
    ] = None,
    trust: Trust = False,
) -> None:
    """Run a machine a great many times with parameters that are drawn, keep a few numbers of each run, and say how many pass.

    Results are Parquet files, one for each chunk of runs, so that a study that was stopped goes on where it was.

    Exit codes: 0 all is computed; 2 wrong input, or a folder that cannot be used; 130 stopped by Ctrl-C, what was done is kept.
    """
    from pushrod.cli.progress import COMPILING, progress
    from pushrod.sweep import local
    from pushrod.sweep.run import Stopped
    from pushrod.sweep.run import run as go
    from pushrod.sweep.study import load

    require(*(["cluster"] if cluster is not None else []), *(["cuda"] if device is Device.cuda else []))
    if device is Device.any and cluster is None:
        raise InputError("--device any is for clusters: say which by --cluster, or choose cpu or cuda")
    what = load(study, set_ or (), runs, seed, None if dtype is None else dtype.value, trust=trust)
    if device is Device.cuda and what.document.data.get("chunk") is None:
        what = what.cut(local.gpu_chunk(what))
    folder = out or Path("sweeps") / what.name
    kind = None if device is Device.any else device.value
    answer(study=what.name, runs=what.n, samples=what.runs, scenarios=[case.name for case in what.cases], design=what.design, seed=what.seed)
    answer(dtype=what.dtype)
    answer(digest=what.digest, device=device.value, cluster=cluster, notes=list(what.notes), out=folder)
    for note in what.notes:
        _note(note)
    try:
        with _executor(device, cluster, threads) as executor, progress("running", "runs", what.n, before=COMPILING) as show:
            outcome = go(what, folder, executor, show, kind, _note)
    except Stopped as stop:
        _tell(stop.outcome)
        words = ["pushrod", "sweep", study, *(["--out", str(out)] if out else []), *(["--runs", str(runs)] if runs else [])]
        words += [*(["--seed", str(seed)] if seed is not None else []), *(["--device", device.value] if device is not Device.cpu else [])]
        words += [*(["--dtype", dtype.value] if dtype else []), *(["--cluster", cluster] if cluster else [])]
        words += [*(word for one in set_ or () for word in ("--set", one)), *(["--trust"] if trust else [])]
        say(f"stopped by Ctrl-C; go on with: {shlex.join(words)}", err=True)
        raise typer.Exit(STOPPED) from stop
    _tell(outcome)


def _note(text: str) -> None:
    say(f"note: {text}", err=True)


@contextlib.contextmanager
def _executor(device: Device, cluster: str | None, threads: int | None) -> Iterator["Executor"]:
    from pushrod.sweep import local

    if cluster is None:
        yield local.on_gpu if device is Device.cuda else functools.partial(local.on_cores, threads=threads)
        return
    from pushrod.sweep.cluster import on_ray

    with on_ray(cluster, device.value, _note, threads) as executor:
        yield executor


def _tell(found: "Outcome") -> None:
    from pushrod.cli.progress import short

    study = found.study
    rate = found.computed / found.seconds if found.seconds > 0.0 and found.computed else None
    answer(done=found.runs, computed=found.computed, seconds=found.seconds, seconds_inside=found.inside, runs_per_second=rate)
    answer(passed=found.passed if study.criteria else None, redone=list(found.redone), complete=found.whole)
    cases = len(study.cases)
    who = f"{found.passed} pass" if cases == 1 else f"{found.passed} of {found.samples} samples pass in all {cases} scenarios"
    share = f", {who} ({100.0 * found.passed / max(found.samples, 1):.2f} %)" if study.criteria else ""
    say(f"{study.name}: {found.runs} of {study.n} runs{share}")
    if rate is not None:
        quick = f"; {short(found.computed / found.inside)}runs/s once compiled" if 0.0 < found.inside < 0.5 * found.seconds else ""
        say(f"computed {found.computed} in {found.seconds:.1f} s, {short(rate)}runs/s{quick}")
    say(f"results: {found.folder}")
