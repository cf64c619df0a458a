# Two commands for a stranger: `make demo`, `make test`. Everything else is for those who stay.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: setup demo test lint docs bench soak gpu clean

setup: $(STAMP)

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Pushrod needs Python 3.11 or newer; set PYTHON=...")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@# PTX checks need NVIDIA's compiler wheels, which exist for some platforms only; without them those tests say so.
	-$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[cuda]'
	@touch $@

demo: setup
	$(BIN)/pushrod run car

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

test: lint
	$(BIN)/pytest -n 2 --dist worksteal -m 'not soak and not gpu'

# pages for people: site/index.html. The reference is written anew from the code first.
docs: setup
	$(BIN)/python scripts/reference
	$(BIN)/zensical build --clean --strict

# the long tests, and all others with twenty times as many examples
soak: setup
	PUSHROD_SOAK=1 $(BIN)/pytest -n 2 --dist worksteal --timeout 1800 -m 'not gpu'

gpu: setup
	$(BIN)/pytest -m gpu
	$(BIN)/python bench/gpu.py

bench: setup
	$(BIN)/python bench/run.py

clean:
	rm -rf .venv dist build site .pytest_cache .mypy_cache .ruff_cache
