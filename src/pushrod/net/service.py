"""Requests beside commands: one table of handlers for operators that may command, one of questions that observers may ask."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from pushrod.core.errors import InputError, ParameterError, PushrodError, UnknownNameError
from pushrod.core.names import find
from pushrod.net import told
from pushrod.net.operators import Operators
from pushrod.net.stop_request import StopRequest, usable_limit
from pushrod.net.wire import Failure
from pushrod.robot.urdf_text import to_urdf
from pushrod.runtime.asked import is_question
from pushrod.runtime.delivery import CommandTimeout
from pushrod.runtime.part import DriverError
from pushrod.runtime.runtime import Runtime
from pushrod.runtime.stop import LIMIT, error_text
from pushrod.runtime.turns import BusyError

SAFETY = ("arm", "force_disarm", "reset", "clear_watchdog", "acknowledge")  # published with their operator, as stops are
LONGEST_REQUEST = 3600.0  # [s] that a part may take to answer
NAME = 64  # characters of an unknown name that are repeated in an answer

# errors that are the same at both ends; all else arrives as a PushrodError with its text
ERRORS: dict[str, type[Exception]] = {
    kind.__name__: kind for kind in (BusyError, CommandTimeout, DriverError, InputError, LookupError, PushrodError, TimeoutError, UnknownNameError)
}


class Service:
    def __init__(self, rt: Runtime, operators: Operators) -> None:
        self._rt = rt
        self._operators = operators
        self._handlers: dict[str, Callable[..., Any]] = {
            "arm": lambda who: rt.arm()._asdict(),
            "disarm": lambda who, why, limit: _plain(rt.disarm(f"{why}, by {who}", limit)),
            "estop": lambda who, cause: _plain(rt.estop(f"{cause}, by {who}")),
            "force_disarm": lambda who, limit=LIMIT: _plain(rt.force_disarm(usable_limit(limit) or LIMIT)),
            "reset": lambda who: rt.reset()._asdict(),
            "clear_watchdog": lambda who, address: rt.clear_watchdog(address),
            "take_lease": lambda who, address, seconds, priority: rt.handle(address, who).take_lease(seconds, priority).ok,
            "lease": lambda who, address, seconds, priority: rt.handle(address, who).take_lease(seconds, priority)._asdict(),
            "release_lease": lambda who, address: rt.handle(address, who).release_lease(),
            "set_parameters": lambda who, values: rt.parameters.set_many(values, who),
            "request": self._request,
            "acknowledge": lambda who: [str(record) for record in rt.acknowledge()],
        }
        self._answers: dict[str, Callable[..., Any]] = {
            "overview": lambda: told.overview(rt, operators.seats),
            "parameters": self._parameters,
            "missing": rt.missing,
            "robot": lambda: to_urdf(rt.robot),
            "ended": lambda address, id: rt.handle(address).host.ended.get(id),
        }

    def check_name(self, what: str) -> None:
        """UnknownNameError where there is no handler of this name."""
        find(self._handlers, what[:NAME], "request")

    def check_question(self, what: str) -> None:
        find(self._answers, what[:NAME], "question")

    def do(self, what: str, operator: str, arguments: Mapping[str, Any]) -> Any:
        answer = find(self._handlers, what, "request")(operator, **arguments)
        if what in SAFETY:
            self._report(what, operator, "", answer)
        return answer

    def stop(self, what: str, operator: str, request: StopRequest) -> dict[str, Any]:
        """Disarm or e-stop; the answer lists what was ignored of the request."""
        answer: dict[str, Any] = self._handlers[what](operator, **request.arguments)
        self._report(what, operator, request.arguments["cause" if what == "estop" else "why"], answer)
        return answer | {"ignored": request.ignored}

    def _report(self, what: str, operator: str, reason: str, answer: Any) -> None:
        ok, refusal = (answer["ok"], _refusal(answer) or _failures(answer)) if isinstance(answer, dict) else (True, "")
        self._rt.report_request(what, operator, reason, ok, refusal)

    def tell(self, what: str, arguments: Mapping[str, Any]) -> Any:
        return find(self._answers, what, "question")(**arguments)

    def _request(self, who: str, part: str, request: Any, timeout: float) -> Any:
        rt, timeout = self._rt, _checked("timeout", timeout, LONGEST_REQUEST)
        asked = rt.nodes[part].part if part in rt.nodes else rt.handle(part).host.part
        if part in rt.nodes and not is_question(request):
            self._operators.asked(who, part)
        try:
            return asked.request(request, who).result(timeout)
        except TimeoutError:
            raise TimeoutError(f"{asked.name} has not answered the request {request!r:.60} within {timeout:g} s; give it more time") from None

    def _parameters(self, prefix: str = "") -> list[dict[str, Any]]:
        kept = ("path", "unit", "lo", "hi", "doc")
        return [
            {"value": entry.value, "source": entry.source} | {name: getattr(entry.parameter, name, None) for name in kept}
            for entry in self._rt.parameters.list(prefix)
        ]


def _checked(name: str, seconds: Any, longest: float) -> float:
    """A NaN or an infinite time would wait forever."""
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0.0 <= seconds <= longest:
        raise InputError(f"{name} = {seconds!r} s; allowed are 0 to {longest:g} s.")
    return float(seconds)


def _refusal(answer: Mapping[str, Any]) -> str:
    """Return why arming or a reset was refused: what blocks it, where that is known."""
    refusal = str(answer.get("refusal") or "")
    return "; ".join(answer.get("missing", ())) if refusal == "checks" else refusal.replace("_", " ")


def _failures(answer: Mapping[str, Any]) -> str:
    return "; ".join(f"{path}: {text}" for path, text in answer.get("failures", {}).items())


def failure(error: BaseException) -> Failure:
    if isinstance(error, ParameterError):
        return Failure("ParameterError", str(error), error.problems)
    kind = next((name for name, one in ERRORS.items() if type(error) is one), "")
    if isinstance(error, msgspec.DecodeError):
        return Failure("InputError", f"what was sent cannot be understood: {error}")
    return Failure(kind or "PushrodError", str(error) if kind else f"the host raised {error_text(error)}")


def raised(sent: Failure) -> Exception:
    """The error that the host raised, to be raised here."""
    if sent.kind == "ParameterError":
        return ParameterError([*sent.problems])
    return ERRORS.get(sent.kind, PushrodError)(sent.text)


def _plain(answer: Any) -> dict[str, Any]:
    return {name: dict(value) if isinstance(value, Mapping) else value for name, value in answer._asdict().items()}
