"""Do the tests notice a fault? Mutants of the equations, a sample of each package, against the plain Python tests of that package.

Another sample: PUSHROD_MUTATION_SEED=n. Other sizes: PUSHROD_MUTANTS=n for each package.
"""

import os
import random
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from bare import environment
from explained import reason, stale
from mutation import SOURCE, Mutant, mutants

pytestmark = pytest.mark.soak

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 10.0  # times as long as the tests of a package take by themselves: a mutant that needs more hangs, and that is noticed
MEMORY = 8 << 30  # bytes
FILES = {
    "core": ["core/scalar.py", "core/table.py", "core/noise.py"],
    **{
        package: [str(file.relative_to(SOURCE)) for file in sorted((SOURCE / package).rglob("*.py"))]
        for package in ("signals", "models", "plants", "motion", "vehicles", "pipeline")
    },
}
SAMPLE = {"core": 25, "signals": 25, "models": 45, "plants": 25, "motion": 25, "vehicles": 30, "pipeline": 45}
KILLED = 0.9  # at least, of those that are not only at the edge of a condition and not explained; these are named


def own_tests(file: Path) -> list[str]:
    """The tests of a file's package: those that bear its name, those that replay references, those that import from its folder, then the others."""
    package = ROOT / "tests" / file.relative_to(SOURCE).parts[0]
    plain = (test for test in package.glob("test_*.py") if "compiled" not in test.stem)
    folder = ".".join(("pushrod", *file.relative_to(SOURCE).parts[:-1]))

    def later(test: Path) -> tuple[bool, bool, bool, int]:
        return file.stem not in test.stem, "reference" not in test.stem, folder not in test.read_text(), test.stat().st_size

    return [str(test) for test in sorted(plain, key=later)]


def limit_memory() -> None:
    """A mutant that takes more and more memory fails by itself, before it takes that of others."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def noticed(tree: Path, tests: list[str], seconds: float | None = None) -> bool:
    """Whether one of these tests fails with the package in `tree` in the place of ours, or they are not done in time."""
    env = environment() | {"PYTHONPATH": os.pathsep.join([str(tree), str(Path(__file__).parent)]), "PYTHONDONTWRITEBYTECODE": "1"}
    quick = ["-x", "-q", "--assert=plain", "--tb=no", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no_shrink"]
    command = [sys.executable, "-m", "pytest", *quick, "--hypothesis-profile=no_shrink", "-m", "not soak", *tests]
    try:
        got = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=seconds, check=False, preexec_fn=limit_memory)
    except subprocess.TimeoutExpired:
        return True
    assert got.returncode in (0, 1, 2), got.stdout + got.stderr  # 2: it cannot even be imported
    return got.returncode != 0


def survivors(tree: Path, sample: list[Mutant], seconds: float) -> list[Mutant]:
    """Those of the mutants that no test notices; `tree` holds a copy of the package to put them into."""
    found = []
    for mutant in sample:
        place = tree / "pushrod" / mutant.file.relative_to(SOURCE)
        sound = place.read_text()
        place.write_text(mutant.text)
        started = time.monotonic()
        if not noticed(tree, own_tests(mutant.file), seconds):
            found.append(mutant)
            print(f"survived ({time.monotonic() - started:.0f} s): {mutant}", flush=True)
        place.write_text(sound)
    return found


@pytest.mark.parametrize("package", FILES)
def test_faults_are_noticed(package: str, tmp_path: Path) -> None:
    seed = int(os.environ.get("PUSHROD_MUTATION_SEED") or random.randrange(10**6))
    shutil.copytree(SOURCE, tmp_path / "pushrod", ignore=shutil.ignore_patterns("__pycache__"))
    every = [mutant for file in FILES[package] for mutant in mutants(SOURCE / file)]
    sample = random.Random(seed).sample(every, min(int(os.environ.get("PUSHROD_MUTANTS") or SAMPLE[package]), len(every)))
    print(f"{package}: {len(sample)} of {len(every)} mutants, PUSHROD_MUTATION_SEED={seed}")
    known = {mutant for mutant in every if reason(mutant)}
    assert stale(every, FILES[package]) == [], "explained, but no mutant"
    started = time.monotonic()
    assert not noticed(tmp_path, own_tests(SOURCE / FILES[package][0])), "the tests fail without any mutant"
    left = survivors(tmp_path, sample, PATIENCE * (time.monotonic() - started))
    assert [str(mutant) for mutant in sample if mutant in known and mutant not in left] == [], "explained, but noticed"
    whole = [mutant for mutant in sample if not mutant.at_the_edge and mutant not in known]
    gone = [mutant for mutant in whole if mutant in left]
    killed = 1.0 - len(gone) / len(whole)
    print(f"{package}: {killed:.0%} noticed, and {1.0 - len(left) / len(sample):.0%} with those at the edge of a condition")
    assert killed >= KILLED, "\n".join([f"PUSHROD_MUTATION_SEED={seed}, not noticed:", *map(str, gone)])
