# The environment is .venv; empty files in it say which step was last done, so that a step runs
# again only when a lock file or pyproject.toml is newer. Weights and index have their own places.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

UV_VERSION := 0.13.9
BIN := .venv/bin
UV := $(BIN)/uv
CREATED := .venv/.created-with-uv-$(UV_VERSION)
RUNTIME := .venv/.runtime
DEVELOPMENT := .venv/.development

# uv is several times faster; pip, which follows, knows the user's own index and certificates.
install = $(UV) pip install --python $(BIN)/python $(1) \
	|| $(BIN)/python -m pip install $(1)
compile = $(UV) pip compile --universal --generate-hashes --python-version 3.11

PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo $$python && break; done)

export Q
# Without compiled modules, as some containers ask of Python, every process that a test starts would
# compile whatever it loads, which takes two to three times as long.
export PYTHONDONTWRITEBYTECODE :=
export UV_SYSTEM_CERTS := true

.PHONY: help setup chat ask test check torture plan audit sbom weights browser lock clean

help: ## this list
	@sed -nE 's/^([a-z]+):.*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

setup: $(RUNTIME) ## the environment, and the weights that the settings need
	@$(BIN)/rag models pull --quiet

chat: setup ## index the seeds and open the chat page
	@$(BIN)/rag index
	@exec $(BIN)/python app.py

ask: setup ## one answer on the terminal: make ask Q="What is known about ...?"
	@test -n "$$Q" || { echo 'error: no question. Use make ask Q="..."' >&2; exit 2; }
	@$(BIN)/rag index >/dev/null
	@$(BIN)/rag ask "$$Q"

test: $(DEVELOPMENT) weights browser ## all tests, with the real models and a real browser; JOBS=2: two at a time
	@$(BIN)/pytest $(if $(JOBS),-n $(JOBS) --dist loadfile --no-loadscope-reorder)

check: $(DEVELOPMENT) ## lint, format, types, then all tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	@$(MAKE) --no-print-directory test

# Python executes what a .pth file of its environment says; these two are those of the installers.
PTH := _editable_impl_askpapers.pth distutils-precedence.pth

audit: $(DEVELOPMENT) ## known weaknesses of what is installed, and files that would run unasked
	@found=$$(cd $(BIN)/../lib/python3*/site-packages && ls -- *.pth); \
	for name in $$found; do \
		[[ " $(PTH) " == *" $$name "* ]] || { echo "error: $$name in the environment was not expected. Look at it." >&2; exit 1; }; \
	done
	$(BIN)/pip-audit --strict --disable-pip --require-hashes -r requirements.lock

sbom: $(DEVELOPMENT) ## build/sbom.json (CycloneDX) and build/licences.md of what is installed
	@mkdir -p build
	@$(BIN)/cyclonedx-py environment .venv --of JSON --output-reproducible -o build/sbom.json
	@$(BIN)/pip-licenses --format=markdown --order=license --output-file=build/licences.md

# Hours rather than minutes. Each part tells its seed; TORTURE_SEED, KILL_SERIES, INDEX_STATES,
# FUZZ_SECONDS and SOAK_MINUTES make it shorter, longer or the same again.
torture: $(DEVELOPMENT) weights browser ## faults, kills, fuzzers and load, for as long as it takes
	$(BIN)/pytest -m torture
	FAILING_CALLS=100000 $(BIN)/pytest tests/test_failing.py
	KILL_SERIES=$${KILL_SERIES:-100} $(BIN)/pytest tests/test_index_kills.py
	INDEX_STATES=$${INDEX_STATES:-500} $(BIN)/pytest --timeout=7200 tests/test_index_states.py
	cd tests && for target in $$(PYTHONPATH=.. ../$(BIN)/python fuzzing.py); do \
		PYTHONPATH=.. ../$(BIN)/python fuzzing.py $$target $${FUZZ_SECONDS:-60}; done
	$(BIN)/python -m evals soak --minutes $${SOAK_MINUTES:-10}
	@$(MAKE) --no-print-directory audit

plan: $(DEVELOPMENT) ## docs/reliability.md from what the last runs of the tests gave
	@PYTHONPATH=. $(BIN)/python tests/plan.py

lock: $(CREATED) ## work out both lock files anew from pyproject.toml
	$(compile) pyproject.toml --group build -o requirements.lock --quiet
	$(compile) --group dev -c requirements.lock -o requirements-dev.lock --quiet

clean: ## remove the environment and caches; weights and index stay
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(CREATED):
	@test -n "$(PYTHON)" || { echo 'error: no Python 3.11 or newer. Name one: make PYTHON=...' >&2; exit 2; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	@touch $@

$(RUNTIME): $(CREATED) requirements.lock pyproject.toml
	$(call install,--require-hashes -r requirements.lock)
	$(call install,--no-build-isolation --no-deps -e .)
	@touch $@

$(DEVELOPMENT): $(RUNTIME) requirements-dev.lock
	$(call install,--require-hashes -r requirements-dev.lock)
	@touch $@

# The tests run the default models whatever server the settings name.
weights: $(RUNTIME)
	@$(BIN)/rag models pull --quiet all-minilm-l6-v2 qwen2.5-coder-1.5b

browser:
	@command -v chromium >/dev/null && command -v strace >/dev/null && exit 0; \
	root=$$([ "$$(id -u)" = 0 ] || echo sudo -n); \
	if command -v apt-get >/dev/null && $$root true 2>/dev/null; then \
		echo 'Installing chromium and strace for the tests of the page and of failing disks.'; \
		$$root apt-get update -qq && $$root apt-get install -qq -y --no-install-recommends chromium strace >/dev/null && exit 0; \
	fi; \
	echo 'chromium or strace is not on PATH and cannot be installed from here: install them to test all.' >&2
