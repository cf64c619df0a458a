"""Who may take the motors. One mode at a time, one source for each mode: so there is one owner, or none.

abort     from everywhere, by everybody; it stays until one of `may_clear` switches to idle
others    by those whom `may_switch` allows it, from everywhere but abort
"""

import msgspec

from pushrod.core.names import unknown
from pushrod.live.pipeline.request import Switch, Switched
from pushrod.pipeline.names import MODES

CODES = {mode: float(code) for code, mode in enumerate(MODES)}
USUAL = {"operator": ("idle", "manual", "autopilot", "test"), "pilot": ("idle", "manual")}


class Rules(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """may_switch: the modes each one may switch to. may_clear: who may end an abort."""

    may_switch: dict[str, tuple[str, ...]] = msgspec.field(default_factory=lambda: dict(USUAL))
    may_clear: tuple[str, ...] = ("operator",)

    def __post_init__(self) -> None:
        wrong = [unknown(CODES, mode, "mode") for modes in self.may_switch.values() for mode in modes if mode not in CODES]
        if wrong:
            raise ValueError("; ".join(wrong))


def switch(rules: Rules, mode: str, asked: Switch) -> Switched:
    """The mode after somebody asked for one."""
    to, by = asked.mode, asked.by
    if to not in CODES:
        return Switched(False, mode, unknown(CODES, to, "mode"))
    if to == "abort" or to == mode:
        return Switched(True, to)
    if mode == "abort":
        if to != "idle":
            return Switched(False, mode, f"an abort ends in idle, not in {to}; switch to idle first")
        if by not in rules.may_clear:
            return Switched(False, mode, f"{by} may not end an abort; allowed: {', '.join(rules.may_clear) or 'nobody'}")
        return Switched(True, to)
    if to not in rules.may_switch.get(by, ()):
        allowed = [who for who, modes in rules.may_switch.items() if to in modes]
        return Switched(False, mode, f"{by} may not switch to {to}; allowed: {', '.join(allowed) or 'nobody'}")
    return Switched(True, to)
