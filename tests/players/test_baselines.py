"""The fixed opponents: legal, seeded, and right where an exhaustive search knows the answer."""

from __future__ import annotations

import pytest

import treetop
from tests.own_games import DoubleMoves, ThreeNim
from treetop.oracle.exhaustive import Exhaustive
from treetop.players.baselines import AlphaBetaPlayer, GreedyPlayer, RandomPlayer
from treetop.players.minimax import HEURISTIC, NOTHING, Minimax


@treetop.game(players=2, num_actions=3, max_length=12)
class Estimated:
    """Add one to three in turn; who says 12 wins. The estimate likes multiples of four left for the other player."""

    total = treetop.field("i2")
    player = treetop.field("i1")

    def reset(self):
        self.total = 0
        self.player = 0

    def legal_actions(self, out):
        count = min(3, 12 - self.total)
        for action in range(count):
            out[action] = action
        return count

    def apply(self, action):
        self.total += action + 1
        self.player = 1 - self.player

    def is_terminal(self):
        return self.total == 12

    def rewards(self, out):
        out[self.player] = -1.0
        out[1 - self.player] = 1.0

    def heuristic(self, out):
        sign = -0.5 if self.total % 4 == 0 else 0.5
        out[self.player] = sign
        out[1 - self.player] = -sign


def sample(game, games, after=0):
    """The positions of some random games that are not over, from a number of moves on."""
    found = {}
    for seed in range(games):
        position = treetop.Position(treetop.load_game(game))
        rng = treetop.Rng(seed)
        while not position.is_terminal:
            if len(position.actions) >= after:
                found[position] = position
            legal = position.legal_actions()
            position = position.apply(legal[rng.below(len(legal))])
    return list(found)


def test_random_is_uniform_and_decided_by_the_seed():
    position = treetop.position("tic_tac_toe")
    player = RandomPlayer()
    chosen = []
    for seed in range(900):
        player.begin(position, seed)
        chosen.append(player.choose(position))
        assert player.choose(position) == chosen[-1]
    assert set(chosen) == set(range(9))
    assert all(60 <= chosen.count(action) <= 140 for action in range(9))


def test_random_does_not_repeat_itself_from_move_to_move(play):
    moves = play("connect_four", [RandomPlayer(), RandomPlayer()]).actions
    assert len(set(moves)) > 1


def test_greedy_wins_at_once():
    position = treetop.position("tic_tac_toe", moves="a1 b1 a2 b2")
    player = GreedyPlayer(position.game)
    for seed in range(20):
        player.begin(position, seed)
        assert position.move_text(player.choose(position)) == "a3"


def test_greedy_blocks_an_immediate_loss():
    position = treetop.position("tic_tac_toe", moves="a1 c3 a2")
    player = GreedyPlayer(position.game)
    for seed in range(20):
        player.begin(position, seed)
        assert position.move_text(player.choose(position)) == "a3"


def test_greedy_follows_the_estimate_where_nothing_is_decided():
    position = treetop.Position(Estimated).play([0])
    player = GreedyPlayer(Estimated)
    for seed in range(10):
        player.begin(position, seed)
        assert player.choose(position) == 2  # leaves 4


def test_greedy_breaks_ties_by_the_seed():
    position = treetop.position("tic_tac_toe")
    player = GreedyPlayer(position.game)
    chosen = set()
    for seed in range(60):
        player.begin(position, seed)
        chosen.add(player.choose(position))
    assert len(chosen) == 9


def test_greedy_plays_games_of_three_players():
    position = treetop.Position(ThreeNim).play([2, 2, 2, 0])
    player = GreedyPlayer(ThreeNim)
    player.begin(position, 1)
    assert player.choose(position) == 2  # three stones are left: take them all


@pytest.mark.parametrize(("game", "games", "after"), [
    ("tic_tac_toe", 10, 0), ("nim(stones=21)", 10, 0), ("hex(size=3)", 10, 2), ("othello(size=4)", 8, 5), (DoubleMoves, 10, 5),
])  # fmt: skip
def test_full_depth_alphabeta_keeps_the_value_and_knows_it(game, games, after):
    """With passes (Othello) and two moves in a row (DoubleMoves) too: whose turn it is, is asked and not counted."""
    oracle = Exhaustive()
    loaded = treetop.load_game(game)
    player = AlphaBetaPlayer(loaded, depth=loaded.facts.max_length)
    for position in sample(game, games, after):
        for seed in (1, 2):
            player.begin(position, seed)
            assert player.choose(position) in oracle.best_actions(position)
            assert player.last_value == oracle.values(position)[position.player]


def test_the_othello_positions_above_have_passes_in_them():
    assert any(position.legal_actions() == [16] for position in sample("othello(size=4)", 8, 5))


def test_alphabeta_wins_as_soon_as_it_can():
    position = treetop.position("tic_tac_toe", moves="a1 b1 a2 c1")
    player = AlphaBetaPlayer(position.game, depth=5)
    for seed in range(20):
        player.begin(position, seed)
        assert position.move_text(player.choose(position)) == "a3"


def test_alphabeta_puts_off_a_loss():
    position = treetop.position("tic_tac_toe", moves="a1 b1 a2")  # X wins in any case, but if a3 is open at once
    assert Exhaustive().values(position)[1] == -1.0
    player = AlphaBetaPlayer(position.game, depth=9)
    for seed in range(20):
        player.begin(position, seed)
        assert position.move_text(player.choose(position)) == "a3"


def test_the_table_never_changes_what_is_found():
    game = treetop.load_game("othello(size=4)")
    with_table = Minimax(game, 6, horizon=NOTHING, table=1024)
    without = Minimax(game, 6, horizon=NOTHING)
    for seed in range(5):
        position = treetop.Position(game)
        rng = treetop.Rng(seed)
        while not position.is_terminal:
            assert with_table.best_moves(position) == without.best_moves(position)
            legal = position.legal_actions()
            position = position.apply(legal[rng.below(len(legal))])


def test_equal_moves_are_all_found_and_worse_ones_are_not():
    game = treetop.load_game("tic_tac_toe")
    minimax = Minimax(game, 5, horizon=NOTHING, table=1024)
    for position in sample("tic_tac_toe", 3):
        scores = minimax.score_moves(position)
        best, score = minimax.best_moves(position)
        assert score == max(scores.values())
        assert best == [action for action in position.legal_actions() if scores[action] == score]


def test_the_horizon_asks_the_heuristic():
    minimax = Minimax(Estimated, 1, horizon=HEURISTIC)
    scores = minimax.score_moves(treetop.Position(Estimated).play([0]))
    assert [minimax.value(score) for score in scores.values()] == [-0.5, -0.5, 0.5]


def test_rollouts_at_the_horizon_are_seeded_and_see_a_won_game():
    game = treetop.load_game("tic_tac_toe")
    position = treetop.position(game, moves="a1 b1")
    player = AlphaBetaPlayer(game, depth=1, rollouts=50)
    player.begin(position, 7)
    first, value = player.choose(position), player.last_value
    assert player.choose(position) == first
    assert player.last_value == value > 0


def test_alphabeta_refuses_games_of_other_kinds():
    with pytest.raises(treetop.errors.ConfigError, match="two-player zero-sum games"):
        AlphaBetaPlayer(ThreeNim)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"depth": 0}, "depth must be"),
        ({"depth": 4000}, "depth must be"),
        ({"table": 1000}, "power of two"),
        ({"rollouts": -1}, "rollouts must be"),
    ],
)
def test_options_out_of_range_are_refused(options, text):
    with pytest.raises(treetop.errors.ConfigError, match=text):
        AlphaBetaPlayer(treetop.load_game("tic_tac_toe"), **options)


def test_stronger_baselines_beat_weaker_ones(play):
    game = treetop.load_game("tic_tac_toe")
    greedy, clever, chance = GreedyPlayer(game), AlphaBetaPlayer(game, depth=9), RandomPlayer()
    greedily = [play(game, [greedy, chance], seed).rewards[0] for seed in range(20)]
    cleverly = [play(game, [greedy, clever], seed).rewards[1] for seed in range(20)]
    assert sum(greedily) > 12
    assert min(cleverly) >= 0 < sum(cleverly)
