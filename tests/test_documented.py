"""Every program, file and command on every page is run, and prints what the page shows."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from documented import Block, Shell, blocks, commands, matches, program
from pushrod.config import yaml_file

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted((ROOT / "docs").rglob("*.md"))
LANGUAGES = {"", "python", "text", "console", "yaml", "xml"}
ELSEWHERE = {"robot.md": "tests/robot/test_robot_page.py"}  # its files are read there
RECORDINGS = {"fit_emps.md": "emps", "fit_xl330.md": "xl330"}  # what a page is about and this repository does not hold
LONG = (
    "pushrod fit xl330",
    "python examples/fit_xl330.py",
    "pushrod sweep servo_tolerance --runs 1000000 --cluster",
)  # minutes; tests do less of the same
NOT_RUN = ("make ", "source ", "pip install", "git clone")  # what sets up the environment that runs this


@pytest.mark.on_time
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_program_of_a_page_runs_and_prints_what_the_page_says(page: Path, tmp_path: Path) -> None:
    text = page.read_text()
    code, printed = program(text), [block.body for block in blocks(text) if block.language == "text"]
    if (not code and not printed) or page.name in ELSEWHERE:
        return
    (tmp_path / "page.py").write_text(code)
    done = subprocess.run([sys.executable, "page.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for block in printed:
        assert block in done.stdout


@pytest.mark.on_time
@pytest.mark.parametrize("page", [page for page in PAGES if "```console" in page.read_text()], ids=lambda page: page.name)
def test_the_commands_of_a_page_print_what_the_page_shows(
    page: Path, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> None:
    folder = tmp_path_factory.mktemp("p")  # short: a socket's path has few letters
    if page.name in RECORDINGS:
        recordings = request.getfixturevalue("shared") / "data" / RECORDINGS[page.name]
        if not recordings.is_dir():
            pytest.skip(f"the recordings {recordings.name} are not in the folder `shared` beside this checkout")
        (folder / recordings.name).symlink_to(recordings)
    shell = Shell(folder, ROOT)
    try:
        for block in blocks(page.read_text()):
            if block.language == "console":
                shell.run(without(block, NOT_RUN + LONG))
            elif block.title:
                (folder / block.title).parent.mkdir(parents=True, exist_ok=True)
                (folder / block.title).write_text(block.body)
    finally:
        shell.close()


def without(block: Block, starts: tuple[str, ...]) -> Block:
    kept = [command for command in commands(block) if not command.text.startswith(starts)]
    return Block(block.language, block.title, "".join("\n".join([f"$ {c.text}", *c.prints, ""]) for c in kept))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_is_of_a_kind_that_is_run(page: Path) -> None:
    for block in blocks(page.read_text()):
        assert block.language in LANGUAGES, f"{page.name}: nobody runs ```{block.language}"
        if block.language == "":
            wrong = re.search(r"^(\$ |pushrod |python |pip )", block.body, re.MULTILINE)
            assert wrong is None, f"{page.name}: commands belong into ```console: {wrong and wrong[0]}"
        if block.language == "yaml":
            yaml_file.parse(block.body, page.name)


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        (("a", "..."), ["a", "b", "c"], True),
        (("...", "c"), ["a", "b", "c"], True),
        (("a", "...", "c"), ["a", "c"], True),
        (("a",), ["a  "], True),
        (("a",), ["a", "b"], False),
        (("...", "b"), ["a", "b", "c"], False),
        (("0.7... rad",), ["0.7851 rad"], True),
        (("0.7... rad",), ["0.8 rad"], False),
    ],
)
def test_what_is_shown_is_held_against_what_is_printed(shown: tuple[str, ...], printed: list[str], same: bool) -> None:
    assert matches(shown, printed) is same
