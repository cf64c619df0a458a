"""Where the reference data is: copies in tests/golden, and a folder `shared` beside the checkout that not everyone has."""

from pathlib import Path

import pytest
from hypothesis import settings

from counts import examples

# how long an example takes says more about the machine than about the code
settings.register_profile("pushrod", max_examples=examples(100), deadline=None, print_blob=True)
settings.load_profile("pushrod")

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def golden() -> Path:
    return ROOT / "tests" / "golden"


@pytest.fixture(scope="session")
def shared() -> Path:
    path = ROOT.parent / "shared"
    if not path.is_dir():
        pytest.skip("the folder `shared` with further reference data is not beside this checkout")
    return path
