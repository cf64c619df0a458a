"""Import a linked text, and keep what numba compiles of it on disk, verified.

The folder is $PUSHROD_CACHE, or pushrod under the user's cache folder. The text itself is written there for tracebacks and debuggers; it is
executed from memory, so that nothing written to that file, or to bytecode beside it, can change a number.
"""

import hashlib
import os
import sys
import threading
from pathlib import Path
from types import ModuleType

from pushrod.compiled.verified_cache import Compiler, verify, write_atomically
from pushrod.core.errors import CacheError

_loading = threading.Lock()  # a module is imported once, as by Python's own import lock


def cache_folder() -> Path:
    if os.environ.get("PUSHROD_CACHE"):
        return Path(os.environ["PUSHROD_CACHE"])
    home = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or str(Path.home() / ".cache")
    return Path(home) / "pushrod"


def load(text: str, stem: str, compiler: Compiler | None = None) -> ModuleType:
    """Return the module of a linked text; `compiler` is numba's for the CPU if left out."""
    source = hashlib.sha256(text.encode()).hexdigest()
    name = f"{stem}_{source[:16]}"
    with _loading:
        if name in sys.modules:
            return sys.modules[name]
        path = cache_folder() / f"{name}.py"
        _write(path, text.encode())
        module = ModuleType(name)
        module.__file__ = str(path)
        sys.modules[name] = module
        try:
            exec(compile(text, str(path), "exec"), vars(module))
            _verify(module, path, source, compiler or _cpu())
        except BaseException:
            del sys.modules[name]
            raise
        return module


def _write(path: Path, text: bytes) -> None:
    """Write the text where the file is absent or differs. Two processes may do so at once."""
    try:
        intact = path.is_file() and path.read_bytes() == text
    except OSError as error:
        raise CacheError(f"the folder for compiled code cannot be used: {error}; set PUSHROD_CACHE to a folder that can be written") from error
    if not intact:
        write_atomically(path, text)


def _verify(module: ModuleType, path: Path, source: str, compiler: Compiler) -> None:
    for name, value in vars(module).items():
        if hasattr(value, "enable_caching") and hasattr(value, "py_func"):  # a dispatcher, of the CPU or of CUDA
            verify(value, path.parent, f"{path.stem}.{name}", source, compiler)


def _cpu() -> Compiler:
    from numba.core.serialize import dumps

    return Compiler("", dumps)
