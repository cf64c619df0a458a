"""What hands and disks do to a text file: lines lost, doubled and swapped, values of the wrong kind, numbers beyond measure, cut ends.

The first examples go through every edit and every value in turn, at the ends of the file; the later ones draw several of them from anywhere.
A failure says its seed and the number of its example; PUSHROD_FUZZ_SEED=n runs the same ones again.
"""

import os
import random
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from patience import soon

PATIENCE = 60.0  # [s] for one example
SEED = int(os.environ.get("PUSHROD_FUZZ_SEED") or random.randrange(10**6))

VALUES = (
    *("0", "-1", "1", "-0.0", "1e-320", "1e308", "-1e308", "1e400", "9" * 400, "0x1F", "1_000", "0o17", "017", "1e", "."),
    *("nan", ".nan", "NaN", ".inf", "-.inf", "inf", "null", "~", "true", "no", "''", '""', "[]", "{}", "[[]]", "{a: 1}", "[1, 2]", "- 1", "? 1"),
    *("text", "5 m", "5 parsec", "90 deg", "-3 ms", "1 %", "100 km/h", "a" * 5000, "2001-01-01", "!!float x", "!!binary ''", "!strange 1", "*alias"),
    *("&a [*a]", "&a 1", "<<: {}", "../../etc/passwd", "/", "nothing.csv", "C:\\x", "äöü", "速度", "\U0001f697", '"\\ud800"', '"\\0"', "\x07"),
    *("\ufeff", "\u2028", "'", '"', ":", "#", "%", "@", "|", ">", "`", "\t", "---", "...", "[" * 50 + "]" * 50, "{a: " * 50 + "1" + "}" * 50),
    *("[" * 3000, "[" * 120 + "]" * 120, "[" * 240 + "]" * 240, "{a: " * 240 + "1" + "}" * 240, "1e999999999", "1e999999999 s", "1e-999999999 s"),
    *("1e308 km", "5 m9", "1e400 m", "9" * 5000, "0x" + "f" * 300),
)  # fmt: skip

Edit = Callable[[str, random.Random, str], str]


def somewhere(rng: random.Random, n: int) -> int:
    """A place among n, the first and the last as often as all others together."""
    return rng.choice((0, max(n - 1, 0), rng.randrange(max(n, 1)), rng.randrange(max(n, 1))))


def drop_line(text: str, rng: random.Random, _: str) -> str:
    lines = text.splitlines(keepends=True)
    i = somewhere(rng, len(lines))
    return "".join(lines[:i] + lines[i + 1 :])


def double_line(text: str, rng: random.Random, _: str) -> str:
    lines = text.splitlines(keepends=True)
    i = somewhere(rng, len(lines))
    return "".join(lines[: i + 1] + lines[i:])


def swap_lines(text: str, rng: random.Random, _: str) -> str:
    lines = text.splitlines(keepends=True)
    if len(lines) > 1:
        i, j = somewhere(rng, len(lines)), rng.randrange(len(lines))
        lines[i], lines[j] = lines[j], lines[i]
    return "".join(lines)


def cut(text: str, rng: random.Random, _: str) -> str:
    return text[: somewhere(rng, len(text))]


def insert(text: str, rng: random.Random, value: str) -> str:
    i = somewhere(rng, len(text))
    return text[:i] + value + text[i:]


def lose(text: str, rng: random.Random, _: str) -> str:
    i = somewhere(rng, len(text))
    return text[:i] + text[i + rng.choice((1, 2, 10)) :]


def shift_line(text: str, rng: random.Random, _: str) -> str:
    lines = text.splitlines(keepends=True)
    if lines:
        i = somewhere(rng, len(lines))
        lines[i] = rng.choice(("  ", " ", "\t", "        ")) + lines[i] if rng.random() < 0.6 else lines[i].lstrip(" ")
    return "".join(lines)


def put_word(text: str, rng: random.Random, value: str) -> str:
    """Another value in the place of a word or a number outside the comments."""
    words = [m for m in re.finditer(r"[^\s:,\[\]{}#\"]+", text) if "#" not in text[text.rfind("\n", 0, m.start()) + 1 : m.start()]]
    if not words:
        return value
    word = words[somewhere(rng, len(words))]
    return text[: word.start()] + value + text[word.end() :]


def swap_words(text: str, rng: random.Random, _: str) -> str:
    words = list(re.finditer(r"[^\s:,\[\]{}#\"]+", text))
    if len(words) < 2:
        return text
    a, b = sorted(rng.sample(words, 2), key=lambda m: m.start())
    return text[: a.start()] + b[0] + text[a.end() : b.start()] + a[0] + text[b.end() :]


EDITS: tuple[Edit, ...] = (drop_line, double_line, swap_lines, cut, insert, lose, shift_line, put_word, put_word, put_word, swap_words)


def edited(text: str, number: int, rng: random.Random) -> str:
    """The text of one example."""
    if number < len(VALUES):
        return put_word(text, rng, VALUES[number])
    if number < len(VALUES) + len(EDITS):
        return EDITS[number - len(VALUES)](text, rng, rng.choice(VALUES))
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        text = rng.choice(EDITS)(text, rng, rng.choice(VALUES))
    return text


def examples(what: str, count: int) -> Iterator[tuple[int, random.Random]]:
    """Numbers of examples, each with draws of its own: one example can be run again without the others."""
    print(f"{what}: {count} examples, PUSHROD_FUZZ_SEED={SEED}")
    for number in range(count):
        yield number, random.Random(f"{SEED} {what} {number}")


@contextmanager
def told(what: str, number: int, text: object) -> Iterator[None]:
    """Say which example it was where something goes wrong inside, or goes on for too long."""
    try:
        with soon(PATIENCE):
            yield
    except BaseException as e:
        e.add_note(f"{what}, example {number}, PUSHROD_FUZZ_SEED={SEED}:\n{str(text)[:2000]}")
        raise
