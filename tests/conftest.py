"""Where the reference data is: copies in tests/golden, and a folder `shared` beside the checkout that not everyone has."""

from pathlib import Path

import pytest

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
