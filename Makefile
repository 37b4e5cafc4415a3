# Two commands matter: `make run` opens the workbench, `make test` runs the whole suite.
# PYTHON chooses the interpreter of the environment; VENV where it is made.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: run test check fix docs clean

run: $(READY)
	@if [ -t 0 ] && [ -t 1 ] && [ -t 2 ]; then exec $(BIN)/kgtui open --sample; else \
	  echo "no terminal here, so instead of the workbench: kgtui check --sample"; \
	  exec $(BIN)/kgtui check --sample; fi

test: $(READY)
	$(BIN)/python -m pytest -n auto --dist worksteal

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
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
