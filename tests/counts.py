"""How many examples a property test draws: n in `make test`, twenty times n in `make soak` (PUSHROD_SOAK is set there)."""

import os

FACTOR = 20


def examples(n: int) -> int:
    return FACTOR * n if os.environ.get("PUSHROD_SOAK") else n
