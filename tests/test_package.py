"""What a stranger imports first."""

import subprocess
import sys
import time

import pytest

import pushrod


@pytest.mark.parametrize("name", pushrod.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(pushrod, name) is not None


def test_a_wrong_public_name_says_what_there_is() -> None:
    with pytest.raises(AttributeError, match="it offers ActuatorDriver"):
        pushrod.Actuator  # noqa: B018


def test_importing_is_quick_and_brings_in_nothing_heavy() -> None:
    program = "import sys, pushrod; print(sorted({'numpy', 'numba', 'plotly', 'rich', 'msgspec'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

    def seconds(command: list[str]) -> float:
        started = time.perf_counter()
        subprocess.run(command, check=True)
        return time.perf_counter() - started

    bare = min(seconds([sys.executable, "-c", "pass"]) for _ in range(3))
    ours = min(seconds([sys.executable, "-c", "import pushrod"]) for _ in range(3))
    assert ours - bare < 0.2
