"""The reference of the runtime tells what is so: every table names what the code has, and nothing else."""

import re
from pathlib import Path

import msgspec
import pytest

import pushrod.runtime
from pushrod.robot import MotorProfile, Reaction
from pushrod.runtime import ADVICE, Accepted, Clamped, Context, Message, Refused, State, Waypoint
from pushrod.runtime.delivery import Delivery
from pushrod.runtime.driver import Hooks
from pushrod.runtime.payload import BUILT_IN
from pushrod.runtime.watching import REACTIONS

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "runtime.md").read_text() + "\n\n"


def table(head: str) -> dict[str, str]:
    """The rows of the table that begins so, by the words in the first cell."""
    start = PAGE.index(f"\n| {head} |") + 1
    rows = PAGE[start : PAGE.index("\n\n", start)].splitlines()[2:]
    return dict(row.strip("| ").split(" | ", 1) for row in rows)


def words(text: str) -> set[str]:
    return set(re.findall(r"`(\w+)", text))


def fields(kind: type) -> set[str]:
    return {field.name for field in msgspec.structs.fields(kind)}


def test_every_refusal_is_there_with_its_advice() -> None:
    assert {name.strip("`"): advice for name, advice in table("reason").items()} == ADVICE


def test_every_payload_is_there_with_its_fields() -> None:
    rows = table("payload | verb")
    assert {name.strip("`") for name in rows} == {kind.__name__ for kind in BUILT_IN}
    for kind in BUILT_IN:
        verb, _, said = rows[f"`{kind.__name__}`"].partition(" | ")
        assert hasattr(Delivery, verb.strip("`"))
        assert fields(kind) <= words(said)
    assert all(f"`{name}`" in PAGE for name in fields(Waypoint) | fields(Message))


@pytest.mark.parametrize(
    "name", ["Outcome", "BeginMotion", "EndMotion", "JointState", "LeaseChanged", "HardwareError", "Transition", "ParameterChanged"]
)
def test_every_report_is_there_with_its_fields(name: str) -> None:
    said = words(table("payload | fields")[f"`{name}`"])
    assert fields(getattr(pushrod.runtime, name)) <= said
    assert f"`{name}`" in PAGE[PAGE.index("| topic |") : PAGE.index("| payload | fields")]


def test_every_answer_is_there_with_its_fields() -> None:
    rows = table("answer")
    for kind in (Accepted, Clamped, Refused):
        assert words(rows[f"`{kind.__name__}`"]) == fields(kind)


def test_every_state_and_every_reaction_is_there() -> None:
    assert [row.strip("`") for row in table("state")] == [state.value for state in State]
    rows = table("reaction")
    assert [row.strip("`") for row in rows] == [reaction.value for reaction in Reaction]
    for reaction, payload in REACTIONS.items():
        assert rows[f"`{reaction.value}`"].startswith(f"`{type(payload).__name__}(")


def test_the_whole_contract_of_a_driver_is_there() -> None:
    said = words(" ".join([*table("attribute"), *table("method")]))
    assert said == set(Hooks._fields) - {"driver"} | {"drives"}  # which only `pushrod check` asks for


def test_the_whole_context_is_there() -> None:
    rows = table("of the context")
    assert words(" ".join(rows)) == fields(Context) | {"publish_begin_motion", "slowed"}
    assert words(rows["`motor`"]) == set(MotorProfile.__dataclass_fields__)


def test_what_the_page_names_can_be_imported() -> None:
    named = set(re.findall(r"`([A-Z]\w*[a-z]\w*)[`(]", PAGE))
    missing = sorted(name for name in named if not hasattr(pushrod.runtime, name))
    assert missing == []


@pytest.mark.parametrize("name", pushrod.runtime.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(pushrod.runtime, name) is not None
