"""A line of equal records with a fixed number of slots: the memory of a delay.

Plain Python sees a tuple of records and `put` gives a new one, so the step stays pure; compiled code sees the tail of the
state row and writes in place. After `put` the old line is not read again (`purity` checks it).

A step may also make a line of its own by `ring.empty()`, as a work space of fixed size: compiled, it lies in the frame of that function. It may be
handed to functions, which give it back when they changed it, but it does not outlive the function that made it (`purity` checks that too).
A line of lone numbers is `Ring(A[float, Q(unit)], slots)`.
"""

from typing import Any


class Ring:
    """`slots` entries of one record class. Its entries hold numbers only: no tables, no rings."""

    __slots__ = ("record", "slots")

    def __init__(self, record: Any, slots: int) -> None:
        if slots < 1:
            raise ValueError(f"a ring needs at least one slot, got {slots}")
        self.record = record
        self.slots = slots

    def empty(self) -> tuple[Any, ...]:
        return (self.record(),) * self.slots

    def get(self, line: tuple[Any, ...], k: int) -> Any:
        return line[k]

    def put(self, line: tuple[Any, ...], k: int, value: Any) -> tuple[Any, ...]:
        if not 0 <= k < len(line):  # compiled code would write into what lies beside it
            raise IndexError(f"a line of {len(line)} slots has no slot {k}")
        return (*line[:k], value, *line[k + 1 :])
