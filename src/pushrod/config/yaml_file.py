"""A YAML 1.2 file with the line of every value, and the problems found in it: all at once, each with file, line and dotted path."""

from pathlib import Path
from typing import Any

from pushrod.core import input_file
from pushrod.core.errors import ConfigError

Keys = tuple[str | int, ...]
DEEPEST = 100  # levels of nesting
MOST = 1_000_000  # values in a file


def dotted(path: Keys) -> str:
    """("signals", "accel", 2, "t") -> "signals.accel[2].t"."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


class Document:
    """What a file says: plain dicts, lists and scalars, with the line each path stands on."""

    def __init__(self, file: str, text: str, data: Any, lines: dict[Keys, int]) -> None:
        self.file = file
        self.text = text
        self.data = data
        self.lines = lines
        self.origin: dict[Keys, str] = {}
        self.problems: list[tuple[int, str]] = []
        self.noted: set[Keys] = set()  # the paths of these problems

    @property
    def folder(self) -> Path:
        return Path(self.file).parent

    def folder_of(self, path: Keys) -> Path:
        """The folder that file names at that path are relative to: the current one where they come from elsewhere."""
        return self.folder if self.from_elsewhere(path) is None else Path()

    def from_elsewhere(self, path: Keys) -> str | None:
        """The option that put a value there, if any."""
        above = [key for key in self.origin if path[: len(key)] == key]
        return self.origin[max(above, key=len)] if above else None

    def override(self, path: Keys, value: Any, origin: str) -> None:
        """Put a value from elsewhere (a command line option) over what the file says; problems with it name that origin."""
        node = self.data
        for i, part in enumerate(path[:-1]):
            if not isinstance(node.get(part), dict):
                node[part] = {}
                self.origin.setdefault(path[: i + 1], origin)  # the group is not of the file either
            node = node[part]
        node[path[-1]] = value
        self.origin[path] = origin

    def line(self, path: Keys) -> int:
        """The line of a path, or of its nearest ancestor that is in the file."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    def add(self, path: Keys, what: str, origin: str | None = None) -> None:
        """Note a problem; `origin`: the option that brought it about, where that did not put the value at the path itself."""
        origin = self.from_elsewhere(path) or origin
        where = f"{self.file}:{self.line(path)}" if origin is None else origin
        name = dotted(path)
        self.problems.append((self.line(path), f"{where}: {name}: {what}" if name else f"{where}: {what}"))
        self.noted.add(path)

    def raise_problems(self) -> None:
        """ConfigError with all that was noted, in the order of the file; what was noted is then forgotten."""
        found, self.problems = self.problems, []
        self.noted.clear()
        if found:
            raise ConfigError([text for _, text in sorted(found, key=lambda p: p[0])])


def raise_problems_of(*documents: Document) -> None:
    """ConfigError with all that was noted in any of them, one document after the other."""
    found: list[str] = []
    for document in documents:
        try:
            document.raise_problems()
        except ConfigError as e:
            found += e.problems
    if found:
        raise ConfigError(found)


def load(file: Path, hold: bool = False) -> Document:
    """Read a file; ConfigError where it is missing, is not YAML, says a key twice, or is not a mapping.

    `hold`: a key said twice is only noted, for a reader that tells it together with what it finds itself.
    """
    try:
        text = input_file.read_bytes(file, input_file.CONFIGURATION)
    except (OSError, ValueError) as e:  # a name with a NUL in it
        raise ConfigError([f"{file}: cannot be read: {getattr(e, 'strerror', None) or e}"]) from e
    try:
        return parse(text.decode("utf-8"), str(file), hold)
    except UnicodeDecodeError as e:
        line = text.count(b"\n", 0, e.start) + 1
        what = f"byte {e.start} is {text[e.start]:#x}, which is no text in UTF-8; is it a YAML file?"
        raise ConfigError([f"{file}:{line}: cannot be read: {what}"]) from e


def parse(text: str, file: str = "<text>", hold: bool = False) -> Document:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError
    from ruamel.yaml.reader import ReaderError

    yaml = YAML(typ="safe", pure=True)
    try:
        root = yaml.compose(text)
    except MarkedYAMLError as e:
        mark = e.problem_mark or e.context_mark
        what = ", ".join(str(part) for part in (e.context, e.problem) if part)
        raise ConfigError([f"{file}:{mark.line + 1 if mark else 1}: not valid YAML: {what}"]) from e
    except ReaderError as e:
        line = text.count("\n", 0, e.position) + 1
        raise ConfigError([f"{file}:{line}: not valid YAML: the character {text[e.position]!r} is not allowed"]) from e
    except RecursionError as e:
        raise ConfigError([f"{file}:{_too_deep(text)}: nested too deeply"]) from e
    document = Document(file, text, None, {})
    if root is not None:
        document.data = _plain(root, (), document, yaml.constructor, ())
    if not isinstance(document.data, dict):
        document.problems.insert(0, (1, f"{file}:1: the file must hold a mapping of keys to values"))
        hold = False
    if not hold:
        document.raise_problems()
    return document


def _too_deep(text: str) -> int:
    """The line on which the nesting goes beyond all measure."""
    from ruamel.yaml import YAML

    depth = 0
    for event in YAML(typ="safe", pure=True).parse(text):
        kind = type(event).__name__
        depth += kind.endswith("StartEvent") - kind.endswith("EndEvent")
        if depth > DEEPEST:
            return int(event.start_mark.line) + 1
    return 1


def _plain(node: Any, path: Keys, document: Document, constructor: Any, above: tuple[int, ...]) -> Any:
    document.lines.setdefault(path, node.start_mark.line + 1)
    if id(node) in above:
        document.add(path, "an alias that contains itself")
        return None
    if len(above) > DEEPEST:
        document.add(path[:3], f"nested more than {DEEPEST} levels deep")
        return None
    if len(document.lines) > MOST:  # a few aliases of aliases can be more than any memory holds
        if not document.problems:
            document.add(path[:3], f"the file holds more than {MOST} values")
        return None
    if node.id == "mapping":
        found: dict[str, Any] = {}
        for key, value in node.value:
            name = str(key.value) if key.id == "scalar" else f"a key that is a {key.id}"
            inner = (*path, name)
            document.lines[inner] = key.start_mark.line + 1
            if key.id != "scalar":
                document.add(inner, "a key must be text")
            if name in found:
                document.add(inner, "this key is given twice")
            found[name] = _plain(value, inner, document, constructor, (*above, id(node)))
        return found
    if node.id == "sequence":
        return [_plain(value, (*path, i), document, constructor, (*above, id(node))) for i, value in enumerate(node.value)]
    try:
        str(node.value).encode()  # escapes can spell half a character
        value = constructor.construct_object(node)
        if isinstance(value, int):
            float(value)  # it may be more than a number can hold
        return value
    except Exception as e:  # an unknown tag or a malformed scalar: ruamel raises several kinds
        document.add(path, f"{node.value!r} cannot be read: {' '.join(str(e).split())}")
        return None
