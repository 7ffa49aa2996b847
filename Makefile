# Two commands do everything on a fresh machine: `make demo` and `make test`. Each sets itself up.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test lint types layers engines unit docs fuzz bench clean

# Plays the main job: searches, a game of one's own, a check, a match, a plan with recorded advice, proofs, the speed of the bundled games.
demo: $(STAMP)
	$(BIN)/treetop games
	$(BIN)/treetop search connect_four --simulations 100000 --seed 1
	$(BIN)/python examples/own_game.py
	$(BIN)/treetop check tic_tac_toe --games 200
	$(BIN)/treetop solve connect_four --moves "4 4 4 4 4 4 2 2 6 6 5 3"
	$(BIN)/treetop match "grave(simulations=500)" "uct(simulations=500)" --game "hex(size=5)" --games 20 --seed 1
	$(BIN)/python examples/game_of_24.py 3 3 8 8
	$(BIN)/treetop prove "(p | q -> r) <-> (p -> r) & (q -> r)" --mode raw
	if command -v coqc >/dev/null; then $(BIN)/treetop prove examples/Lists.v --lemma rev_involutive; else echo "no coqc, so no proof in Coq: apt-get install coq"; fi
	$(BIN)/treetop bench connect_four othello tic_tac_toe --simulations 20000

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

# The documentation as a site, in site/: strict, so a broken link or a missing page is an error. Open site/index.html.
docs:
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q --disable-pip-version-check -c constraints.txt -e ".[docs]"
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# 100,000 texts and files, random and changed: nothing may run, crash or hang, and each refusal is a Treetop error. About an hour.
fuzz: $(STAMP)
	$(BIN)/python fuzz/run.py --inputs 100000

bench: $(STAMP)
	$(BIN)/pip install -q -c constraints.txt ".[openspiel]"
	$(BIN)/python bench/speed.py

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q --disable-pip-version-check -c constraints.txt -e ".[dev]"
	touch $@

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache
