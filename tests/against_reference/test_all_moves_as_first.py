"""RAVE and GRAVE against the plain search: the same visits, and the same statistics of every move."""

from __future__ import annotations

import pytest

import treetop as tt
from tests.against_reference.games import TUG, TWO_OR_THREE_PLAYERS
from tests.against_reference.twins import compare
from tests.own_games import Climb

RULES = [
    tt.rave(),
    tt.rave(c=0.5),
    tt.rave(amaf_bias=0.1),
    tt.rules.grave(amaf_reference=20),
    tt.rules.grave(amaf_reference=5, amaf_bias=0.01),
    tt.rules.grave(c=0.2, amaf_reference=10_000),
    tt.rave(solver=True),
    tt.rules.grave(amaf_reference=5, solver=True),
    tt.rave(tie_break="first"),
]


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_all_moves_as_first_agree(rule):
    compare("tic_tac_toe", rule)


@pytest.mark.parametrize(
    "rule",
    [tt.rave(amaf_k=100.0), tt.rules.grave(c=0.2, amaf_k=30.0, amaf_reference=10), tt.rave(amaf_k=50.0, solver=True)],
    ids=str,
)
@TWO_OR_THREE_PLAYERS
def test_the_hand_made_schedule_agrees(game, rule):
    compare(game, rule, simulations=150)


@pytest.mark.parametrize("rule", [tt.rave(), tt.rules.grave(c=0.1, amaf_reference=10)], ids=str)
@TWO_OR_THREE_PLAYERS
def test_all_moves_as_first_agree_with_discounted_returns(game, rule):
    compare(game, rule.with_options(discount=0.95), simulations=150)


@pytest.mark.parametrize("rule", [tt.rave(), tt.rules.grave(amaf_reference=15)], ids=str)
@pytest.mark.parametrize(
    "evaluator",
    [tt.Rollout(count=2), tt.evaluators.Mixed(tt.evaluators.Heuristic(0.3), 0.5), tt.evaluators.Heuristic()],
    ids=str,
)
def test_all_moves_as_first_agree_with_every_evaluator(rule, evaluator):
    compare(TUG, rule, evaluator=evaluator, simulations=150)


def test_all_moves_as_first_agree_with_rollouts_that_remember():
    compare(TUG, tt.rave(), evaluator=tt.Rollout("mast"), simulations=150)


def test_all_moves_as_first_agree_beside_widening():
    compare(
        TUG, tt.rave(widening=1.0), evaluator=tt.evaluators.Mixed(tt.evaluators.Heuristic(0.3), 0.5), simulations=150
    )


def test_all_moves_as_first_are_never_normalised():
    search, _ = compare(Climb, tt.rave(c=0.5, discount=0.99), simulations=150)
    assert not search._driver.plan.normalise
