"""A study with all that it is made of, so that another computer, or the same one next year, makes the same of it.

study.yaml                     the study, with the names below
machine/machine.yaml           the machine as it was after --set, and the files it names
scenario_0/scenario.yaml ...   each scenario, likewise
"""

import atexit
import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from io import StringIO
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

from pushrod.config.yaml_file import Document, Keys
from pushrod.sim.files import KINDS
from pushrod.sim.files import text_of as text_in
from pushrod.sim.machine import is_there

if TYPE_CHECKING:
    from pushrod.sweep.study import Study

STUDY, MACHINE = "study.yaml", "machine/machine.yaml"
LONGEST = 1000  # letters in the name of a file
NO_NUMBERS = ("about", "attained", "chunk")  # keys of a study that change none of its numbers


class Packed(NamedTuple):
    """What a document says, with names of files as they are kept, and these files."""

    data: Any
    files: dict[str, str]


def packed(study: Document, machine: Document, scenarios: Iterable[Document]) -> dict[str, Packed]:
    """The study, its machine and its scenarios, each under the name it is kept by."""
    head = _packed(study, "vary")
    others = {f"scenario_{i}/scenario.yaml": _packed(document) for i, document in enumerate(scenarios)}
    return {STUDY: Packed({**head.data, "machine": MACHINE, "scenarios": list(others)}, head.files), MACHINE: _packed(machine), **others}


def files_of(documents: Mapping[str, Packed]) -> dict[str, str]:
    """By name, ready to be written into a folder."""
    found: dict[str, str] = {}
    for name, (data, files) in documents.items():
        folder = name.rpartition("/")[0]
        found |= {name: text_of(data)} | {f"{folder}/{file}".lstrip("/"): text for file, text in files.items()}
    return found


def digest_of(documents: Mapping[str, Packed]) -> str:
    """Of what the files say, not of how it is written."""
    head = {key: value for key, value in documents[STUDY].data.items() if key not in NO_NUMBERS}
    whole = {"pushrod": version("pushrod"), **documents, STUDY: Packed(head, documents[STUDY].files)}
    return hashlib.sha256(json.dumps(whole).encode()).hexdigest()


def _packed(document: Document, only: str | None = None) -> Packed:
    """With the files that it names: those beside it or below by their names, others by new ones."""
    files: dict[str, str] = {}

    def kept(data: Any, at: Keys) -> Any:
        if isinstance(data, dict):
            return {key: kept(value, (*at, key)) if at or only in (None, key) else value for key, value in data.items()}
        if isinstance(data, list):
            return [kept(value, (*at, i)) for i, value in enumerate(data)]
        if not isinstance(data, str) or len(data) > LONGEST:
            return data
        name, colon, attribute = data.rpartition(":") if ".py:" in data else (data, "", "")
        path, folder = PurePosixPath(name), document.folder_of(at)
        if path.suffix.lower() not in KINDS or not is_there(folder / name) or (text := text_in(folder / name)) is None:
            return data
        is_beside = folder == document.folder and not path.is_absolute() and ".." not in path.parts
        own = name if is_beside else f"outside/{len(files)}_{path.name}"
        files[own] = text
        return f"{own}{colon}{attribute}"

    return Packed(kept(document.data, ()), files)


def text_of(data: Any) -> str:
    from ruamel.yaml import YAML

    out = StringIO()
    yaml: Any = YAML(typ="safe", pure=True)
    yaml.default_flow_style = None
    yaml.width = 140
    yaml.sort_base_mapping_type_on_output = False
    yaml.dump(data, out)
    return out.getvalue()


def write_files(files: dict[str, str], folder: Path) -> None:
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def from_files(files: dict[str, str], chunk: int | None = None) -> "Study":
    """Return the study of files that another process of the same session sends. That process has loaded their code already, so it is trusted here.

    A world outside Pushrod is compiled from its file, which therefore stays as long as this process.
    """
    from pushrod.sweep.study import load

    folder = Path(tempfile.mkdtemp(prefix="pushrod-study-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    write_files(files, folder)
    found = load(folder / STUDY, trust=True)
    return found if chunk is None else found.cut(chunk)
