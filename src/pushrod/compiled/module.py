"""Write a linked text once, under the hash of itself, and import it: numba's disk cache then lies beside it.

The folder is $PUSHROD_CACHE, or pushrod under the user's cache folder.
"""

import hashlib
import importlib.util
import os
import pickle
import sys
import tempfile
from pathlib import Path
from types import ModuleType

from pushrod.core.errors import CacheError


def cache_folder() -> Path:
    if os.environ.get("PUSHROD_CACHE"):
        return Path(os.environ["PUSHROD_CACHE"])
    home = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or str(Path.home() / ".cache")
    return Path(home) / "pushrod"


def load(text: str, stem: str) -> ModuleType:
    """The module of a linked text. Written atomically, so that two processes may do it at once."""
    name = f"{stem}_{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    path = cache_folder() / f"{name}.py"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != text:  # absent, or spoilt by somebody
            handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
            with os.fdopen(handle, "w") as file:
                file.write(text)
            os.replace(temporary, path)
    except OSError as error:
        raise CacheError(f"the folder for compiled code cannot be used: {error}; set PUSHROD_CACHE to a folder that can be written") from error
    _drop_torn(path)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _drop_torn(path: Path) -> None:
    """Throw compiled code away that cannot be read back, as a full disk or a killed process leaves it; it is compiled again."""
    for file in (path.parent / "__pycache__").glob(f"{path.stem}.*.nb[ic]"):
        try:
            with file.open("rb") as stream:
                while True:
                    pickle.load(stream)  # the version, then the index or the code
                    if stream.tell() == file.stat().st_size:
                        break
        except (EOFError, pickle.UnpicklingError, ValueError, OSError):
            file.unlink(missing_ok=True)
        except Exception:  # readable, but made by another version: numba itself sees to that
            continue
