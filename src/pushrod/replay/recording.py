"""The log of a replay: laid out as the log it was made from, so that both can be laid over each other."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from pushrod.log.folder import free_name, prepare
from pushrod.log.table import Array
from pushrod.log.versions import versions
from pushrod.log.writer import Attachment, Topic, write
from pushrod.replay.rebuilding import DATA
from pushrod.replay.run import Replay
from pushrod.sim.pipeline_topics import pipeline_topics

OWN = ("commands.json", "verdict.json")  # what became of the first run, not of this one


def record(found: Replay, folder: Path, going: Callable[[int, int], bool] = lambda done, total: True) -> Path:
    """Write it into the folder, under a name that is not taken, and say where it is."""
    prepare(folder)
    file = free_name(folder, f"{found.table.file.stem}-replay")
    rebuilt, log = found.rebuilt, found.log
    n = len(found.data)
    begin, end = (_times(found, topic, n) for topic in ("/in", "/out"))
    outputs = {name: found.data[:, j] for j, name in enumerate(log.outputs)}
    name = rebuilt.machine.name
    topics = [
        Topic("/in", rebuilt.world.In, begin, {path: values[:n] for path, values in log.inputs.items()}, f"{name}.in"),
        Topic("/out", rebuilt.world.Out, end, outputs, f"{name}.out"),
        *(Topic(t.name, t.record, end, {path: outputs[at] for path, at in t.paths.items()}, t.name) for t in pipeline_topics(rebuilt.world)),
    ]
    overrides = sum(key.startswith("override ") for key in found.table.about)
    more = {f"override {overrides + i}": f"--set {text}" for i, text in enumerate(found.settings, 1)}
    about = {key: text for key, text in found.table.about.items() if key != "started"}
    about |= {"kind": "rollout", "replay of": found.table.file.name, "ticks": str(n), **versions(), **more}
    files = [
        Attachment(attached.name, attached.media_type, attached.text)
        for attached in found.table.attachments.values()
        if attached.name not in OWN and attached.name.endswith(DATA)
    ]
    write(file, topics, {"pushrod": about}, files, going=going)
    return file


def _times(found: Replay, topic: str, n: int) -> Array:
    """Those of the log it was made from, tick by tick: a live run has no even ones, and both are to lie over each other."""
    return next(iter(found.table.of(topic).values())).t[:n] if n else np.zeros(0)
