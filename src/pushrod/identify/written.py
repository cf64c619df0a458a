"""Write files, all of them or none, and none over another."""

import contextlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from pushrod.core.errors import InputError


def refuse_taken(files: Iterable[Path]) -> None:
    taken = [str(file) for file in files if file.exists()]
    if taken:
        raise InputError(f"{', '.join(taken)}: there already; nothing was written. Choose another place by --out")


def write_all(texts: Mapping[Path, str]) -> list[Path]:
    refuse_taken(texts)
    made: list[Path] = []
    try:
        for file, text in texts.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            made.append(file)
            file.write_text(text, encoding="utf-8")
    except OSError as e:
        for file in made:
            with contextlib.suppress(OSError):
                file.unlink(missing_ok=True)
        raise InputError(f"{e.filename or made[-1]}: cannot be written: {e.strerror or e}; nothing was written. Choose another place by --out") from e
    return made
