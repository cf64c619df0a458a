"""Reading elements of a URDF file: values with their lines and paths, problems collected, what has no meaning here noted."""

import json
import warnings
from collections.abc import Iterable
from typing import Any

from pushrod.config.structure import WRONG
from pushrod.config.yaml_file import Document, Keys
from pushrod.core.errors import DescriptionWarning
from pushrod.robot.xml_file import Element


class Reading:
    """One file being read. `document` knows the line of every path and collects problems."""

    def __init__(self, file: str) -> None:
        self.document = Document(file, "", None, {})
        self._left_out: dict[str, list[int]] = {}

    def at(self, e: Element, at: Keys, attributes: Iterable[str] = (), children: Iterable[str] = (), ours: bool = False) -> None:
        """The element stands for this path. Attributes and children that are not named here mean nothing; in elements of ours they are mistakes."""
        self.document.lines[at] = e.line
        unknown = [(name, f"{name} of <{e.tag}>", e.line) for name in e.attributes if name not in attributes and not name.startswith("xmlns")]
        unknown += [(child.tag, f"<{child.tag}>", child.line) for child in e.children if child.tag not in children]
        for name, what, line in unknown:
            if ours:
                self.document.lines[(*at, name)] = line
                self.document.add((*at, name), f"{what} is unknown; known here: {', '.join((*attributes, *children))}")
            else:
                self._left_out.setdefault(what, []).append(line)

    def wrong(self, e: Element, at: Keys, what: str) -> Any:
        self.document.lines[at] = e.line
        self.document.add(at, what)
        return WRONG

    def text(self, e: Element, attribute: str, at: Keys) -> Any:
        """An attribute that must be there."""
        self.document.lines[at] = e.line
        return e.attributes.get(attribute) or self.wrong(e, at, f"<{e.tag}> has no {attribute}")

    def number(self, e: Element, attribute: str, at: Keys, default: Any = None) -> Any:
        if attribute not in e.attributes:
            return default
        return self.parsed(e, e.attributes[attribute], at)

    def parsed(self, e: Element, text: str, at: Keys) -> Any:
        self.document.lines[at] = e.line
        try:
            return float(text.replace("_", "?"))
        except ValueError:
            return self.wrong(e, at, f"must be a number, got {text!r}")

    def numbers(self, e: Element, attribute: str, at: Keys, default: Any) -> Any:
        if attribute not in e.attributes:
            return default
        self.document.lines[at] = e.line
        return tuple(self.parsed(e, part, (*at, i)) for i, part in enumerate(e.attributes[attribute].split()))

    def switch(self, e: Element, attribute: str, at: Keys, default: bool) -> Any:
        text = e.attributes.get(attribute, str(default).lower())
        return text == "true" if text in ("true", "false") else self.wrong(e, at, f"must be true or false, got {text!r}")

    def data(self, e: Element, text: str, at: Keys) -> Any:
        """Plain data written as JSON."""
        self.document.lines[at] = e.line
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as why:
            return self.wrong(e, at, f"is not JSON: {why}")

    def warn(self) -> None:
        if self._left_out:
            parts = [f"{what} ({'line' if len(n) == 1 else 'lines'} {', '.join(map(str, n))})" for what, n in self._left_out.items()]
            warnings.warn(DescriptionWarning(f"{self.document.file}: has no meaning here and is left out: {'; '.join(parts)}"), stacklevel=4)
