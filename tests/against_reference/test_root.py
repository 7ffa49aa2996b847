"""The root's own ways: Gumbel numbers with sequential halving, anytime halving, noise, forced playouts, moves asked for."""

from __future__ import annotations

import numpy as np
import pytest

import treetop as tt
from tests.against_reference.games import ONE_TO_THREE_PLAYERS, TUG, TWO_OR_THREE_PLAYERS
from tests.against_reference.twins import compare, same, twin_of
from treetop.reference.noise import dirichlet, gumbels


@pytest.mark.parametrize(
    "options",
    [{}, {"max_considered": 2}, {"gumbel_scale": 0.0}, {"max_considered": 1}, {"normalise": True}, {"backup": "max"}],
    ids=str,
)
@ONE_TO_THREE_PLAYERS
def test_gumbel_search_agrees(game, options):
    compare(game, tt.gumbel(**options), simulations=150)


@pytest.mark.parametrize("rule", ["ucb1", "puct", "thompson"])
def test_a_gumbel_root_agrees_above_every_rule(rule):
    compare(TUG, tt.configure(rule, root="gumbel"), simulations=150)


@pytest.mark.parametrize("simulations", [2, 3, 5, 17, 64])
def test_every_budget_is_planned_alike(simulations):
    compare(TUG, tt.gumbel(), simulations=simulations, evaluator=tt.evaluators.Heuristic(prior_temperature=0.3))


def test_every_run_plans_anew():
    search = tt.Search(TUG, tt.gumbel(), seed=3)
    twin = twin_of(search)
    for simulations in (60, 60):
        search.run(tt.Limit(simulations=simulations))
        twin.gumbel = search._driver.scratch.work.gumbel.tolist()[: len(search.tree.root.children)]
        twin.run(simulations)
    same(search, twin)


def test_completed_values_begin_with_the_nodes_own_evaluation_beside_proofs():
    for seed in range(4):
        compare(TUG, tt.configure("completed", solver=True), simulations=250, seed=seed)


def test_completed_values_begin_with_the_nodes_own_evaluation_beside_a_discount():
    compare(TUG, tt.configure("completed", discount=0.8), simulations=200)


@pytest.mark.parametrize(
    "options", [{"solver": True}, {"discount": 0.8}, {"backup": "mixed", "discount": 0.9}, {"normalise": True}], ids=str
)
@TWO_OR_THREE_PLAYERS
def test_a_gumbel_search_knows_the_roots_own_evaluation(game, options):
    search, twin = compare(game, tt.gumbel(**options), simulations=150)
    mover = search.position.player
    assert search.result().own_value == twin.root.own_sums[mover] / twin.root.own_visits
    own = search.tree.columns.own_visits[[child.index for child in search.tree.root.children]]
    assert own.tolist() == [child.own_visits for child in twin.root.children]


@pytest.mark.parametrize(
    "rule",
    [
        tt.rules.halving(),
        tt.rules.halving(rule="puct"),
        tt.rules.halving(rule="completed"),
        tt.rules.halving(solver=True),
        tt.rules.halving(normalise=True),
    ],
    ids=str,
)
@ONE_TO_THREE_PLAYERS
def test_anytime_halving_agrees(game, rule):
    compare(game, rule, simulations=150)


def test_a_tie_break_by_a_hook_does_not_move_anytime_halving_on():
    for rule in ("ucb1", "puct"):
        compare(TUG, tt.rules.halving(rule=rule, tie_break=lambda actions: actions[-1]), simulations=120)


@pytest.mark.parametrize("forced", [0.5, 2.0, 20.0])
@pytest.mark.parametrize("solver", [False, True])
def test_forced_playouts_agree(forced, solver):
    compare(
        TUG,
        tt.puct(forced_playouts=forced, solver=solver),
        evaluator=tt.evaluators.Heuristic(prior_temperature=0.3),
        simulations=200,
    )


@pytest.mark.parametrize(
    "rule",
    [tt.puct(noise=0.25), tt.puct(noise=0.6, noise_alpha=0.3), tt.configure("completed", noise=0.25)],
    ids=str,
)
def test_noise_in_the_roots_priors_agrees(rule):
    search = tt.Search(TUG, rule, seed=5, evaluator=tt.evaluators.Heuristic(prior_temperature=0.5))
    search.run(tt.Limit(simulations=200))
    twin, moves = twin_of(search), len(search.tree.root.children)
    alpha = 10.0 / moves if rule.noise.alpha is None else rule.noise.alpha
    twin.noise = dirichlet(5, 0, alpha, moves)
    twin.run(200)
    same(search, twin)


ASKED = [{"include": [1]}, {"include": [1, 2]}, {"exclude": [0]}]


@pytest.mark.parametrize("asked", ASKED, ids=str)
@pytest.mark.parametrize(
    "rule",
    [tt.uct(), tt.puct(), tt.rave(), tt.rules.thompson(), tt.configure("completed"), tt.rules.halving()],
    ids=str,
)
def test_moves_asked_for_agree(rule, asked):
    compare(TUG, rule, evaluator=tt.evaluators.Heuristic(prior_temperature=0.5), simulations=150, **asked)


@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_a_gumbel_root_plans_for_the_moves_asked_for(asked):
    compare(TUG, tt.gumbel(), evaluator=tt.evaluators.Heuristic(prior_temperature=0.5), simulations=150, **asked)


@pytest.mark.parametrize("rule", [tt.rules.thompson(), tt.rules.halving()], ids=str)
def test_the_first_look_below_the_root_is_at_a_move_asked_for(rule):
    for seed in range(3):
        compare(TUG, rule, simulations=100, include=[1], seed=seed)


def test_a_second_run_of_anytime_halving_looks_at_the_moves_asked_for():
    search = tt.Search(TUG, tt.rules.halving(), seed=1, evaluator=tt.evaluators.Heuristic())
    search.run(tt.Limit(simulations=3))
    twin = twin_of(search)
    twin.run(3)
    search.run(tt.Limit(simulations=60), include=[1])
    twin.run(60, [1])
    search.run(tt.Limit(simulations=60))
    twin.run(60)
    same(search, twin)


@pytest.mark.parametrize("moves", [0, 3])
def test_gumbel_numbers_agree(moves):
    position = tt.position("connect_four", moves=[3] * moves)
    search = tt.Search(position, tt.gumbel(gumbel_scale=0.5), evaluator=tt.evaluators.Uniform(), seed=-7)
    search.run(tt.Limit(simulations=10))
    assert search._driver.scratch.work.gumbel.tolist() == [0.5 * number for number in gumbels(-7, moves, 7)]


def test_dirichlet_noise_has_the_moments_of_its_distribution():
    for alpha, count in ((0.3, 7), (1.0, 4), (2.5, 3)):
        draws = np.array([dirichlet(seed, 0, alpha, count) for seed in range(4000)])
        mean, total = 1.0 / count, alpha * count
        assert draws.mean(axis=0) == pytest.approx(mean, abs=0.03)
        assert draws.var(axis=0) == pytest.approx(mean * (1 - mean) / (total + 1), rel=0.15)


def test_noise_with_a_tiny_alpha_falls_on_one_move():
    assert sorted(dirichlet(1, 0, 1e-5, 5)) == [0.0, 0.0, 0.0, 0.0, 1.0]
    search = tt.Search("tic_tac_toe", tt.puct(noise=1.0, noise_alpha=1e-5), seed=1)
    assert sorted(search.run(tt.Limit(simulations=50)).priors.tolist()) == [0.0] * 8 + [1.0]
