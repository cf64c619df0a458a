"""The docs and the code use the same names: topics, stages, fields, parameters, policies, sources, modes, reasons. Neither may go its own way."""

import re
from pathlib import Path

import pytest

from pushrod.core.record import fields, is_record, leaves, numbers
from pushrod.pipeline import act, n_act, n_topic, names, request, topic
from pushrod.pipeline.allocate.solve import POLICIES as N_POLICIES
from pushrod.pipeline.control.pi import WAYS

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGE = (ROOT / "docs" / "howto" / "pipeline.md").read_text()
QUOTED = set(re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", PAGE, flags=re.DOTALL)))

TOPICS = {
    "ACTUATOR_REQ": topic.ActuatorReq,
    "ACTUATOR_CMD": topic.ActuatorCmd,
    "ESC_OUTPUT": topic.EscOutput,
    "MIXER_FEEDBACK": topic.MixerFeedback,
}
RECORDS = (*TOPICS.values(), topic.Allocated, topic.Diagnostics, topic.Loss)
N_PARAMETERS = {leaf.path for leaf in leaves(n_act.Params)}
FIELDS = {f.name for record in (*RECORDS, request.In, n_topic.Out) for f in fields(record)}


def test_the_topics_are_those_of_the_records() -> None:
    assert tuple(TOPICS) == names.TOPICS
    for name, record in TOPICS.items():
        assert record.__doc__.startswith(f"{name}: ")


@pytest.mark.parametrize("name", names.TOPICS + names.STAGES)
def test_every_topic_and_stage_has_its_row(name: str) -> None:
    assert re.search(rf"^\|.*`{name}`.*\|$", PAGE, re.MULTILINE), name


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
def test_every_field_of_a_topic_is_named(record: type) -> None:
    assert [f.name for f in fields(record) if f.name not in QUOTED] == []


def test_a_row_has_the_fields_of_its_topic_and_no_others() -> None:
    for name, record in TOPICS.items():
        row = re.search(rf"^\| [^|]* \| `{name}` \| ([^|]*) \|", PAGE, re.MULTILINE)
        assert row is not None, name
        assert re.findall(r"`(\w+)`", row[1]) == list(record._fields)  # type: ignore[attr-defined]


def test_every_parameter_is_named() -> None:
    assert [path for path in act.PARAMETERS if path not in QUOTED] == []


def test_the_names_others_rely_on_are_parameters() -> None:
    """They are here for good."""
    for path in ("hw.u_LR_min", "hw.u_LR_max", "sw.u_LR_min", "sw.u_LR_max", "sw.u_s_min", "sw.u_s_max", "sw.u_d_max_neg", "sw.u_d_max_pos"):
        assert f"act.{path}" in act.PARAMETERS
    for source in ("ap", "man"):
        for axis in ("u_s_scale", "u_d_scale"):
            assert f"act.shp.{source}.{axis}" in act.PARAMETERS


@pytest.mark.parametrize("name", [*names.POLICIES, *N_POLICIES, *names.SOURCES, *names.MODES, *names.REASONS[1:], *WAYS[1:]])
def test_every_policy_source_mode_reason_and_way_is_named(name: str) -> None:
    assert name in QUOTED


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_names_no_parameter_topic_or_policy_that_is_not_there(page: Path) -> None:
    text = page.read_text()
    known = {*act.PARAMETERS, *N_PARAMETERS}
    parts = {path[: m.start()] for path in known for m in re.finditer(r"\.", path)}
    told = [re.sub(r"\.[ea]\d$", "", path) for path in re.findall(r"\bact\.[a-z]\w*(?:\.\w+)*", text)]  # one element of a table: act.hw.u_max.e0
    assert [path for path in told if path not in known | parts] == []
    assert set(re.findall(r"\bALLOC_\w+", text)) <= {*names.POLICIES, *N_POLICIES}
    assert set(re.findall(r"\b(?:ACTUATOR|ESC|MIXER)_[A-Z]+\b", text)) <= set(names.TOPICS)


def test_the_page_names_no_field_that_is_not_there() -> None:
    told = {word for word in QUOTED if re.fullmatch(r"(u|aw|sat|trim|resid|loss|pulse)_\w+", word)}
    assert told <= FIELDS


def test_the_boat_speaks_the_same_names() -> None:
    from pushrod.sim.worlds.boat import BOAT

    outputs = {leaf.path.rpartition(".")[2] for leaf in numbers(BOAT.Out)}
    assert {f.name for record in RECORDS for f in fields(record) if not is_record(f.type)} <= outputs
    assert {path for path in act.PARAMETERS if path not in {leaf.path for leaf in numbers(BOAT.Params)}} == set()
