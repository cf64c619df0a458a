"""Where logs are put: a folder that can be written, and names that are not taken."""

import tempfile
from pathlib import Path

from pushrod.core.errors import LogError


def prepare(folder: Path) -> None:
    """Make the folder, and a LogError where no log could be written there: better before a long run than after it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as e:
        raise LogError(f"{folder}: cannot be made a folder for the log: {e.strerror or e}") from e


def free_name(folder: Path, stem: str) -> Path:
    """stem.mcap, or stem-2.mcap where that is taken, and so on."""
    file, i = folder / f"{stem}.mcap", 2
    while file.exists():
        file, i = folder / f"{stem}-{i}.mcap", i + 1
    return file
