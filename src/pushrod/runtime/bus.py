"""Topics are paths. A subscription to a prefix sees everything published at it or below, once, filtered by type and by robot if asked.

A publisher never blocks: each subscription has a bounded queue that drops its oldest (or newest) and counts.
`Bus` is the interface; `LocalBus` is the one inside a process.
"""

import asyncio
import logging
import threading
import time
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import suppress
from typing import Literal, NamedTuple

from pushrod.core.errors import InputError
from pushrod.robot.parameter import whole
from pushrod.runtime.message import Message, Outcome
from pushrod.runtime.pace import Pace

log = logging.getLogger("pushrod.runtime")
TOPICS = 8192  # that are remembered, with their newest messages and counts; beyond that the stalest of the largest group are forgotten
ROUTES = 4 * TOPICS
KINDS = 64  # newest messages of different kinds that are remembered per topic
Topic = tuple[str, ...]
Policy = Literal["drop_oldest", "drop_newest"]


class QueueStatistics(NamedTuple):
    prefix: Topic
    waiting: int
    received: int
    dropped: int
    size: int


class TopicStatistics(NamedTuple):
    robot: str
    topic: Topic
    messages: int
    rate: float  # [1/s] of late; 0 once it has fallen silent (see pace.py)
    age: float  # [s] since the last message
    dropped: int


def topic_of(prefix: str | Iterable[str]) -> Topic:
    """A topic as words, ["actuator", "base"], or as text, "actuator/base". InputError for what could never be one."""
    words = [prefix] if isinstance(prefix, str) else list(prefix) if isinstance(prefix, Iterable) else None
    if words is None or not all(isinstance(word, str) for word in words):
        raise InputError(f"a topic is text such as 'actuator/base', or its words, ['actuator', 'base']; got {prefix!r}")
    return tuple(part for word in words for part in word.split("/") if part)


def kinds_of(types: type | Iterable[type]) -> frozenset[type]:
    """One class or several; InputError for what is none, as no message could ever be of it."""
    kinds = [types] if isinstance(types, type) else None if isinstance(types, str) or not isinstance(types, Iterable) else list(types)
    if kinds is None or not all(isinstance(kind, type) for kind in kinds):
        raise InputError(f"types must be classes, such as [JointState], not their names; got {types!r}")
    return frozenset(kinds)


def kind_of(message: Message) -> type:
    """What a message is about: its payload, and for a command with its outcome the payload of the command."""
    payload = message.payload
    return type(payload.command.payload) if type(payload) is Outcome else type(payload)


class Subscription:
    """A bounded queue of messages. `put` from any thread never blocks; `get` from one asyncio task, or `poll` from anywhere.

    `notify` is called after every put, on the thread of the publisher. What it raises is logged once and has no other effect.
    """

    def __init__(
        self, prefix: Topic, types: type | Iterable[type], size: int, policy: Policy, robot: str = "", notify: Callable[[], None] | None = None
    ) -> None:
        size = whole(size)
        if type(size) is not int or size < 1:
            raise InputError(f"size = {size!r}: a queue holds at least 1 message")
        if policy not in ("drop_oldest", "drop_newest"):
            raise InputError(f"policy = {policy!r}: a full queue may 'drop_oldest' or 'drop_newest'")
        self.prefix = prefix
        self.types = kinds_of(types)
        self.size = size
        self.policy = policy
        self.robot = robot
        self._notify = notify
        self._notify_failed = False
        self.received = 0
        self.dropped = 0
        self._queue: deque[Message] = deque()
        self._lock = threading.RLock()  # a signal handler may publish while this thread has it
        self._waiter: tuple[asyncio.AbstractEventLoop, asyncio.Future[None], int] | None = None
        self._closed = False

    def wants(self, message: Message) -> bool:
        """At the prefix or below, of the robot, and of a kind asked for: that of the payload, or of the command in an Outcome."""
        if message.topic[: len(self.prefix)] != self.prefix or (self.robot and message.robot != self.robot):
            return False
        return not self.types or kind_of(message) in self.types or type(message.payload) in self.types

    def put(self, message: Message) -> bool:
        """False where something was dropped for it, or it was dropped itself."""
        with self._lock:
            kept = True
            self.received += 1
            if len(self._queue) >= self.size:
                self.dropped += 1
                kept = False
                if self.policy == "drop_newest":
                    return False
                self._queue.popleft()
            self._queue.append(message)
            waiter, self._waiter = self._waiter, None
        if waiter is not None:
            loop, future, thread = waiter
            if threading.get_ident() == thread:
                _wake(future)
            else:
                with suppress(RuntimeError):  # its loop has ended: nobody waits any more
                    loop.call_soon_threadsafe(_wake, future)
        if self._notify is not None:
            try:
                self._notify()
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # SystemExit too: a subscriber's error is not the publisher's
                self._log_notify(error)
        return kept

    def _log_notify(self, error: BaseException) -> None:
        """Log the first error of this subscription's `notify`: at 1 kHz more would flood the log."""
        if not self._notify_failed:
            self._notify_failed = True
            log.error("a subscriber to %s raised in notify: %s: %s", "/".join(self.prefix) or "all topics", type(error).__name__, error)

    def poll(self) -> Message | None:
        """The oldest message that waits, or None."""
        with self._lock:
            return self._queue.popleft() if self._queue else None

    async def get(self) -> Message:
        while True:
            loop = asyncio.get_running_loop()
            with self._lock:
                if self._queue:
                    return self._queue.popleft()
                if self._closed:
                    raise EOFError(f"the subscription to {'/'.join(self.prefix)} is closed")
                if self._waiter is not None and not self._waiter[1].done():
                    raise InputError(f"another task waits at the subscription to {'/'.join(self.prefix)} already: give each its own")
                future: asyncio.Future[None] = loop.create_future()
                self._waiter = (loop, future, threading.get_ident())
            await future

    async def __aiter__(self) -> AsyncIterator[Message]:
        while True:
            try:
                yield await self.get()
            except EOFError:
                return

    def statistics(self) -> QueueStatistics:
        with self._lock:
            return QueueStatistics(self.prefix, len(self._queue), self.received, self.dropped, self.size)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            waiter, self._waiter = self._waiter, None
        if waiter is not None:
            with suppress(RuntimeError):
                waiter[0].call_soon_threadsafe(_wake, waiter[1])


def _wake(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)


class Bus(ABC):
    """What the runtime needs of a bus; a network bus offers the same."""

    @abstractmethod
    def publish(self, message: Message) -> None: ...

    @abstractmethod
    def subscribe(
        self,
        prefix: str | Iterable[str] = (),
        types: type | Iterable[type] = (),
        size: int = 1024,
        policy: Policy = "drop_oldest",
        latched: bool = False,
        robot: str = "",
        notify: Callable[[], None] | None = None,
    ) -> Subscription:
        """What is published from now on at a prefix or below; of one robot, if said; `latched`: first the newest message of each topic and kind."""

    @abstractmethod
    def unsubscribe(self, subscription: Subscription) -> None: ...

    @abstractmethod
    def statistics(self) -> list[TopicStatistics]: ...

    @abstractmethod
    def close(self) -> None: ...


class _Topic:
    __slots__ = ("count", "dropped", "kinds", "last", "pace")

    def __init__(self) -> None:
        self.count = 0
        self.dropped = 0
        self.pace = Pace()
        self.last: Message | None = None
        self.kinds: dict[type, Message] = {}  # newest message of each kind, for those who come late


class LocalBus(Bus):
    """In one process. Routes are remembered per (robot, topic, kind) and forgotten together whenever a subscription changes."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = threading.RLock()  # a signal handler may publish while this thread has it
        self._subscriptions: tuple[Subscription, ...] = ()
        self._routes: dict[tuple[str, Topic, type, type], tuple[Subscription, ...]] = {}
        self._topics: dict[tuple[str, Topic], _Topic] = {}

    def publish(self, message: Message) -> None:
        kind = kind_of(message)
        key = (message.robot, message.topic, kind, type(message.payload))
        with self._lock:
            route = self._routes.get(key)
            if route is None:
                if len(self._routes) >= ROUTES:
                    self._routes = {}
                route = self._routes[key] = tuple(s for s in self._subscriptions if s.wants(message))
            topic = self._topics.get((message.robot, message.topic))
            if topic is None:
                if len(self._topics) >= TOPICS:
                    self._forget_topics()
                topic = self._topics[message.robot, message.topic] = _Topic()
            topic.count += 1
            if message.time >= topic.pace.turn:
                topic.pace.mark(message.time, topic.count)
            topic.last = message
            topic.kinds[kind] = message
            if len(topic.kinds) > KINDS:
                del topic.kinds[next(iter(topic.kinds))]
        for subscription in route:
            if not subscription.put(message):
                topic.dropped += 1

    def _forget_topics(self) -> None:
        """Forget the stalest quarter of the largest group, by robot and first word: a part that invents topics displaces no state of others."""
        groups = Counter((robot, topic[:1]) for robot, topic in list(self._topics))
        largest = groups.most_common(1)[0][0]
        topics = [(name, topic) for name, topic in list(self._topics.items()) if (name[0], name[1][:1]) == largest]
        ages = sorted((topic.last.time if topic.last else 0.0, name) for name, topic in topics)
        for _, name in ages[: max(1, len(ages) // 4)]:
            del self._topics[name]

    def subscribe(
        self,
        prefix: str | Iterable[str] = (),
        types: type | Iterable[type] = (),
        size: int = 1024,
        policy: Policy = "drop_oldest",
        latched: bool = False,
        robot: str = "",
        notify: Callable[[], None] | None = None,
    ) -> Subscription:
        subscription = Subscription(topic_of(prefix), types, size, policy, robot, notify)
        with self._lock:
            if latched:
                for topic in list(self._topics.values()):
                    for message in list(topic.kinds.values()):
                        if subscription.wants(message):
                            subscription.put(message)
            self._subscriptions = (*self._subscriptions, subscription)
            self._routes = {}
        return subscription

    def last(self) -> list[Message]:
        """The newest message of each robot, topic and kind."""
        with self._lock:
            return [message for topic in list(self._topics.values()) for message in list(topic.kinds.values())]

    def unsubscribe(self, subscription: Subscription) -> None:
        with self._lock:
            self._subscriptions = tuple(s for s in self._subscriptions if s is not subscription)
            self._routes = {}
        subscription.close()

    def statistics(self) -> list[TopicStatistics]:
        now = self._now()
        with self._lock:
            return [_statistics(name, topic, topic.last, now) for name, topic in list(self._topics.items()) if topic.last is not None]

    def close(self) -> None:
        for subscription in self._subscriptions:
            self.unsubscribe(subscription)


def _statistics(name: tuple[str, Topic], topic: _Topic, last: Message, now: float) -> TopicStatistics:
    age = now - last.time
    return TopicStatistics(*name, topic.count, topic.pace.rate(last.time, topic.count, age), age, topic.dropped)
