"""A request to a part and its answer, as one message: so that what operators ask of controllers is known and recorded like commands."""

from concurrent.futures import Future
from typing import Any

import msgspec

from pushrod.runtime.message import Requested

TOPIC = "request"  # below that of the part
STOPS = ("disarm", "estop")
SAFETY = ("state_machine", TOPIC)  # of requests to arm, stop, reset and acknowledge


def is_question(request: Any) -> bool:
    """A word asks for an answer alone."""
    return isinstance(request, str)


def requested(request: Any, source: str, answer: "Future[Any]") -> Requested:
    """What became of it. An answer that says that it is not ok (`Switched`) refuses, and so does whatever is raised."""
    kind = str(request.get("type", "request")) if isinstance(request, dict) else type(request).__name__
    error = answer.exception()
    if error is not None:
        return Requested(kind, _plain(request), source, "refused", str(error) or type(error).__name__)
    told = answer.result()
    if getattr(told, "ok", True):
        return Requested(kind, _plain(request), source, "accepted")
    return Requested(kind, _plain(request), source, "refused", str(getattr(told, "why", "")))


def _plain(request: Any) -> Any:
    try:
        return msgspec.to_builtins(request, enc_hook=repr)
    except (TypeError, ValueError, RecursionError):  # a driver may be asked with anything
        return repr(request)[:200]


def safety_request_text(request: Requested) -> str:
    """Return a line for logs: what, by whom, for which reason, and the result."""
    reason = f" ({request.payload['reason']})" if request.payload.get("reason") else ""
    detail = f" ({request.reason})" if request.reason else ""
    result = "carried out, not proven safe" if request.kind in STOPS and detail else request.result
    return f"{request.kind} by {request.source}{reason}: {result}{detail}"
