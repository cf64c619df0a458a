"""What is wrong with a record is told once each, whatever else is wrong with it; and how long lists of names are cut."""

from collections.abc import Iterator
from typing import Annotated as A
from typing import NamedTuple

import pytest

from pushrod.core.check import flaws, problems
from pushrod.core.errors import DiagnosisError, UnknownNameError
from pushrod.core.names import MOST, find
from pushrod.core.pick import Pick
from pushrod.core.quantity import Q


class Gear(NamedTuple):
    ratio: A[float, Q("-", 0.1, 100.0)] = 2.0
    teeth: A[float, Q("-", 1.0, 500.0)] = 20.0

    def flaws(self, dt: float | None) -> Iterator[str]:
        if 1.0 / self.ratio * self.teeth > 40.0:
            yield f"ratio = {self.ratio:g}: too little for teeth = {self.teeth:g}"


class Broken(NamedTuple):
    x: A[float, Q("-", 0.0, 1.0)] = 0.5

    def flaws(self, dt: float | None) -> Iterator[str]:
        yield str({}["a mistake of whoever wrote it"])


class Drive(NamedTuple):
    gear: Gear = Gear()
    torque: A[float, Q("N.m")] = 1.0


class Pair(NamedTuple):
    a: A[float, Q("-")] = 0.0
    b: A[float, Q("-")] = 0.0


def test_what_cannot_be_worked_out_from_a_wrong_value_is_told_as_the_wrong_value():
    assert list(flaws(Gear(ratio=0.0))) == []
    assert [text.partition(" ")[0] for text in problems(Gear(ratio=0.0))] == ["ratio"]
    assert list(problems(Drive(Gear(0.2, 20.0)))) == ["gear.ratio = 0.2: too little for teeth = 20"]


def test_a_mistake_in_a_rule_itself_is_not_hidden():
    with pytest.raises(KeyError, match="a mistake of whoever wrote it"):
        list(flaws(Broken()))


def test_what_was_told_already_is_not_told_again():
    wrong = Drive(Gear(ratio=-1.0, teeth=0.0))
    assert {text.partition(" ")[0] for text in problems(wrong)} == {"gear.ratio", "gear.teeth"}
    assert {text.partition(" ")[0] for text in problems(wrong, told={"gear.ratio"})} == {"gear.teeth"}


def test_of_many_names_only_the_ends_are_told():
    few, many = ({f"name{k:04}": k for k in range(n)} for n in (3, MOST + 1))
    with pytest.raises(UnknownNameError, match="known: name0000, name0001, name0002"):
        find(few, "other", "thing")
    with pytest.raises(UnknownNameError, match=f"known: {MOST + 1} names, from name0000 to name{MOST:04}"):
        find(many, "other", "thing")


def test_numbers_are_picked_from_anywhere_in_a_record():
    assert Pick(Pair, ("gear.teeth", "torque"))(Drive(Gear(3.0, 30.0), 5.0)) == Pair(30.0, 5.0)


def test_a_diagnosis_keeps_its_problems_apart():
    error = DiagnosisError(["too few values", "nothing moves"])
    assert error.problems == ("too few values", "nothing moves")
    assert str(error) == "too few values\nnothing moves"
