"""Rollouts, heuristics, mixes and progressive widening, against the plain search."""

from __future__ import annotations

import pytest

import treetop as tt
from tests.against_reference.games import ONE_TO_THREE_PLAYERS, TUG, TWO_OR_THREE_PLAYERS
from tests.against_reference.twins import compare


@pytest.mark.parametrize("count", [2, 3])
@ONE_TO_THREE_PLAYERS
def test_the_mean_of_several_rollouts_agrees(game, count):
    compare(game, tt.uct(), evaluator=tt.Rollout(count=count), simulations=150)


REMEMBERING = [
    tt.Rollout("mast"),
    tt.Rollout("mast", epsilon=0.0),
    tt.Rollout("mast_softmax"),
    tt.Rollout("mast_softmax", temperature=2.0),
    tt.Rollout("mast", count=2),
]


@pytest.mark.parametrize("evaluator", REMEMBERING, ids=str)
@TWO_OR_THREE_PLAYERS
def test_rollouts_that_remember_agree(game, evaluator):
    compare(game, tt.uct(), evaluator=evaluator, simulations=150)


@pytest.mark.parametrize(
    "options", [{"depth": 0}, {"depth": 2}, {"policy": "game"}, {"policy": "game", "depth": 3, "count": 2}], ids=str
)
@pytest.mark.parametrize("discount", [1.0, 0.9])
def test_rollouts_by_the_games_own_knowledge_agree(options, discount):
    compare(TUG, tt.uct(discount=discount), evaluator=tt.Rollout(**options), simulations=150)


@pytest.mark.parametrize(
    "evaluator",
    [
        tt.evaluators.Heuristic(),
        tt.evaluators.Heuristic(prior_temperature=0.2),
        tt.evaluators.Heuristic(prior_temperature=5.0),
    ],
    ids=str,
)
@pytest.mark.parametrize("rule", [tt.uct(), tt.puct(), tt.gumbel()], ids=str)
def test_heuristics_and_their_priors_agree(rule, evaluator):
    compare(TUG, rule, evaluator=evaluator, simulations=150)


MIXES = [
    tt.evaluators.Mixed(tt.evaluators.Heuristic(), 0.3),
    tt.evaluators.Mixed(tt.evaluators.Heuristic(0.3), 0.7, tt.Rollout(count=2)),
    tt.evaluators.Mixed(tt.evaluators.Uniform(), 0.5),
]


@pytest.mark.parametrize(
    "evaluator",
    [tt.evaluators.Mixed(tt.evaluators.Heuristic(0.3), 0.5, tt.Rollout("mast")), tt.Rollout("mast", depth=2)],
    ids=str,
)
def test_remembering_rollouts_agree_beside_heuristics(evaluator):
    compare(TUG, tt.puct(), evaluator=evaluator, simulations=150)


@pytest.mark.parametrize("evaluator", MIXES, ids=str)
@pytest.mark.parametrize("rule", [tt.uct(), tt.puct(discount=0.9)], ids=str)
def test_mixes_agree(rule, evaluator):
    compare(TUG, rule, evaluator=evaluator, simulations=150)


@pytest.mark.parametrize(
    "options",
    [
        {"widening": 1.0},
        {"widening": 1.5, "widening_power": 0.3},
        {"widening": 0.4, "solver": True},
        {"widening": 2.0, "widening_power": 0.0},
    ],
    ids=str,
)
@pytest.mark.parametrize("rule", [tt.uct(), tt.puct(), tt.rules.thompson()], ids=str)
def test_widening_opens_the_same_moves(rule, options):
    compare(
        TUG, rule.with_options(**options), evaluator=tt.evaluators.Heuristic(prior_temperature=0.2), simulations=150
    )


def test_widening_takes_no_visits_for_one_under_completed_values():
    compare(TUG, tt.configure("completed", widening=1.5), simulations=150)
