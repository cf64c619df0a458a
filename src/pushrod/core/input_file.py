"""Open input files: regular files alone, up to a size that fits into memory.

A FIFO or a terminal would block, a device might never end, and opening some devices changes their state; so the kind of a file is looked at before
it is opened. Every reader of a file that a user or another file names goes through here.
"""

import errno
import gzip
import io
import os
import select
import stat
import zlib
from pathlib import Path
from typing import BinaryIO, TextIO

KINDS = (
    (stat.S_ISFIFO, "is a FIFO"),
    (stat.S_ISSOCK, "is a socket"),
    (stat.S_ISCHR, "is a character device"),
    (stat.S_ISBLK, "is a block device"),
)


TEXT = 256 * 2**20  # bytes of a file that is read as a whole
CONFIGURATION = 16 * 2**20  # bytes of a YAML or XML file, whose parser takes 1 kB of memory for each value
LOG = 2 * 2**30  # bytes of a recording that is read as a whole
BLOCK = 2**20
STREAMED = 2**63  # of one that is read piece by piece


class SpecialFileError(OSError):
    """An input file is no regular file."""


class FileTooLargeError(OSError):
    """An input file would not fit into memory."""


def open_binary(path: str | Path, largest: int = TEXT) -> BinaryIO:
    """Open a regular file of up to `largest` bytes for reading; OSError for anything else, at once."""
    check_kind(path, os.stat(path))
    # Non-blocking, because another file may have taken the name since; regular files ignore it.
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0))
    try:
        status = os.fstat(handle)
        check_kind(path, status)
        check_size(path, status.st_size, largest)
        if not _is_readable(handle):  # some files of /proc have content only from time to time
            raise SpecialFileError(errno.EAGAIN, "has no content to read now; give a regular file", str(path))
        return open(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def open_text(path: str | Path, encoding: str = "utf-8", newline: str | None = None, largest: int = TEXT) -> TextIO:
    return io.TextIOWrapper(open_binary(path, largest), encoding=encoding, newline=newline)


def read_bytes(path: str | Path, largest: int = TEXT) -> bytes:
    with open_binary(path, largest) as file:
        return file.read()


def read_text(path: str | Path, encoding: str = "utf-8", largest: int = TEXT) -> str:
    with open_text(path, encoding, largest=largest) as file:
        return file.read()


def read_unpacked(path: str | Path, largest: int = TEXT) -> bytes:
    """Return the content of a file that may be packed by gzip. Unpacked, it obeys the same limit: a small file may unpack to a thousand times its
    size. ValueError where it is damaged or cut short."""
    packed = read_bytes(path, largest)
    if packed[:2] != b"\x1f\x8b":
        return packed
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(packed)) as file:
            content = io.BytesIO()
            while part := file.read(BLOCK):
                content.write(part)
                check_size(path, content.tell(), largest)
    except EOFError as error:
        raise ValueError(f"{Path(path).name} is cut short") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{Path(path).name} is damaged: {error}") from error
    return content.getvalue()


def _is_readable(handle: int) -> bool:
    """Return whether a read does not have to wait; a regular file is always readable, also at its end."""
    if not hasattr(select, "poll"):
        return True
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    return bool(poll.poll(0))


def check_kind(path: str | Path, status: os.stat_result) -> None:
    """Raise OSError where the status is that of a directory or a special file."""
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    for is_kind, what in KINDS:
        if is_kind(status.st_mode):
            raise SpecialFileError(errno.EINVAL, f"{what}; give a regular file", str(path))


def check_size(path: str | Path, size: int, largest: int) -> None:
    """Raise OSError where a file has more bytes than can be read."""
    if size > largest:
        raise FileTooLargeError(errno.EFBIG, f"too large: {size} bytes; allowed are {largest}. Give a smaller file", str(path))
