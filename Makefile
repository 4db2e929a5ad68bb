# make train: set up and run a short real training run.   make test: set up and run the tests.
# make notebook: set up and execute docs/tutorial.ipynb, about 12 minutes.
# make lint, test-slow, test-faults, coverage, docs, page, format, bench, release-check,
# clean: see CONTRIBUTING.md.
# Everything is installed into .venv; PYTHON=python3.12 chooses another interpreter.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
NPM := $(shell command -v npm)
TESTS := -n auto --dist loadfile --no-loadscope-reorder -m "not slow and not gpu"

# Compiling all modules of torch and OpenVINO takes half of the installation, and few are used. Python
# compiles those on their first import.
PIP_INSTALL := $(BIN)/python -m pip install -q --no-compile -c constraints.txt
export PYTHONDONTWRITEBYTECODE :=

.PHONY: train test lint test-slow test-faults notebook coverage docs page format bench \
    release-check clean

train: $(VENV)/.installed
	$(BIN)/alphazero train game=tic_tac_toe

test: $(VENV)/.installed-test
	$(BIN)/python -m pytest $(TESTS)

lint: $(VENV)/.installed-test $(if $(NPM),page/node_modules)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check --quiet . || { echo "error: some files are not laid out as ruff does it: make format"; exit 1; }
	$(BIN)/lint-imports --no-logo
	$(BIN)/mypy
	@if [ -e page/node_modules/.bin/tsc ]; then cd page && npm run --silent check; \
	    else echo "The sources of the page are not checked: page/node_modules is missing."; fi

test-slow: $(VENV)/.installed-test-slow
	$(BIN)/python -m pytest -m "slow or gpu"

# Everything that tests/faults tries; `make test` tries a part of it. docs/faults.md says what for.
test-faults: $(VENV)/.installed-test
	ALPHAZERO_FAULTS=full $(BIN)/python -m pytest -n auto --dist loadgroup tests/faults

# The executed copy is left in build/; docs/tutorial.ipynb stays as it is.
notebook: $(VENV)/.installed-notebook
	mkdir -p build
	cp docs/tutorial.ipynb build/
	@echo "Executing docs/tutorial.ipynb: about 12 minutes."
	cd build && ../$(BIN)/jupyter execute --inplace tutorial.ipynb

coverage: $(VENV)/.installed-test
	$(BIN)/python -m pytest $(TESTS) --cov --cov-report=term --cov-report=html

docs: $(VENV)/.installed-docs
	$(BIN)/python scripts/docs_site.py

# alphazero/web/static/page.js and page.css, which are committed: users need no Node.
page: page/node_modules
	cd page && npm run --silent build

format: $(VENV)/.installed-test $(if $(NPM),page/node_modules)
	$(BIN)/ruff check --select I --fix .
	$(BIN)/ruff format .
	@if [ -e page/node_modules/.bin/tsc ]; then cd page && npm run --silent format; fi

bench: $(VENV)/.installed-test
	$(BIN)/python scripts/benchmark.py

# Builds the release, checks it and uses it from an empty folder; publishes nothing.
release-check: $(VENV)/.installed-release
	$(BIN)/python scripts/release_check.py

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit("error: Python 3.11 or newer is needed, this is " + sys.version.split()[0] + "; try make PYTHON=python3.12") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv --upgrade-deps $(VENV)  # a new pip installs in half the time

$(VENV)/.installed: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP_INSTALL) -e '.[web,plot,pettingzoo]'
	@touch $@

$(VENV)/.installed-test: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP_INSTALL) -e '.[test]'
	@touch $@ $(VENV)/.installed

# With numba-cuda, kernels are compiled for GPUs on any Linux machine.
$(VENV)/.installed-test-slow: $(VENV)/.installed-test
	$(if $(filter Linux,$(shell uname)),$(PIP_INSTALL) -e '.[cuda]' \
	    || echo "numba-cuda cannot be installed: kernels are not compiled for GPUs.")
	@touch $@

$(VENV)/.installed-notebook: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP_INSTALL) -e '.[notebook]'
	@touch $@

$(VENV)/.installed-docs: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP_INSTALL) -e '.[docs]'
	@touch $@

# What builds and checks a release; the package itself goes into an environment of its own.
$(VENV)/.installed-release: Makefile | $(BIN)/python
	$(PIP_INSTALL) build cyclonedx-bom 'hatchling>=1.27' 'readme_renderer[md]>=42' 'twine>=6.1' uv
	@touch $@

# What checks and builds the page.
page/node_modules: page/package-lock.json
	@(cd page && npm ci --ignore-scripts --no-audit --no-fund && touch node_modules) \
	    || echo "npm ci failed: the sources of the page cannot be checked or built."

clean:
	rm -rf $(VENV) page/node_modules .cache build dist site htmlcov .coverage*
