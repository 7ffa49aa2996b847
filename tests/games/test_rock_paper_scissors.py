"""Rock paper scissors with a bias."""

from __future__ import annotations

import pytest

import treetop as tt
from treetop.oracle.equilibrium import equilibrium


@pytest.mark.parametrize(
    ("moves", "won"),
    [("rock/scissors", 1), ("paper/rock", 2), ("scissors/paper", 10), ("scissors/rock", -1), ("rock/paper", -2), ("paper/scissors", -10),
     ("rock/rock", 0), ("paper/paper", 0), ("scissors/scissors", 0)],
)  # fmt: skip
def test_a_win_gives_the_weight_of_what_wins(moves, won):
    assert tt.position("rock_paper_scissors", moves=moves).rewards == [won, -won]


@pytest.mark.parametrize("weights", [(1.0, 1.0, 1.0), (1.0, 2.0, 10.0), (5, 1, 100)])
def test_the_equilibrium_has_the_ratio_of_the_formula_and_no_value(weights):
    rock, paper, scissors = weights
    solved = equilibrium(f"rock_paper_scissors(weights={weights})")
    total = sum(weights)
    assert solved.value == pytest.approx(0.0, abs=1e-9)
    for chances in solved.strategy.values():
        assert list(chances.values()) == pytest.approx([scissors / total, rock / total, paper / total], abs=1e-9)


@pytest.mark.parametrize(
    "weights", ["(1, 2)", "(1, 2, 0)", "(1, 2, -1)", "(1, 2, 'a')", "(1, 2, True)", "3", "[1, 2, 3]", "(1, 2, 1001)"]
)
def test_what_are_no_weights_is_refused(weights):
    with pytest.raises(tt.errors.UnknownGameError):
        tt.load_game(f"rock_paper_scissors(weights={weights})")
