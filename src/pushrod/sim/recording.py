"""The log of a run: topics /in and /out, those of a command pipeline by their names, the files it was made from, versions and seed."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from pushrod.log.folder import free_name, prepare
from pushrod.log.versions import versions
from pushrod.log.writer import Attachment, Topic, write
from pushrod.sim.pipeline_topics import pipeline_topics
from pushrod.sim.run import Result


def record(result: Result, folder: Path, more: Iterable[Attachment] = ()) -> Path:
    """Write the log into the folder, under a name that is not taken, and say where it is. `more` is attached to it."""
    machine, scenario = result.machine, result.scenario
    prepare(folder)
    file = free_name(folder, f"{machine.name}-{scenario.name}")
    ticks = np.arange(scenario.steps, dtype=np.float64) * scenario.dt
    topics = (
        Topic(
            "/in",
            machine.world.In,
            ticks,
            {name[3:]: column for name, column in result.columns.items() if name.startswith("in.")},
            f"{machine.name}.in",
        ),
        Topic(
            "/out",
            machine.world.Out,
            result.t,
            {name: column for name, column in result.columns.items() if not name.startswith("in.")},
            f"{machine.name}.out",
        ),
        *(
            Topic(topic.name, topic.record, result.t, {path: result.columns[at] for path, at in topic.paths.items()}, topic.name)
            for topic in pipeline_topics(machine.world)
        ),
    )
    about = {
        "machine": machine.name,
        "scenario": scenario.name,
        "world": machine.world.name,
        "seed": str(scenario.seed),
        "dt": repr(scenario.dt),
        "ticks": str(scenario.steps),
        **versions(),
        "machine.yaml": machine.document.text,
        "scenario.yaml": scenario.document.text,
        **{f"override {i}": text for i, text in enumerate(dict.fromkeys((*machine.document.origin.values(), *scenario.document.origin.values())), 1)},
    }
    files = [Attachment(name, "application/yaml", about[name]) for name in ("machine.yaml", "scenario.yaml")]
    write(file, topics, {"pushrod": about}, [*files, *more])
    return file
