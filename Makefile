# make train: set up and run a short real training run.   make test: set up and run the tests.
# make format: lay the files out as make test wants them.
# Everything is installed into .venv; PYTHON=python3.12 chooses another interpreter.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: train test test-slow format bench clean

train: $(VENV)/.installed
	$(BIN)/alphazero train game=tic_tac_toe

test: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check --quiet . || { echo "error: some files are not laid out as ruff does it: make format"; exit 1; }
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m pytest -m "not slow and not gpu"

test-slow: $(VENV)/.installed-test
	$(BIN)/python -m pytest -m "slow or gpu"

format: $(VENV)/.installed-test
	$(BIN)/ruff format .

bench: $(VENV)/.installed-test
	$(BIN)/python scripts/benchmark.py

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit("error: Python 3.11 or newer is needed, this is " + sys.version.split()[0] + "; try make PYTHON=python3.12") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install -q -c constraints.txt -e '.[openvino,plot,pettingzoo]'
	@touch $@

$(VENV)/.installed-test: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install -q -c constraints.txt -e '.[test]'
	@touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) dist
