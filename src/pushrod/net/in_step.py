"""A stepped clock and a commander in another process: at every tick time stands still until the commander has done what it wants to do in it.

What it asks for meanwhile acts in that tick, in the order it came, by the thread that moves the clock. So a run repeats to the last bit, however long
the network takes.
"""

import time
from contextlib import suppress
from typing import Any

import zenoh
from zenoh.handlers import Callback

from pushrod.core.errors import InputError, NetworkError
from pushrod.net import key
from pushrod.net.exposure import Exposure
from pushrod.net.following import OVER
from pushrod.net.wire import Failure, Reply, decode, encode
from pushrod.runtime.cadence import Cadence

PATIENCE = 10.0  # [s] of real time


def in_step(exposure: Exposure, operator: str, hz: float, patience: float = PATIENCE) -> Cadence:
    """A loop of the runtime in which this operator commands; the operator calls `remote.in_step`.

    One that does not answer in time, or fails, ends it: the robot is disarmed, and the error comes when the runtime ends.
    """
    rt, inbox = exposure.rt, exposure.inbox
    if inbox is None:
        raise InputError(f"{rt.robot.name} runs on the wall clock, which waits for nobody: in_step needs Runtime(..., clock=SteppedClock())")
    name = key.of(rt.robot.name, "step", key.word(operator))
    querier = exposure.bus.session.zenoh.declare_querier(
        name, target=zenoh.QueryTarget.ALL, consolidation=zenoh.ConsolidationMode.NONE, timeout=patience, express=True
    )

    def tick(k: int) -> None:
        if k == 0:
            _await_commander(querier, operator, patience)
        answers: list[bytes | None] = []

        def came(reply: Any) -> None:
            if reply.ok is not None:
                answer = reply.ok.payload.to_bytes()
                inbox.put(lambda: answers.append(answer))  # after all that came before it

        def over() -> None:
            inbox.put(lambda: answers.append(None))

        reply_to: Callback[zenoh.Reply] = Callback(came, over, indirect=False)
        querier.get(reply_to, payload=encode((k, rt.clock.now())))
        inbox.serve(lambda: bool(answers), patience)
        if not answers or answers[0] is None:
            raise NetworkError(f"the commander {operator} has not answered tick {k} within {patience:g} s, or has vanished")
        answer = decode(answers[0], Reply).answer
        if isinstance(answer, Failure):
            raise NetworkError(f"the commander {operator} failed in tick {k}: {answer.text}")

    def end() -> None:
        unheard: Callback[zenoh.Reply] = Callback(_unheard, indirect=False)
        with suppress(zenoh.ZError):
            querier.get(unheard, payload=encode((OVER, rt.clock.now())))

    exposure.endings.append(end)
    return rt.loop(hz, f"in step with {operator}")(tick)


def _await_commander(querier: zenoh.Querier, operator: str, patience: float) -> None:
    end = time.monotonic() + patience
    while not querier.matching_status.matching:  # type: ignore[attr-defined]
        if time.monotonic() >= end:
            raise NetworkError(f"no commander {operator!r} came within {patience:g} s: let it connect and call `remote.in_step`")
        time.sleep(0.002)


def _unheard(_: zenoh.Reply) -> None:
    """Whoever is told that it is over need not answer."""
