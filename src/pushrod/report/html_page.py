"""The page: one HTML file that needs nothing else. Whatever comes from a log is text in it: escaped where it stands, data for the script elsewhere.

The page forbids itself all connections and every script but its own (by their hashes), so that a hostile log can do nothing with it.
Plotly is packed (gzip, unpacked by the browser): 2 MB instead of 5.
"""

import base64
import functools
import gzip
import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from pushrod.core.errors import LogError
from pushrod.report import sections
from pushrod.report.drawing import Drawing
from pushrod.report.findings import Findings

FOLDER = Path(__file__).parent / "template"


def page(runs: Sequence[Findings]) -> str:
    """Of one log, or of two of which the second is laid over the first."""
    names = ["A", "B"] if len(runs) > 1 else [runs[0].log.name]
    begin, end = min(found.log.span[0] for found in runs), max(found.log.span[1] for found in runs)
    drawing = Drawing(names, (begin, end))
    return filled("page.html", sections.content(runs, drawing), drawing)


def filled(template: str, content: dict[str, Any], drawing: Drawing, folder: Path = FOLDER, figures: str = "") -> str:
    """A template with all that makes it a page by itself: style, script, plotly, and the numbers to draw. Other kinds of pages bring their own.

    `figures`: a script in the folder that knows how to draw further kinds of panels.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    scripts, plotly = [file.read_text(encoding="utf-8") for file in (*([folder / figures] if figures else []), FOLDER / "page.js")], _plotly()
    loader = FileSystemLoader([folder, FOLDER])
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.get_template(template).render(
        **content,
        policy=_policy(*scripts, plotly),
        style=(FOLDER / "page.css").read_text(encoding="utf-8"),
        scripts=scripts,
        plotly=_packed(plotly),
        data=_packed_data(drawing.data()),
    )


def write(text: str, file: Path) -> None:
    """The page as a file, whole or not at all; one that was there stays until then."""
    part = file.with_name(f".{file.name}.{os.getpid()}.part")
    try:
        if file.exists() and not file.is_file():  # such as /dev/stdout: nothing is put in its place
            file.write_text(text, encoding="utf-8")
            return
        try:
            part.write_text(text, encoding="utf-8")
            part.replace(file)
        finally:
            part.unlink(missing_ok=True)
    except OSError as e:
        raise LogError(f"{file}: the report cannot be written: {e.strerror or e}") from e


@functools.cache
def _plotly() -> str:
    from plotly.offline import get_plotlyjs

    return str(get_plotlyjs())


@functools.cache
def _packed(text: str) -> str:
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()


def _packed_data(data: Any) -> str:
    return base64.b64encode(gzip.compress(msgspec.json.encode(data), 6, mtime=0)).decode()


def _policy(*scripts: str) -> str:
    allowed = " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in scripts)
    return f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; form-action 'none'; base-uri 'none'"
