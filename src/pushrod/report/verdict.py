"""What the run came to, as whoever ran it wrote it into the log: verdict.json."""

import msgspec

from pushrod.log.table import Table

FILE = "verdict.json"


class Expected(msgspec.Struct, frozen=True):
    expected: str
    to_be: str
    was: float | None
    unit: str
    held: bool


class With(msgspec.Struct, frozen=True, rename={"label": "with"}):
    label: str
    was: float | None


class Comparison(msgspec.Struct, frozen=True):
    """One number of two runs. `at_least`: how many times the first the second must be; 0 where nothing was expected."""

    compared: str
    unit: str
    runs: list[With]
    ratio: float | None
    at_least: float
    held: bool


class Verdict(msgspec.Struct, frozen=True):
    held: bool
    expectations: list[Expected] = []
    comparisons: list[Comparison] = []

    @property
    def failed(self) -> int:
        return sum(not one.held for one in self.expectations) + sum(not one.held for one in self.comparisons)

    @property
    def judged(self) -> int:
        return len(self.expectations) + sum(one.at_least > 0.0 for one in self.comparisons)


def read_verdict(table: Table, notes: list[str]) -> Verdict | None:
    """None where nobody judged the run, or where what is there is none: that is noted."""
    if FILE not in table.attachments:
        return None
    try:
        return msgspec.json.decode(table.attachments[FILE].data, type=Verdict)
    except msgspec.DecodeError as e:
        notes.append(f"in the log: {FILE} cannot be read ({e}); the run counts as not judged")
        return None
