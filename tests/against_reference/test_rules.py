"""Every rule beyond UCB1 and PUCT, and PUCT's schedules, against the plain search."""

from __future__ import annotations

import pytest

import treetop as tt
from tests.against_reference.games import TUG, TWO_OR_THREE_PLAYERS
from tests.against_reference.twins import compare
from tests.own_games import Climb
from tests.search.own_rules import BOLD, moody

RULES = {
    "ucb1_tuned": tt.rules.ucb1_tuned(),
    "ucb1_tuned, solver": tt.rules.ucb1_tuned(c=0.5, solver=True),
    "ucb_v": tt.rules.ucb_v(),
    "history": tt.rules.progressive_history(),
    "history, light, solver": tt.rules.progressive_history(history_weight=0.5, solver=True),
    "thompson": tt.rules.thompson(),
    "thompson, solver": tt.rules.thompson(solver=True),
    "blind": tt.rules.uniform(),
    "blind, solver": tt.rules.uniform(solver=True),
    "completed": tt.configure("completed"),
    "completed, other constants": tt.configure("completed", completed_visits=5.0, completed_scale=0.5),
    "puct katago": tt.puct(c_schedule="katago"),
    "puct katago, steep": tt.puct(c=0.8, c_schedule="katago", c_base=20.0, c_log=2.0),
    "puct divided": tt.puct(c_schedule="divided"),
    "puct divided, with a small number": tt.puct(c=3.0, c_schedule="divided", c_log=0.3),
    "puct by variance": tt.puct(variance_scale=0.85),
    "puct by variance, katago": tt.puct(variance_scale=0.5, c_schedule="katago"),
    "puct by variance, divided": tt.puct(variance_scale=1.0, c_schedule="divided"),
}


@pytest.mark.parametrize("rule", RULES)
@TWO_OR_THREE_PLAYERS
def test_every_rule_visits_as_the_reference_does(game, rule):
    compare(game, RULES[rule], simulations=150)


@pytest.mark.parametrize(
    "rule", ["ucb1_tuned", "ucb_v", "history", "thompson", "completed", "puct katago", "puct by variance"]
)
@pytest.mark.parametrize("game", [TUG, Climb], ids=["tug", "climb"])
def test_every_rule_agrees_on_normalised_values(game, rule):
    compare(game, RULES[rule].with_options(normalise=True), simulations=150)


@pytest.mark.parametrize("rule", ["ucb1_tuned", "completed", "puct divided"])
def test_ties_by_a_hook_agree_under_every_rule(rule):
    compare(TUG, RULES[rule].with_options(tie_break=lambda actions: actions[-1]), simulations=100)


@pytest.mark.parametrize("c", [0.7, BOLD])
@pytest.mark.parametrize(
    "options", [{}, {"normalise": True, "solver": True}, {"fpu": "parent", "backup": "mixed"}], ids=str
)
def test_a_rule_of_the_users_own_agrees(options, c):
    compare("tic_tac_toe", tt.configure(moody, c=c, **options), simulations=200)
