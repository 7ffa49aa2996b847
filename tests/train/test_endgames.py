"""Exact targets of the last positions of a game of self-play."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs PyTorch: pip install -e '.[torch]'")

import treetop as tt
from treetop.errors import ConfigError
from treetop.evaluators.networks.model import Model
from treetop.oracle.exhaustive import Exhaustive
from treetop.train import TrainOptions
from treetop.train.endgames import Endgames
from treetop.train.self_play import SelfPlay

LINE = (4, 0, 8, 2, 1, 7, 6)  # in tic_tac_toe: a draw so far


def states_of(actions):
    position = tt.position("tic_tac_toe")
    found = [position]
    for action in actions:
        position = position.apply(action)
        found.append(position)
    return found


def test_solved_positions_and_their_best_moves_equal_exhaustive_search():
    positions, exact = states_of(LINE), Exhaustive()
    game = positions[0].game
    found = Endgames(game, 10**6).solve([position.record[0] for position in positions])
    assert len(found) == len(positions)
    for position, one in zip(reversed(positions), found, strict=True):
        assert one.value == exact.values(position)[0]
        assert np.flatnonzero(one.best).tolist() == exact.best_actions(position)


def test_a_small_budget_solves_the_last_positions_only():
    positions = states_of(LINE)
    found = Endgames(positions[0].game, 40).solve([position.record[0] for position in positions])
    assert 0 < len(found) < len(positions)


def test_what_is_solved_does_not_depend_on_the_games_before():
    positions = states_of(LINE)
    states = [position.record[0] for position in positions]
    endgames = Endgames(positions[0].game, 200)
    first, _, again = (endgames.solve(line) for line in (states, states[:4], states))
    assert 0 < len(first) < len(states)
    assert [one.value for one in first] == [one.value for one in again]
    assert all((one.best == other.best).all() for one, other in zip(first, again, strict=True))


def test_a_won_position_has_a_value_before_all_its_moves_are_solved():
    position = tt.position("tic_tac_toe", moves="a1 b1 a2 b2")  # a3 wins at once, the others take longer
    solved = [Endgames(position.game, nodes).solve([position.record[0]]) for nodes in (1, 10**6)]
    assert [[one.value for one in found] for found in solved] == [[1.0], [1.0]]
    assert solved[0][0].best is None
    assert Exhaustive().best_actions(position) == np.flatnonzero(solved[1][0].best).tolist()


def samples_of(**options):
    game = tt.load_game("tic_tac_toe")
    known = TrainOptions(slots=16, simulations=4, **options).for_game(game)
    play, found = SelfPlay(Model.untrained(game, "tiny"), known, 3), []
    while len(found) < 30:
        found += [game.samples for game in play.step()]
    return game, found


def test_targets_of_solved_positions_are_exact():
    game, found = samples_of(endgame=10**6)
    exact = Exhaustive()
    for samples in found:
        for state, policy, value in zip(samples.states, samples.policies.dense(9), samples.values, strict=True):
            position = tt.Position(game, np.array([state], game.dtype))
            assert value[0] == exact.values(position)[position.player]
            assert set(np.flatnonzero(policy)) <= set(exact.best_actions(position))
            assert policy.sum() == pytest.approx(1.0)


def test_without_an_exact_search_the_outcomes_stay():
    _, found = samples_of(endgame=0, trace=1.0)
    assert all(len(np.unique(np.abs(samples.values))) == 1 for samples in found)


def test_games_that_cannot_be_solved_have_no_exact_endgames():
    assert TrainOptions().for_game(tt.load_game("pig")).endgame == 0
    assert TrainOptions().for_game(tt.load_game("connect_four")).endgame > 0
    with pytest.raises(ConfigError, match="solved exactly; pig.* cannot"):
        TrainOptions(endgame=100).for_game(tt.load_game("pig"))
