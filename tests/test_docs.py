"""The README and the docs tell what is so: their links lead somewhere, their example is the one that runs."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from pushrod.cli.main import VERBS

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]


def test_the_table_of_commands_in_the_readme_has_every_verb() -> None:
    text = (ROOT / "README.md").read_text()
    table = text[text.index("| command | does |") : text.index("Every verb takes `--json`")]
    assert [verb for verb in VERBS if not re.search(rf"`(pushrod )?{verb}\b", table)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    prose = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(), flags=re.DOTALL)  # STATUS[name](params) is no link
    for target in re.findall(r"\]\(([^)#]+)\)", prose):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), f"{page}: {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_file_named_in_the_text_exists(page: Path) -> None:
    for name in re.findall(r"`((?:src|docs|bench|tests|examples|scripts)/[\w/.]+)`", page.read_text()):
        assert (ROOT / name).exists(), f"{page}: {name}"


def test_every_page_is_in_the_navigation_once() -> None:
    named = re.findall(r'= "([\w/]+\.md)"', (ROOT / "zensical.toml").read_text())
    pages = [str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")]
    assert sorted(named) == sorted(pages)


def test_the_reference_is_what_the_code_says() -> None:
    done = subprocess.run([sys.executable, ROOT / "scripts" / "reference", "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("verb", VERBS)
def test_what_a_verb_tells_as_json_is_documented(verb: str) -> None:
    page = (ROOT / "docs" / "reference" / "json.md").read_text()
    assert re.search(rf"^\| [^|]*`{verb}`[^|]* \|", page, re.MULTILINE), f"docs/reference/json.md does not say which keys `pushrod {verb} --json` has"


def test_the_examples_of_the_readme_are_those_that_are_tested() -> None:
    code = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    for block, (name, first) in zip(code, {"servo_sweep": "import numpy", "hello_servo": "from pushrod"}.items(), strict=True):
        example = (ROOT / "examples" / f"{name}.py").read_text()
        assert block == example[example.index(first) :]


def test_the_dependencies_are_explained() -> None:
    import tomllib

    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    page = (ROOT / "docs" / "architecture.md").read_text()
    for requirement in listed:
        name = re.split(r"[<>=\[]", requirement)[0]
        assert name in page, f"docs/architecture.md does not say why {name} is there"


def test_the_packages_are_explained() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    table = re.search(r"## Packages and direction\n\n```\n(.*?)```", page, re.DOTALL)
    assert table is not None
    named = {word for line in table[1].splitlines() for word in line[:38].split()}
    assert named == {path.parent.name for path in (ROOT / "src" / "pushrod").glob("*/__init__.py")}


def test_every_test_that_the_page_on_safety_names_is_there() -> None:
    table = [line for line in (ROOT / "docs" / "topics" / "safety.md").read_text().splitlines() if re.match(r"\| \d+ \|", line)]
    named = [name for line in table for name in re.findall(r"`([^`]*test[^`]*)`", line.split("|")[3])]
    functions = {name for file in (ROOT / "tests").rglob("test_*.py") for name in re.findall(r"def (test_\w+)", file.read_text())}
    assert len(table) == 17
    assert len(named) > len(table)
    for name in named:
        path, _, function = name.rpartition("::") if "::" in name or "/" not in name else (name, "", "")
        assert not path or (ROOT / path).exists(), name
        assert not function or function in functions, name
