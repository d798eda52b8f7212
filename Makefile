# Everything a new machine needs beyond Python 3.11+ and make is installed into .venv.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test check pytest slow bench clean

demo: .venv/.run
	$(BIN)/pacboost demo

test: check pytest

check: .venv/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

pytest: .venv/.dev
	$(BIN)/pytest

slow: .venv/.dev
	$(BIN)/pytest -m slow -rA

bench: .venv/.bench
	$(BIN)/python benchmarks/bench_spine.py
	$(BIN)/python benchmarks/bench_certificates.py
	$(BIN)/python benchmarks/bench_strong.py
	$(BIN)/python benchmarks/bench_family.py
	$(BIN)/python benchmarks/bench_forests.py
	$(BIN)/python benchmarks/bench_bagging.py
	$(BIN)/python benchmarks/bench_text.py
	$(BIN)/python benchmarks/bench_filtering.py

.venv/bin/python:
	$(PYTHON) -c 'import sys; sys.exit("pacboost needs Python 3.11 or newer; set PYTHON=... to one") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip

.venv/.run: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet -e .
	touch $@

.venv/.dev: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet -e '.[dev]'
	touch $@ .venv/.run

.venv/.bench: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet -e '.[dev,bench]'
	touch $@ .venv/.run .venv/.dev

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
