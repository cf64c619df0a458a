"""When something was broken or not armed: the bands behind every plot."""

from collections.abc import Mapping

from pushrod.log.table import Channel
from pushrod.report.logged import Logged
from pushrod.report.tracking import Span, spans

ARMED = "armed"


def faults(log: Logged) -> dict[str, tuple[Span, ...]]:
    """By what broke: the signals of a world that end in _fault and are not 0."""
    found = {name.removesuffix("_fault"): _where(log, channel, True) for name, channel in log.channels.items() if name.endswith("_fault")}
    return {name: when for name, when in found.items() if when}


def not_armed(log: Logged) -> tuple[Span, ...]:
    """By what the safety state machine told, else by what the world was told."""
    states = [(t, message.get("to")) for t, message in log.messages("/safety") if isinstance(message.get("to"), str)]
    if states:
        begin, end = log.span
        times = [begin, *(t for t, _ in states), end]
        names = ["", *(str(state) for _, state in states)]
        return tuple((a, b) for a, b, state in zip(times, times[1:], names, strict=False) if state != ARMED and b > a)
    told = log.channels.get(f"in.{ARMED}")
    return () if told is None else _where(log, told, False)


def _where(log: Logged, channel: Channel, on: bool) -> tuple[Span, ...]:
    return spans(channel.t, (channel.values != 0.0) == on, log.dt)


def fault_list(log: Logged) -> list[Mapping[str, object]]:
    """The faults of the scenario, as they stand there."""
    data = log.said.scenario.data.get("faults") if log.said.scenario else None
    return [entry for entry in data if isinstance(entry, dict)] if isinstance(data, list) else []
