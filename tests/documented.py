"""Pages of the documentation as what they are made of: programs, files, and commands with what they print.

```python                 all of a page make one program; ```text blocks are lines it prints
```yaml title="m.yaml"    a file of that name, there for the commands that follow; any language
```console                lines after `$ ` are commands, the lines below each what it prints: `...` is anything, no line whatever it prints
<!-- python ... -->       belongs to the program, but nobody needs to read it
```

A command ends with 0, unless `$ echo $?` comes next. `pushrod serve` goes on in the background until the end of the page, once it has printed what
the page shows. Its guard is patient: a page is about what is printed, and a busy computer may stop a process for longer than a robot should bear.
"""

import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

FENCE = re.compile(r"^(?P<indent> *)```(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=indent)```$|^<!-- python\n(?P<hidden>.*?)^-->$", re.DOTALL | re.MULTILINE)
TITLE = re.compile(r'title="([^"]+)"')
PROGRESS = re.compile(r"\w[\w,: ]* \.\.\.|.+: \d+ of \d+ .+ \(\d+ %\), .+")  # how far long work has come: only a slow computer says so
PATIENCE = 60.0  # [s] for a server to say that it is there
PATIENT = "--guard-limit '20 s'"


@dataclass(frozen=True)
class Block:
    language: str  # "" where there is none
    title: str
    body: str


@dataclass(frozen=True)
class Command:
    text: str
    prints: tuple[str, ...]


def blocks(text: str) -> list[Block]:
    found = []
    for match in FENCE.finditer(text):
        if match["hidden"] is not None:
            found.append(Block("python", "", match["hidden"]))
            continue
        title = TITLE.search(match["info"])
        found.append(Block((match["info"].split() or [""])[0], title[1] if title else "", textwrap.dedent(match["body"])))
    return found


def program(text: str) -> str:
    return "\n".join(block.body for block in blocks(text) if block.language == "python" and not block.title)


def commands(block: Block) -> list[Command]:
    found: list[Command] = []
    for part in re.split(r"^\$ ", block.body, flags=re.MULTILINE)[1:]:
        text, *prints = part.strip("\n").split("\n")
        while text.endswith("\\"):
            text = f"{text[:-1]}{prints.pop(0).removeprefix('> ')}"
        found.append(Command(text, tuple(prints)))
    return found


def matches(shown: tuple[str, ...], printed: list[str]) -> bool:
    """Line by line, progress and blanks at the ends of lines and of the whole aside; `...` within a line stands for any letters."""
    printed = [line for line in printed if not PROGRESS.fullmatch(line)]
    pattern = "".join(r"(?:.*\n)*?" if line.strip() == "..." else ".*".join(map(re.escape, line.rstrip().split("..."))) + r"\n" for line in shown)
    return re.fullmatch(rf"\n*{pattern}\n*", "".join(f"{line.rstrip()}\n" for line in printed)) is not None


class Shell:
    """The commands of one page, in one folder."""

    def __init__(self, folder: Path, root: Path, columns: int = 100) -> None:
        self._folder = folder
        self._servers: list[subprocess.Popen[bytes]] = []
        self._code = 0
        for name in ("tests", "examples", "bench"):  # what a page may name is there
            (folder / name).symlink_to(root / name)
        programs = Path(sys.executable).parent
        self._environment = {name: value for name, value in os.environ.items() if not name.startswith(("PUSHROD_NET", "FORCE_COLOR"))}
        self._environment |= {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "COLUMNS": str(columns), "PUSHROD_STATE": str(folder / "state")}

    def run(self, block: Block) -> None:
        given = commands(block)
        for command, after in zip_longest(given, given[1:]):
            if command.text == "echo $?":
                assert command.prints == (str(self._code),), f"the exit code was {self._code}, the page says {command.prints}"
            elif command.text.startswith("pushrod serve"):
                self._serve(command)
            else:
                self._do(command, any_code=after is not None and after.text == "echo $?")

    def _do(self, command: Command, any_code: bool) -> None:
        done = subprocess.run(
            ["bash", "-c", command.text],
            cwd=self._folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
        )
        self._code = done.returncode
        assert any_code or self._code == 0, f"$ {command.text}\nexit code {self._code}\n{done.stdout}{self._served()}"
        shown = "\n".join(command.prints)
        printed = f"$ {command.text}\nprinted\n{done.stdout}\nnot\n{shown}"
        assert not command.prints or matches(command.prints, done.stdout.splitlines()), f"{printed}{self._served()}"

    def _serve(self, command: Command) -> None:
        """In the background; its output goes to a file, so that it never waits for a reader."""
        output = self._folder / f"served-{len(self._servers)}.txt"
        with output.open("wb") as file:
            server = subprocess.Popen(
                ["bash", "-c", f"exec {command.text} {PATIENT}"], cwd=self._folder, env=self._environment, stdout=file, stderr=subprocess.STDOUT
            )
        self._servers.append(server)
        end = time.monotonic() + PATIENCE
        while (said := output.read_text()).count("\n") < max(1, len(command.prints)):
            assert server.poll() is None, f"$ {command.text}\nended with {server.returncode}"
            assert time.monotonic() < end, f"$ {command.text}\nsaid nothing within {PATIENCE:g} s"
            time.sleep(0.02)
        assert not command.prints or matches(command.prints, said.splitlines()[: len(command.prints)]), f"$ {command.text}\nprinted\n{said}"

    def _served(self) -> str:
        """What the servers have said so far, for whoever looks for a mistake."""
        return "".join(f"\n{file.name}:\n{file.read_text()}" for file in sorted(self._folder.glob("served-*.txt")))

    def close(self) -> None:
        for server in self._servers:
            server.send_signal(signal.SIGTERM)
        for server in self._servers:
            server.wait(timeout=30)
