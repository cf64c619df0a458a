"""What an operator follows of its host: its clock, and, where that is stepped, its ticks."""

import asyncio
import inspect
import threading
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any

import zenoh
from zenoh.handlers import Callback

from pushrod.net import key
from pushrod.net.offset import Estimate
from pushrod.net.wire import Failure, Reply, Value, decode, encode

if TYPE_CHECKING:
    from pushrod.net.remote import RemoteRobot

AGAIN = 0.1  # [s] after which a host that is back is asked once more how it is
OVER = -1  # the tick that says there are no more


def exchange_time(session: zenoh.Session, name: str, estimate: Estimate, times: int = 1) -> None:
    """Ask the host what time it is, so often, under the key of its clock."""
    for _ in range(times):
        t1 = monotonic()
        replies = session.get(name, timeout=1.0, express=True, priority=zenoh.Priority.REAL_TIME, allowed_destination=zenoh.Locality.REMOTE)
        for reply in replies:
            t4 = monotonic()
            if reply.ok is not None:
                t2, t3 = decode(reply.ok.payload.to_bytes(), tuple[float, float])
                estimate.add(t1, t2, t3, t4)
            break


def follow(remote: "RemoteRobot", estimate: Estimate, closing: threading.Event, waking: threading.Event) -> None:
    """As long as the connection lasts: clocks drift apart, and commands of which nothing is heard must not be waited for."""
    clock = key.at(key.of(remote.robot, "clock"), remote.hello.instance)
    while not closing.is_set():
        waking.wait(AGAIN if remote.unsure and remote.alive else 1.0)
        waking.clear()
        if closing.is_set():
            return
        try:
            remote.courier.sweep()
            remote.look_again()
            if remote.alive and not remote.description.stepped:
                exchange_time(remote.bus.session.zenoh, clock, estimate)
        except zenoh.ZError:
            return  # closed meanwhile


async def follow_steps(remote: "RemoteRobot", tick: Callable[[int], Any]) -> int:
    """Answer every tick of the host when what is to be done in it is done."""
    loop = asyncio.get_running_loop()
    ticks: asyncio.Queue[zenoh.Query | None] = asyncio.Queue()

    def put(query: zenoh.Query | None) -> None:
        with suppress(RuntimeError):  # its loop has ended
            loop.call_soon_threadsafe(ticks.put_nowait, query)

    name = key.of(remote.robot, "step", key.word(remote.operator))
    served = remote.bus.session.zenoh.declare_queryable(name, Callback(put, indirect=False), complete=True, allowed_origin=zenoh.Locality.REMOTE)

    def gone(alive: bool) -> None:
        if not alive:
            put(None)

    remote.host_changed.append(gone)
    count = 0
    try:
        while (query := await ticks.get()) is not None:
            assert query.payload is not None
            k, time = decode(query.payload.to_bytes(), tuple[int, float])
            with query:
                if k == OVER:
                    query.reply(name, encode(Reply(Value())))
                    return count
                remote.at_tick(time)
                try:
                    if inspect.isawaitable(given := tick(k)):
                        await given
                except BaseException as error:
                    query.reply(name, encode(Reply(Failure("PushrodError", f"{type(error).__name__}: {error}"))), express=True)
                    raise
                query.reply(name, encode(Reply(Value())), express=True)
            count += 1
        return count
    finally:
        remote.host_changed.remove(gone)
        with suppress(zenoh.ZError):
            served.undeclare()  # type: ignore[no-untyped-call]
