"""Search of graphs against the plain search: the same visits at every edge, also where positions come back on their own path."""

from __future__ import annotations

import numpy as np
import pytest

import treetop as tt
from tests.against_reference.games import CAROUSEL, HEAPS, RING
from tests.against_reference.twins import compare
from tests.own_games import start
from tests.sketch import goes_round
from treetop.reference.graph import GraphSearch
from treetop.tree.layout import PATH_DEPENDENT

NIM = start("nim", heap=11)
RULES = [tt.uct(), tt.puct(), tt.puct(c=1.5, fpu=-0.5), tt.uct(expand_after=3), tt.uct(max_depth=4)]


@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("game", [NIM, HEAPS], ids=["nim", "heaps"])
def test_graphs_agree(game, rule):
    _, twin = compare(game, rule.with_options(transpositions=True))
    assert isinstance(twin, GraphSearch)
    assert len(twin.block_of) > len(twin.blocks)  # some positions were reached by several ways


@pytest.mark.parametrize("rule", [tt.puct(), tt.puct(c=0.5)], ids=str)
def test_proofs_in_graphs_agree(rule):
    for seed in range(3):
        compare(HEAPS, rule.with_options(transpositions=True, solver=True), simulations=400, seed=seed)


def test_an_untried_move_that_is_closed_is_passed_by():
    for seed in range(4):
        compare(NIM, tt.uct(transpositions=True, solver=True), simulations=400, seed=seed)


@pytest.mark.parametrize("rule", [tt.uct(), tt.puct()], ids=str)
def test_a_leaf_that_joins_a_known_position_on_its_first_visit_has_its_value(rule):
    for seed in range(3):
        compare(NIM, rule.with_options(transpositions=True), evaluator=tt.evaluators.Uniform(), seed=seed)


@pytest.mark.parametrize("solver", [False, True])
@pytest.mark.parametrize("rule", [tt.uct(), tt.puct(), tt.uct(expand_after=3)], ids=str)
def test_positions_that_come_back_agree(rule, solver):
    search, _ = compare(RING, rule.with_options(transpositions=True, solver=solver), simulations=400)
    assert goes_round(search)


@pytest.mark.parametrize("repetition", [None, 0.0, 0.75])
@pytest.mark.parametrize("rule", [tt.uct(), tt.puct(), tt.uct(expand_after=3)], ids=str)
def test_visits_that_went_in_circles_are_no_evaluations_of_the_position(rule, repetition):
    for solver in (False, True):
        search, _ = compare(
            CAROUSEL, rule.with_options(transpositions=True, solver=solver, repetition=repetition), simulations=1000
        )
        assert goes_round(search)


def late(moves: int) -> tt.Position:
    """A ring on which both have gone round and round, so long that the game ends soon: which the key does not know."""
    position = RING
    for _ in range(moves):
        position = position.apply(1)
    return position


@pytest.mark.parametrize("solver", [False, True])
@pytest.mark.parametrize("moves", [180, 190])
@pytest.mark.parametrize("rule", [tt.uct(), tt.puct(), tt.puct(expand_after=0)], ids=str)
def test_an_end_that_the_key_does_not_know_ends_the_simulation(rule, moves, solver):
    for seed in range(2):
        search, _ = compare(
            late(moves), rule.with_options(transpositions=True, solver=solver), seed=seed, simulations=600
        )
        for line in search.result().lines(3):
            assert len(line.moves) <= 200 - moves


def test_a_graph_with_circles_and_late_ends_stays_whole_in_bounded_memory():
    for seed in range(3):
        search = tt.Search(late(180), tt.puct(transpositions=True, max_nodes=60), seed=seed)
        for action in (0, 1, 2, 2):
            search.run(tt.Limit(simulations=400))
            search.tree.check((-1, 1))
            search.advance(action)
            search.tree.check((-1, 1))


def test_a_leaf_whose_visits_went_in_circles_begins_anew_as_the_root():
    met = 0
    for seed in range(6):
        search = tt.Search(RING, tt.uct(transpositions=True), seed=seed)
        search.run(tt.Limit(simulations=200))
        columns = search.tree.columns
        links = columns.links[: search.tree.size]
        for leaf in np.flatnonzero((links["flags"] & PATH_DEPENDENT > 0) & (links["num_children"] == 0))[:1]:
            way = [int(leaf)]
            while parent := int(columns.links["parent"][way[-1]]):
                way.append(parent)
            for action in [int(columns.links["action"][node]) for node in reversed(way)]:
                search.advance(action)
            assert search.simulations == 0
            search.run(tt.Limit(simulations=200))
            search.tree.check((-1, 1))
            met += 1
    assert met


@pytest.mark.parametrize("rule", [tt.uct(), tt.puct(), tt.uct(expand_after=0), tt.uct(expand_after=3)], ids=str)
@pytest.mark.parametrize("game", [NIM, HEAPS, RING], ids=["nim", "heaps", "ring"])
def test_ties_by_a_hook_agree_in_graphs(game, rule):
    compare(game, rule.with_options(transpositions=True, tie_break=lambda actions: actions[-1]), simulations=200)


def test_a_hook_that_raises_leaves_the_search_as_it_was():
    def hook(actions):
        if search.simulations == 40 and not raised:
            raised.append(len(actions))
            raise OSError("nobody is there")
        return actions[-1]

    raised: list[int] = []
    search = tt.Search(NIM, tt.uct(transpositions=True, tie_break=hook), seed=7)
    with pytest.raises(OSError, match="nobody"):
        search.run(tt.Limit(simulations=100))
    search.tree.check((-1, 1))
    assert search.simulations == 40
    assert search._driver.control[0]["expand_after"] == search.expand_after
    search.run(tt.Limit(simulations=60))
    search.tree.check((-1, 1))
