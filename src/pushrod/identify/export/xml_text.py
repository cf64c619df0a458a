"""XML as text: indented, with comments, numbers as short as they can be without losing anything a simulator would notice."""

import math
import xml.etree.ElementTree as ET


def number(x: float) -> str:
    """Seven digits; never nan or inf, which no reader takes."""
    assert math.isfinite(x), x
    return f"{x:.7g}"


def text(root: ET.Element) -> str:
    ET.indent(root)
    return ET.tostring(root, encoding="unicode") + "\n"


def comment(parent: ET.Element, words: str) -> None:
    parent.append(ET.Comment(f" {words.replace('--', '- -')} "))


def child(parent: ET.Element, tag: str, inside: str = "", **attributes: str | float) -> ET.Element:
    made = ET.SubElement(parent, tag, {key: number(value) if isinstance(value, float) else str(value) for key, value in attributes.items()})
    made.text = inside or None
    return made
