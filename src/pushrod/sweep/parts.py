"""The results of a study in a folder: a manifest, the files of the study, and one Parquet file for each chunk that is done.

manifest.json          which study it is (by its digest), and how it was cut into chunks
study/                 the study with all that it is made of
part-000012.parquet    the rows of chunk 12; written under another name, brought to the disk, then renamed: it is whole or not there

Each part says of which study, which chunk and which kind of device it is, and has a checksum of its columns.
"""

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pushrod.config import yaml_file
from pushrod.core import input_file
from pushrod.core.errors import PushrodError, StudyError
from pushrod.core.names import count
from pushrod.core.running import is_running
from pushrod.log.versions import versions
from pushrod.sweep.chunk import Chunk, Column, samples_passed
from pushrod.sweep.files import STUDY, write_files
from pushrod.sweep.study import Study, load

if TYPE_CHECKING:
    import polars as pl

MANIFEST, FILES = "manifest.json", "study"
KEY = "pushrod"
PART = re.compile(r"part-(\d{6,})\.parquet")
LEFT = re.compile(r"\.(?:part-\d{6,}\.parquet|manifest\.json)\.(\d+)")  # being written, by the process of that number


class Found(NamedTuple):
    """What is in the folder of a study: chunks that are missing, why parts that are there do not count, and which devices computed the others."""

    missing: tuple[int, ...]
    spoilt: Mapping[int, str]
    devices: tuple[str, ...]
    runs: int  # rows of the parts that count
    passed: int  # samples of these that pass in every scenario


def part_file(folder: Path, k: int) -> Path:
    return folder / f"part-{k:06d}.parquet"


def part_files(folder: Path) -> dict[int, Path]:
    """Those that are there, by their chunk."""
    return dict(sorted((int(match[1]), file) for file in folder.iterdir() if (match := PART.fullmatch(file.name))))


def prepare(folder: Path, study: Study) -> Study:
    """A folder made ready for the study, or found to be its own: the study in the chunks that the folder has. StudyError where it is another's."""
    if (folder / MANIFEST).exists():
        manifest = read_manifest(folder)
        if manifest["digest"] != study.digest:
            raise StudyError(f"{folder}: holds the results of {_differs(folder, manifest, study)}; nothing was changed. Give another folder by --out")
        _sweep_up(folder)
        return study.cut(manifest["chunk"])
    if folder.is_dir() and any(file.name != FILES and not LEFT.fullmatch(file.name) for file in folder.iterdir()):
        raise StudyError(f"{folder}: is not empty and holds no study ({MANIFEST} is missing); nothing was changed. Give another folder by --out")
    about = {"study": study.name, "digest": study.digest, "runs": study.runs, "chunk": study.chunk, **versions()}
    try:
        write_files(study.files, folder / FILES)
        _write(folder / MANIFEST, (json.dumps(about, indent=1) + "\n").encode())
    except OSError as e:
        raise StudyError(f"{folder}: cannot be written: {e.strerror or e}") from e
    return study


def _sweep_up(folder: Path) -> None:
    """Take away what processes that were killed had begun to write."""
    for file in folder.iterdir():
        if (match := LEFT.fullmatch(file.name)) and not is_running(int(match[1])):
            with contextlib.suppress(OSError):
                file.unlink(missing_ok=True)


def _differs(folder: Path, manifest: Mapping[str, Any], study: Study) -> str:
    """In words, what the folder's study has otherwise."""
    if manifest.get("study") != study.name:
        return f"another study, {manifest.get('study')}"
    if manifest.get("pushrod") != version("pushrod"):
        return f"the same study by pushrod {manifest.get('pushrod')}, this is {version('pushrod')}"
    changed = []
    for name, text in study.files.items():
        with contextlib.suppress(OSError, UnicodeDecodeError):
            was = input_file.read_text(folder / FILES / name)
            changed += [] if was == text else [f"{name}{_keys(was, text) if name == STUDY else ''}"]
    where = f" in {', '.join(changed)}" if changed else ""
    return f"{study.name} as it was before it changed{where}"


def _keys(was: str, now: str) -> str:
    """Which keys of a study changed: plain ones with both values, such as ` (runs: 100, now 200)`; nothing where the old text cannot be read."""
    with contextlib.suppress(PushrodError):
        old, new = (yaml_file.parse(text).data for text in (was, now))
        found = [key for key in dict.fromkeys((*old, *new)) if old.get(key) != new.get(key)]
        plain = {key for key in found if not isinstance(old.get(key), dict | list) and not isinstance(new.get(key), dict | list)}
        told = [f"{key}: {old.get(key, 'not given')}, now {new.get(key, 'not given')}" if key in plain else str(key) for key in found]
        return f" ({'; '.join(told)})" if told else ""
    return ""


def other_versions(folder: Path) -> str:
    """What of the libraries that numbers depend on is another version than when the folder was begun; empty where nothing is."""
    was, now = read_manifest(folder), versions()
    return ", ".join(f"{name} {was[name]} then, {now[name]} now" for name in now if name in was and was[name] != now[name])


def read_manifest(folder: Path) -> dict[str, Any]:
    try:
        found = json.loads(input_file.read_bytes(folder / MANIFEST))
        if isinstance(found["digest"], str) and isinstance(found["chunk"], int) and found["chunk"] >= 1:
            return dict(found)
        raise ValueError("digest and chunk are missing")
    except OSError as e:
        raise StudyError(f"{folder}: is no folder of a study's results: {MANIFEST}: {e.strerror or e}") from e
    except (ValueError, KeyError, TypeError) as e:
        raise StudyError(f"{folder / MANIFEST}: is damaged: {e}; start again in another folder") from e


def study_of(folder: Path, *, trust: bool = False) -> Study:
    """Return the study whose results are in a folder, from the files there. `trust`: import the Python file of a world among them."""
    manifest = read_manifest(folder)
    if (made_by := manifest.get("pushrod")) != (here := version("pushrod")):
        raise StudyError(f"{folder}: made by pushrod {made_by}, this is {here}, which may compute other numbers; use that one, or run the study anew")
    try:
        study = load(folder / FILES / STUDY, trust=trust)
    except PushrodError as e:
        raise StudyError(f"{folder}: the study in it cannot be loaded any more: {e}") from e
    if study.digest != manifest["digest"]:
        raise StudyError(f"{folder}: the files in {folder / FILES} are not those the results were made of")
    return study.cut(manifest["chunk"])


def write(folder: Path, study: Study, chunk: Chunk) -> Path:
    """One part, whole or not at all."""
    out = BytesIO()
    frame = frame_of(study, chunk.columns)
    about = {"digest": study.digest, "chunk": chunk.k, "device": chunk.device, "sha256": _checksum(frame)}
    frame.write_parquet(out, compression="zstd", compression_level=1, metadata={KEY: json.dumps(about)})
    file = part_file(folder, chunk.k)
    try:
        _write(file, out.getvalue())
    except OSError as e:
        raise StudyError(
            f"{file}: cannot be written: {e.strerror or e}; the parts before it are kept, and the same command goes on from there"
        ) from e
    return file


def frame_of(study: Study, columns: Mapping[str, Column]) -> "pl.DataFrame":
    """The columns of a chunk as a table; a scenario by its name."""
    import polars as pl

    names = [case.name for case in study.cases]
    named = pl.Series(names, dtype=pl.Enum(names)).gather(columns["scenario"])
    return pl.DataFrame({name: named if name == "scenario" else np.ascontiguousarray(column) for name, column in columns.items()})


def _checksum(frame: "pl.DataFrame") -> str:
    found = hashlib.sha256()
    for column in frame:
        array = np.ascontiguousarray(column.to_physical().to_numpy())
        found.update(f"{column.name} {array.dtype} {len(array)}".encode())
        found.update(array.data)
    return found.hexdigest()


def _write(file: Path, data: bytes) -> None:
    """To the disk, then under its name. A failure leaves nothing behind."""
    temporary = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        with temporary.open("wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(file)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def look(folder: Path, study: Study, going: Any = lambda done, total: None) -> Found:
    """Which chunks are there, checked to the last byte, and which are not."""
    there = part_files(folder)
    strange = [file.name for k, file in there.items() if k >= study.chunks]
    if strange:
        raise StudyError(
            f"{folder}: {count(len(strange), 'part')} of no chunk of this study, such as {strange[0]}; take them away, or another folder"
        )
    spoilt: dict[int, str] = {}
    devices: dict[str, None] = {}
    runs = passed = 0
    for k, file in there.items():
        try:
            frame, about = read_part(file, study, k)
        except StudyError as e:
            spoilt[k] = str(e)
            continue
        devices[str(about["device"])] = None
        runs += len(frame)
        passed += samples_passed(frame["passed"].to_numpy(), frame["scenario"].to_physical().to_numpy())
    missing = tuple(k for k in range(study.chunks) if k not in there or k in spoilt)
    return Found(missing, spoilt, tuple(devices), runs, passed)


def missing(folder: Path, study: Study) -> list[int]:
    """The chunks that still have to be computed."""
    return list(look(folder, study).missing)


def read_part(file: Path, study: Study, k: int) -> tuple["pl.DataFrame", dict[str, Any]]:
    """A part and what it says of itself; StudyError where it is damaged, or of another study or chunk."""
    import polars as pl

    try:
        input_file.check_kind(file, file.stat())
        about = json.loads(pl.read_parquet_metadata(file)[KEY])
        frame = pl.read_parquet(file, use_statistics=False)
        checksum = _checksum(frame)
    except (OSError, ValueError, KeyError, TypeError, pl.exceptions.PolarsError) as e:
        raise StudyError(f"{file}: is damaged: {str(e).partition(chr(10))[0]:.120}") from e
    except BaseException as e:
        if type(e).__name__ != "PanicException":  # of polars, where a file makes no sense at all
            raise
        raise StudyError(f"{file}: is damaged: {str(e).partition(chr(10))[0]:.120}") from e
    if about.get("digest") != study.digest:
        raise StudyError(f"{file}: is of another study")
    if about.get("chunk") != k:
        raise StudyError(f"{file}: is chunk {about.get('chunk')} by what it says of itself")
    first, last = study.span(k)
    if about.get("sha256") != checksum or len(frame) != (last - first) * len(study.cases):
        raise StudyError(f"{file}: is damaged: its rows are not those that were written")
    return frame, about


def read(folder: Path, study: Study | None = None, *, trust: bool = False) -> "pl.DataFrame":
    """All rows there are, by their index; StudyError where a part is not as it was written. What is missing is left out: see `missing`."""
    import polars as pl

    known = study_of(folder, trust=trust) if study is None else study
    frames = [read_part(file, known, k)[0] for k, file in part_files(folder).items()]
    return pl.concat(frames, rechunk=True) if frames else frame_of(known, _nothing(known))


def _nothing(study: Study) -> dict[str, Column]:
    whole: Iterable[str] = ("index", "sample", "scenario")
    made: dict[str, Column] = {name: np.zeros(0, np.int64) for name in whole}
    made |= {name: np.zeros(0) for name in study.names} | {name: np.zeros(0, study.dtype) for name in study.metrics}
    return made | {"passed": np.zeros(0, bool)}
