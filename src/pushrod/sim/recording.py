"""The log of a run: topics /in and /out, those of a command pipeline by their names, the files it was made from, versions and seed."""

from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec
import numpy as np

from pushrod.config.yaml_file import Document
from pushrod.log.folder import free_name, prepare
from pushrod.log.versions import versions
from pushrod.log.writer import Attachment, Said, Topic, write
from pushrod.sim.files import files_of
from pushrod.sim.pipeline_topics import pipeline_topics
from pushrod.sim.run import Result
from pushrod.sim.verdict import verdict


def record(
    result: Result,
    folder: Path,
    more: Iterable[Attachment] = (),
    said: Iterable[Said] = (),
    kind: str = "rollout",
    going: Callable[[int, int], bool] = lambda done, total: True,
    name: str = "",
) -> Path:
    """Write the log into the folder, under a name that is not taken, and say where it is. `more` is attached to it.

    It has the name of machine and scenario unless `name` is given.

    `said`: what a runtime said on the way, where the run went through one; its kind is then "stepped". `going`: as of `log.writer.write`.
    """
    machine, scenario = result.machine, result.scenario
    prepare(folder)
    file = free_name(folder, name or f"{machine.name}-{scenario.name}")
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
        "kind": kind,
        "machine": machine.name,
        **({} if machine.robot is None else {"robot": machine.robot.name}),
        "scenario": scenario.name,
        "world": machine.world.name,
        "seed": str(scenario.seed),
        "dt": repr(scenario.dt),
        "ticks": str(scenario.steps),
        **versions(),
        **overrides(machine.document, scenario.document),
    }
    judged = Attachment("verdict.json", "application/json", msgspec.json.format(msgspec.json.encode(verdict(result)), indent=2).decode())
    write(file, topics, {"pushrod": about}, [*files_of(machine, scenario), judged, *more], said, going)
    return file


def overrides(*documents: Document) -> dict[str, str]:
    """The options that were put over what files say."""
    texts = dict.fromkeys(text for document in documents for text in document.origin.values())
    return {f"override {i}": text for i, text in enumerate(texts, 1)}
