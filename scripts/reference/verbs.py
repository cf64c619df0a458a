"""Every verb of the command line: what it takes, its options, its exit codes."""

import re
from typing import Any

import typer.main
from page_text import cell, code, joined, table

from pushrod.cli import main
from pushrod.cli.main import app

HEAD = """Every verb also takes `--json` ([what it prints](json.md)) and `--help`. Numbers may have a unit: `0.5`, `'500 ms'`, `'90 deg'`."""


def cli() -> str:
    group: Any = typer.main.get_command(app)
    rows = [(f"[`{name}`](#{name.replace(' ', '-')})", (verb.help or "").partition("\n")[0]) for name, verb in group.commands.items()]
    return joined("# The command line", HEAD, _codes(), table(("verb", "does"), rows), *(_verb(name, verb) for name, verb in group.commands.items()))


def _codes() -> str:
    """The exit codes all verbs share, from the head of main."""
    text = " ".join((main.__doc__ or "").partition("Exit codes:")[2].split()).rstrip(".")
    return table(("exit code", "means"), (part.strip().partition(" ")[::2] for part in text.split(";")))


def _verb(name: str, verb: Any) -> str:
    about, _, codes = (verb.help or "").partition("Exit codes:")
    arguments = [p for p in verb.params if p.param_type_name == "argument"]
    options = [p for p in verb.params if p.param_type_name == "option" and p.name not in ("json", "help")]
    usage = " ".join(["pushrod", name, *(_shown(p) for p in arguments)])
    return joined(
        f"## {name}",
        f"`{usage}`",
        " ".join(about.split()),
        table(("argument", "is"), ((code(_name(p)), p.help or "") for p in arguments)),
        table(("option", "default", "does"), ((_option(p), _default(p), p.help or "") for p in options)),
        f"Exit codes: {' '.join(codes.split())}" if codes else "",
    )


def _name(p: Any) -> str:
    return str(p.metavar or p.name.upper().rstrip("_")).strip("[].")


def _shown(p: Any) -> str:
    many = "..." if p.nargs == -1 else ""
    return f"{_name(p)}{many}" if p.required else f"[{_name(p)}{many}]"


def _option(p: Any) -> str:
    value = "" if p.is_flag else f" {p.metavar or p.name.upper().rstrip('_')}"
    return ", ".join(code(f"{text}{value}") for text in [*p.opts, *p.secondary_opts])


def _default(p: Any) -> str:
    value = p.default
    if value in (None, False, (), ""):
        return ""
    if value is True:
        return code(p.opts[0])
    return code(cell(re.sub(r"^PosixPath\('(.*)'\)$", r"\1", str(value))))
