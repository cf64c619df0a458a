"""Write the pages of the reference that follow from the code: python scripts/reference. With --check: say whether they are current, write nothing."""

import sys
from pathlib import Path

import errors
import files
import records
import verbs

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference"
PAGES = {
    "cli.md": verbs.cli,
    "models.md": records.models,
    "plants.md": records.plants,
    "vehicles.md": records.vehicles,
    "worlds.md": records.worlds,
    "signals.md": records.signals,
    "metrics.md": records.metrics,
    "machine_file.md": files.machine,
    "scenario_file.md": files.scenario,
    "study_file.md": files.study,
    "robot_file.md": files.robot,
    "errors.md": errors.errors,
}
NOTE = "<!-- Written by `python scripts/reference` from the code. Change it there. -->\n\n"


def main() -> None:
    texts = {REFERENCE / name: NOTE + page().rstrip() + "\n" for name, page in PAGES.items()}
    if "--check" in sys.argv[1:]:
        old = [file.name for file, text in texts.items() if not file.is_file() or file.read_text(encoding="utf-8") != text]
        sys.exit(f"out of date: {', '.join(old)}; write them anew: python scripts/reference" if old else 0)
    for file, text in texts.items():
        file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
