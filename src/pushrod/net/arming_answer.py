"""The answers to arm, disarm, e-stop and reset as they come over the network, as the runtime's own."""

from collections.abc import Mapping
from typing import Any

from pushrod.runtime.deciding import Armed, Disarmed
from pushrod.safety.state import State


def armed(plain: Mapping[str, Any]) -> Armed:
    known = {name: plain[name] for name in Armed._fields if name in plain}
    return Armed(**known | {"state": State(plain["state"]), "missing": tuple(plain["missing"])})


def disarmed(plain: Mapping[str, Any]) -> Disarmed:
    return Disarmed(plain["ok"], State(plain["state"]), dict(plain["failures"]), plain["why"])
