"""Which part a signal plays, by the words of its name: steer_req is asked for, steer_cmd commanded, steer_ach achieved, steer_meas measured.

Names are compared word by word (req.u_s_req, fb.u_s_ach, torque_req_x), so that the partners of a signal are found wherever the word stands.
"""

import re
from collections.abc import Mapping

from pushrod.log.table import Channel

WORDS = {
    "request": ("req", "request", "requested", "setpoint", "target", "desired", "ref"),
    "command": ("cmd", "command", "commanded"),
    "allocated": ("alloc", "allocated"),
    "achieved": ("ach", "achieved", "actual"),
    "measured": ("meas", "measured"),
}
ROLE = {word: role for role, words in WORDS.items() for word in words}


def role(name: str) -> str:
    """ "" where no word of the name tells it."""
    return next((ROLE[word] for word in reversed(_words(name)) if word in ROLE), "")


def partner(name: str, wanted: str, channels: Mapping[str, Channel]) -> str | None:
    """The signal that plays another part of the same thing: its name has the word of that part in place of its own, or behind it."""
    own = next((word for word in reversed(_words(name)) if word in ROLE), None)
    bare = name.removeprefix("in.")
    as_word = re.compile(rf"(?<![A-Za-z0-9]){own}(?![A-Za-z0-9])", re.IGNORECASE)
    for word in WORDS[wanted]:
        tries = [f"{bare}_{word}"] if own is None else [as_word.sub(word, one) for one in (name, bare)]
        for one in tries:
            if one != name and one in channels and channels[one].unit == channels[name].unit:
                return one
    return None


def by_name(channels: Mapping[str, Channel]) -> list[tuple[str, str]]:
    """Requests and what was achieved, or at least measured, of each: for logs that do not say what belongs together."""
    found = []
    for name in channels:
        if role(name) == "request":
            plain = re.sub(r"(^|[._])(" + "|".join(WORDS["request"]) + r")(?=$|[._])", "", name.removeprefix("in."), flags=re.I).lstrip("._")
            other = partner(name, "achieved", channels) or partner(name, "measured", channels) or (plain if plain in channels else None)
            if other is not None and other != name and channels[other].unit == channels[name].unit:
                found.append((name, other))
    return found


def by_joint(channels: Mapping[str, Channel]) -> list[tuple[str, str]]:
    """Positions that were sent to an actuator, and those of the joint it moves, which stands before it in its path."""
    found = []
    for name in channels:
        if m := re.fullmatch(r"actuator/(?:.+/)?([^/]+)/[^/]+/command\.payload\.position", name):
            position = f"joint_states.{m[1]}.position"
            if position in channels:
                found.append((name, position))
    return found


def _words(name: str) -> list[str]:
    return [word.lower() for word in re.split(r"[^A-Za-z0-9]+", name) if word]
