"""Logs to be reported: of the shipped machines, and made by hand; and a page as a tree."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import lxml.html
from mcap.writer import CompressionType, Writer

from pushrod.log.reader import read
from pushrod.report import find, page


def page_of(*files: Path) -> lxml.html.HtmlElement:
    return lxml.html.document_fromstring(page([find(read(file)) for file in files]))


def rows(tree: lxml.html.HtmlElement, table: str) -> list[list[lxml.html.HtmlElement]]:
    """The cells of all tables of a kind."""
    return [row.xpath("td") for row in tree.xpath(f"//table[contains(concat(' ', @class, ' '), ' {table} ')]/tbody/tr")]


def value(cell: lxml.html.HtmlElement) -> float | None:
    text = cell.get("data-value")
    return None if text is None else float(text)


def text(cell: lxml.html.HtmlElement) -> str:
    return str(cell.text_content()).strip()


def section(tree: lxml.html.HtmlElement, name: str) -> lxml.html.HtmlElement | None:
    found = tree.xpath(f"//section[@id='{name}']")
    return found[0] if found else None


def write_log(
    file: Path,
    topics: Mapping[str, Iterable[tuple[float, dict[str, Any]]]],
    about: Mapping[str, str] | None = None,
    attached: Mapping[str, str] | None = None,
    schemas: Mapping[str, dict[str, Any]] | None = None,
) -> Path:
    """A log as any program could have written it."""
    with file.open("wb") as stream:
        writer = Writer(stream, compression=CompressionType.NONE, chunk_size=1 << 16)
        writer.start("pushrod", "by hand")
        if about is not None:
            writer.add_metadata("pushrod", dict(about))
        for name, content in (attached or {}).items():
            writer.add_attachment(0, 0, name, "text/plain", content.encode())
        messages = []
        for topic, said in topics.items():
            schema = writer.register_schema(topic, "jsonschema", json.dumps((schemas or {}).get(topic, {"type": "object"})).encode())
            channel = writer.register_channel(topic, "json", schema)
            messages += [(round(t * 1e9), channel, json.dumps(message).encode()) for t, message in said]
        for at, channel, data in sorted(messages, key=lambda one: one[0]):
            writer.add_message(channel, at, data, at)
        writer.finish()
    return file
