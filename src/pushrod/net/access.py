"""The access list: which certificate may send what, as a list of names and as the rules that zenoh enforces at a listener.

Rules allow single kinds of messages under single keys (`key.py`); all else is denied. An operator sends requests under its own name, a host speaks
for its own robot, and neither can send in the name of the other. The host of a robot decides which of the operators on the list may command it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pushrod.core.errors import InputError
from pushrod.net import key

ALL = (
    "put",
    "delete",
    "declare_subscriber",
    "query",
    "reply",
    "declare_queryable",
    "liveliness_token",
    "declare_liveliness_subscriber",
    "liveliness_query",
)
LIVELINESS = ("declare_liveliness_subscriber", "liveliness_query")
Grant = tuple[tuple[str, ...], tuple[str, ...]]  # kinds of messages, and the keys they may be sent under


@dataclass(frozen=True)
class Access:
    """Common names of certificates.

    command   operators that may command
    watch     operators that may only watch
    hosts     hosts of robots, at a router: NAME where the robot has the name of the certificate, else NAME=ROBOT; may be repeated for several robots
    routers   other routers that are joined to this one: what they pass on is trusted
    """

    command: tuple[str, ...] = ()
    watch: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    routers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for field in ("command", "watch", "hosts", "routers"):
            names = getattr(self, field)
            if isinstance(names, str) or not all(isinstance(name, str) and name for name in names):
                raise InputError(f"access.{field}: give the common names of certificates, ('ann', 'bob'), got {names!r}")
            object.__setattr__(self, field, tuple(names))
        for entry in self.hosts:
            if not all(split_host(entry)):
                raise InputError(
                    f"access.hosts: {entry!r} lacks a name; write NAME, or NAME=ROBOT where the certificate has another name than the robot"
                )
        twice = sorted(set(self.command) & set(self.watch))
        if twice:
            raise InputError(f"access: {', '.join(twice)} may command and may only watch; say one of both (who commands may watch too)")

    @property
    def names(self) -> tuple[str, ...]:
        """Return the common names of all certificates on the list."""
        return (*self.command, *self.watch, *(split_host(entry)[0] for entry in self.hosts), *self.routers)


def split_host(entry: str) -> tuple[str, str]:
    """Return the certificate and the robot of an entry NAME or NAME=ROBOT."""
    name, equals, robot = entry.partition("=")
    return name, robot if equals else name


def operator_grants(name: str) -> list[Grant]:
    """Return what an operator may send: requests under its own name to any robot, and questions that observers may ask."""
    own = key.word(name)
    published = tuple(key.of("", part, key.BELOW) for part in (key.TOPIC, key.GLANCE))
    return [
        (("put", "query"), (key.of("", "ask", own, key.BELOW),)),
        (("declare_subscriber",), (key.of("", "answer", own, key.BELOW), *published)),
        (("query",), (key.hello(), key.of("", "clock"), key.of("", "info", key.BELOW), *published)),
        (("liveliness_token",), (key.of("", "operator", own, key.ANY),)),
        (("declare_queryable", "reply"), (key.of("", "step", own),)),
        (LIVELINESS, (key.of("", "host", key.ANY),)),
    ]


def host_grants(robot: str) -> list[Grant]:
    """Return what the host of a robot may send: answers, messages and tokens of that robot alone."""
    published = tuple(key.of(robot, part, key.BELOW) for part in (key.TOPIC, key.GLANCE))
    answered = (key.hello(robot), key.of(robot, "clock"), key.of(robot, "info", key.BELOW), key.of(robot, "ask", key.BELOW), *published)
    return [
        (("put",), (key.of(robot, "answer", key.ANY, key.ANY), *published)),
        (("declare_queryable", "reply"), answered),
        (("declare_subscriber",), (key.of(robot, "ask", key.ANY, "actuator", key.BELOW), *published)),
        (("query",), (key.hello(robot), key.of(robot, "step", key.ANY), *published)),
        (("liveliness_token",), (key.of(robot, "host", key.ANY),)),
        (LIVELINESS, (key.of(robot, "host", key.ANY), key.of(robot, "operator", key.BELOW))),
    ]


def access_control(access: Access) -> dict[str, Any]:
    """Return the list as zenoh's configuration. A certificate that is listed in several roles has the grants of all of them, in one policy."""
    everything = (f"{key.ROOT}/{key.BELOW}",)
    grants: dict[str, list[Grant]] = {}
    for name in (*access.command, *access.watch):
        grants.setdefault(name, []).extend(operator_grants(name))
    for entry in access.hosts:
        name, robot = split_host(entry)
        grants.setdefault(name, []).extend(host_grants(robot))
    for name in access.routers:
        grants.setdefault(name, []).append((ALL, everything))
    rules = [_rule("out", "egress", ALL, everything)]  # what reaches a certificate follows from what it may subscribe to and ask
    policies = []
    for name, granted in grants.items():
        own = [_rule(f"{name} {i}", "ingress", *grant) for i, grant in enumerate(granted)]
        rules += own
        policies.append({"rules": ["out", *(rule["id"] for rule in own)], "subjects": [name]})
    subjects = [{"id": name, "cert_common_names": [name]} for name in grants]
    return {"enabled": True, "default_permission": "deny", "rules": rules, "subjects": subjects, "policies": policies}


def _rule(name: str, flow: str, messages: Iterable[str], keys: Iterable[str]) -> dict[str, Any]:
    return {"id": name, "permission": "allow", "flows": [flow], "messages": list(messages), "key_exprs": list(keys)}
