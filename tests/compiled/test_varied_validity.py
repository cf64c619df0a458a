"""Values that contradict each other are found in the instance that has them, and in no other combination."""

import numpy as np
import pytest

from pushrod import batch
from pushrod.core.errors import ParameterError
from pushrod.plants.rigid_body import RIGID_BODY, Params

STEPS = {"steps": 1, "dt": 0.01}


def test_bodies_of_very_different_size_are_all_valid() -> None:
    """The least Ixx with the largest Izz would be a body that cannot exist; no instance is one."""
    size = np.array([0.01, 1.0, 100.0])
    turned = {"Ixx": size[::-1].copy(), "Iyy": size[::-1].copy(), "Izz": size[::-1].copy()}
    run = batch(RIGID_BODY, Params(), {}, vary=turned, **STEPS)
    assert run.n == 3


def test_the_instance_that_contradicts_itself_is_named() -> None:
    vary = {"Ixx": np.array([1.0, 1.0, 2.0]), "Iyy": np.array([1.0, 1.0, 2.0]), "Izz": np.array([1.0, 2.5, 2.5])}
    with pytest.raises(ParameterError, match=r"instance 1: rigid_body\.Izz"):
        batch(RIGID_BODY, Params(), {}, vary=vary, **STEPS)


def test_a_contradiction_between_the_extremes_is_found() -> None:
    """Neither the least nor the largest values of all fields together are invalid."""
    vary = {"Ixx": np.array([1.0, 1.0, 4.0]), "Iyy": np.array([1.0, 1.0, 4.0]), "Izz": np.array([1.0, 3.0, 4.0])}
    with pytest.raises(ParameterError, match="instance 1"):
        batch(RIGID_BODY, Params(), {}, vary=vary, **STEPS)
