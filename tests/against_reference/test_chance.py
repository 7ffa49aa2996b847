"""Chance, immediate rewards and paranoid search, against the plain search: the same visits and sums at every node."""

from __future__ import annotations

import pytest

import treetop as tt
from tests.against_reference.chancy import Market
from tests.against_reference.twins import compare, compare_batches, same, twin_of
from tests.chancy_games import Mine, Race
from treetop.reference.noise import dirichlet

# One player and immediate rewards; two players and one reward at the end; three players, with chance after chance. Each game more would
# be compiled for each build of the loop.
ALL = {"mine": Mine, "race": Race, "market": Market()}
MARKETS = {"paid": Market(), "unpaid": Market(paid=False)}
GAMES = pytest.mark.parametrize("game", ALL.values(), ids=ALL.keys())


@pytest.mark.parametrize(
    "rule", [tt.uct(normalise=False), tt.puct(normalise=False), tt.uct(c=0.5, tie_break="first")], ids=str
)
@GAMES
def test_the_usual_rules_agree(game, rule):
    compare(game, rule)


@pytest.mark.parametrize("rule", [
    tt.rave(), tt.rules.grave(amaf_reference=12), tt.configure("ucb1_tuned"), tt.configure("ucb_v", c=0.4), tt.rules.thompson(),
    tt.configure("progressive_history"), tt.configure("completed"), tt.puct(variance_scale=0.8), tt.rules.halving(), tt.gumbel(),
], ids=str)  # fmt: skip
@GAMES
def test_every_other_rule_agrees(game, rule):
    compare(game, rule, simulations=150)


@pytest.mark.parametrize("options", [
    {"backup": "max"}, {"backup": "mixed"}, {"backup": "mixed", "minimax_share": 1.0}, {"normalise": True}, {"discount": 0.9}, {"discount": 0.0},
    {"backup": "max", "discount": 0.8}, {"fpu": "parent"}, {"fpu": "scaled", "discount": 0.7}, {"fpu": 0.2}, {"widening": 1.0},
    {"expand_after": 3}, {"max_depth": 4}, {"expand_after": 0, "max_depth": 5},
], ids=str)  # fmt: skip
@GAMES
def test_options_agree(game, options):
    compare(game, tt.puct(**options), simulations=150)


@pytest.mark.parametrize("rule", [tt.uct(), tt.puct(), tt.uct(discount=0.9), tt.uct(normalise=False)], ids=str)
@pytest.mark.parametrize("game", [Race, MARKETS["paid"], MARKETS["unpaid"]], ids=["race", "market", "unpaid market"])
def test_implicit_minimax_agrees(game, rule):
    compare(game, rule.with_options(backup="implicit"), simulations=120)
    compare(
        game,
        rule.with_options(backup="implicit"),
        simulations=120,
        evaluator=tt.evaluators.Heuristic(prior_temperature=0.7),
    )


@pytest.mark.parametrize("evaluator", [
    tt.evaluators.Uniform(), tt.evaluators.Heuristic(), tt.evaluators.Heuristic(prior_temperature=0.5), tt.Rollout(depth=2), tt.Rollout("mast"), tt.Rollout("mast_softmax", count=3),
    tt.evaluators.Mixed(tt.evaluators.Heuristic(), 0.3), tt.Rollout("game"),
], ids=str)  # fmt: skip
@pytest.mark.parametrize("game", [Race, MARKETS["paid"]], ids=["race", "market"])
def test_every_evaluation_agrees(game, evaluator):
    compare(
        game,
        tt.puct(discount=0.95),
        simulations=120,
        evaluator=evaluator,
        exact=not isinstance(evaluator, tt.evaluators.Heuristic),
    )


@pytest.mark.parametrize("options", [
    {"chance": "expected"}, {"chance": "expected", "discount": 0.8, "normalise": True}, {"chance": "expected", "backup": "mixed"},
    {"chance_widening": 1.0}, {"chance_widening": 0.5, "widening_power": 0.8, "chance": "expected"}, {"chance_widening": 2.0, "widening": 1.0},
], ids=str)  # fmt: skip
@GAMES
def test_expected_and_widened_outcomes_agree(game, options):
    compare(game, tt.uct(normalise=False), simulations=50)
    compare(game, tt.puct(**{"normalise": False} | options), simulations=200)


@pytest.mark.parametrize("options", [{"chance": "expected"}, {"chance_widening": 1.0}], ids=str)
def test_expected_and_widened_outcomes_agree_in_batches_and_proofs(options):
    compare_batches(Race, tt.puct(**options), size=5, rounds=25)
    compare(Race, tt.uct(solver=True, **options), simulations=500)


@pytest.mark.parametrize(
    "options", [{}, {"backup": "max"}, {"backup": "implicit"}, {"discount": 0.9}, {"fpu": "parent"}], ids=str
)
@pytest.mark.parametrize("game", MARKETS.values(), ids=MARKETS.keys())
def test_paranoid_search_agrees(game, options):
    search, _ = compare(game, tt.uct(opponents="paranoid", **options), simulations=200)
    search.tree.check()


@pytest.mark.parametrize(
    "config",
    [tt.uct(), tt.puct(), tt.uct(backup="max"), tt.rave(), tt.rules.thompson(), tt.puct(widening=1.0)],
    ids=str,
)
@pytest.mark.parametrize("game", [Race, MARKETS["unpaid"]], ids=["race", "market"])
def test_proofs_over_outcomes_agree(game, config):
    compare(game, config.with_options(solver=True), simulations=600)


def test_implicit_minimax_takes_a_proven_value_for_the_heuristic():
    compare(Race, tt.uct(backup="implicit", solver=True), simulations=600)


def test_a_proof_of_the_whole_game_agrees():
    position = tt.Position(Race).play([0, 1, 0, 1, 1, 3, 0, 2])
    search, twin = compare(position, tt.uct(solver=True), simulations=3000)
    assert search.solved
    assert twin.root.is_proven


@pytest.mark.parametrize("game", [Race, Mine, MARKETS["paid"]], ids=["race", "mine", "market"])
def test_noise_agrees(game):
    search = tt.Search(game, tt.puct(noise=0.4), seed=5)
    search.run(tt.Limit(simulations=200))
    twin, moves = twin_of(search), len(search.tree.root.children)
    twin.noise = dirichlet(5, 0, 10.0 / moves, moves)
    twin.run(200)
    same(search, twin)


@pytest.mark.parametrize("waiting", [0, 2])
@pytest.mark.parametrize(
    "config", [tt.puct(), tt.uct(), tt.puct(discount=0.9, virtual_loss="always"), tt.rave()], ids=str
)
@pytest.mark.parametrize("game", [Race, MARKETS["paid"]], ids=["race", "market"])
def test_batches_agree(game, config, waiting):
    compare_batches(game, config, waiting=waiting)


@pytest.mark.parametrize("waiting", [0, 2])
def test_batches_agree_on_what_is_proven(waiting):
    compare_batches(Race, tt.puct(solver=True), waiting=waiting)
