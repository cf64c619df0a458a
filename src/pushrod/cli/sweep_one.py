"""`pushrod sweep one`: one run of a study again, as a full log."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated as A

import typer

from pushrod.cli.output import answer, say
from pushrod.cli.trust import Trust


class Device(StrEnum):
    cpu = "cpu"
    cuda = "cuda"


def sweep_one(
    folder: A[Path, typer.Argument(metavar="DIR", help="Folder of a study's results.")],
    index: A[int, typer.Argument(metavar="INDEX", help="Which run: its index in the results.")],
    out: A[Path | None, typer.Option(help="Folder for the log; DIR/runs if left out.")] = None,
    device: A[Device, typer.Option(help="Where to compute its metrics again; the log is always made on the CPU.")] = Device.cpu,
    log: A[bool, typer.Option("--log/--no-log", help="Write an MCAP log.")] = True,
    trust: Trust = False,
) -> None:
    """Run one run of a study again, alone: say what was drawn for it and what it came to, and write a log for `report` and `replay`.

    Exit codes: 0 fine; 2 wrong input, or a folder that cannot be used; 130 stopped by Ctrl-C.
    """
    from pushrod.core.errors import StudyError
    from pushrod.core.names import count
    from pushrod.sim.recording import record
    from pushrod.sweep import parts
    from pushrod.sweep.one import kept, one, row
    from pushrod.sweep.results import parameters

    study = parts.study_of(folder, trust=trust)
    run = one(study, index)
    found = row(study, index, device.value)
    units = study.units
    answer(study=study.name, index=index, sample=run.sample, scenario=found["scenario"], values=run.values)
    answer(metrics={name: found[name] for name in study.metrics}, passed=found["passed"] if study.criteria else None, units=units)
    say(f"{study.name}, run {index}: sample {run.sample} in {found['scenario']}")
    for column in parameters(study):
        value = run.values[column.name]
        say(f"  {column.name} = {column.called(value) if column.names else f'{value:.6g} {column.unit}'}".removesuffix(" -"))
    for name in study.metrics:
        say(f"  {name}: {found[name]:.6g} {units[name]}".removesuffix(" -"))
    if study.criteria:
        say("passed" if found["passed"] else "did not pass")
    was, spoilt = None, ""
    try:
        was = kept(folder, study, index, found)
    except StudyError as e:
        spoilt = str(e)
    answer(kept_by=None if was is None else was.device, differs=None if was is None else was.differs)
    if spoilt:
        say(f"not compared with the results: {spoilt}")
    elif was is None:
        say("it is not among the results yet")
    elif was.differs:
        name = max(was.differs, key=lambda name: was.differs[name])
        say(f"{count(len(was.differs), 'metric')} differ from the results, computed by {was.device}; most of all {name}, by {was.differs[name]:.3g}")
    else:
        say("as in the results, to the last bit")
    if log:
        file = record(run.simulate(), out or folder / "runs", name=f"{study.name}-run{index}")
        answer(log=file)
        say(f"log: {file}")
