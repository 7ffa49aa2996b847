"""Positions of every kind: chance, immediate rewards, simultaneous moves, real numbers, deals and secrets."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import treetop as tt
from tests.all_kinds import Drift, Hands, Press, Secret, changed
from treetop.game.records import GameRecord, load_game_record, save_game

# Chance.


def test_where_chance_decides_the_legal_actions_are_its_outcomes():
    rolled = tt.position(Press, moves="roll")
    assert rolled.player == tt.CHANCE
    assert rolled.legal_actions() == [0, 1, 2]
    assert rolled.legal_actions(player=0) == []
    assert rolled.outcomes() == [(0, 0.5), (1, 0.3), (2, 0.2)]
    assert rolled.legal_moves() == ["side1", "side2", "side3"]


def test_where_chance_does_not_decide_there_are_no_outcomes():
    assert tt.position(Press).outcomes() == []
    assert tt.position(Press, moves="stop").outcomes() == []
    assert tt.position("nim").outcomes() == []
    with pytest.raises(tt.errors.GameError, match="not a chance node"):
        tt.position(Press).draw_outcome(tt.Rng(0))


def test_outcomes_are_played_read_and_formatted_like_moves():
    position = tt.position(Press, moves="roll side2 roll side3")
    assert position.actions == (0, 1, 0, 2)
    assert position.moves() == ["roll", "side2", "roll", "side3"]
    assert position.is_terminal
    with pytest.raises(tt.errors.IllegalMoveError, match="the legal moves are side1, side2, side3"):
        tt.position(Press, moves="roll stop")
    with pytest.raises(tt.errors.IllegalMoveError):
        tt.position(Press, moves="roll").apply(3)


def test_resolving_chance_draws_until_somebody_has_to_choose_and_nothing_else():
    start = tt.position(Press)
    assert start.resolve_chance(tt.Rng(1)) == start
    rolled = start.play("roll").resolve_chance(tt.Rng(1))
    assert len(rolled.actions) == 2
    assert rolled.is_terminal or rolled.player == 0
    assert rolled == start.play("roll").resolve_chance(tt.Rng(1))


def test_resolving_chance_follows_the_probabilities():
    rolled, rng = tt.position(Press, moves="roll"), tt.Rng(7)
    counts = np.bincount([rolled.resolve_chance(rng).actions[1] for _ in range(2000)], minlength=3)
    assert np.abs(counts / 2000 - (0.5, 0.3, 0.2)).max() < 0.04


def test_a_games_own_draw_resolves_chance():
    @tt.game(players=1, num_actions=2, max_length=12, num_outcomes=3, rewards=(0, 30))
    class Biased(Press):
        def random_outcome(self, rng):
            return 1

    assert {tt.position(Biased, moves="roll").resolve_chance(tt.Rng(seed)).actions[1] for seed in range(20)} == {1}


def test_chance_that_never_ends_is_a_clear_error():
    @tt.game(players=1, num_actions=2, max_length=12, num_outcomes=3, rewards=(0, 30))
    class Endless(Press):
        def apply(self, action):
            self.rolling = True

    with pytest.raises(tt.errors.GameError, match="max_length"):
        tt.position(Endless, moves="roll").resolve_chance(tt.Rng(0))


# Immediate rewards.


def test_immediate_rewards_are_those_of_the_last_action_and_returns_are_their_sum():
    assert tt.position(Press).step_rewards == [0.0]
    position = tt.position(Press, moves="roll side2")
    assert (position.step_rewards, position.returns) == ([2.0], [2.0])
    position = position.play("roll")
    assert (position.step_rewards, position.returns) == ([0.0], [2.0])
    ended = position.play("side1 stop")
    assert (ended.step_rewards, ended.rewards, ended.returns) == ([0.0], [2.0], [5.0])


def test_without_immediate_rewards_the_returns_are_the_rewards():
    over = tt.position("nim(stones=2)", moves="2")
    assert over.returns == over.rewards == [1.0, -1.0]
    assert tt.position("nim").returns == tt.position("nim").step_rewards == [0.0, 0.0]


# All at once.


def test_with_simultaneous_moves_each_player_has_actions_of_their_own():
    position = tt.position(Hands)
    assert position.player == tt.SIMULTANEOUS
    assert position.legal_actions(player=0) == [0, 1, 2]
    assert position.legal_actions(player=1) == [0, 1]
    assert position.legal_actions() == [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]
    assert position.legal_moves(player=1) == ["one", "two"]
    assert position.legal_moves()[-1] == "three/two"


def test_joint_moves_are_played_read_and_formatted():
    position = tt.position(Hands, moves="one/two three/one")
    assert position.actions == ((0, 1), (2, 0))
    assert position.moves() == ["one/two", "three/one"]
    assert (
        position
        == tt.position(Hands).apply((0, 1)).apply([2, np.int64(0)])
        == tt.position(Hands).play([(0, 1), "three/one"])
    )
    assert position.rewards == [0.0, 0.0]
    assert tt.position(Hands).parse_move("two", player=1) == 1
    assert tt.position(Hands).legal_actions(player=0) == [0, 1, 2]


@pytest.mark.parametrize("action", [0, (0,), (0, 2), (0, 1, 1), (0, True), (0.0, 1), "one/two", None])
def test_joint_actions_that_are_not_legal_are_refused_with_everybodys_choices(action):
    with pytest.raises(tt.errors.IllegalMoveError, match=r"player 0 has one, two, three; player 1 has one, two"):
        tt.position(Hands).apply(action)


@pytest.mark.parametrize("text", ["one", "one/three", "one/one/one", "/", "one/"])
def test_joint_texts_that_are_not_legal_are_refused_with_everybodys_choices(text):
    with pytest.raises(
        tt.errors.IllegalMoveError, match=r"written as a/b: player 0 has one, two, three; player 1 has one, two"
    ):
        tt.position(Hands, moves=[text])


# Real numbers.


def test_continuous_actions_are_played_read_and_formatted():
    position = tt.position(Drift, moves="-1:0.5 -0.25:1e-3")
    assert position.actions == ((-1.0, 0.5), (-0.25, 0.001))
    assert position.moves() == ["-1.0:0.5", "-0.25:0.001"]
    assert (
        tt.position(Drift).play(position.moves())
        == position
        == tt.position(Drift).apply((-1, 0.5)).apply(np.array([-0.25, 0.001]))
    )
    assert position.step_rewards[0] == pytest.approx(-1.75 - 1.499)
    assert position.returns[0] == pytest.approx(-3.5 - 1.75 - 1.499)
    with pytest.raises(
        tt.errors.GameError, match="continuous actions, which cannot be listed: draw one by `sample_action`"
    ):
        position.legal_actions()


@pytest.mark.parametrize(
    "action", [0, (0.1,), (0.1, math.nan), (0.1, math.inf), (0.1, 0.2, 0.3), ("0.1", 0.2), (True, 0.0), "0.1:0.2"]
)
def test_actions_that_are_not_so_many_finite_numbers_are_refused(action):
    with pytest.raises(tt.errors.IllegalMoveError, match=r"an action is 2 finite numbers, written as 0\.5:0\.5"):
        tt.position(Drift).apply(action)


@pytest.mark.parametrize("text", ["0.1", "0.1:x", "0.1:nan", "1:2:3"])
def test_texts_that_are_not_so_many_finite_numbers_are_refused(text):
    with pytest.raises(tt.errors.IllegalMoveError, match="2 finite numbers"):
        tt.position(Drift, moves=text)


def test_actions_are_drawn_by_the_game_or_among_the_legal_ones():
    rng = tt.Rng(3)
    drawn = [tt.position(Drift).sample_action(rng) for _ in range(20)]
    assert len(set(drawn)) == 20
    assert all(-1 <= value <= 1 for action in drawn for value in action)
    assert {tt.position(Hands).sample_action(rng) for _ in range(100)} == set(tt.position(Hands).legal_actions())
    assert {tt.position(Press, moves="roll").sample_action(rng) for _ in range(100)} == {0, 1, 2}
    with pytest.raises(tt.errors.IllegalMoveError, match="the game is over"):
        tt.position(Drift, moves="1:1 1:1 1:1 1:1").sample_action(rng)


# Deals and secrets.


def test_a_seed_deals_and_the_history_begins_there():
    dealt = {seed: tt.position(Secret, seed=seed) for seed in range(20)}
    assert {int(position.record["card"][0]) for position in dealt.values()} == {0, 1}
    assert all(tt.position(Secret, seed=seed) == position for seed, position in dealt.items())
    assert tt.position(Secret, seed=4) == tt.Position.start(Secret, tt.Rng(4))
    assert tt.Position.start(Secret) == tt.position(Secret)
    one = next(position for position in dealt.values() if position.record["card"][0] == 1)
    assert one.play("0 1").start["card"][0] == 1
    assert one.was_set_up


def test_a_game_that_deals_nothing_begins_alike_with_every_seed():
    assert tt.position("nim", seed=3) == tt.position("nim")
    assert not tt.position("nim", seed=3).was_set_up
    assert tt.position(Press, seed=1).actions == ()


def test_a_set_up_is_not_dealt():
    with pytest.raises(tt.errors.ConfigError, match="seed and setup exclude each other"):
        tt.position("tic_tac_toe", setup="X.O/.../...", seed=1)


def test_what_a_player_cannot_know_is_drawn_anew_and_nothing_else():
    position, rng = tt.position(Secret, moves="1"), tt.Rng(5)
    seen = [position.determinize(1, rng) for _ in range(40)]
    assert {int(other.record["card"][0]) for other in seen} == {0, 1}
    assert {other.information(1) for other in seen} == {position.information(1)}
    assert all(other.actions == () for other in seen)
    assert {position.determinize(0, rng) for _ in range(10)} == {position}
    assert tt.position("nim").determinize(0, rng) == tt.position("nim")


def test_information_is_a_key_of_what_was_seen():
    position = tt.position(Secret, moves="1")
    assert 0 <= position.information(0) < 2**64
    assert position.information(1) != tt.position(Secret, moves="0").information(1)
    with pytest.raises(tt.errors.GameError, match="has perfect information"):
        tt.position("nim").information(0)


def test_a_position_is_shown_as_a_player_sees_it():
    assert tt.position(Secret).shown_to(0) == "card 0, said -1"
    assert tt.position(Secret).shown_to(1) == "card ?, said -1"
    assert tt.position("nim(stones=2)").shown_to(1) == str(tt.position("nim(stones=2)"))


@pytest.mark.parametrize("player", [-1, 2, True, "0", None])
def test_a_player_that_there_is_not_is_refused(player):
    for ask in (
        lambda at: at.information(player),
        lambda at: at.determinize(player, tt.Rng(0)),
        lambda at: at.shown_to(player),
    ):
        with pytest.raises(tt.errors.ConfigError, match="players of Secret are 0 to 1"):
            ask(tt.position(Secret))


@pytest.mark.parametrize(("game", "moves"), [(Hands, "one/two"), (Drift, "0.1:0.25 1:1"), (Press, "roll side2")])
def test_a_game_of_any_kind_is_saved_and_read_again(tmp_path, game, moves):
    position = tt.position(game, moves=moves)
    save_game(tmp_path / "game.json", GameRecord.of(position, person=(0,)))
    assert load_game_record(tmp_path / "game.json", game=game).position(game) == position
    assert load_game_record(tmp_path / "game.json", game=game).actions == position.actions
    content = json.loads((tmp_path / "game.json").read_text())
    content["actions"][0] = [None, 0]
    (tmp_path / "game.json").write_text(json.dumps(content))
    with pytest.raises(tt.errors.SaveError, match="damaged: actions"):
        load_game_record(tmp_path / "game.json", game=game)


def test_a_seed_serves_as_a_generator():
    start = tt.position("kuhn_poker", seed=1)
    assert start.resolve_chance(3) == start.resolve_chance(tt.Rng(3))
    assert start.draw_outcome(3) == start.draw_outcome(tt.Rng(3))
    with pytest.raises(tt.errors.ConfigError, match="rng must be a whole number"):
        start.resolve_chance("3")


def test_a_position_is_shown_in_notebooks_as_escaped_text_with_the_turn():
    shown = tt.position("tic_tac_toe", moves="b2")._repr_html_()
    assert "<pre" in shown
    assert "2 . X ." in shown
    assert "<div>player 1 to move</div>" in shown
    assert "chance to move" in tt.position(Press, moves="roll")._repr_html_()
    assert "all players to move" in tt.position(Hands)._repr_html_()
    assert "the game is over: +1 for player 0, -1 for player 1" in (
        tt.position("tic_tac_toe", moves="a1 b1 a2 b2 a3")._repr_html_()
    )


def test_hostile_text_of_a_game_is_escaped_in_notebooks():
    hostile = "</pre><script>alert('x')</script>&amp;"
    game = changed(Press, render=lambda self: hostile, move_text=lambda self, action: f"<img{action}>")
    place = tt.position(game)
    explanation = tt.explain(tt.uct(), dict.fromkeys(place.legal_moves(), (3, 0.5)))
    for shown in (place._repr_html_(), explanation._repr_html_()):
        assert "<script" not in shown
        assert "<img" not in shown
    assert "&lt;script&gt;" in place._repr_html_()
    assert "&amp;amp;" in place._repr_html_()
    assert "&lt;img0&gt;" in explanation._repr_html_()
