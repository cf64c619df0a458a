"""What is identified is found by name: machines, worlds, models, plants, and somebody's own."""

from pathlib import Path

import numpy as np
import pytest

from pushrod import rollout
from pushrod.core.errors import PushrodError
from pushrod.identify.subject import subject
from pushrod.models.first_order import FIRST_ORDER


def test_a_name_is_a_machine_before_a_world_before_a_model() -> None:
    assert subject("servo").about == "a joint behind delay, rate limit, lag and torque limit"
    assert subject("ACTUATION_CMD_VGR").world.name == "ACTUATION_CMD_VGR"
    assert "duty" in str(subject("model:servo").world.Params.__annotations__["kp"])
    assert subject("joint").world.In._fields == ("u",)


def test_values_may_be_put_over_parameters_with_units() -> None:
    assert subject("first_order", ["T=50 ms"]).params.T == 0.05


def test_a_model_by_itself_gives_what_the_model_gives() -> None:
    u = np.sin(np.arange(50) * 0.1)
    whole = subject("first_order").world
    assert np.array_equal(rollout(whole, inputs={"u": u}, steps=50, dt=0.01)["y"], rollout(FIRST_ORDER, inputs=u, steps=50, dt=0.01)["y"])


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("sevro", "did you mean 'servo'"),
        ("model:sevro", "did you mean 'servo'"),
        ("nowhere.py:X", "there is no file"),
        ("gone.yaml", "cannot be read"),
    ],
)
def test_a_wrong_name_is_answered_with_what_there_is(name: str, says: str) -> None:
    with pytest.raises(PushrodError, match=says):
        subject(name)


def test_somebodys_own_model(tmp_path: Path) -> None:
    file = tmp_path / "valve.py"
    file.write_text("from pushrod.models.first_order import FIRST_ORDER as VALVE\n")
    assert subject(f"{file}:VALVE").world.Out._fields == ("y",)
    with pytest.raises(PushrodError, match="VALVE"):
        subject(f"{file}:VALFE")
