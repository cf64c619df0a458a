"""Time stamps of requests: only those that can be judged are judged as fresh."""

import asyncio
import time
from typing import Any

import pytest
from net_rig import HostProcess

from pushrod.net import connect, key
from pushrod.net.offset import Estimate
from pushrod.net.sent_time import duration_problem, time_problem
from pushrod.net.wire import Answered, Ask, BatchAsk, CommandAsk, Reply, Value, decode, encode, pack
from pushrod.runtime import Hold, Stop, Velocity

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("sent", "doubt", "reason"),
    [
        (100.0, 0.01, None),
        (99.6, 0.0, None),
        (100.005, 0.01, None),
        (NAN, 0.0, "malformed"),
        (INF, 0.0, "malformed"),
        (-INF, 0.0, "malformed"),
        (100.0, NAN, "malformed"),
        (100.0, INF, "malformed"),
        (100.0, -1.0, "malformed"),
        (100.0, 1e9, "malformed"),
        (0.0, 100.0, "malformed"),
        (101.0, 0.01, "malformed"),
        (1e300, 0.0, "malformed"),
        (99.0, 0.01, "stale"),
        (0.0, 0.0, "stale"),
    ],
)
def test_a_time_stamp_is_fresh_stale_or_malformed(sent, doubt, reason):
    problem = time_problem(sent, doubt, now=100.0, longest=0.5)
    assert (problem and problem[0]) == reason


@pytest.mark.parametrize("seconds", [NAN, INF, -INF, -1.0])
def test_a_duration_is_finite_and_not_negative(seconds):
    assert "allowed are finite times" in duration_problem("validity", seconds)
    assert duration_problem("validity", 0.5) == ""


def test_an_exchange_with_a_time_that_is_not_finite_is_ignored():
    estimate = Estimate()
    for t2 in (NAN, INF):
        estimate.add(0.0, t2, t2, 0.1)
    assert estimate.at(1.0).doubt == INF
    estimate.add(0.0, 5.0, 5.0, 0.1)
    estimate.add(0.0, NAN, NAN, 0.1)
    assert abs(estimate.at(0.1).seconds - 4.95) < 1e-9


def test_what_cannot_be_judged_is_refused_and_a_stop_acts_all_the_same():
    async def main() -> None:
        with HostProcess() as host:
            async with await connect("arm", host.link(), operator="ann") as remote:
                session, path, answers = remote.bus.session.zenoh, remote["elbow_motor"].path, []
                listening = session.declare_subscriber(
                    key.of("arm", "answer", "ann", remote.session_id), lambda s: answers.append(s.payload.to_bytes())
                )
                number = 1000

                async def sent(payload: Any, **changed: Any) -> Any:
                    nonlocal number
                    number += 1
                    now, doubt = remote.host_time(time.monotonic())
                    fields = {"sent": now, "doubt": doubt, "origin": now, "validity": 0.0, "timeout": 1.0} | changed
                    ask = CommandAsk(
                        remote.session_id,
                        number,
                        fields["sent"],
                        fields["doubt"],
                        pack(payload),
                        fields["origin"],
                        fields["validity"],
                        0,
                        0,
                        0,
                        None,
                        False,
                        fields["timeout"],
                    )
                    answers.clear()
                    session.put(key.ask("arm", "ann", "actuator", *path), encode(ask))
                    for _ in range(500):
                        if answers:
                            return decode(answers[0], Answered).answer
                        await asyncio.sleep(0.01)
                    raise AssertionError("no answer")

                assert not hasattr(await sent(Velocity(0.1)), "reason")
                odd: list[dict[str, float]] = [
                    {"sent": NAN},
                    {"sent": INF},
                    {"sent": 1e12},
                    {"doubt": NAN},
                    {"doubt": INF},
                    {"doubt": 1e6, "sent": 0.0},
                    {"validity": NAN},
                    {"validity": INF},
                    {"timeout": NAN},
                    {"origin": NAN, "validity": 0.1},
                    {"origin": INF, "validity": 0.1},
                ]
                for fields in odd:
                    answer = await sent(Velocity(0.1), **fields)
                    assert answer.reason in ("malformed", "stale"), (fields, answer)
                    assert not hasattr(await sent(Stop(), **fields), "reason"), fields
                for n, at in ((9000, NAN), (9001, INF)):
                    batch = BatchAsk(remote.session_id, n, at, 0.0, (("elbow_motor", pack(Hold()), None),), 0.0)
                    arm = Ask(remote.session_id, n, at, 0.0)
                    for name, body in ((key.ask("arm", "ann", "send"), encode(batch)), (key.ask("arm", "ann", "do", "arm"), encode(arm))):
                        replies = await asyncio.to_thread(lambda name=name, body=body: list(session.get(name, payload=body, timeout=5.0)))
                        answer = decode(replies[0].ok.payload.to_bytes(), Reply).answer
                        reason = answer.value[0][1] if isinstance(answer, Value) else answer.reason
                        assert reason == "malformed", answer
                listening.undeclare()

    asyncio.run(main())
