"""The environment of a program that knows nothing of the test run that starts it."""

import os


def environment() -> dict[str, str]:
    leave = ("PYTEST_", "COV", "PUSHROD_SOAK", "PYTHONPATH", "VIRTUAL_ENV")
    return {name: value for name, value in os.environ.items() if not name.startswith(leave)}
