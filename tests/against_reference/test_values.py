"""First-play urgency, backups, discount and normalised values, against the plain search."""

from __future__ import annotations

import pytest

import treetop as tt
from tests.against_reference.games import ONE_TO_THREE_PLAYERS, TUG, TWO_OR_THREE_PLAYERS
from tests.against_reference.twins import compare
from tests.own_games import Climb


@pytest.mark.parametrize("fpu", [0.3, "parent", "scaled"])
@pytest.mark.parametrize("rule", [tt.uct(), tt.puct()], ids=str)
@TWO_OR_THREE_PLAYERS
def test_first_play_urgency_agrees(game, rule, fpu):
    compare(game, rule.with_options(fpu=fpu, fpu_reduction=0.4), simulations=150)


@pytest.mark.parametrize("backup", ["max", "mixed"])
@pytest.mark.parametrize(
    "options", [{}, {"discount": 0.9}, {"solver": True}, {"expand_after": 3, "max_depth": 3}], ids=str
)
@TWO_OR_THREE_PLAYERS
def test_backups_by_the_best_child_agree(game, backup, options):
    compare(game, tt.uct(backup=backup, **options), simulations=150)


@pytest.mark.parametrize("share", [0.0, 0.2, 1.0])
def test_the_share_of_a_mixed_backup_agrees(share):
    compare(TUG, tt.puct(backup="mixed", minimax_share=share), simulations=150)


@pytest.mark.parametrize(
    "options", [{}, {"discount": 0.9}, {"solver": True}, {"normalise": True}, {"minimax_share": 0.9}], ids=str
)
@pytest.mark.parametrize("rule", [tt.uct(), tt.puct()], ids=str)
def test_implicit_minimax_agrees(rule, options):
    compare(TUG, rule.with_options(backup="implicit", **options), simulations=100)
    compare(
        TUG,
        rule.with_options(backup="implicit", **options),
        simulations=100,
        evaluator=tt.evaluators.Heuristic(prior_temperature=0.3),
    )


@pytest.mark.parametrize("discount", [0.0, 0.9])
@ONE_TO_THREE_PLAYERS
def test_discounted_returns_agree(game, discount):
    compare(game, tt.uct(discount=discount), simulations=150)


@pytest.mark.parametrize("rule", [tt.uct(), tt.puct(), tt.puct(fpu=-3.0), tt.uct(backup="max")], ids=str)
@ONE_TO_THREE_PLAYERS
def test_normalised_values_agree(game, rule):
    compare(game, rule.with_options(normalise=True), simulations=150)


def test_a_wide_range_is_normalised_by_default():
    wide, _ = compare(Climb, tt.uct(), simulations=150)
    raw, _ = compare(Climb, tt.uct(normalise=False, discount=0.999), simulations=150)
    assert wide._driver.plan.normalise
    assert not raw._driver.plan.normalise
