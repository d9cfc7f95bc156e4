# Two targets: `make demo` (build, run and check the shipped model) and `make test`.
PYTHON ?= python3
VENV ?= .venv
PYTEST_ARGS ?=

.PHONY: demo test clean

demo: $(VENV)/.ready
	$(VENV)/bin/codegen build docs/demo/digits.tflite --board nrf52840 -o build/digits --force
	$(VENV)/bin/codegen verify docs/demo/digits.tflite --board nrf52840 \
	    --inputs docs/demo/digits_samples.npz

test: $(VENV)/.ready
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/pytest -n auto $(PYTEST_ARGS)

$(VENV)/.ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check -e '.[test]'
	touch $@

clean:
	rm -rf $(VENV) build
