"""What a host does and tells beside commands: one table of deeds, one of what may be known by whoever watches."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from pushrod.core.errors import InputError, ParameterError, PushrodError, UnknownNameError
from pushrod.core.names import find
from pushrod.net import told
from pushrod.net.operators import Operators
from pushrod.net.wire import Ask, Failure
from pushrod.robot.urdf_text import to_urdf
from pushrod.runtime.arming import LIMIT
from pushrod.runtime.asked import is_question
from pushrod.runtime.delivery import CommandTimeout
from pushrod.runtime.part import BusyError, DriverError
from pushrod.runtime.runtime import Runtime

# errors that are the same at both ends; all else arrives as a PushrodError with its text
ERRORS: dict[str, type[Exception]] = {
    kind.__name__: kind for kind in (BusyError, CommandTimeout, DriverError, InputError, LookupError, PushrodError, TimeoutError, UnknownNameError)
}


class Service:
    def __init__(self, rt: Runtime, operators: Operators) -> None:
        self._rt = rt
        self._operators = operators
        self._deeds: dict[str, Callable[..., Any]] = {
            "arm": lambda who: rt.arm()._asdict(),
            "disarm": lambda who, why="asked", limit=LIMIT: _plain(rt.disarm(f"{why}, by {who}", limit)),
            "estop": lambda who, cause: _plain(rt.estop(f"{cause}, by {who}")),
            "force_disarm": lambda who, limit=LIMIT: _plain(rt.force_disarm(limit)),
            "reset": lambda who: rt.reset()._asdict(),
            "clear_watchdog": lambda who, address: rt.clear_watchdog(address),
            "take_lease": lambda who, address, seconds, priority: rt.handle(address, who).take_lease(seconds, priority).ok,
            "lease": lambda who, address, seconds, priority: rt.handle(address, who).take_lease(seconds, priority)._asdict(),
            "release_lease": lambda who, address: rt.handle(address, who).release_lease(),
            "set_parameters": lambda who, values: rt.parameters.set_many(values, who),
            "request": self._request,
            "acknowledge": lambda who: [str(record) for record in rt.acknowledge()],
        }
        self._tells: dict[str, Callable[..., Any]] = {
            "overview": lambda: told.overview(rt, operators.seats),
            "parameters": self._parameters,
            "missing": rt.missing,
            "robot": lambda: to_urdf(rt.robot),
            "ended": lambda address, id: rt.handle(address).host.ended.get(id),
        }

    def do(self, what: str, operator: str, ask: Ask) -> Any:
        return find(self._deeds, what, "deed")(operator, **ask.arguments)

    def tell(self, what: str, arguments: Mapping[str, Any]) -> Any:
        return find(self._tells, what, "matter to tell of")(**arguments)

    def _request(self, who: str, part: str, request: Any, timeout: float) -> Any:
        rt = self._rt
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


def failure(error: Exception) -> Failure:
    if isinstance(error, ParameterError):
        return Failure("ParameterError", str(error), error.problems)
    kind = next((name for name, one in ERRORS.items() if type(error) is one), "")
    if isinstance(error, msgspec.DecodeError):
        return Failure("InputError", f"what was sent cannot be understood: {error}")
    return Failure(kind or "PushrodError", str(error) if kind else f"the host raised {type(error).__name__}: {error}")


def raised(sent: Failure) -> Exception:
    """The error that the host raised, to be raised here."""
    if sent.kind == "ParameterError":
        return ParameterError([*sent.problems])
    return ERRORS.get(sent.kind, PushrodError)(sent.text)


def _plain(answer: Any) -> dict[str, Any]:
    return {name: dict(value) if isinstance(value, Mapping) else value for name, value in answer._asdict().items()}
