"""An XML file as elements with their lines. A document type, and with it every entity, is refused: it could grow without bound, or read files."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from pushrod.core import input_file
from pushrod.core.errors import ConfigError

DEEPEST = 100  # no description nests like that, and reading it is recursive


@dataclass
class Element:
    tag: str
    attributes: dict[str, str]
    line: int
    children: list["Element"] = field(default_factory=list)
    text: str = ""

    def all(self, tag: str) -> Iterator["Element"]:
        return (child for child in self.children if child.tag == tag)

    def first(self, tag: str) -> "Element | None":
        return next(self.all(tag), None)


class _RefusedError(Exception):
    pass


def load(file: Path) -> Element:
    try:
        return parse(input_file.read_bytes(file, input_file.CONFIGURATION), str(file))
    except (OSError, ValueError) as e:  # a name with a NUL in it
        if isinstance(e, ConfigError):
            raise
        raise ConfigError([f"{file}: cannot be read: {getattr(e, 'strerror', None) or e}"]) from e


def parse(data: bytes | str, file: str = "<text>") -> Element:
    """The root element; ConfigError with the line where it is not XML or has a document type."""
    parser = expat.ParserCreate()
    parser.buffer_text = True
    root = Element("", {}, 1)
    above = [root]

    def start(tag: str, attributes: dict[str, str]) -> None:
        if len(above) > DEEPEST:
            raise _RefusedError("nested too deeply")
        above[-1].children.append(Element(tag, attributes, parser.CurrentLineNumber))
        above.append(above[-1].children[-1])

    def end(tag: str) -> None:
        above.pop()

    def text(data: str) -> None:
        above[-1].text += data

    def doctype(*ignored: object) -> None:
        raise _RefusedError("a document type (<!DOCTYPE ...>) and entities are not taken; write the text out")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = text
    parser.StartDoctypeDeclHandler = doctype
    parser.EntityDeclHandler = doctype
    try:
        parser.Parse(data, True)
    except expat.ExpatError as e:
        raise ConfigError([f"{file}:{e.lineno}: not valid XML: {expat.ErrorString(e.code)}"]) from e
    except _RefusedError as e:
        raise ConfigError([f"{file}:{parser.CurrentLineNumber}: {e}"]) from e
    except (ValueError, LookupError) as e:  # an encoding there is not
        raise ConfigError([f"{file}:{parser.CurrentLineNumber}: not valid XML: {e}"]) from e
    return root.children[0]
