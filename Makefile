# One set of commands for people and for .ci/run. Each target sets up what it needs; nothing
# touches the network as long as pyproject.toml and constraints.txt stay as they are.

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup test check check-format check-lint check-types check-layers check-documents \
	format docs bench clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY) ## make .venv with meshcap and its tools (PYTHON=… chooses the Python)

# The constraints keep pip from fetching a newer torch with its CUDA libraries. `-qq` hides pip's
# progress and its remarks about the machine's settings, not its errors.
$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "meshcap needs Python 3.11 or newer, and '$(PYTHON)' is" \
			"$$($(PYTHON) --version 2>/dev/null || echo missing):" \
			"name another with 'make setup PYTHON=/path/to/python3'." >&2; exit 1; }
	@echo "== setting up $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV)
	@$(RUN) -m pip install -qq --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

test: $(READY) ## run all tests
	$(RUN) -m pytest

check: check-format check-lint check-types check-layers check-documents ## format, lint, types, layers, documents
	@echo "== all checks passed"

check-format: $(READY)
	@echo "== format: ruff format --check"
	@$(RUN) -m ruff format --check .

check-lint: $(READY)
	@echo "== lint: ruff check"
	@$(RUN) -m ruff check .

check-types: $(READY)
	@echo "== types: mypy"
	@$(RUN) -m mypy

check-layers: $(READY)
	@echo "== layers: tests/test_architecture.py"
	@$(RUN) -m pytest tests/test_architecture.py

check-documents: $(READY)
	@echo "== documents: docs/build.py --check"
	@$(RUN) docs/build.py --check

format: $(READY) ## format the code, and mend what the linter can mend
	$(RUN) -m ruff check --fix-only .
	$(RUN) -m ruff format .

docs: $(READY) ## write docs/cli.md and docs/paper.md anew
	$(RUN) docs/build.py

bench: $(READY) ## measure the search
	$(RUN) benchmarks/search.py

clean: ## remove all that make has made, .venv too
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests docs benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
