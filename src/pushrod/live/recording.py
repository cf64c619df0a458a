"""What became of the commands of a live run, as plain data for its log."""

from typing import Any

import msgspec

from pushrod.live.run import Live, payload_of
from pushrod.log.writer import Attachment


def commands_file(run: Live) -> Attachment:
    """commands.json, as `commands_of` tells it."""
    return Attachment("commands.json", "application/json", msgspec.json.format(msgspec.json.encode(commands_of(run)), indent=2).decode())


def commands_of(run: Live) -> dict[str, Any]:
    """Every command with its answer and the end of its motion, and what was sent every tick in figures."""
    return {
        "commands": [
            {
                "at": a.command.k * run.machine.dt,
                "to": a.command.to,
                "id": a.command.id,
                "command": payload_of(a.command),
                "answer": a.result,
                "ended": a.ended,
                "end": a.end,
            }
            for a in run.answers
        ],
        "streams": [s._asdict() for s in run.streams],
    }
