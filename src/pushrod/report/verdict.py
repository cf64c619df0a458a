"""What the run came to, as whoever ran it wrote it into the log: verdict.json."""

from typing import Any

import msgspec

from pushrod.log.table import Table

FILE = "verdict.json"


class Expected(msgspec.Struct, frozen=True):
    expected: str
    to_be: str
    was: float | str | None
    unit: str
    held: bool


class Verdict(msgspec.Struct, frozen=True):
    held: bool
    expectations: list[Expected] = []
    comparisons: list[dict[str, Any]] = []

    @property
    def failed(self) -> int:
        return sum(not one.held for one in self.expectations) + sum(one.get("held") is False for one in self.comparisons)

    @property
    def judged(self) -> int:
        return len(self.expectations) + sum("held" in one for one in self.comparisons)


def read_verdict(table: Table, notes: list[str]) -> Verdict | None:
    """None where nobody judged the run, or where what is there is none: that is noted."""
    if FILE not in table.attachments:
        return None
    try:
        return msgspec.json.decode(table.attachments[FILE].data, type=Verdict)
    except msgspec.DecodeError as e:
        notes.append(f"in the log: {FILE} cannot be read ({e}); the run counts as not judged")
        return None
