"""Where the signals of a machine stand in the log of a live run whose loops and pipeline are nodes of the robot, not parts of its world.

The machine calls them as its whole world does (v_req, diag.loss_s.clamp); the log has them below the topic of the node that told them
(controller/autopilot/STEERING/Steering.v_req). By the machine's names a live run is read, drawn and laid beside a simulated one like any other.
"""

import re
from collections.abc import Mapping

from pushrod.core.record import numbers
from pushrod.log.table import Channel
from pushrod.pipeline.names import TOPICS
from pushrod.report.said import Said

ASKED = re.compile(r"/actuator/.+|.+/request")  # what others want, not what a node tells
OF_WORLD = ("/out", "/in")  # as many messages as the run has ticks, both of them


def standing(said: Said, channels: Mapping[str, Channel]) -> dict[str, str]:
    """The name that a channel has in the log, by that which the machine has for it; only of signals that are not there by their own."""
    if said.world is None or said.machine is None or not said.machine.data.get("live"):
        return {}
    told = [channel for channel in channels.values() if channel.source not in OF_WORLD and not ASKED.fullmatch(channel.source)]
    found = {}
    for leaf in numbers(said.world.Out):
        if leaf.path not in channels and (name := _find(leaf.path, str(getattr(leaf.meta, "unit", "")), told)) is not None:
            found[leaf.path] = name
    return found


def _find(path: str, unit: str, told: list[Channel]) -> str | None:
    """The channel whose name ends like the path, as much of it as there is; what a pipeline tells under its own topic comes first."""
    words = path.split(".")
    for first in range(len(words)):
        tail = "." + ".".join(words[first:])
        if found := [channel for channel in told if channel.name.endswith(tail) and channel.unit == unit]:
            return min(found, key=lambda channel: (channel.source not in TOPICS, len(channel.name))).name
    return None
