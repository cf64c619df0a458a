"""Texts with units become SI numbers, correctly rounded; what does not fit is refused."""

import math

import pytest

from pushrod.config.unit import parse, to_si
from pushrod.core.record import leaves
from pushrod.models import MODELS
from pushrod.sim.worlds import WORLDS


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("90 deg", "rad", math.pi / 2),
        ("90°", "rad", math.pi / 2),
        ("180 °/s", "rad/s", math.pi),
        ("5 ms", "s", 0.005),
        ("33ms", "s", 0.033),
        ("36 km/h", "m/s", 10.0),
        ("60 rpm", "rad/s", 2 * math.pi),
        ("2 rev/s", "rad/s", 4 * math.pi),
        ("20 %", "-", 0.2),
        ("1.5e3 Nm", "N.m", 1500.0),
        ("3 N.m/rad", "N.m/rad", 3.0),
        ("2 kg.cm2", "kg.m2", 2e-4),
        ("1 g0", "m/s2", 9.80665),
        ("9.8 m/s²", "m/s2", 9.8),
        ("50 Hz", "1/s", 50.0),
        ("2 W/(m.K)", "W/m/K", 2.0),
        ("30 deg", "", math.pi / 6),
        ("-3", "rad", -3.0),
        ("4 counts", "counts", 4.0),
        ("1e-999999999 ms", "s", 0.0),
    ],
)
def test_a_text_becomes_the_si_number(text, unit, value):
    assert to_si(text, unit) == value


@pytest.mark.parametrize(
    ("text", "unit", "why"),
    [
        ("5 ms", "rad", "cannot be turned into rad"),
        ("50 Hz", "rad/s", "cannot be turned into rad/s"),
        ("5 degg", "rad", "unknown unit 'degg'; did you mean deg"),
        ("5 furlong", "m", "unknown unit 'furlong'; known: "),
        ("fast", "m/s", "not a number with a unit"),
        ("1,5 m", "m", "not a"),
        ("5 m//s", "m/s", "is not a unit"),
        ("5 rad", "counts", "cannot be turned into counts"),
        ("1e999999999 s", "s", "more than a number can hold"),
        ("1e308 km", "m", "more than a number can hold"),
        ("1e308 km", "", "more than a number can hold"),
    ],
)
def test_what_does_not_fit_is_refused(text, unit, why):
    with pytest.raises(ValueError, match=why):
        to_si(text, unit)


def test_every_unit_in_the_records_is_one_or_is_a_word_of_its_own():
    """A misspelt unit in a record would make unit texts unusable there."""
    own = ("tick", "torque")  # words of our own: nothing can be converted to them
    records = [record for model in (*WORLDS.values(), *MODELS.values()) for record in (model.Params, model.In, model.Out)]
    units = {leaf.meta.unit for record in records for leaf in leaves(record) if hasattr(leaf.meta, "unit")}
    for unit in units:
        if not unit.startswith(own):
            parse(unit)
