"""Compiled code on disk, verified by checksum before numba reads it.

numba unpickles its own cache files without looking for damage: an altered byte in a constant of the machine code gives other numbers, an altered
byte elsewhere may run anything. `verify` replaces the files behind a numba cache by `Entries`: one file per function and signature, its SHA-256
first. The checksum covers the key too, so that a file under the name of another is not read. A file that does not match counts as absent:
numba then compiles, and the new entry replaces it.

The checksum finds damage, not intent: a program that can write to the folder can write a matching checksum.
"""

import hashlib
import os
import pickle
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite
import numba

from pushrod.core.errors import CacheError
from pushrod.core.input_file import read_bytes

SUFFIX = ".code"
DIGEST = hashlib.sha256().digest_size


class Compiler(NamedTuple):
    """A target of numba: its version, where that is not numba's own, and how it serializes compiled code."""

    version: str
    dumps: Callable[[Any], bytes]


class Entries:
    """The entries of one compiled function. numba calls `load`, `save` and `flush`; `source` is the SHA-256 of the module's text."""

    def __init__(self, folder: Path, stem: str, source: str, compiler: Compiler) -> None:
        self.folder = folder
        self.stem = stem
        self._source = source
        self._compiler = compiler

    def load(self, key: Any) -> Any:
        """Return the data saved under a key; None where there is no intact file."""
        digest = self._digest(key)
        try:
            content = read_bytes(self._file(digest))
        except OSError:  # absent, or no regular file: `save` replaces it, or reports that it cannot
            return None
        checksum, data = content[:DIGEST], content[DIGEST:]
        return pickle.loads(data) if checksum == _checksum(digest, data) else None

    def save(self, key: Any, data: Any) -> None:
        """Replace the entry of a key atomically, so that other processes read the old file or the new one."""
        digest = self._digest(key)
        content = self._compiler.dumps(data)
        write_atomically(self._file(digest), _checksum(digest, content) + content)

    def flush(self) -> None:
        """Remove every entry of the function."""
        for file in self.folder.glob(f"{self.stem}.*{SUFFIX}"):
            with suppress(OSError):
                file.unlink()

    def _file(self, digest: bytes) -> Path:
        return self.folder / f"{self.stem}.{digest.hex()[:16]}{SUFFIX}"

    def _digest(self, key: Any) -> bytes:
        """Return what an entry depends on as a hash: the signature and the processor (numba's key), the text, and the versions of the compilers."""
        versions = (numba.__version__, llvmlite.__version__, self._compiler.version, sys.implementation.cache_tag)
        # By repr, because pickled bytes of equal keys can differ between processes; numba's types are equal where their names are.
        return hashlib.sha256(repr((self.stem, self._source, versions, key)).encode()).digest()


def verify(dispatcher: Any, folder: Path, stem: str, source: str, compiler: Compiler) -> None:
    """Replace the files behind the cache of a numba function that has one by verified entries."""
    cache = dispatcher._cache
    if cache.cache_path is None:  # compiled without a cache
        return
    if not hasattr(cache, "_cache_file"):
        raise CacheError(f"numba {numba.__version__} has no cache whose files can be replaced; install a version of numba that pushrod allows")
    cache._cache_file = Entries(folder, stem, source, compiler)


def write_atomically(file: Path, content: bytes) -> None:
    """Write a file of the cache beside its name and rename it; CacheError where that fails."""
    temporary = ""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=file.parent, suffix=".tmp")
        with os.fdopen(handle, "wb") as target:
            target.write(content)
        if file.is_dir() and not file.is_symlink():
            file.rmdir()  # a name that only the cache uses
        os.replace(temporary, file)
    except OSError as error:
        with suppress(OSError):
            os.unlink(temporary)
        raise CacheError(f"the folder for compiled code cannot be used: {error}; set PUSHROD_CACHE to a folder that can be written") from error


def _checksum(digest: bytes, data: bytes) -> bytes:
    return hashlib.sha256(digest + data).digest()
