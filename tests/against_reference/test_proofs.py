"""The solver against the plain search: the same bounds, distances and closed moves at every node."""

from __future__ import annotations

import pytest

import treetop as tt
from tests.against_reference.games import THREE_NIM, TUG, TWO_OR_THREE_PLAYERS
from tests.against_reference.twins import compare

RULES = [tt.uct(), tt.uct(c=0.5), tt.puct(), tt.puct(c=1.0, fpu=-0.5)]


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_proofs_agree(rule):
    compare(TUG, rule.with_options(solver=True))


@pytest.mark.parametrize("rule", [tt.uct(fpu=0.5), tt.puct(fpu="parent"), tt.rules.ucb_v()], ids=str)
def test_proofs_among_three_players_agree(rule):
    compare(THREE_NIM, rule.with_options(solver=True))


@pytest.mark.parametrize("seed", range(2))
def test_a_search_to_the_proof_agrees_to_its_last_visit(seed):
    search, twin = compare(TUG, tt.uct(solver=True), simulations=3000, seed=seed)
    assert search.solved
    assert twin.root.is_proven


@pytest.mark.parametrize(
    "evaluator",
    [tt.evaluators.Uniform(), tt.evaluators.Heuristic(), tt.evaluators.Heuristic(prior_temperature=0.2)],
    ids=str,
)
def test_proofs_agree_with_every_evaluator(evaluator):
    compare(TUG, tt.puct(solver=True), evaluator=evaluator, simulations=250)


@TWO_OR_THREE_PLAYERS
def test_proofs_agree_from_a_later_position(game):
    position = game.apply(1).apply(0).apply(1)
    compare(position, tt.uct(solver=True, fpu="parent"))


@pytest.mark.parametrize("seed", range(4))
def test_a_lost_position_is_as_far_from_its_end_as_its_longest_defence(seed):
    compare(TUG.apply(1).apply(0).apply(1), tt.uct(solver=True, c=2.0, fpu="parent"), simulations=400, seed=seed)


@pytest.mark.parametrize(
    "options", [{"backup": "max"}, {"normalise": True}, {"widening": 1.0}, {"fpu": "parent"}], ids=str
)
def test_proofs_agree_beside_other_options(options):
    compare(TUG, tt.uct(solver=True, **options), simulations=250)
