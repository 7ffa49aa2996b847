"""For the same seed the compiled search and the plain one have the same tree, node by node: UCB1 and PUCT, over many games."""

from __future__ import annotations

from pathlib import Path

import pytest

import treetop as tt
import treetop.reference
from tests.against_reference.games import DOUBLE_MOVES, THREE_NIM
from tests.against_reference.twins import compare
from tests.own_games import Climb

GAMES = {
    "tic_tac_toe": "tic_tac_toe",
    "othello": "othello(size=4)",
    "three nim": THREE_NIM,
    "climb": Climb,
    "double moves": DOUBLE_MOVES,
}
RULES = {
    "ucb1": tt.uct(),
    "ucb1 greedy": tt.uct(c=0.0),
    "puct schedule": tt.puct(),
    "puct steep schedule": tt.puct(c=0.5, c_base=50.0),
    "puct fpu": tt.puct(c=1.5, fpu=-0.5),
}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES.keys())
def test_every_rule_visits_as_the_reference_does(game, rule):
    compare(game, RULES[rule].with_options(normalise=False), simulations=150)


@pytest.mark.parametrize("seed", range(3))
def test_other_seeds_give_the_same_too(seed):
    compare("tic_tac_toe", tt.uct(), seed=seed * 1_000_003, simulations=500)


@pytest.mark.parametrize("expand_after", [0, 1, 5])
@pytest.mark.parametrize("max_depth", [None, 1, 3])
def test_expansion_threshold_and_depth_limit_agree(expand_after, max_depth):
    compare("tic_tac_toe", tt.uct(expand_after=expand_after, max_depth=max_depth))


@pytest.mark.parametrize("rule", ["ucb1", "puct schedule"])
def test_the_uniform_evaluator_agrees(rule):
    compare("tic_tac_toe", RULES[rule], evaluator=tt.evaluators.Uniform(), simulations=200)


def test_ties_to_the_first_agree():
    compare("tic_tac_toe", tt.uct(tie_break="first"))
    compare("tic_tac_toe", tt.puct(c=1.0, tie_break="first"))


@pytest.mark.parametrize("rule", ["ucb1", "puct fpu"])
def test_ties_by_a_hook_agree(rule):
    compare("tic_tac_toe", RULES[rule].with_options(tie_break=lambda actions: actions[-1]), simulations=200)


@pytest.mark.parametrize("rule", ["ucb1", "puct schedule"])
def test_many_visits_leave_the_tables_and_still_agree(rule):
    compare(THREE_NIM, RULES[rule].with_options(max_depth=1), simulations=9_000)


def test_the_reference_imports_no_kernel():
    for file in Path(treetop.reference.__file__).parent.glob("*.py"):
        assert "kernels" not in file.read_text(), file
