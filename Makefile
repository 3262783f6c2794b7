# Needs python3 (3.10 or newer, with venv) and make; everything else is installed into .venv* below this directory.
PYTHON ?= python3
# Twice quiet: errors only.
PIP_FLAGS ?= --quiet --quiet --disable-pip-version-check
PYTEST_FLAGS ?=
DEMO_FLAGS ?=
BENCH_FLAGS ?=
WORKERS ?= auto

DISTRIBUTIONS := raxis-core raxis-cpu
EDITABLE := $(foreach directory,$(DISTRIBUTIONS),--editable $(directory))
OPENCL_PLUGIN := examples/raxis-opencl

# An environment is current when its stamp carries the checksum of the interpreter's version and of every pyproject.toml.
KEY := $(shell { $(PYTHON) -V; cat pyproject.toml $(patsubst %,%/pyproject.toml,$(DISTRIBUTIONS) $(OPENCL_PLUGIN)); } | cksum | tr ' ' '-')

# $(call environment,directory,project[extras]): a fresh environment with every distribution and one more project editable.
define environment
	rm -rf $(1)
	$(PYTHON) -m venv $(1)
	$(1)/bin/python -m pip install $(PIP_FLAGS) $(EDITABLE) --editable '$(2)'
	touch $@
endef

TEST := .venv/stamp-$(KEY)
DEMO := .venv-demo/stamp-$(KEY)
BENCH := .venv-bench/stamp-$(KEY)
DOCS := .venv-docs/stamp-$(KEY)
OPENCL := .venv-opencl/stamp-$(KEY)

.PHONY: help demo test test-native lint format types stubs stubs-check coverage wheels bench docs clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

$(TEST):
	$(call environment,.venv,.[test])

$(DEMO):
	$(call environment,.venv-demo,.[examples])

$(BENCH):
	$(call environment,.venv-bench,.[bench])

$(DOCS):
	$(call environment,.venv-docs,.[docs])

$(OPENCL):
	$(call environment,.venv-opencl,$(OPENCL_PLUGIN)[test])

demo: $(DEMO) ## train two classifiers of handwritten digits (DEMO_FLAGS=--help lists options)
	.venv-demo/bin/python examples/digits.py $(DEMO_FLAGS)

# All but the tests of raxis-cpu run on the reference backend; these, and what exercises a backend most, on raxis-cpu.
# Tests that rotate (marked so, and the parity tests on raxis-cpu) run one part in PARTS a day: PART=2 repeats that one,
# PARTS=1 runs them all.
NATIVE_TESTS := tests/cpu tests/autograd tests/core tests/nn tests/optim tests/parity tests/testing/test_cpu.py
PARTS ?= 7
PART ?= $(shell expr $$(date +%j) % $(PARTS))
PYTEST := .venv/bin/python -m pytest --numprocesses=$(WORKERS) --dist=worksteal --part=$(PART)/$(PARTS)

test: $(TEST) ## run the tests on every core (PYTEST_FLAGS='-k name' selects, on the reference backend)
	$(PYTEST) $(if $(PYTEST_FLAGS),$(PYTEST_FLAGS),--ignore=tests/cpu)
	$(if $(PYTEST_FLAGS),,$(MAKE) test-native)

test-native: $(TEST) ## run tests on raxis-cpu
	RAXIS_CPU=plugin $(PYTEST) $(NATIVE_TESTS)

lint: $(TEST) ## check style and formatting
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .

format: $(TEST) ## apply formatting and the safe fixes
	.venv/bin/ruff check --fix .
	.venv/bin/ruff format .

types: $(TEST) ## check annotations strictly
	.venv/bin/mypy

stubs: $(TEST) ## write the type stubs and the reference tables in docs/
	.venv/bin/python -m raxis.ops.stubs --write
	.venv/bin/python -m raxis.ops.reference_table --write

stubs-check: $(TEST) ## fail when stubs or reference tables are stale
	.venv/bin/python -m raxis.ops.stubs --check
	.venv/bin/python -m raxis.ops.reference_table --check

coverage: $(TEST) $(OPENCL) ## run the conformance kit on every known backend and write docs/backend-coverage.md
	mkdir -p build
	RAXIS_CPU=reference .venv/bin/python -m raxis.testing --device cpu --report build/raxis-core.json
	RAXIS_CPU=plugin .venv/bin/python -m raxis.testing --device cpu --report build/raxis-cpu.json
	.venv-opencl/bin/python -m raxis.testing --device opencl --pyproject $(OPENCL_PLUGIN)/pyproject.toml \
		--report build/raxis-opencl.json
	.venv/bin/python -m raxis.testing.coverage build/raxis-core.json build/raxis-cpu.json build/raxis-opencl.json \
		--page docs/backend-coverage.md

wheels: $(TEST) ## build every wheel and sdist into dist/
	rm -rf dist
	for directory in $(DISTRIBUTIONS) .; do .venv/bin/python -m build --outdir dist $$directory || exit 1; done

bench: $(BENCH) ## run the benchmarks against PyTorch, figures into build/ (BENCH_FLAGS='--threads 2' is for the ops)
	mkdir -p build
	.venv-bench/bin/python -m benchmarks
	.venv-bench/bin/python -m benchmarks.coldstart --json build/coldstart.json
	.venv-bench/bin/python -m benchmarks.memory --json build/memory.json
	.venv-bench/bin/python -m benchmarks.ops --json build/ops.json --png build/ops.png $(BENCH_FLAGS)

docs: $(DOCS) ## build the documentation into site/
	.venv-docs/bin/python -m mkdocs build --strict

clean: ## remove environments, caches and build results
	rm -rf .venv .venv-demo .venv-bench .venv-docs .venv-opencl dist site .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
