# Two commands for a new machine with Python 3.11 or newer:
#   make demo   sets everything up and runs the main job on bundled hospital data
#   make test   sets everything up and runs the whole test suite
# and one for readers and writers of the documentation:
#   make docs   builds the pages of docs/ into site/ and checks every link and anchor of them
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

.PHONY: demo test lint docs benchmark clean

demo: $(VENV)/.installed
	$(BIN)/shoal demo --out out/demo

test: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -n auto

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/.installed-docs
	rm -rf site
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet --doctree-dir out/doctrees --fresh-env docs site
	$(BIN)/python tools/check_site.py site

benchmark: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/lattice.py

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Shoal needs Python 3.11 or newer; name one with: make PYTHON=python3.12 …" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet -e .
	@touch $@

$(VENV)/.installed-dev: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet -e ".[dev]"
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-docs: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet -e ".[docs]"
	@touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) out site build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
