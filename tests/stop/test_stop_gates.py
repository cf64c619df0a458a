"""Gates under stops: a revoked permit is never valid again, and no order of a stop and an arming leaves a gate open."""

import threading
from typing import Any

import pytest
from stop_bench import ScriptedLock, gate_named, is_held, position

from pushrod.runtime import gate as module
from pushrod.runtime.gate import Gate, Permit, close_all
from pushrod.runtime.message import Command
from pushrod.runtime.payload import Position
from pushrod.runtime.result import Accepted, Declined, Refused


def armed(handle: Any = lambda payload, command: None, **options: Any) -> Gate:
    gate = gate_named("a", handle, **options)
    assert gate.open(1, None)
    return gate


def reason(result: Any) -> tuple[str, str]:
    assert isinstance(result, Refused)
    return result.reason, result.detail


def test_a_new_gate_admits_nothing() -> None:
    gate = gate_named("a")
    assert gate.epoch == 0
    assert gate.offered.epoch == 0
    assert gate.holder == 0
    assert reason(gate(position())) == ("not_armed", "")


def test_a_permit_carries_its_epoch_and_nothing_else() -> None:
    assert Permit(3).epoch == 3
    with pytest.raises(AttributeError):
        Permit(3).other = 1  # type: ignore[attr-defined]


def test_an_open_gate_admits_commands_of_its_epoch() -> None:
    gate = armed()
    assert gate.epoch == 1
    assert isinstance(gate(position()), Accepted)
    assert isinstance(gate(position(epoch=1)), Accepted)
    assert reason(gate(position(epoch=2))) == ("epoch", "")


def test_opening_forgets_what_belonged_to_the_last_arming() -> None:
    gate = armed()
    gate(Command(Position(1.0), "test", 0.0, sequence=5))
    gate.out = "the robot is in error"
    gate.close("stop")
    assert gate.open(2, "stop")
    assert (gate.out, gate.seen, gate.acted_before, gate.epoch) == ("", {}, 1, 2)


def test_a_closed_gate_refuses_and_names_the_cause() -> None:
    gate = armed()
    permit = gate.permit
    gate.close("stop")
    gate.out = "the robot is e-stopped"
    assert (permit.epoch, gate.epoch, gate.closed_by) == (0, 0, "stop")
    assert reason(gate(position())) == ("not_armed", "the robot is e-stopped")


def test_a_command_of_an_earlier_arming_is_refused() -> None:
    gate = armed()
    permit, prepared = gate.permit, gate.prepare(position())
    gate.close("stop")
    assert gate.open(2, "stop")
    assert reason(gate.deliver(permit, prepared)) == ("epoch", "")
    assert reason(gate(position(epoch=1))) == ("epoch", "")


def test_a_gate_stays_closed_if_a_stop_came_since() -> None:
    gate = gate_named("a")
    gate.close("first")
    since = gate.closed_by
    gate.close("second")
    assert not gate.open(1, since)
    assert (gate.epoch, gate.offered.epoch) == (0, 0)
    assert reason(gate(position())) == ("not_armed", "")


def test_a_stop_revokes_a_permit_that_is_only_offered() -> None:
    gate = armed()
    permit, offered = gate.permit, Permit(4)
    gate.offered = offered
    gate.close("stop")
    assert (permit.epoch, offered.epoch) == (0, 0)


def test_a_stop_between_offer_and_grant_leaves_the_gate_closed() -> None:
    gate = gate_named("a")

    class Seen(dict[str, int]):
        def clear(self) -> None:
            gate.close("stop")

    gate.seen = Seen()
    gate.open(1, None)
    assert gate.epoch == 0
    assert reason(gate(position())) == ("not_armed", "")


def test_close_all_closes_these_gates_and_no_others() -> None:
    gates = [armed() for _ in range(3)]
    close_all(gates[:2], "stop")
    assert [gate.epoch for gate in gates] == [0, 0, 1]
    assert [gate.closed_by for gate in gates] == ["stop", "stop", None]


# the check immediately before the driver


def stopping_check(gate_of: list[Gate], how: str) -> Any:
    """A driver's hook during which a stop comes: after admission, before the driver is called."""

    def check(payload: Any, command: Command) -> None:
        gate = gate_of[0]
        if how == "stop":
            gate.close("stop")
        else:
            gate.fuse = b"\1"
        gate.out = f"closed by {how}"

    return check


@pytest.mark.parametrize("how", ["stop", "guard"])
@pytest.mark.parametrize("id", [None, "m1"])
def test_a_stop_after_admission_keeps_the_command_from_the_driver(how: str, id: str | None) -> None:
    moved: list[Any] = []
    gates: list[Gate] = []
    gates.append(armed(lambda payload, command: moved.append(payload), check=stopping_check(gates, how)))
    assert reason(gates[0](position(id=id))) == ("not_armed", "closed by stop" if how == "stop" else "the guard has disarmed it")
    assert moved == []
    assert gates[0].acted == 0
    assert not gates[0].motions.open
    assert not is_held(gates[0].lock)


def test_once_the_guard_has_disarmed_nothing_is_admitted() -> None:
    gate = armed()
    gate.fuse = b"\1"
    assert reason(gate(position())) == ("not_armed", "the guard has disarmed it")
    assert gate.epoch == 0
    assert gate.closed_by is gate.fuse
    gate.out = "the robot is in error"
    assert reason(gate(position())) == ("not_armed", "the robot is in error")  # the later reason stays


def test_the_driver_of_a_closed_gate_is_not_asked() -> None:
    asked: list[Any] = []
    gate = armed(check=lambda payload, command: asked.append(payload))
    gate.close("stop")
    assert reason(gate(position())) == ("not_armed", "")
    assert asked == []


def test_a_driver_that_is_not_running_is_reported_before_the_arming() -> None:
    gate = armed()
    gate.stopped = "it was left out"
    assert reason(gate(position())) == ("stopped", "it was left out")


# the lock as a fence


def test_a_busy_driver_is_waited_for_within_a_limit() -> None:
    gate = armed()
    gate.lock = lock = ScriptedLock(False, False)  # type: ignore[assignment]
    assert reason(gate(position())) == ("busy", "")
    assert lock.limits == [0.0, 0.05]
    assert (lock.held, gate.holder) == (0, 0)
    gate.lock = lock = ScriptedLock(False, True)  # type: ignore[assignment]
    assert isinstance(gate(position()), Accepted)
    assert lock.limits == [0.0, module.PATIENCE]
    assert lock.held == 0


def test_a_command_holds_the_lock_while_the_driver_runs_and_gives_it_back() -> None:
    seen: list[Any] = []
    gate = armed(lambda payload, command: seen.append((is_held(gate.lock), gate.holder)))
    gate(position())
    assert seen == [(True, threading.get_ident())]
    assert (is_held(gate.lock), gate.holder) == (False, 0)


def test_a_driver_that_ends_the_program_gives_the_lock_back() -> None:
    def handle(payload: Any, command: Command) -> None:
        raise KeyboardInterrupt

    failed: list[BaseException] = []
    gate = armed(handle, failed=failed.append)
    with pytest.raises(KeyboardInterrupt):
        gate(position())
    assert (is_held(gate.lock), gate.holder, gate.epoch) == (False, 0, 0)
    assert [type(error) for error in failed] == [KeyboardInterrupt]


def test_a_driver_that_raises_closes_its_gate() -> None:
    error = OSError("no link")

    def handle(payload: Any, command: Command) -> None:
        raise error

    failed: list[BaseException] = []
    gate = armed(handle, failed=failed.append)
    assert reason(gate(position())) == ("driver_error", "OSError: no link")
    assert (gate.epoch, gate.closed_by, failed) == (0, error, [error])


@pytest.mark.parametrize("id", [None, "m1"])
def test_a_driver_that_declines_keeps_its_gate_open(id: str | None) -> None:
    def handle(payload: Any, command: Command) -> None:
        raise Declined("not now")

    gate = armed(handle)
    assert reason(gate(position(id=id))) == ("declined", "not now")
    assert gate.epoch == 1
    assert not gate.motions.open


def test_a_driver_that_commands_itself_is_refused_at_once() -> None:
    answers: list[Any] = []
    gate = armed(lambda payload, command: answers.append(gate(position())))
    assert isinstance(gate(position()), Accepted)
    assert reason(answers[0]) == ("busy", "")
