"""A study with all that it is made of, so that another computer, or the same one next year, makes the same of it.

study.yaml                     the study, with the names below
machine/machine.yaml           the machine as it was after --set, and the files it names beside it
scenario_0/scenario.yaml ...   each scenario, likewise
"""

import atexit
import hashlib
import json
import shutil
import tempfile
from importlib.metadata import version
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pushrod.config.yaml_file import Document
from pushrod.sim.files import named_files

if TYPE_CHECKING:
    from pushrod.sweep.study import Study

STUDY = "study.yaml"
NO_NUMBERS = ("about", "attained", "chunk")  # keys of a study that change none of its numbers


def files_of(study: "Study") -> dict[str, str]:
    """By name, ready to be written into a folder."""
    found = {STUDY: text_of(_resolved(study))}
    found |= _with_named(study.machine.document, "machine")
    for i, case in enumerate(study.cases):
        found |= _with_named(case.scenario.document, f"scenario_{i}", "scenario")
    drawn_from = Document(study.document.file, "", study.document.data["vary"], {})
    return found | dict(named_files(drawn_from))


def digest_of(study: "Study") -> str:
    """Of what the files say, not of how it is written."""
    head = {key: value for key, value in _resolved(study).items() if key not in NO_NUMBERS}
    documents = [head, study.machine.document.data, *(case.scenario.document.data for case in study.cases)]
    others = {name: text for name, text in study.files.items() if not name.endswith((STUDY, "machine.yaml", "scenario.yaml"))}
    whole = {"pushrod": version("pushrod"), "documents": documents, "files": others}
    return hashlib.sha256(json.dumps(whole).encode()).hexdigest()


def _resolved(study: "Study") -> dict[str, Any]:
    """What the study says, with names of the files as they are kept."""
    names = [f"scenario_{i}/scenario.yaml" for i in range(len(study.cases))]
    return {**study.document.data, "machine": "machine/machine.yaml", "scenarios": names}


def _with_named(document: Document, folder: str, stem: str = "machine") -> dict[str, str]:
    text = text_of(document.data) if document.origin else document.text
    return {f"{folder}/{stem}.yaml": text} | {f"{folder}/{name}": text for name, text in named_files(document)}


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
    """The study again. Somebody's own world is compiled from its file, which therefore stays as long as this process."""
    from pushrod.sweep.study import load

    folder = Path(tempfile.mkdtemp(prefix="pushrod-study-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    write_files(files, folder)
    found = load(folder / STUDY)
    return found if chunk is None else found.cut(chunk)
