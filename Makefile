# Two commands do everything on a fresh machine: `make demo` and `make test`. Each sets itself up.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CORE := $(VENV)/.core
STAMP := $(VENV)/.installed

.PHONY: demo test lint types layers engines unit docs page fuzz figures bench clean

# The main job, with the core installed only: each part says what to look at.
demo: $(CORE)
	@printf '\n1. Search a game. Look at visits: the search spends them on the moves that look best.\n\n'
	$(BIN)/treetop search connect_four --rule uct --simulations 100000 --seed 1
	@printf '\n2. Check and search a game of your own: examples/own_game.py. Look at its 20 lines of rules.\n\n'
	$(BIN)/python examples/own_game.py
	@printf '\n3. Compare two players. Look at the Elo difference and its interval.\n\n'
	$(BIN)/treetop match "uct(simulations=1000)" "uct(simulations=100)" --game connect_four --games 20 --seed 1
	@printf '\n4. Prove a theorem. Look at the proof, and at the checker that accepted it.\n\n'
	$(BIN)/treetop prove "(p | q -> r) <-> (p -> r) & (q -> r)"
	@printf '\nNext: treetop games, treetop play connect_four, treetop serve (pip install -e ".[serve]"), docs/README.md.\n'

test: lint types layers engines unit

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

layers: $(STAMP)
	$(BIN)/lint-imports

# The engines that some tests play against, and the proof assistant; where they cannot be installed those tests are skipped, and say so.
engines:
	sh scripts/install_engines.sh

# Two workers; files that compile the same code run in one of them (tests/groups.py), and the other finds it in the cache.
unit: $(STAMP)
	$(BIN)/python -m pytest -q -n 2 --dist loadfile --no-loadscope-reorder $(ARGS)
	$(BIN)/python -m pytest -q --doctest-modules treetop

# The documentation as a site, in site/: strict, so a broken link is an error. `python -m http.server -d site` serves it.
docs:
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q --disable-pip-version-check -c constraints.txt -e ".[docs]"
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# The page of `treetop serve` and the viewer of results, from viewer/ into the package; needs Node. The files are committed, so that users need none.
page:
	cd viewer && npm install --no-audit --no-fund && npm run build

# 100,000 texts and files, random and changed: nothing may run, crash or hang, and each refusal is a Treetop error. About an hour.
# Then 10,000 requests to the server: it may not fail, grow, or answer strangers. Some minutes.
# Then 10,000 lines to each protocol of engines: none may end, block or grow it, or leave a process. Some minutes.
fuzz: $(STAMP)
	$(BIN)/python fuzz/run.py --inputs 100000
	$(BIN)/python fuzz/server.py --requests 10000
	$(BIN)/python fuzz/protocols.py --lines 10000

# Figures and printed outputs in README.md and docs/, from the commands beside them.
figures: $(STAMP)
	$(BIN)/python scripts/figures.py

bench: $(STAMP)
	$(BIN)/pip install -q -c constraints.txt ".[openspiel]"
	$(BIN)/python bench/speed.py

$(CORE): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q --disable-pip-version-check -c constraints.txt -e .
	touch $@

$(STAMP): $(CORE)
	$(BIN)/pip install -q --disable-pip-version-check -c constraints.txt -e ".[dev]"
	touch $@

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache
