PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
LIGHT  := $(VENV)/.light

.PHONY: env demo ollama test test-every test-all coverage llm-check lint docs train-pipeline clean

env: $(READY)

$(READY): requirements.lock pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --no-deps --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	touch $(LIGHT) $(READY)

$(LIGHT): light.lock pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --no-deps --require-hashes -r light.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	touch $(LIGHT)

demo: $(LIGHT)
	$(BIN)/e2g demo

ollama: env
	$(BIN)/python tests/ollama_build.py

test: env
	$(BIN)/python -m pytest

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

docs: env
	$(BIN)/mkdocs build --strict

train-pipeline: env
	$(BIN)/python -m training.train

clean:
	rm -rf $(VENV) dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
