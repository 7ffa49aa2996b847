"""Batches of leaves with evaluations in flight, against the plain search: the same leaves in the same order, and the same tree at the end."""

from __future__ import annotations

import pytest

import treetop as tt
from tests.against_reference.games import RING, THREE_NIM, TUG
from tests.against_reference.twins import Oracle, compare_batches


@pytest.mark.parametrize("waiting", [0, 2])
@pytest.mark.parametrize("rule", [tt.puct(), tt.uct(), tt.puct(c=1.5, fpu=-0.3), tt.puct(expand_after=2)], ids=str)
def test_in_flight_evaluations_agree(rule, waiting):
    compare_batches(THREE_NIM, rule, waiting=waiting)


@pytest.mark.parametrize("waiting", [0, 2])
@pytest.mark.parametrize(
    "virtual", [{"virtual_loss": "always"}, {"virtual_loss": "first", "virtual_loss_until": 8}], ids=str
)
@pytest.mark.parametrize(
    "rule",
    [tt.puct(), tt.uct(), tt.puct(normalise=True), tt.puct(solver=True), tt.puct(backup="max"), tt.rules.ucb_v()],
    ids=str,
)
def test_virtual_losses_agree(rule, virtual, waiting):
    compare_batches(TUG, rule.with_options(**virtual), waiting=waiting)


@pytest.mark.parametrize("size", [1, 2, 16])
def test_batches_of_every_size_agree(size):
    compare_batches(TUG, tt.puct(virtual_loss="always"), size=size, rounds=20, waiting=1)


OTHERS = [
    tt.puct(fpu="scaled"),
    tt.puct(solver=True, discount=1.0, fpu="parent"),
    tt.rules.ucb1_tuned(),
    tt.rules.thompson(),
    tt.rules.uniform(),
    tt.rules.progressive_history(),
    tt.rules.halving(),
    tt.configure("completed"),
    tt.puct(forced_playouts=2.0),
    tt.puct(widening=1.0),
    tt.puct(discount=0.9),
    tt.puct(variance_scale=0.85),
    tt.uct(backup="mixed"),
    tt.puct(backup="implicit"),
    tt.rave(discount=0.9),
    tt.rules.grave(amaf_reference=15, discount=0.9),
]


@pytest.mark.parametrize("rule", OTHERS, ids=str)
def test_every_rule_agrees_with_evaluations_in_flight(rule):
    compare_batches(TUG, rule, waiting=1)


@pytest.mark.parametrize("rule", [tt.puct(), tt.rules.halving()], ids=str)
def test_ties_by_a_hook_agree_with_evaluations_in_flight(rule):
    compare_batches(TUG, rule.with_options(tie_break=lambda actions: actions[-1]), waiting=1)


@pytest.mark.parametrize("rule", [tt.puct(), tt.puct(discount=0.9), tt.rave()], ids=str)
def test_an_evaluator_mixed_with_rollouts_agrees(rule):
    compare_batches(TUG, rule, evaluator=tt.evaluators.Mixed(Oracle(), 0.5))


@pytest.mark.parametrize("rule", [tt.puct(), tt.rules.progressive_history()], ids=str)
def test_an_evaluator_mixed_with_rollouts_that_remember_agrees(rule):
    for seed in range(2):
        compare_batches(TUG, rule, evaluator=tt.evaluators.Mixed(Oracle(), 0.5, tt.Rollout("mast")), seed=seed)


@pytest.mark.parametrize("waiting", [0, 2])
@pytest.mark.parametrize("solver", [False, True])
@pytest.mark.parametrize("rule", [tt.puct(), tt.uct(), tt.puct(expand_after=2)], ids=str)
def test_batches_in_graphs_agree(rule, solver, waiting):
    compare_batches(RING, rule.with_options(transpositions=True, solver=solver), waiting=waiting)
