"""Read a recording for a verb, a long one behind a bar."""

from pathlib import Path
from typing import TYPE_CHECKING

from pushrod.cli.output import say

if TYPE_CHECKING:
    from pushrod.log.table import Table

MB = 1_000_000


def read_log(file: Path) -> "Table":
    """For a verb that works on with it: what is torn of it is told, and what is there is used."""
    table = read_all(file)
    if table.torn:
        say(f"{table.file}: torn: {table.torn}", err=True)
    return table


def read_all(file: Path) -> "Table":
    from pushrod.cli.progress import progress
    from pushrod.log.reader import read

    with progress(f"reading {file.name}", "MB", patience=1.0) as show:
        return read(file, lambda done, of: show(done // MB, of // MB))
