"""What a stranger imports first."""

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

import pushrod

SOURCE = Path(pushrod.__file__).parent


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


def test_no_interpreter_is_started_that_imports_from_the_current_folder() -> None:
    """`python -m` and `python FILE` put a folder first on the import path; -I and -P do not."""
    starts = re.findall(r'sys\.executable, ("[^"]*")', "\n".join(file.read_text(encoding="utf-8") for file in SOURCE.rglob("*.py")))
    assert len(starts) >= 4
    assert set(starts) <= {'"-I"', '"-P"'}
