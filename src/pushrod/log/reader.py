"""`read(path)`: a recording as a `Table`, whatever kind of file it is. What it is follows from its first bytes, and else from its name.

A new kind of file is one module with `read(file) -> Table` and one row here.
"""

from collections.abc import Callable
from pathlib import Path

from pushrod.core.errors import LogError
from pushrod.log import mcap_file
from pushrod.log.mcap_records import MAGIC
from pushrod.log.table import Table

Reader = Callable[[Path], Table]

BEGINNINGS: tuple[tuple[bytes, Reader], ...] = ((MAGIC, mcap_file.read),)
SUFFIXES: dict[str, Reader] = {".mcap": mcap_file.read}


def read(path: str | Path) -> Table:
    """LogError says what is wrong with a file that cannot be read; what is only torn is read as far as it goes, and `Table.torn` tells of it."""
    file = Path(path)
    try:
        with file.open("rb") as source:
            begin = source.read(256)
    except (OSError, ValueError) as e:
        raise LogError(f"{file}: cannot be read: {getattr(e, 'strerror', None) or e}") from e
    reader = next((reader for first, reader in BEGINNINGS if begin.startswith(first)), None) or SUFFIXES.get(file.suffix.lower())
    if reader is None:
        raise LogError(f"{file}: of no kind that can be read; known are {', '.join(SUFFIXES)}")
    return reader(file)
