"""Treetop's games among OpenSpiel's: its own tests, algorithms and bots take them."""

from __future__ import annotations

import numpy as np
import pytest

import treetop as tt
from treetop.adapters import OpenSpielProblem, TreetopBot, as_openspiel
from treetop.errors import ConfigError

pyspiel = pytest.importorskip("pyspiel")

SAME = ["tic_tac_toe", "connect_four", "kuhn_poker"]


@pytest.mark.parametrize("name", [
    "tic_tac_toe", "connect_four", "nim", "nim_three", "kuhn_poker", "leduc_poker", "goofspiel", "rock_paper_scissors", "matching_pennies", "blackjack",
    "pig(goal=15)", "hex(size=4)", "breakthrough", "othello(size=6)",
])  # fmt: skip
def test_openspiel_s_own_tests_find_nothing_wrong(name):
    pyspiel.random_sim_test(as_openspiel(name), 2, False, False)


def test_immediate_rewards_add_up():
    state = as_openspiel("cliff_walking").new_initial_state()
    total = 0.0
    for action in (0, 1, 1, 1):
        state.apply_action(action)
        total += state.rewards()[0]
    assert state.returns() == [total] == state.position.returns


@pytest.mark.parametrize("name", SAME)
def test_random_games_are_the_same_as_openspiel_s(name):
    """Both number the actions alike, so a game can be played in both at once."""
    rng = tt.Rng(1)
    for _ in range(20):
        ours, theirs = as_openspiel(name).new_initial_state(), pyspiel.load_game(name).new_initial_state()
        while not theirs.is_terminal():
            assert ours.current_player() == theirs.current_player()
            assert ours.is_chance_node() == theirs.is_chance_node()
            assert sorted(ours.legal_actions()) == sorted(theirs.legal_actions())
            if ours.is_chance_node():
                assert dict(ours.chance_outcomes()) == pytest.approx(dict(theirs.chance_outcomes()))
            actions = theirs.legal_actions()
            action = actions[rng.below(len(actions))]
            ours, theirs = ours.child(action), theirs.child(action)
            assert ours.history() == theirs.history()
        assert ours.is_terminal()
        assert ours.returns() == theirs.returns()


def test_a_clone_goes_its_own_way():
    state = as_openspiel("connect_four").new_initial_state()
    state.apply_action(3)
    twin = state.clone()
    twin.apply_action(2)
    assert (state.history(), twin.history()) == ([3], [3, 2])
    assert str(state) != str(twin)
    assert state.position == tt.position("connect_four", moves="4")


def test_information_sets_are_those_of_openspiel():
    """Kuhn poker has twelve information states, and the exploitability of random play is the same in both games."""
    from open_spiel.python import policy
    from open_spiel.python.algorithms import exploitability

    games = (as_openspiel("kuhn_poker"), pyspiel.load_game("kuhn_poker"))
    values = [exploitability.exploitability(game, policy.UniformRandomPolicy(game)) for game in games]
    assert values[0] == pytest.approx(values[1])
    state = as_openspiel("kuhn_poker").new_initial_state()
    for action in (0, 1):
        state.apply_action(action)
    other = as_openspiel("kuhn_poker").new_initial_state()
    for action in (0, 2):
        other.apply_action(action)
    assert state.information_state_string(0) == other.information_state_string(0)
    assert state.information_state_string(1) != other.information_state_string(1)


def test_openspiel_s_search_plays_our_game():
    """OpenSpiel's search in Python finds the move that wins at once. Its search in C++ cannot play games in Python, be they its own."""
    from open_spiel.python.algorithms import mcts

    game = as_openspiel("tic_tac_toe")
    random = np.random.RandomState(1)
    bot = mcts.MCTSBot(game, 2.0, 100, mcts.RandomRolloutEvaluator(1, random), solve=True, random_state=random)
    state = game.new_initial_state()
    for action in (0, 8, 1, 7):
        state.apply_action(action)
    assert bot.step(state) == 2


def test_our_games_can_be_searched_as_openspiel_s():
    result = tt.Search(OpenSpielProblem(as_openspiel("nim(stones=6)")), tt.uct(solver=True), seed=1).run(
        tt.Limit(simulations=2000)
    )
    assert result.solved
    assert result.value == 1.0
    assert result.action == tt.position("nim(stones=6)").parse_move("2")


def test_a_player_plays_its_own_game_among_openspiel_s_bots():
    """Outcomes of chance are followed too."""
    from treetop.players.baselines import RandomPlayer

    bot = TreetopBot(player=RandomPlayer(), game="pig(goal=15)", seed=1)
    state = as_openspiel("pig(goal=15)").new_initial_state()
    returns = pyspiel.evaluate_bots(state, [bot, pyspiel.make_uniform_random_bot(1, 3)], 7)
    assert sum(returns) == 0


def test_continuous_actions_are_refused():
    with pytest.raises(ConfigError, match="continuous actions"):
        as_openspiel("pendulum")
