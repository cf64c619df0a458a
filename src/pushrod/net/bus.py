"""The bus over the network: what is published here is heard here at once, as in one process, and by whoever listens elsewhere.

A publisher never waits: what the network cannot take is dropped, and whoever misses it counts it. What nobody elsewhere listens to is not even
packed. Own messages do not come back from the network. Whoever comes late and asks for it gets the newest message of each topic and kind from every
bus.
"""

import logging
import secrets
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

import zenoh
from msgspec import Raw
from zenoh.handlers import Callback

from pushrod.core.errors import InputError
from pushrod.net import key
from pushrod.net.bounded import remember
from pushrod.net.glance import Glance
from pushrod.net.lane import Lane
from pushrod.net.link import Link
from pushrod.net.outlet import Outlet
from pushrod.net.session import Session
from pushrod.net.wire import Frame, Kinds, body_of, decode, encode
from pushrod.runtime.bus import Bus, LocalBus, Policy, Subscription, Topic, TopicStatistics, kind_of, topic_of
from pushrod.runtime.message import Message, Outcome
from pushrod.runtime.pace import Pace

log = logging.getLogger("pushrod.net")
ASKED_FOR = 1024  # keys that are remembered to have been asked for
KEYS = 20_000  # keys and buses whose messages are counted; beyond that the oldest is forgotten
NOTHING_OLD = "new"  # asked by whoever wants only what is published from now on
AGAIN = 0.3  # [s] after which what is old is asked for once more
LATE = 2.0  # [s] that others have to tell their newest messages
Name = tuple[str, Topic, str, str]  # robot, topic, type, and what an outcome is about


class _Heard:
    """What came in under one key from one bus."""

    __slots__ = ("age_from", "count", "last", "missed", "n", "pace")

    def __init__(self, time: float, now: float) -> None:
        self.count = self.missed = self.n = 0
        self.pace = Pace()
        self.last = time
        self.age_from = now


class ZenohBus(Bus):
    """`kinds`: types of messages that this program knows beside the runtime's own, every payload class, and those it subscribes to by type."""

    def __init__(self, link: Link, *, now: Callable[[], float] = time.monotonic, kinds: Iterable[type] = ()) -> None:
        self.session = Session(link)
        self.link = link
        self.kinds = Kinds(kinds)
        self.name = secrets.token_hex(4)
        self._now = now
        self._local = LocalBus(now)
        self._lock = threading.Lock()
        self._outlets: dict[Name, tuple[Outlet, Outlet]] = {}  # for those who listen to all, and for those who only look on
        self._hosted: set[str] = set()
        self._inlets: dict[int, tuple[Subscription, list[Any]]] = {}
        self._again: dict[int, threading.Timer] = {}
        self._heard: dict[tuple[str, str], _Heard] = {}
        self._parsed: dict[str, tuple[str, str, Topic]] = {}
        self._unsent: set[str] = set()
        self._asked_for: dict[str, zenoh.KeyExpr] = {}  # by whoever listens elsewhere, perhaps to what was never published yet
        self._answering = Lane("net latched")
        self.glance = Glance(self._send)

    def __enter__(self) -> "ZenohBus":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def publish(self, message: Message) -> None:
        self._local.publish(message)
        name = _name(message)
        outlets = self._outlets.get(name) or self._open(name)
        if outlets is None:
            return
        whole, glance = outlets
        if whole.wanted:
            self._send(whole, message)
        if glance.wanted:
            self.glance.put(glance, message)

    def _send(self, outlet: Outlet, message: Message) -> None:
        try:
            body = body_of(message.payload)
            with outlet.lock:  # so that they are counted in the order they are sent in
                outlet.n += 1
                outlet.publisher.put(encode(self._frame(message, outlet.n, body)))
        except Exception as error:  # whoever publishes is not to blame for the network
            kind = type(message.payload).__name__
            if kind not in self._unsent and not self.session.closed:
                self._unsent.add(kind)
                log.error("%s cannot be sent: %s: %s; those who listen elsewhere do not see it", kind, type(error).__name__, error)

    def subscribe(
        self,
        prefix: str | Iterable[str] = (),
        types: type | Iterable[type] = (),
        size: int = 1024,
        policy: Policy = "drop_oldest",
        latched: bool = False,
        robot: str = "",
        notify: Callable[[], None] | None = None,
        glance: bool = False,
    ) -> Subscription:
        """`glance`: for whoever only looks on; see there."""
        if self.session.closed:
            raise InputError("this bus is closed: nothing comes from it any more; open another one")
        subscription = self._local.subscribe(prefix, types, size, policy, latched, robot, notify)
        self.kinds.add(subscription.types)
        words = topic_of(prefix)
        inlet = _Inlet(self, subscription)
        part = key.GLANCE if glance else key.TOPIC
        keys = [key.topic(robot, part, kinds, words, key.BELOW) for kinds in _wanted(subscription.types)]
        declared = [self.session.zenoh.declare_subscriber(k, inlet.live, allowed_origin=zenoh.Locality.REMOTE) for k in keys]
        with self._lock:
            self._inlets[id(subscription)] = (subscription, declared)
        selectors = [name if latched else f"{name}?{NOTHING_OLD}" for name in keys]
        self._ask(selectors, inlet)
        # who has just come to a router is not known to all at once
        again = threading.Timer(AGAIN, self._ask, (selectors, inlet))
        again.daemon = True
        with self._lock:
            self._again[id(subscription)] = again
        again.start()
        return subscription

    def _ask(self, selectors: list[str], inlet: "_Inlet") -> None:
        """For what is old; also where nothing old is wanted: who is asked knows at once that somebody listens."""
        with suppress(zenoh.ZError):  # closed meanwhile
            for selector in selectors:
                self.session.zenoh.get(
                    selector,
                    inlet.late,
                    target=zenoh.QueryTarget.ALL,
                    consolidation=zenoh.ConsolidationMode.NONE,
                    timeout=LATE,
                    allowed_destination=zenoh.Locality.REMOTE,
                )

    def unsubscribe(self, subscription: Subscription) -> None:
        with self._lock:
            _, declared = self._inlets.pop(id(subscription), (None, []))
            again = self._again.pop(id(subscription), None)
        if again is not None:
            again.cancel()
        if not self.session.closed:
            for subscriber in declared:
                subscriber.undeclare()
        self._local.unsubscribe(subscription)

    def statistics(self) -> list[TopicStatistics]:
        """Of what was published here and of what came in; what came in and was missed counts as dropped."""
        now = self._now()
        with self._lock:
            heard = list(self._heard.items())
        told = []
        for (name, _), h in heard:
            robot, _, topic = self._place(name)
            age = now - h.age_from
            told.append(TopicStatistics(robot, topic, h.count, h.pace.rate(h.last, h.count, age), age, h.missed))
        return [*self._local.statistics(), *_together(told)]

    def close(self) -> None:
        with self._lock:
            inlets, self._inlets = self._inlets, {}
            again, self._again = self._again, {}
        for timer in again.values():
            timer.cancel()
        self.glance.close()
        self.session.close()
        for subscription, _ in inlets.values():
            self._local.unsubscribe(subscription)
        self._local.close()
        self._answering.close()

    def _frame(self, message: Message, n: int, body: bytes) -> Frame:
        return Frame(self.name, n, message.time, message.wall_time, message.source, message.frame, Raw(body))

    def _open(self, name: Name) -> tuple[Outlet, Outlet] | None:
        robot, topic, kind, about = name
        with self._lock:
            if self.session.closed:
                return None
            if robot not in self._hosted:
                self._hosted.add(robot)
                for part in (key.TOPIC, key.GLANCE):
                    ask: Callback[zenoh.Query] = Callback(self._latched, indirect=False)
                    self.session.zenoh.declare_queryable(key.of(robot, part, key.BELOW), ask, allowed_origin=zenoh.Locality.REMOTE)
            if name not in self._outlets:
                kinds = key.word(kind), key.word(about)
                whole, glance = (Outlet(self.session.zenoh, key.topic(robot, part, kinds, topic)) for part in (key.TOPIC, key.GLANCE))
                for outlet in (whole, glance):
                    if any(outlet.publisher.key_expr.intersects(asked) for asked in list(self._asked_for.values())):
                        outlet.asked()  # who listens through a router is not known at once, and what is published first must not be missed
                self._outlets[name] = whole, glance
            return self._outlets[name]

    def _latched(self, query: zenoh.Query) -> None:
        remember(self._asked_for, str(query.key_expr), zenoh.KeyExpr(str(query.key_expr)), ASKED_FOR)
        for outlet in (one for both in list(self._outlets.values()) for one in both):
            if outlet.publisher.key_expr.intersects(query.key_expr):
                outlet.asked()
        if NOTHING_OLD in query.parameters:
            query.drop()  # type: ignore[no-untyped-call]
        else:
            self._answering.put(lambda: self._tell_latest(query))

    def _tell_latest(self, query: zenoh.Query) -> None:
        with query:
            counts = {
                name: (whole.n, glance.n) for name, (whole, glance) in list(self._outlets.items())
            }  # before the messages: one may go out meanwhile
            for message in self._local.last():
                name = _name(message)
                for outlet, n in zip(self._outlets.get(name, ()), counts.get(name, (0, 0)), strict=False):
                    if outlet.publisher.key_expr.intersects(query.key_expr):
                        query.reply(outlet.publisher.key_expr, encode(self._frame(message, n, body_of(message.payload))))

    def _place(self, name: str) -> tuple[str, str, Topic]:
        found = self._parsed.get(name)
        if found is None:
            found = key.topic_of(name)
            remember(self._parsed, name, found, KEYS)
        return found

    def _note(self, name: str, frame: Frame) -> None:
        """Once for every message, however many listen to it here."""
        with self._lock:
            h = self._heard.get((name, frame.bus))
            if h is None:
                h = _Heard(frame.time, self._now())
                h.n = frame.n - 1
                remember(self._heard, (name, frame.bus), h, KEYS)
            if frame.n <= h.n:
                return
            h.missed += frame.n - h.n - 1
            h.n, h.last, h.age_from = frame.n, frame.time, self._now()
            h.count += 1
            if frame.time >= h.pace.turn:
                h.pace.mark(frame.time, h.count)


class _Inlet:
    """What comes in for one subscription: never twice, and never a late answer after what is newer."""

    def __init__(self, bus: ZenohBus, subscription: Subscription) -> None:
        self._bus = bus
        self._subscription = subscription
        self._seen: dict[tuple[str, str], int] = {}
        self._told: dict[tuple[str, str], tuple[float, bytes]] = {}  # late answers, until what follows them has come
        self.live = Callback(self._live, indirect=False)
        self.late = Callback(self._late, indirect=False)

    def _live(self, sample: zenoh.Sample) -> None:
        try:
            name = str(sample.key_expr)
            frame = decode(sample.payload.to_bytes(), Frame)
            self._bus._note(name, frame)
            if self._told.pop((name, frame.bus), None) != (frame.time, bytes(frame.body)):  # it may have been answered while it went out
                self._put(name, frame)
        except Exception:  # of somebody else's making
            log.exception("a message under %s cannot be read", sample.key_expr)

    def _late(self, reply: zenoh.Reply) -> None:
        sample = reply.ok
        if sample is None:
            return
        try:
            name, frame = str(sample.key_expr), decode(sample.payload.to_bytes(), Frame)
            if self._put(name, frame):
                remember(self._told, (name, frame.bus), (frame.time, bytes(frame.body)), KEYS)
        except Exception:
            log.exception("a message under %s cannot be read", sample.key_expr)

    def _put(self, name: str, frame: Frame) -> bool:
        if frame.n <= self._seen.get((name, frame.bus), -1):
            return False
        remember(self._seen, (name, frame.bus), frame.n, KEYS)
        robot, kind, topic = self._bus._place(name)
        message = self._bus.kinds.message(frame, robot, kind, topic)
        if not self._subscription.types or self._subscription.wants(message):
            self._subscription.put(message)
        return True


def _name(message: Message) -> Name:
    kind = type(message.payload)
    return message.robot, message.topic, kind.__name__, kind_of(message).__name__ if kind is Outcome else key.NONE


def _wanted(types: Iterable[type]) -> list[tuple[str, str]]:
    """The chunks of keys that hold these types: as the payload, or as the command of an outcome."""
    names = [key.word(kind.__name__) for kind in types]
    return [pair for name in names for pair in ((name, key.ANY), (key.ANY, name))] or [(key.ANY, key.ANY)]


def _together(told: list[TopicStatistics]) -> list[TopicStatistics]:
    """One line for each robot and topic, whatever types came under it."""
    lines: dict[tuple[str, Topic], TopicStatistics] = {}
    for one in told:
        old = lines.get((one.robot, one.topic))
        if old is not None:
            one = TopicStatistics(
                one.robot, one.topic, old.messages + one.messages, old.rate + one.rate, min(old.age, one.age), old.dropped + one.dropped
            )
        lines[one.robot, one.topic] = one
    return list(lines.values())
