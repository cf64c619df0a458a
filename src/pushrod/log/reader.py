"""`read(path)`: a recording as a `Table`, whatever kind of file it is. What it is follows from its first bytes, and else from its name.

A new kind of file is one module with `read(file, told) -> Table` and one row here; `told` how much has been read, if that takes long.
"""

from collections.abc import Callable
from pathlib import Path

from pushrod.core import input_file
from pushrod.core.errors import LogError
from pushrod.log import bag_file, csv_file, json_file, mat_file, mcap_file
from pushrod.log.mcap_records import MAGIC
from pushrod.log.table import Table, Told

METADATA = "metadata.yaml"  # of a ROS 2 bag
Reader = Callable[[Path, Told], Table]


def at_once(read: Callable[[Path], Table]) -> Reader:
    """Of a kind of file that its library reads in one go."""
    return lambda file, told: read(file)


BEGINNINGS: tuple[tuple[bytes, Reader], ...] = (
    (MAGIC, mcap_file.read),
    (b"MATLAB 5.0 MAT-file", at_once(mat_file.read)),
    (b"SQLite format 3\0", bag_file.read),
)
SUFFIXES: dict[str, Reader] = {
    ".mcap": mcap_file.read,
    ".csv": at_once(csv_file.read),
    ".tsv": at_once(csv_file.read),
    ".txt": at_once(csv_file.read),
    ".mat": at_once(mat_file.read),
    ".json": at_once(json_file.read),
    ".db3": bag_file.read,
}


def read(path: str | Path, told: Told = lambda done, of: None) -> Table:
    """LogError says what is wrong with a file that cannot be read; what is only torn is read as far as it goes, and `Table.torn` tells of it.

    `told(done, of)` is called now and then with how much of a long one has been read [B].
    """
    file = Path(path)
    try:
        if file.is_dir():
            return _folder(file, told)
        with input_file.open_binary(file, input_file.STREAMED) as source:
            begin = source.read(256)
    except (OSError, ValueError) as e:
        if isinstance(e, LogError):
            raise
        raise LogError(f"{file}: cannot be read: {getattr(e, 'strerror', None) or e}") from e
    reader = next((reader for first, reader in BEGINNINGS if begin.startswith(first)), None) or SUFFIXES.get(file.suffix.lower())
    if reader is None:
        raise LogError(f"{file}: of no kind that can be read; known are {', '.join(SUFFIXES)}, and folders that are ROS 2 bags")
    try:
        return reader(file, told)
    except MemoryError as e:
        raise LogError(f"{file}: does not fit into memory. Cut the file, or read it on a computer with more") from e


def _folder(folder: Path, told: Told) -> Table:
    if not (folder / METADATA).is_file():
        raise LogError(f"{folder}: is a folder and no ROS 2 bag, which has a {METADATA}; give a file")
    for file in folder.iterdir():  # the library that reads bags opens them
        if not file.is_dir():
            status = file.stat()
            input_file.check_kind(file, status)
            input_file.check_size(file, status.st_size, input_file.CONFIGURATION if file.name == METADATA else input_file.STREAMED)
    return bag_file.read(folder, told)
