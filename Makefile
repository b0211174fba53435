# Two commands for a new machine with Python 3.11 or newer:
#   make demo   sets everything up and runs the main job on bundled hospital data
#   make test   sets everything up and runs the whole test suite
# one for an answer while working, in about a minute:
#   make test-quick   runs the tests that are fast and need no browser, database or Spark
# one for the engine on a Spark cluster, which needs Java 17 and an environment of its own (see docs/spark.md):
#   make test-spark   starts a master and two workers on this machine and runs the tests of the Spark engine
# and one for readers and writers of the documentation:
#   make docs   builds the pages of docs/ into site/ and checks every link and anchor of them
# Before a change lands (see CONTRIBUTING.md):
#   make lint       style and types of the Python code
#   make lint-js    style and types of the JavaScript and CSS of the web page; needs Node.js 20 or newer
#   make coverage   runs the whole test suite and lists the lines of the package that no test reaches
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
SPARK  := .venv-spark

.PHONY: demo test test-quick test-spark lint lint-js coverage docs benchmark clean

demo: $(VENV)/.installed
	$(BIN)/shoal demo --out out/demo

test: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -n auto

test-quick: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -n auto -m "not slow" -q

test-spark: $(SPARK)/.installed
	SHOAL_SPARK_TESTS=1 $(SPARK)/bin/python -m pytest tests/spark

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

lint-js: node_modules/.installed
	npm run --silent lint
	npm run --silent types

coverage: $(VENV)/.installed-dev
	$(BIN)/coverage erase
	$(BIN)/python -m pytest -n auto --cov --cov-report=
	$(BIN)/coverage report
	$(BIN)/coverage html

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

$(SPARK)/.installed: pyproject.toml
	test -x $(SPARK)/bin/python || $(PYTHON) -m venv $(SPARK)
	$(SPARK)/bin/python -m pip install --quiet --upgrade pip
	$(SPARK)/bin/python -m pip install --quiet -e ".[spark]" "pyspark[connect]>=4.0" "hypothesis>=6.120" "pytest>=8.3"
	@touch $@

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet -e .
	@touch $@

$(VENV)/.installed-dev: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet -e ".[dev]"
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-docs: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet -e ".[docs]"
	@touch $@ $(VENV)/.installed

node_modules/.installed: package.json package-lock.json
	npm ci --silent
	@touch $@

clean:
	rm -rf $(VENV) $(SPARK) node_modules out site build dist htmlcov .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis
