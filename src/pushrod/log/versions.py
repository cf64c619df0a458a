"""With what a log was made."""

import platform
from importlib.metadata import version

LIBRARIES = ("pushrod", "numba", "numpy")


def versions() -> dict[str, str]:
    return {name: version(name) for name in LIBRARIES} | {"python": platform.python_version()}
