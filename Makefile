# Two commands matter: `make run` opens the workbench, `make test` runs a fixed sample of the suite.
# PYTHON chooses the interpreter of the environment; VENV where it is made.
PYTHON ?= python3
VENV ?= .venv
SAMPLE ?= 40
# Tests of screens and processes wait a third of their time, so one process more than there are cores is best.
WORKERS ?= $(shell expr $$(nproc) + 1)
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: run test test-all check fix docs clean

run: $(READY)
	@if [ -t 0 ] && [ -t 1 ] && [ -t 2 ]; then exec $(BIN)/kgtui open --sample; else \
	  echo "no terminal here, so instead of the workbench: kgtui check --sample"; \
	  exec $(BIN)/kgtui check --sample; fi

# SAMPLE is the divisor of the rule in tests/sampling.py; 0 runs every test. Compiled modules are kept, or each process
# of the tests would compile the suite again.
test: $(READY)
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --sample=$(SAMPLE)

test-all:
	$(MAKE) --no-print-directory test SAMPLE=0

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --num-workers $$(nproc)
	$(BIN)/lint-imports

fix: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(READY)
	$(BIN)/python -m kgtui.docs

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt "torch==2.13.0"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	@touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info
