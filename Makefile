# Two commands to begin with: `make demo` (from a fresh checkout to a report) and `make test`.
# Everything is installed into $(VENV); nothing outside the checkout is changed, except for the cache of compiled
# kernels in the user's cache folder (CONTRIBUTING.md says where).

VENV ?= .venv
BIN := $(VENV)/bin
PYTHON ?=
PYTEST_ARGS ?= -n auto --maxprocesses 4
REPORT := demo-report.html

.PHONY: help demo test check lint types package pythons bench clean
.DELETE_ON_ERROR:

help:
	@echo "make demo   install into $(VENV), find near-duplicates in the sample, write $(REPORT)"
	@echo "make test   install what the tests need, run them"
	@echo "make check  all that CI checks: lint, types, tests, package, other Pythons"
	@echo "make bench  the figures of docs/benchmarks.md (long)"
	@echo "make clean  remove what was made here"

demo: $(VENV)/.installed-base
	@$(BIN)/simhash-es dedup examples/sample/*.jsonl --output demo-report.kept.jsonl --report $(REPORT)
	@echo
	@echo "The report: file://$(CURDIR)/$(REPORT)"
	@echo "The rows that stay: $(CURDIR)/demo-report.kept.jsonl"

test: $(VENV)/.installed-test
	$(BIN)/python -m pytest $(PYTEST_ARGS)

check: lint types test package pythons

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(VENV)/.installed-dev
	$(BIN)/mypy

package: $(VENV)/.installed-dev
	.ci/check-package $(BIN)/python

pythons: package
	.ci/check-pythons $(BIN)/python

bench: $(VENV)/.installed-test
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) build dist .demo demo-report* .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamps: installed once, and again when pyproject.toml changes. Sources need no new installation (editable).
$(VENV)/.installed-base: EXTRAS =
$(VENV)/.installed-test: EXTRAS = [test]
$(VENV)/.installed-dev: EXTRAS = [dev]
$(VENV)/.installed-%: pyproject.toml | $(VENV)/bin/pip
	@echo "installing simhash-es$(EXTRAS) into $(VENV) …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.$(EXTRAS)' || { \
	  echo "error: pip could not install the packages that simhash-es needs (its own message is above)" >&2; \
	  echo "hint: it needs a package index: check the network, or set PIP_INDEX_URL or HTTPS_PROXY; then run make again" >&2; \
	  exit 1; }
	@touch $@

$(VENV)/bin/pip:
	@found=; for python in $(PYTHON) python3 python3.13 python3.12 python3.11; do \
	  if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then found=$$python; break; fi; \
	done; \
	if [ -z "$$found" ]; then \
	  echo "error: Python 3.11 or newer is needed, and none was found (python3 is: $$(python3 --version 2>&1))" >&2; \
	  echo "hint: install one, or name it: make PYTHON=/path/to/python3.12 $(MAKECMDGOALS)" >&2; exit 1; \
	fi; \
	echo "making the environment $(VENV) with $$("$$found" --version) …"; \
	if ! output=$$("$$found" -m venv $(VENV) 2>&1); then \
	  rm -rf $(VENV); \
	  echo "$$output" >&2; \
	  echo "error: $$found cannot make an environment (its own message is above)" >&2; \
	  echo "hint: on Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; \
	fi
