"""Read a recording for a verb that works on with it: what is torn of it is told, and what is there is used."""

from pathlib import Path
from typing import TYPE_CHECKING

from pushrod.cli.output import say

if TYPE_CHECKING:
    from pushrod.log.table import Table


def read_log(file: Path) -> "Table":
    from pushrod.log.reader import read

    table = read(file)
    if table.torn:
        say(f"{table.file}: torn: {table.torn}", err=True)
    return table
