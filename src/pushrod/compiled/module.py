"""Write a linked text once, under the hash of itself, and import it: numba's disk cache then lies beside it.

The folder is $PUSHROD_CACHE, or pushrod under the user's cache folder.
"""

import hashlib
import importlib.util
import os
import sys
import tempfile
from pathlib import Path
from types import ModuleType


def cache_folder() -> Path:
    if "PUSHROD_CACHE" in os.environ:
        return Path(os.environ["PUSHROD_CACHE"])
    home = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or str(Path.home() / ".cache")
    return Path(home) / "pushrod"


def load(text: str, stem: str) -> ModuleType:
    """The module of a linked text. Written atomically, so that two processes may do it at once."""
    name = f"{stem}_{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.py"
    if not path.exists():
        handle, temporary = tempfile.mkstemp(dir=folder, suffix=".tmp")
        with os.fdopen(handle, "w") as file:
            file.write(text)
        os.replace(temporary, path)
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
