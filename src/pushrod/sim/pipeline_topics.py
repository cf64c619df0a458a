"""The topics of a command pipeline that is part of a world, found among its outputs: ACTUATOR_REQ, ACTUATOR_CMD, ESC_OUTPUT, MIXER_FEEDBACK.

Of two motors each topic is a record of `pipeline.topic`, wherever in the outputs it stands. The pipeline of n effectors tells all in one record:
ACTUATOR_CMD and ESC_OUTPUT are parts of it, MIXER_FEEDBACK what is left, and ACTUATOR_REQ is `req` and `src` beside it and the reason it gives.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from pushrod.core.model import World
from pushrod.core.record import fields, is_record, numbers
from pushrod.pipeline.n_motor_pipeline import N_MOTOR_PIPELINE
from pushrod.pipeline.names import TOPICS
from pushrod.pipeline.topic import ActuatorCmd, ActuatorReq, EscOutput, MixerFeedback

REQ, CMD, ESC, FEEDBACK = TOPICS
OF_TWO: dict[Any, str] = {ActuatorReq: REQ, ActuatorCmd: CMD, EscOutput: ESC, MixerFeedback: FEEDBACK}
BESIDE = ("req", "src")


class PipelineTopic(NamedTuple):
    """Its name, its record, and the output that each number of the record is, by its path."""

    name: str
    record: Any
    paths: dict[str, str]


def pipeline_topics(world: World) -> list[PipelineTopic]:
    """In the order of the outputs. Where a world has several pipelines, those after the first have the path of theirs in front."""
    found: list[PipelineTopic] = []
    for path, topic in _within(world.Out, ""):
        taken = {one.name for one in found}
        found.append(topic._replace(name=f"{path}/{topic.name}") if topic.name in taken else topic)
    return found


def _within(record: Any, path: str) -> Iterator[tuple[str, PipelineTopic]]:
    prefix = f"{path}." if path else ""
    parts = {f.name: f.type for f in fields(record)}
    for name, kind in parts.items():
        at = prefix + name
        if kind in OF_TWO:
            yield path, PipelineTopic(OF_TWO[kind], kind, {leaf.path: f"{at}.{leaf.path}" for leaf in numbers(kind)})
        elif kind is N_MOTOR_PIPELINE.Out:
            yield from ((path, topic) for topic in _of_n(record, parts, prefix, name))
        elif is_record(kind):
            yield from _within(kind, at)


def _of_n(record: Any, beside: dict[str, Any], prefix: str, name: str) -> Iterator[PipelineTopic]:
    whole = N_MOTOR_PIPELINE.Out
    esc = [field for field in ("u", "pulse") if field in whole._fields]
    rest = [field for field in whole._fields if field not in ("cmd", *esc)]
    if set(BESIDE) <= set(beside):
        kinds = [(field, record.__annotations__[field]) for field in BESIDE] + [("reason", whole.__annotations__["reason"])]
        yield _part(REQ, kinds, {field: prefix + field for field in BESIDE} | {"reason": f"{prefix}{name}.reason"})
    for topic, names in ((CMD, ["cmd"]), (ESC, esc), (FEEDBACK, rest)):
        yield _part(topic, [(field, whole.__annotations__[field]) for field in names], {field: f"{prefix}{name}.{field}" for field in names})


def _part(topic: str, kinds: list[tuple[str, Any]], at: dict[str, str]) -> PipelineTopic:
    made: Any = NamedTuple(topic, kinds)  # type: ignore[misc]
    return PipelineTopic(topic, made, {leaf.path: at[head] + leaf.path[len(head) :] for leaf in numbers(made) for head in [leaf.path.split(".")[0]]})
