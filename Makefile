# One place for what people and .ci/run do. `make` lists it.

PYTHON ?= python3
UV ?= uv
ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check --no-input

# What is installed is named after the contents of what it was installed from: a second `make demo`
# or `make test` installs nothing, and a changed lock does, whatever the files' dates say.
key = $(shell cat $(1) | cksum | cut -d ' ' -f 1)
READY := $(VENV)/.setup-$(call key,requirements.lock pyproject.toml)
DEV_READY := $(VENV)/.setup-dev-$(call key,requirements.lock requirements-dev.lock pyproject.toml)

# As make does not build what is up to date, `make test` does not test again what passed: the key is
# every file that git knows or would add, by name and contents; empty outside a clone, and then
# nothing is remembered. CI runs everything every time.
TREE = git ls-files -co --exclude-standard -z 2>/dev/null | xargs -0 -r cksum 2>/dev/null | cksum | sed -n 's/ \([1-9][0-9]*\)$$/-\1/p'

# Where this is set, as in many containers, each process would compile all of our modules anew.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: audit help setup setup-dev demo up test lint bench bench-search bench-peers screenshots fuzz mutants chaos hosts load soak requirements secrets images lock clean

help: ## list what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY) ## install Attest into .venv, exactly as requirements.lock says

setup-dev: $(DEV_READY) ## the same, with the tools that tests and checks need

demo: $(READY) ## start a private instance, ingest the samples, ask four questions, stop
	@$(BIN)/attest demo $(ARGS)

up: $(READY) ## run everything here until Ctrl-C (ARGS="--port 9000 --data-dir DIR")
	@$(BIN)/attest up $(ARGS)

test: $(DEV_READY) ## run all tests, once for each state of the tree (AGAIN=1; ARGS="tests/unit -k spans")
ifeq ($(strip $(ARGS)$(AGAIN)$(CI)),)
	@tree=$$($(TREE)); passed=$(VENV)/.passed-$$tree; \
	if [ -n "$$tree" ] && [ -e "$$passed" ]; then cat "$$passed"; exit 0; fi; \
	$(BIN)/python -m tests.pools || exit; \
	rm -f $(VENV)/.passed-*; [ -z "$$tree" ] || [ "$$tree" != "$$($(TREE))" ] || \
	echo "exactly this tree passed all tests on $$(date -u '+%F at %R UTC'); make test AGAIN=1 runs them again" > "$$passed"
else
	@$(BIN)/python -m $(if $(strip $(ARGS)),pytest $(ARGS),tests.pools)
endif

lint: $(DEV_READY) ## ruff, mypy and the one-way flow of imports
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

bench: $(READY) ## measure latency and throughput on this machine
	@$(BIN)/python -m benchmarks.system $(ARGS)
	@$(BIN)/python -m benchmarks.sources

bench-search: $(READY) ## measure search among up to a million chunks (ARGS="--sizes 10000 --keep DIR")
	@$(BIN)/python -m benchmarks.search $(ARGS)

bench-peers: $(DEV_READY) ## measure beside PaperQA, LlamaIndex, Haystack and torch; installs them apart
	@$(BIN)/python -m benchmarks.peers --write $(ARGS)

load: $(READY) ## ask at rising rates, and beside an import: latency, refusals (ARGS="--rates 1,8 --write")
	@$(BIN)/python -m benchmarks.load $(ARGS)

soak: $(READY) ## two hours' worth of messages in ten minutes: does anything grow? (ARGS="--minutes 5")
	@$(BIN)/python -m benchmarks.soak $(ARGS)

screenshots: $(DEV_READY) ## make the pictures of the README anew; needs a Chromium
	@$(BIN)/python -m benchmarks.screenshots

fuzz: $(DEV_READY) ## mutate all that is read, by example (EXAMPLES=20000), in state machines (MACHINES=300), by coverage (SECONDS=60, TARGETS=...)
	@ATTEST_TEST_EXAMPLES=$(or $(EXAMPLES),20000) $(BIN)/python -m tests.pools --timeout 0 -q \
		-k "mutated or damaged or changed_fields or changed_bytes or any_bytes" tests/unit/ingest tests/fuzz
	@ATTEST_TEST_EXAMPLES=$(or $(MACHINES),300) $(BIN)/python -m tests.pools --timeout 0 -q \
		tests/integration/runtime/machines
	@$(BIN)/python -m tests.fuzz $(TARGETS) --seconds $(or $(SECONDS),60)

mutants: $(DEV_READY) ## put seeded faults into the product, and see which the tests notice (COUNT=300, ARGS="workers/verify --seed 2 --lines FILE")
	@$(BIN)/python -m tests.mutants --count $(or $(COUNT),300) $(ARGS)

requirements: $(DEV_READY) ## write docs/requirements.md anew from the markers of the tests
	@$(BIN)/python -m tests.requirements_report --write

chaos: $(DEV_READY) ## break a running system by a seeded script, and see what it keeps (SEEDS=20)
	@ATTEST_TEST_STORMS=1 $(BIN)/python -m pytest -q -k broken_invariant tests/chaos/test_storm.py
	@ATTEST_TEST_SIMULATED_DAYS=60 $(BIN)/python -m pytest -q tests/chaos/test_weeks_of_sources.py
	@$(BIN)/python -m tests.chaos.storm --seeds $(or $(SEEDS),5) $(ARGS)

hosts: $(DEV_READY) ## the same on several hosts (network namespaces), and how it scales (needs root)
	@$(BIN)/python -m tests.chaos.hosts --seeds $(or $(SEEDS),1) $(ARGS)

secrets: ## write what docker compose mounts as secrets; what is there stays
	@ops/secrets.sh

images: ## pin the images of compose.yaml and the Dockerfile by what their tags are today; needs Docker
	@ops/pin_images.sh

audit: ## ask PyPI's advisories about every version in the locks; needs a network and uv
	@command -v $(UV) >/dev/null || { echo "make audit needs uv: pip install uv, or UV=/path/to/uv" >&2; exit 1; }
	@for lock in requirements.lock requirements-dev.lock; do \
		$(UV) tool run pip-audit --strict --disable-pip --require-hashes --requirement $$lock $(ARGS) || exit 1; done

lock: ## compile both locks anew; needs uv (ARGS="--upgrade")
	@command -v $(UV) >/dev/null || { echo "make lock needs uv: pip install uv, or UV=/path/to/uv" >&2; exit 1; }
	$(UV) pip compile --quiet --universal --generate-hashes --python-version 3.11 --no-header \
		$(ARGS) pyproject.toml -o requirements.lock
	$(UV) pip compile --quiet --universal --generate-hashes --python-version 3.11 --no-header \
		$(ARGS) --group dev -c requirements.lock -o requirements-dev.lock

clean: ## remove .venv, caches and build products; data in .attest stays
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@command -v $(PYTHON) >/dev/null || { echo "there is no $(PYTHON): install Python 3.11 or newer, or say make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Attest needs Python 3.11 or newer, $(PYTHON) is $$($(PYTHON) -V): say make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV)

$(READY): | $(BIN)/python
	@echo "installing what requirements.lock pins (once; takes a minute or two)"
	@$(PIP) install --require-hashes --no-deps -r requirements.lock
	@$(PIP) install --no-deps --no-build-isolation -e .
	@rm -f $(VENV)/.setup-[0-9]*
	@touch $@

$(DEV_READY): $(READY)
	@echo "installing what requirements-dev.lock pins (once)"
	@$(PIP) install --require-hashes --no-deps -r requirements-dev.lock
	@rm -f $(VENV)/.setup-dev-*
	@touch $@
