"""Tables and blocks of Markdown."""

from collections.abc import Iterable, Sequence


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Empty where there are no rows; columns that are empty throughout are left out."""
    kept = [[cell(text) for text in row] for row in rows]
    if not kept:
        return ""
    there = [j for j in range(len(heads)) if any(row[j] for row in kept)]
    lines = [[heads[j] for j in there], ["---"] * len(there), *([row[j] for j in there] for row in kept)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def code(text: str) -> str:
    return f"`{text}`" if text else ""


def block(text: str) -> str:
    return f"```\n{text}\n```"


def joined(*parts: str) -> str:
    """Paragraphs, without those that are empty."""
    return "\n\n".join(part for part in parts if part)
