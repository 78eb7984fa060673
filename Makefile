# Users need two commands: `make up` and `make test`. The others are for development.
# Works with GNU make 3.81 (macOS) and later.

PYTHON ?= python3
CODER_STACK_CACHE ?= $(HOME)/.cache/coder-stack
export CODER_STACK_CACHE
# pip's downloads belong to the one cache too, so that a second clone downloads nothing.
export PIP_CACHE_DIR ?= $(CODER_STACK_CACHE)/pip
export PIP_DISABLE_PIP_VERSION_CHECK := 1

# More than the cores of a small machine: engine tests mostly wait for processes to start.
TEST_WORKERS ?= 6

VENV := .venv
BIN := $(VENV)/bin
# The program's packages alone, as a user needs them; and those of sandbox, tests and checks as well.
READY := $(VENV)/.ready
DEV := $(VENV)/.ready-dev

.DEFAULT_GOAL := help

.PHONY: help
help: ## Print this list
	@awk 'BEGIN {FS = ":.*## "; print "Targets:"} /^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: up
up: $(DEV) ## Start a local Pulumi engine and Kubernetes API server (CLUSTERS=2: two of them), then deploy the stack `sandbox`
	@$(BIN)/coder-stack sandbox up $(if $(CLUSTERS),--clusters '$(CLUSTERS)')
	@$(BIN)/coder-stack sandbox deploy

.PHONY: down
down: $(DEV) ## Stop the sandbox and delete its data
	@$(BIN)/coder-stack sandbox down

.PHONY: drift
drift: $(DEV) ## Report drift in the sandbox (changes nothing; make itself exits with 2 for drift and for errors)
	@$(BIN)/coder-stack sandbox exec -- coder-stack drift || { code=$$?; \
	  echo "make exits with 2 for drift and for errors alike. This exits with 2 for drift, 1 for an error:" >&2; \
	  echo "  $(BIN)/coder-stack sandbox exec -- coder-stack drift" >&2; exit $$code; }

.PHONY: reconcile
reconcile: $(DEV) ## Repair the drift that `make drift` reports
	@$(BIN)/coder-stack sandbox exec -- coder-stack reconcile

.PHONY: measure
measure: $(DEV) ## Measure how fast `coder-stack watch` reacts in the sandbox (after `make up`, about 5 minutes)
	@$(BIN)/coder-stack sandbox measure

.PHONY: soak
soak: $(DEV) ## Let a watcher repair random breakages of the sandbox for an hour (after `make up`; MINUTES=60 SEED=1)
	@$(BIN)/coder-stack sandbox soak --minutes $(or $(MINUTES),60) --seed $(or $(SEED),1)

.PHONY: rest
rest: $(DEV) ## Measure what a watcher of 50 provisioners costs at rest (REST_MINUTES=10)
	@$(BIN)/coder-stack doctor --install
	@$(BIN)/python -m pytest tests/bench/bench_watch.py -p no:xdist -s -o python_files='bench_*.py' -o python_functions='bench_*'

.PHONY: flapping
flapping: $(DEV) ## Count a watcher's engine runs and notices while every repair is undone (FLAPPING_MINUTES=5)
	@$(BIN)/coder-stack doctor --install
	@$(BIN)/python -m pytest tests/bench/bench_flapping.py -p no:xdist -s -o python_files='bench_*.py' -o python_functions='bench_*'

.PHONY: test
# Programs and plugins start some thousand times: Python may keep what it has compiled.
test: export PYTHONDONTWRITEBYTECODE =
test: check ## Install the tools, then run all tests
	@$(BIN)/coder-stack doctor --install-all
	@$(BIN)/python -m pytest -n $(TEST_WORKERS) --dist loadgroup --no-loadscope-reorder --durations=20

.PHONY: check
check: $(DEV) ## Check format, lint rules, types and the import contract
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/basedpyright
	$(BIN)/lint-imports

.PHONY: format
format: $(DEV) ## Format the sources and fix lint errors
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

.PHONY: docs
docs: $(DEV) ## Generate docs: config reference, JSON schemas, versions, policies
	$(BIN)/coder-stack config reference > docs/configuration.md
	$(BIN)/coder-stack config schema > docs/configuration.schema.json
	$(BIN)/python -m coder_stack.operate.report.model > docs/drift-report.schema.json
	$(BIN)/python -m coder_stack.explanations > docs/reasons.md
	$(BIN)/python -m coder_stack.coderd.version_pages
	$(BIN)/python policies/reference.py

.PHONY: bench
bench: $(DEV) ## Run the benchmarks (ratios within one run, no absolute times)
	@$(BIN)/coder-stack doctor --install
	@$(BIN)/python -m pytest tests/bench -p no:xdist -s -o python_files='bench_*.py' -o python_functions='bench_*'

.PHONY: crashes
crashes: $(DEV) ## Kill each process at every mutating call (about an hour; `make test` runs a selection)
	@$(BIN)/coder-stack doctor --install
	@$(BIN)/python -m pytest tests/engine/grid_crashes.py -p no:cacheprovider

# The heart of the engine tests. No policy packs: a language host that runs them for a newer engine is on no registry.
ENGINE ?= v3.259.0
HEART := chosen_engine stack drift reconcile gate provisioner_key provisioners license entitlements rollback daemons_connected \
  operator_access organizations workspace_proxy operate_whole_stack interruption races control_plane
.PHONY: engines
engines: export CODER_STACK_ENGINE = $(ENGINE)
engines: export PYTHONDONTWRITEBYTECODE =
engines: $(DEV) ## Run the heart of the engine tests on another Pulumi engine (ENGINE=v3.259.0)
	@$(BIN)/coder-stack doctor --install
	@$(BIN)/python -m pytest -n $(TEST_WORKERS) --dist loadgroup $(HEART:%=tests/engine/test_%.py)

.PHONY: contract
contract: export CODER_STACK_CODER = $(CODER)
contract: $(DEV) ## Run the contract tests on another version of Coder (CODER=v2.20.0)
	@$(BIN)/python -m sandbox.toolchain contract
	@$(BIN)/python -m pytest tests/contract

.PHONY: lock
lock: LOCK := $(BIN)/uv pip compile pyproject.toml --universal --python-version 3.11 \
  --generate-hashes --no-emit-index-url --no-header --no-annotate --quiet
lock: $(DEV) ## Resolve the dependencies into requirements-dev.lock and, of these versions, requirements.lock
	$(BIN)/pip install --quiet uv
	$(LOCK) --group dev --upgrade --output-file requirements-dev.lock
	$(LOCK) --group install --upgrade --constraint requirements-dev.lock --output-file requirements.lock

.PHONY: clean
clean: ## Remove generated files (keeps the tool cache; see `coder-stack doctor`)
	@if [ -e $(DEV) ]; then $(BIN)/coder-stack sandbox down; fi
	rm -rf $(VENV) .sandbox build dist .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamp is written last: an install that was killed half-way starts over, from pip's cache.
$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	  { echo "error: coder-stack needs Python 3.11 or newer; '$(PYTHON)' is not. Set PYTHON=/path/to/python3.11." >&2; exit 1; }
	@echo "==> Python environment in $(VENV) (about a minute, once)"
	@$(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements.lock
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

$(DEV): $(READY) requirements-dev.lock
	@echo "==> packages of sandbox, tests and checks in $(VENV)"
	@$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements-dev.lock
	@touch $@
