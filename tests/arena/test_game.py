"""The one loop that plays a game."""

from __future__ import annotations

import os
import signal
import threading

import pytest

import treetop
from tests.arena.stand_ins import Random, make
from tests.own_games import ThreeNim
from treetop.arena.game import play_game, score
from treetop.errors import ConfigError, GameError
from treetop.game.position import Position


def players(*specs: str):
    return [make(spec, None) for spec in specs]  # type: ignore[arg-type]


def test_a_game_is_played_to_its_end_by_legal_moves():
    start = treetop.position("connect_four", moves="4 4")
    both = players("random", "random")
    played = play_game(both, start, seed=5)
    assert played.end.is_terminal
    assert start.play(list(played.actions)) == played.end
    assert played.rewards == tuple(played.end.rewards)
    assert played.forfeit is played.reason is None
    assert [player.seen for player in both] == [list(played.actions)] * 2
    assert [player.started for player in both] == [
        [(start.actions, played.seeds[0])],
        [(start.actions, played.seeds[1])],
    ]
    assert played.simulations == (None, None)


def test_the_seed_decides_the_game_and_each_player_has_one_of_its_own():
    start = treetop.position("connect_four")
    first, again, other = (play_game(players("random", "random"), start, seed) for seed in (1, 1, 2))
    assert first.actions == again.actions
    assert first.actions != other.actions
    assert len({*first.seeds, *other.seeds}) == 4


def test_players_can_be_used_for_one_game_after_the_other():
    start, both = treetop.position("tic_tac_toe"), players("random", "winner")
    games = [play_game(both, start, seed).actions for seed in (1, 2, 1)]
    assert games[0] == games[2] != games[1]


@pytest.mark.parametrize(("spec", "reason"), [
    ("illegal", "played -7, which is not a legal action after"), ("quits", "the engine has died"),
    ("quits_early", "the engine does not start"), ("quits_on_sight", "the engine does not answer"),
])  # fmt: skip
@pytest.mark.parametrize("seat", [0, 1])
def test_a_player_that_fails_loses_by_forfeit(spec, reason, seat):
    both = players("random", "random")
    both[seat] = make(spec, None)  # type: ignore[arg-type]
    played = play_game(both, treetop.position("connect_four"), seed=1)
    assert played.forfeit == seat
    assert reason in (played.reason or "")
    assert played.rewards[seat] == -1.0
    assert played.rewards[1 - seat] == 1.0
    assert score(played.rewards, seat) == 0.0


@pytest.mark.parametrize("action", [True, 1.0, "4", None, 99])
def test_what_is_no_action_is_illegal(action):
    class Odd(Random):
        def choose(self, position):
            return action

    played = play_game([Odd("odd"), Random("random")], treetop.position("tic_tac_toe"), seed=1)
    assert played.forfeit == 0
    assert repr(action) in (played.reason or "")


def test_a_hanging_player_is_interrupted_and_loses():
    played = play_game(players("random", "hangs"), treetop.position("tic_tac_toe"), seed=1, move_deadline=0.1)
    assert played.forfeit == 1
    assert played.reason == "no move after 0.1 s"
    assert played.seconds[1] < 5


def test_a_late_move_loses_even_where_nothing_can_be_interrupted():
    found = []

    def play() -> None:
        found.append(
            play_game(players("slow:0.1", "random"), treetop.position("tic_tac_toe"), seed=1, move_deadline=0.05)
        )

    thread = threading.Thread(target=play)
    thread.start()
    thread.join()
    assert found[0].forfeit == 0
    assert "more than 0.05 s" in found[0].reason


def test_a_bug_is_not_taken_for_a_forfeit():
    class Wrong(Random):
        def choose(self, position):
            raise ZeroDivisionError("a bug of ours")

    with pytest.raises(ZeroDivisionError):
        play_game([Random("random"), Wrong("wrong")], treetop.position("tic_tac_toe"), seed=1)


def test_more_than_two_may_play_and_a_forfeit_costs_the_one_who_made_it():
    start = Position(ThreeNim)
    played = play_game(players("random", "random", "random"), start, seed=2)
    assert sorted(played.rewards) == [0.0, 0.0, 1.0]
    given_up = play_game(players("random", "quits", "random"), start, seed=2)
    assert given_up.rewards == (0.5, 0.0, 0.5)
    with pytest.raises(ConfigError, match="needs 3 players, not 2"):
        play_game(players("random", "random"), start, seed=2)


def test_simulations_are_counted_where_a_player_reports_them():
    played = play_game(players("uct:50", "random"), treetop.position("tic_tac_toe"), seed=1)
    assert played.simulations[0] is not None
    assert 50 <= played.simulations[0] <= 50 * 5
    assert played.simulations[1] is None


def test_ctrl_c_ends_a_game_even_where_a_player_swallows_it():
    class Swallows(Random):
        def choose(self, position):
            try:
                os.kill(os.getpid(), signal.SIGINT)
            except KeyboardInterrupt:
                return position.legal_actions()[0]
            raise AssertionError("no signal came")

    with pytest.raises(KeyboardInterrupt):
        play_game([Swallows("swallows"), Random("random")], treetop.position("tic_tac_toe"), seed=1)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@treetop.game(players=2, num_actions=6, max_length=3, num_outcomes=6)
class HighRoll:
    """A die is thrown for each player; the higher one wins. Nobody has anything to decide but to stop."""

    rolls = treetop.field("i1", 2)
    turn = treetop.field("i1")

    def reset(self):
        self.rolls[:] = 0
        self.turn = 0

    def current_player(self):
        return -1 if self.turn < 2 else 0

    def legal_actions(self, out):
        count = 6 if self.turn < 2 else 1
        for action in range(count):
            out[action] = action
        return count

    def chance_outcomes(self, actions, chances):
        for action in range(6):
            actions[action] = action
            chances[action] = 1 / 6
        return 6

    def apply(self, action):
        if self.turn < 2:
            self.rolls[self.turn] = action + 1
        self.turn += 1

    def is_terminal(self):
        return self.turn == 3

    def rewards(self, out):
        out[0] = 1.0 if self.rolls[0] > self.rolls[1] else -1.0 if self.rolls[0] < self.rolls[1] else 0.0
        out[1] = -out[0]


def test_chance_plays_by_its_probabilities_and_by_the_seed():
    games = [play_game(players("random", "random"), Position(HighRoll), seed).actions for seed in range(300)]
    assert games == [play_game(players("random", "random"), Position(HighRoll), seed).actions for seed in range(300)]
    for place in (0, 1):
        counts = [sum(game[place] == roll for game in games) for roll in range(6)]
        assert all(25 <= count <= 80 for count in counts)


@pytest.mark.usefixtures("untried")
def test_a_game_that_does_not_end_is_reported():
    @treetop.game(players=2, num_actions=1, max_length=4)
    class Endless:
        player = treetop.field("i1")

        def reset(self):
            self.player = 0

        def legal_actions(self, out):
            out[0] = 0
            return 1

        def apply(self, action):
            self.player = 1 - self.player

        def is_terminal(self):
            return False

        def rewards(self, out):
            pass

    with pytest.raises(GameError, match="at most 4 moves"):
        play_game(players("random", "random"), Position(Endless), seed=1)


def test_a_deadline_must_be_positive():
    with pytest.raises(ConfigError, match="move_deadline must be"):
        play_game(players("random", "random"), treetop.position("tic_tac_toe"), seed=1, move_deadline=0)
