"""Several commands as one: all are admitted and none is declined, then all act; or none does.

With every gate locked, in the order of names and each with a time limit, every gate admits its command and every driver is asked whether it declines
(`check_command`); only then the first one acts. A driver without that hook that declines while it acts cannot undo what has acted before it: the
commands after it are refused, and the answers say which ones acted.
"""

from collections.abc import Sequence, Set

from pushrod.runtime.door import enter, is_inside, leave_all
from pushrod.runtime.gate import BUSY, PATIENCE, Gate, Refusal
from pushrod.runtime.message import Command
from pushrod.runtime.result import Refused, Result

Batch = Sequence[tuple[Gate, Command]]


def send(batch: Batch, blocking: Set[Gate] = frozenset()) -> tuple[list[Command], list[Result]]:
    """Return the commands with plain numbers, and their results. A driver that blocks cannot act at the same time as others: it is refused."""
    permits = [gate.permit for gate, _ in batch]
    prepared = [gate.prepare(command) for gate, command in batch]
    commands = [one.command for one in prepared]
    gates = [gate for gate, _ in batch]
    if blocking:
        return commands, _refuse(gates, commands, {i: ("blocking", "") for i, gate in enumerate(gates) if gate in blocking}, {})
    entered: list[Gate] = []
    acted: dict[int, Result] = {}
    refusals: dict[int, Refusal] = {}
    try:
        for i in sorted(range(len(gates)), key=lambda i: gates[i].name):
            if gates[i] not in entered:
                if is_inside(gates[i]):
                    refusals[i] = BUSY
                    break
                entered.append(gates[i])
                if not enter(gates[i], PATIENCE):
                    refusals[i] = BUSY
                    break
        else:
            refusals = {i: refusal for i, gate in enumerate(gates) if (refusal := gate.admit(permits[i], prepared[i]))}
            refusals = refusals or {i: refusal for i, gate in enumerate(gates) if (refusal := gate.checked(prepared[i]))}
            for i, gate in enumerate(() if refusals else gates):
                answer = gate.act(permits[i], prepared[i], asked=True)
                if isinstance(answer, tuple):
                    refusals[i] = answer
                    break
                acted[i] = answer
    finally:
        try:
            leave_all(entered)
        except BaseException:  # interrupted before it had begun
            leave_all(entered)
            raise
    return commands, _refuse(gates, commands, refusals, acted) if refusals else list(acted.values())


def _refuse(gates: Sequence[Gate], commands: Sequence[Command], refusals: dict[int, Refusal], acted: dict[int, Result]) -> list[Result]:
    """Each of `refusals` has its own reason; the others that have not acted are refused for the batch."""
    refused: dict[int, Refused] = {i: gates[i].refuse(reason, commands[i], detail) for i, (reason, detail) in refusals.items()}
    first = next(iter(refused.values())).actuator
    before = f" after {', '.join(gates[i].name for i in acted)} had acted" if acted else ""
    rest = f"{first} was refused{before}"
    return [acted.get(i) or refused.get(i) or gate.refuse("batch", commands[i], rest) for i, gate in enumerate(gates)]
