# Every target does its own set-up; PYTHON names the interpreter for a new environment (3.11 or later).
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
AUDIT  := $(VENV)/audit
DEMO_SECONDS ?=
FUZZ_SECONDS ?= 300
# A test file at a time (tests/conftest.py); ARGS="-n 0" runs everything in one process. Three workers are for
# two cores: tests on brokers wait more than they compute.
PYTEST := $(BIN)/python -m pytest -n 3 --dist loadgroup --no-loadscope-reorder --durations=20

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-long fuzz lint audit bench docs clean

help: ## show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: $(STAMP) ## make the virtual environment and install everything

$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[parquet,demo,docs,dev]'
	touch $@

demo: setup ## stream a model that goes wrong, on an embedded broker; DEMO_SECONDS=60 ends it
	$(BIN)/monitor demo $(if $(DEMO_SECONDS),--seconds $(DEMO_SECONDS))

test: setup ## run the tests
	$(PYTEST) -m "not slow" $(ARGS)

test-long: setup ## run the tests, the long statistical and soak tests too
	$(PYTEST) --hypothesis-profile=long $(ARGS)

fuzz: setup ## look for inputs that break something, for FUZZ_SECONDS=300
	$(BIN)/python -m tests.fuzz --seconds $(FUZZ_SECONDS) $(ARGS)

lint: setup ## check style, types and docstrings
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# pip-audit has an environment of its own, so that its dependencies are not ours.
audit: ## look for known vulnerabilities in the pinned versions; asks PyPI
	test -x $(AUDIT)/bin/pip-audit || { $(PYTHON) -m venv $(AUDIT) && $(AUDIT)/bin/pip install --quiet \
		--disable-pip-version-check pip-audit==2.10.1; }
	$(AUDIT)/bin/pip-audit --strict --requirement constraints.txt --no-deps --disable-pip $(ARGS)

bench: setup ## print rates and ratios to peers, measured in the same run
	$(BIN)/python -m tests.benchmarks.pipeline
	$(BIN)/python -m tests.benchmarks.decode
	$(BIN)/python -m tests.benchmarks.metrics
	$(BIN)/python -m tests.benchmarks.bootstrap
	$(BIN)/python -m tests.benchmarks.kafka_throughput
	$(BIN)/python -m tests.benchmarks.scrape
	$(BIN)/python -m tests.benchmarks.daemon
	$(BIN)/python -m tests.benchmarks.memory
	$(BIN)/python -m tests.benchmarks.checkpoint
	$(BIN)/python -m tests.benchmarks.history
	$(BIN)/python -m tests.benchmarks.page
	$(BIN)/python -m tests.benchmarks.backlog
	test -z "$$KAFKA_HOME" || $(BIN)/python -m tests.benchmarks.restart

docs: setup ## write the generated pages of docs/ and build the site into site/
	$(BIN)/python -m monitor.metrics.documentation docs/metrics.md
	$(BIN)/python -m monitor.config.documentation docs/configuration.md
	$(BIN)/python docs/pictures/draw.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

clean: ## remove the virtual environment, the site and caches
	rm -rf $(VENV) site .pytest_cache .mypy_cache .ruff_cache .hypothesis
