"""A damaged cache entry is recompiled: it never changes a number, and none of its bytes is unpickled before its checksum is verified."""

import hashlib
import os
import pickle
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import lag_world
import numpy as np
import pytest

from pushrod.compiled import module as modules
from pushrod.compiled.entry import HEADS, Plan
from pushrod.core.errors import CacheError

CONSTANTS = (0.3183098861, 1.6180339887, 2.7182818284)
TEXT = (
    HEADS["cpu", "float64"]
    + f"""

@fn
def scaled(x):
    return x * {CONSTANTS[0]!r} + {CONSTANTS[1]!r}


@entry
def first(X, Y):
    for j in range(X.shape[0]):
        Y[j] = scaled(X[j]) - {CONSTANTS[2]!r}


@entry
def second(X, Y):
    for j in range(X.shape[0]):
        Y[j] = scaled(X[j]) * {CONSTANTS[2]!r}
"""
)
X = np.linspace(-1.0, 1.0, 7)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("PUSHROD_CACHE", str(tmp_path))
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("damaged_")]:
        del sys.modules[name]


def fresh() -> ModuleType:
    """Load the module as a new process would."""
    for name in [name for name in sys.modules if name.startswith("damaged_")]:
        del sys.modules[name]
    return modules.load(TEXT, "damaged")


def bits(function: str = "first") -> tuple[bytes, bool]:
    """Return the result of a function of a freshly loaded module, and whether its machine code came from the cache."""
    Y = np.empty_like(X)
    compiled = getattr(fresh(), function)
    compiled(X, Y)
    return Y.tobytes(), sum(compiled.stats.cache_hits.values()) == 1


def code_files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*") if file.is_file() and file.suffix != ".py")


def flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :]


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "first byte": lambda data: flipped(data, 0),
    "a byte of the checksum": lambda data: flipped(data, 20),
    "a byte in the middle": lambda data: flipped(data, len(data) // 2),
    "last byte": lambda data: flipped(data, len(data) - 1),
    "truncated": lambda data: data[: len(data) // 2],
    "one byte short": lambda data: data[:-1],
    "empty": lambda data: b"",
    "one byte more": lambda data: data + b"\0",
    "text": lambda data: b"hello\n",
}


def test_an_intact_entry_is_used() -> None:
    compiled, hit = bits()
    assert not hit
    again, hit = bits()
    assert hit
    assert again == compiled


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_of_an_entry_is_recompiled(folder: Path, damage: str) -> None:
    expected, _ = bits()
    files = code_files(folder)
    assert files
    for file in files:
        intact = file.read_bytes()
        file.write_bytes(DAMAGES[damage](intact))
        assert bits() == (expected, False), file.name
        assert bits() == (expected, True), file.name


def test_an_altered_constant_in_machine_code_is_recompiled(folder: Path) -> None:
    expected, _ = bits()
    altered = 0
    for file in code_files(folder):
        intact = file.read_bytes()
        for constant in CONSTANTS:
            at = intact.find(struct.pack("<d", constant))
            if at >= 0:
                file.write_bytes(flipped(intact, at + 5))
                assert bits() == (expected, False)
                altered += 1
    assert altered


def test_the_module_on_disk_is_rewritten_and_never_executed(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    expected, _ = bits()
    (source,) = folder.glob("*.py")
    intact = source.read_bytes()
    trace = tmp_path_factory.mktemp("trace") / "executed"
    evil = f"open({str(trace)!r}, 'w')\n".encode()
    changed = intact.replace(repr(CONSTANTS[0]).encode(), repr(CONSTANTS[1]).encode())
    for data in (changed, evil + intact, flipped(intact, len(intact) // 2), b"\xff" + intact, intact[:100], b""):
        source.write_bytes(data)
        assert bits() == (expected, True)
        assert source.read_bytes() == intact
    assert not trace.exists()


def test_bytecode_beside_the_module_is_ignored(folder: Path) -> None:
    """Python would import a .pyc with a matching time stamp without looking at the source."""
    import importlib.util
    import py_compile

    expected, _ = bits()
    (source,) = folder.glob("*.py")
    changed = folder / "changed.py"
    changed.write_bytes(source.read_bytes().replace(repr(CONSTANTS[0]).encode(), repr(CONSTANTS[1]).encode()))
    py_compile.compile(str(changed), importlib.util.cache_from_source(str(source)), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    for file in code_files(folder):
        if file.suffix != ".pyc":
            file.unlink()
    assert bits() == (expected, False)


def test_swapped_entries_are_recompiled(folder: Path) -> None:
    first, _ = bits("first")
    second, _ = bits("second")
    one, two = (next(file for file in code_files(folder) if name in file.name) for name in ("first", "second"))
    a, b = one.read_bytes(), two.read_bytes()
    one.write_bytes(b)
    two.write_bytes(a)
    assert bits("first") == (first, False)
    assert bits("second") == (second, False)


class Payload:
    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[object, tuple[str, str]]:
        return open, (str(self.trace), "w")


def test_no_altered_byte_is_unpickled(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    expected, _ = bits()
    trace = tmp_path_factory.mktemp("trace") / "unpickled"
    evil = pickle.dumps(Payload(trace))
    for file in code_files(folder):
        intact = file.read_bytes()
        for data in (evil, intact[:32] + evil, hashlib.sha256(evil).digest() + evil):
            file.write_bytes(data)
            assert bits() == (expected, False)
    assert not trace.exists()


def test_an_entry_that_is_a_folder_gives_a_problem(folder: Path) -> None:
    bits()
    for file in code_files(folder):
        file.unlink()
        (file / "inside").mkdir(parents=True)
    with pytest.raises(CacheError, match="PUSHROD_CACHE"):
        bits()


@pytest.mark.parametrize("kind", ["fifo", "device", "empty folder"])
def test_an_entry_that_is_no_regular_file_is_recompiled(folder: Path, kind: str) -> None:
    """A FIFO would block, and a device never ends."""
    expected, _ = bits()
    for file in code_files(folder):
        file.unlink()
        if kind == "fifo":
            os.mkfifo(file)
        elif kind == "device":
            file.symlink_to("/dev/zero")
        else:
            file.mkdir()
    assert bits() == (expected, False)
    assert bits() == (expected, True)


def test_entries_of_another_version_of_numba_are_not_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import numba

    bits()
    monkeypatch.setattr(numba, "__version__", "0.0.1")
    assert not bits()[1]


def test_no_file_of_numba_itself_is_written_or_read(folder: Path) -> None:
    bits()
    assert not [file for file in code_files(folder) if file.suffix in (".nbi", ".nbc", ".pyc")]


def test_a_kernel_for_cuda_has_the_same_storage() -> None:
    pytest.importorskip("numba_cuda")
    from pushrod.compiled.cuda import cuda_module
    from pushrod.compiled.verified_cache import Entries

    kernel = cuda_module(Plan(lag_world.LAG_WORLD, "cuda", outputs=("y",))).kernel
    assert isinstance(kernel._cache._cache_file, Entries)


def test_two_processes_write_one_entry_at_once(folder: Path) -> None:
    program = (
        "import sys, numpy as np\n"
        "from pushrod.compiled.module import load\n"
        "Y = np.empty(7)\n"
        "load(open(sys.argv[1]).read(), 'damaged').first(np.linspace(-1.0, 1.0, 7), Y)\n"
        "sys.stdout.write(Y.tobytes().hex())\n"
    )
    expected, _ = bits()
    source = folder / "source.txt"
    source.write_text(TEXT)
    for file in code_files(folder):
        if file != source:
            file.unlink()
    both = [subprocess.Popen([sys.executable, "-c", program, str(source)], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [process.communicate()[0] for process in both] == [expected.hex()] * 2
    assert bits() == (expected, True)
    assert not list(folder.rglob("*.tmp*"))


def test_threads_load_one_module(folder: Path) -> None:
    loaded: list[ModuleType] = []
    threads = [threading.Thread(target=lambda: loaded.append(modules.load(TEXT, "damaged"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(module) for module in loaded}) == 1


def test_a_world_gives_equal_bits_from_a_damaged_cache(folder: Path) -> None:
    """Flip bytes all over the entry of a world; every run gives the bits of the first one."""
    from pushrod.compiled import job
    from pushrod.compiled.rollout import rollout

    def result() -> bytes:
        job.module.cache_clear()
        for name in [name for name in sys.modules if name.startswith("lag_world_")]:
            del sys.modules[name]
        run = rollout(lag_world.LAG_WORLD, None, {"u": np.sin(np.arange(50.0))}, steps=50, dt=1e-3)
        return bytes(run["y"].tobytes())

    expected = result()
    (file,) = code_files(folder)
    intact = file.read_bytes()
    for at in range(40, len(intact), len(intact) // 4):
        file.write_bytes(flipped(intact, at))
        assert result() == expected
