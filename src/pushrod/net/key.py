"""The key space: where on the network what is. One table for hosts, operators and access lists.

pushrod/hello/ROBOT                           asks which schema, which robot, which host; the same in every schema, so that a stranger is understood
pushrod/S/ROBOT/topic/TYPE/KIND/WORDS...      what is published; KIND is the payload of a command with its outcome, "-" for all else
pushrod/S/ROBOT/glance/TYPE/KIND/WORDS...     the same for whoever only looks on: less often
pushrod/S/ROBOT/clock                         asks the time
pushrod/S/ROBOT/info/WHAT                     asks what whoever may watch may know
pushrod/S/ROBOT/ask/OPERATOR/...              asks for something to be done: only OPERATOR's certificate may. Commands are sent, all else is a query
pushrod/S/ROBOT/answer/OPERATOR/SESSION       what became of the commands of a session
pushrod/S/ROBOT/step/OPERATOR                 the host asks its commander what is to be done in this tick
pushrod/S/ROBOT/host/INSTANCE                 is alive while the host is
pushrod/S/ROBOT/operator/OPERATOR/SESSION     is alive while the operator is

S is the schema. A session is one connection to one host, and ends with its INSTANCE: a host hears nothing of what is meant for another one of its
name. A question says the same by `?host=INSTANCE`.

A word that holds what a key may not (* $ ? # / and an @ in front) is written with %XX, an empty one as a lone %.
"""

import re
import secrets
from collections.abc import Iterable

ROOT = "pushrod"
SCHEMA = 1  # of keys and what is sent under them; one more whenever an older program would misunderstand
TOPIC, GLANCE = "topic", "glance"
NONE = "-"  # the KIND of what is no command
ANY = "*"
BELOW = "**"
WITH = "."  # before the instance, in a session
HOST = "host"  # names it, in a question

_FORBIDDEN = re.compile(r"[%*$?#/]|^@")
_ESCAPED = re.compile(r"%([0-9A-F]{2})")


def word(text: str) -> str:
    """A word of a topic, a robot or an operator as one chunk of a key."""
    return _FORBIDDEN.sub(lambda found: f"%{ord(found[0]):02X}", text) if text else "%"


def text(chunk: str) -> str:
    """The word that a chunk stands for."""
    return "" if chunk == "%" else _ESCAPED.sub(lambda found: chr(int(found[1], 16)), chunk)


def hello(robot: str = "") -> str:
    return f"{ROOT}/hello/{word(robot) if robot else ANY}"


def of(robot: str, *chunks: str) -> str:
    """Below a robot ("" for every robot); the chunks as they are, so that wildcards can be among them."""
    return "/".join((ROOT, str(SCHEMA), word(robot) if robot else ANY, *chunks))


def session(instance: str) -> str:
    """A new connection to a host."""
    return f"{secrets.token_hex(8)}{WITH}{instance}"


def is_for(session: str, instance: str) -> bool:
    """Whether a session is with this host; one that names none is with all."""
    _, named, host = session.partition(WITH)
    return not named or host == instance


def at(name: str, instance: str) -> str:
    """A question that only this host answers."""
    return f"{name}?{HOST}={instance}"


def topic(robot: str, part: str, kinds: tuple[str, str], words: Iterable[str], *below: str) -> str:
    """`part`: TOPIC or GLANCE."""
    return of(robot, part, *kinds, *(word(w) for w in words), *below)


def ask(robot: str, operator: str, *words: str) -> str:
    return of(robot, "ask", word(operator), *(word(w) for w in words))


def topic_of(key: str) -> tuple[str, str, tuple[str, ...]]:
    """Robot, type and words of a topic's key."""
    _, _, robot, _, kind, _, *words = key.split("/")
    return text(robot), text(kind), tuple(text(w) for w in words)


def below(key: str, robot: str) -> tuple[str, ...]:
    """The words of a key below a robot."""
    prefix = f"{of(robot)}/"
    return tuple(text(chunk) for chunk in key.removeprefix(prefix).split("/"))
