# Every target sets up what it needs. Needs Python >= 3.11, Node >= 20, npm and make.
# PYTHON=python3.12 picks another interpreter; FOLDER=… is what `make run` opens; QUICK=1 shortens the bench,
# TRACK_REPO=/path/to/a/clone lets it replay that repository's history too.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
# Tests and figures start hundreds of processes: with it every one of them compiles all modules anew.
unexport PYTHONDONTWRITEBYTECODE

PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
EXT := vscode-extension
FOLDER ?=

.PHONY: help run test test-python test-extension e2e bench lint package lock clean

help: ## show the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## (.*)/  make \1\t\2/' | expand -t 20

$(VENV)/.ready: server/requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; run: make PYTHON=/path/to/python3.11 …" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(PY) -m pip install -q --disable-pip-version-check --require-hashes -r server/requirements.lock
	$(PY) -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

$(EXT)/node_modules/.ready: $(EXT)/package-lock.json
	cd $(EXT) && npm ci --no-audit --no-fund
	touch $@

run: ## open VS Code with the extension on FOLDER (default: a sample project with memories)
	@tests/e2e/run.sh "$${FOLDER:-}"

test: test-python test-extension ## every test that needs no browser

test-python: $(VENV)/.ready
	@# Half of the tests wait for a server of their own: two workers a processor are done sooner than one.
	@# All that is remembered is fsynced, and each fsync waits for the disk: it goes to memory where there is room.
	@room=$$(df -m --output=avail /dev/shm 2> /dev/null | tail -n 1) || room=0; \
	if [ "$$room" -gt 2000 ]; then \
	  export TMPDIR=$$(mktemp -d /dev/shm/mnemolens-XXXXXX); \
	  trap 'rm -rf "$$TMPDIR"' EXIT; \
	fi; \
	$(PY) -m pytest -n $$($(PY) -c 'import os; print(2 * (os.cpu_count() or 1))') --dist loadfile --no-loadscope-reorder

test-extension: $(EXT)/node_modules/.ready
	cd $(EXT) && npm run -s check && npm run -s test

e2e: package ## the installed .vsix in the real workbench, and Neovim
	@tests/e2e/e2e.sh

bench: $(VENV)/.ready ## all figures beside their targets, and build/bench.json (QUICK=1, COMPARE=former.json)
	$(PY) tests/bench/bench.py $(if $(QUICK),--quick) $(if $(COMPARE),--compare $(COMPARE))
	$(PY) tests/bench/survival.py $(if $(QUICK),--quick)

lint: $(VENV)/.ready $(EXT)/node_modules/.ready ## ruff, mypy --strict, tsc, eslint
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	cd $(EXT) && npm run -s check && npm run -s lint

package: $(VENV)/.ready $(EXT)/node_modules/.ready ## wheel and .vsix in dist/
	rm -rf dist && mkdir -p dist
	$(PY) -m build --wheel --no-isolation --outdir dist . > /dev/null
	cd $(EXT) && npm run -s package

lock: ## renew server/requirements.lock (needs uv)
	uv pip compile --universal --generate-hashes --no-emit-find-links --no-emit-index-url --no-header --no-annotate --python-version 3.11 \
	  --group dev pyproject.toml -o server/requirements.lock

clean: ## remove what the targets made here
	rm -rf $(VENV) build dist out $(EXT)/node_modules $(EXT)/out
