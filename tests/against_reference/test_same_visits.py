"""For the same seed the compiled search and the plain one have the same tree, node by node."""

from __future__ import annotations

import math

import pytest

import treetop as tt
from tests.own_games import Climb, DoubleMoves, ThreeNim
from treetop.reference.search import Node, ReferenceSearch, Settings, puct, ucb1

GAMES = ["tic_tac_toe", "connect_four", "othello(size=4)", "nim(stones=11)", "hex(size=3)", "breakthrough(size=5)", "gomoku(size=5, line=4)",
         ThreeNim, Climb, DoubleMoves]  # fmt: skip
RULES = {
    "ucb1": (tt.uct(), Settings(ucb1)),
    "ucb1 greedy": (tt.uct(c=0.0), Settings(ucb1, c=0.0)),
    "ucb1 wide": (tt.uct(c=3.0), Settings(ucb1, c=3.0)),
    "puct constant": (tt.puct(c=1.5), Settings(puct, c=1.5)),
    "puct schedule": (tt.puct(), Settings(puct, c=1.25, c_base=19652.0)),
    "puct steep schedule": (tt.puct(c=0.5, c_base=50.0), Settings(puct, c=0.5, c_base=50.0)),
    "puct first play": (tt.puct(c=1.5, first_play=-0.5), Settings(puct, c=1.5, first_play=-0.5)),
}


def same(compiled: tt.Node, plain: Node) -> None:
    waiting = [(compiled, plain)]
    while waiting:
        ours, theirs = waiting.pop()
        assert ours.visits == theirs.visits
        assert ours.value_sum == theirs.value_sum
        assert len(ours.children) == len(theirs.children)
        for child, twin in zip(ours.children, theirs.children, strict=True):
            assert child.action == twin.action
            assert child.prior == twin.prior
            waiting.append((child, twin))


def compare(game, config, settings, *, simulations=300, seed=7, evaluator=None):
    search = tt.Search(game, config.but(stop_when_forced=False), evaluator=evaluator, seed=seed)
    search.run(tt.Limit(simulations=simulations))
    reference = ReferenceSearch(search.position, settings, seed)
    reference.run(simulations)
    search.tree.check(search.game.facts.rewards)
    same(search.tree.root, reference.root)
    assert search.result().values == [total / simulations for total in reference.totals]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("game", GAMES, ids=str)
def test_every_rule_visits_as_the_reference_does(game, rule):
    config, settings = RULES[rule]
    game = tt.load_game(game)
    if config.rule == "puct" and config.first_play is None:
        settings = Settings(puct, c=settings.c, c_base=settings.c_base, first_play=game.facts.middle)
    compare(game, config, settings)


@pytest.mark.parametrize("seed", range(5))
def test_other_seeds_give_the_same_too(seed):
    compare("tic_tac_toe", tt.uct(), Settings(ucb1), seed=seed * 1_000_003, simulations=700)


@pytest.mark.parametrize("expand_after", [0, 1, 5])
@pytest.mark.parametrize("max_depth", [None, 1, 3])
def test_expansion_threshold_and_depth_limit_agree(expand_after, max_depth):
    settings = Settings(ucb1, expand_after=expand_after, max_depth=math.inf if max_depth is None else max_depth)
    compare("tic_tac_toe", tt.uct(expand_after=expand_after, max_depth=max_depth), settings, simulations=500)


@pytest.mark.parametrize("rule", ["ucb1", "puct schedule"])
def test_the_uniform_evaluator_agrees(rule):
    config, settings = RULES[rule]
    settings = Settings(settings.score, settings.c, settings.c_base, evaluate="uniform", expand_after=0)
    compare("connect_four", config, settings, evaluator=tt.Uniform())


def test_ties_to_the_first_agree():
    compare("tic_tac_toe", tt.uct(tie_break="first"), Settings(ucb1, tie_break="first"))
    compare("tic_tac_toe", tt.puct(c=1.0, tie_break="first"), Settings(puct, c=1.0, tie_break="first"))


@pytest.mark.parametrize("rule", ["ucb1", "puct constant"])
def test_ties_by_a_hook_agree(rule):
    config, settings = RULES[rule]

    def last(actions):
        return actions[-1]

    settings = Settings(settings.score, settings.c, tie_break=last)
    compare("tic_tac_toe", config.but(tie_break=last), settings, simulations=200)


def test_many_visits_leave_the_tables_and_still_agree():
    compare("nim(stones=4)", tt.uct(), Settings(ucb1), simulations=12_000)
    compare("nim(stones=4)", tt.puct(), Settings(puct, c=1.25, c_base=19652.0), simulations=12_000)
