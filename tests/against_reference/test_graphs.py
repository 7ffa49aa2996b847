"""Search of graphs against the plain search: the same visits at every edge, also where positions come back on their own path."""

from __future__ import annotations

import pytest

import treetop as tt
from tests.against_reference.games import Ring, ThreeHeaps
from tests.against_reference.known import PAST_THE_END, REPEATS_HANDED_OVER, TWICE_EXPANDED
from tests.against_reference.twins import compare
from treetop.reference.graph import GraphSearch

RULES = [tt.uct(), tt.puct(), tt.puct(c=1.5, first_play=-0.5), tt.uct(expand_after=3), tt.uct(max_depth=4)]


@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("game", ["nim(stones=11)", ThreeHeaps], ids=lambda game: getattr(game, "name", game))
def test_graphs_agree(game, rule):
    _, twin = compare(game, rule.but(transpositions=True))
    assert isinstance(twin, GraphSearch)
    assert len(twin.block_of) > len(twin.blocks)  # some positions were reached by several ways


@pytest.mark.parametrize("rule", [tt.puct(), tt.puct(c=0.5)], ids=str)
def test_proofs_in_graphs_agree(rule):
    for seed in range(3):
        compare(ThreeHeaps, rule.but(transpositions=True, solver=True), simulations=400, seed=seed)


def test_an_untried_move_that_is_closed_is_passed_by():
    for seed in range(4):
        compare("nim(stones=11)", tt.uct(transpositions=True, solver=True), simulations=400, seed=seed)


@pytest.mark.parametrize("rule", [tt.uct(), tt.puct()], ids=str)
def test_a_leaf_that_joins_a_known_position_on_its_first_visit_has_its_value(rule):
    for seed in range(3):
        compare("nim(stones=11)", rule.but(transpositions=True), evaluator=tt.Uniform(), seed=seed)


@REPEATS_HANDED_OVER
@pytest.mark.parametrize("solver", [False, True])
@pytest.mark.parametrize("rule", [tt.uct(), tt.puct(), tt.uct(expand_after=3)], ids=str)
def test_positions_that_come_back_agree(rule, solver):
    search, _ = compare(Ring(limit=200), rule.but(transpositions=True, solver=solver), simulations=400)
    assert search.tree.cycles


@PAST_THE_END
@pytest.mark.parametrize("rule", [tt.uct(), tt.puct()], ids=str)
def test_an_end_that_the_key_does_not_know_ends_the_simulation(rule):
    position = tt.Position(Ring(limit=200))
    for _ in range(180):
        position = position.apply(1)
    for seed in range(2):
        compare(position, rule.but(transpositions=True), seed=seed)


@TWICE_EXPANDED
def test_ties_by_a_hook_agree_in_graphs():
    compare("nim(stones=11)", tt.uct(transpositions=True, tie_break=lambda actions: actions[-1]), simulations=150)
