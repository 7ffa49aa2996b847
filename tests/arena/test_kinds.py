"""Games of every kind between players: chance, secrets, simultaneous moves, real numbers, immediate rewards, one player and three."""

from __future__ import annotations

import json
from typing import Any

import pytest

import treetop
from tests.arena.stand_ins import Random
from treetop.arena.game import play_game
from treetop.arena.log import read_match
from treetop.arena.matches import match, match_many
from treetop.errors import ConfigError, SaveError
from treetop.game.position import Position
from treetop.game.registry import BUNDLED
from treetop.players.baselines import RandomPlayer
from treetop.players.spec import make_player

QUICK: dict[str, Any] = {"workers": 1, "seed": 1}
KUHN = treetop.load_game("kuhn_poker")


class Spy(RandomPlayer):
    """Plays at random, and remembers everything that it receives."""

    def __init__(self, name: str = "spy") -> None:
        super().__init__(name)
        self.reported: list[Any] = []
        self.shown: list[Position] = []

    def begin(self, start, seed):
        super().begin(start, seed)
        self.reported, self.shown = [], [start]

    def choose(self, position):
        self.shown.append(position)
        return super().choose(position)

    def observe(self, action):
        self.reported.append(action)


class Peeker(Spy):
    """Bets if the position shows that its card is the higher one: a cheat, if it were shown the truth."""

    def choose(self, position):
        self.shown.append(position)
        cards = position.state.cards
        return int(cards[self.seat] > cards[1 - self.seat])


@pytest.mark.parametrize("name", sorted(set(BUNDLED) - {"backgammon", "pig", "twenty48", "sailing", "pendulum"}))
def test_random_players_play_every_bundled_game_to_its_end(name):
    game = treetop.load_game(name)
    played = play_game([Spy() for _ in range(game.facts.players)], Position.start(game, treetop.Rng(1)), seed=1)
    assert played.end.is_terminal
    assert played.forfeit is None
    assert played.rewards == pytest.approx(tuple(played.end.returns))


def test_immediate_rewards_count_from_the_start():
    game = treetop.load_game("cliff_walking")
    start = Position(game).play("up up")
    played = play_game([RandomPlayer()], start, seed=3)
    assert played.rewards == pytest.approx(tuple(played.end.returns))
    assert played.rewards[0] <= -3


def test_the_same_seed_of_chance_gives_the_same_dice_whoever_plays():
    start = treetop.position("kuhn_poker")
    deals = {play_game([RandomPlayer(), RandomPlayer()], start, seed, chance=7).actions[:2] for seed in range(20)}
    assert len(deals) == 1
    deals = {play_game([RandomPlayer(), RandomPlayer()], start, 1, chance=chance).actions[:2] for chance in range(40)}
    assert len(deals) == 6


def test_both_games_of_a_pair_have_the_same_dice(tmp_path):
    match("random", "random", "leduc_poker", games=40, out=tmp_path / "m", **QUICK)
    _, games = read_match(tmp_path / "m")
    assert all(one["actions"][:2] == two["actions"][:2] for one, two in zip(games[::2], games[1::2], strict=True))
    assert all(
        one["seeds"]["chance"] == two["seeds"]["chance"] for one, two in zip(games[::2], games[1::2], strict=True)
    )
    assert len({tuple(game["actions"][:2]) for game in games}) > 10
    assert all(game["opening"] == [] for game in games)


# Secrets.


def kuhn_after(first: int, second: int, *actions: int) -> Position:
    return Position(KUHN).play([first, second, *actions])


def test_a_player_is_shown_the_same_whatever_is_hidden_from_it():
    for seed in range(20):
        seen = []
        for other in (0, 2):
            spies = [Spy(), Spy()]
            play_game(spies, kuhn_after(1, other), seed, chance=1)
            seen.append(
                [
                    (position.record.tobytes(), position.start.tobytes(), position.actions)
                    for position in spies[0].shown[:2]
                ]
            )
        assert seen[0] == seen[1]


def test_a_player_learns_nothing_of_the_deal_by_what_it_observes():
    spies = [Spy(), Spy()]
    played = play_game(spies, Position(KUHN), seed=4)
    turns = played.actions[2:]
    assert spies[0].reported == list(turns[0::2])
    assert spies[1].reported == list(turns[1::2])
    assert all(position.actions == () for spy in spies for position in spy.shown)


def test_a_cheat_that_reads_the_cards_of_its_position_wins_nothing_by_it():
    """It is shown the true card of the other one as often as chance would have it: half of the time."""
    right = total = 0
    for seed in range(300):
        peeker, deal = Peeker(), kuhn_after(seed % 3, (seed + 1 + seed // 3 % 2) % 3)
        play_game([peeker, RandomPlayer()], deal, seed)
        right += int(peeker.shown[1].state.cards[1] == deal.state.cards[1])
        total += 1
    assert 0.4 < right / total < 0.6


def test_who_calls_itself_clairvoyant_sees_all_and_the_record_says_so(tmp_path):
    result = match(
        "uct(simulations=50, information='perfect')",
        "uct(simulations=50)",
        "kuhn_poker",
        games=60,
        out=tmp_path / "m",
        names=("x", "y"),
        **QUICK,
    )
    _, games = read_match(tmp_path / "m")
    assert all(game["clairvoyant"] == ["A"] for game in games)
    assert result.clairvoyant == ("A",)
    assert result.to_dict()["clairvoyant"] == ["A"]
    assert "x: saw hidden information" in str(result)
    assert result.advantage.low > 0
    again = match(
        "uct(simulations=50, information='perfect')",
        "uct(simulations=50)",
        "kuhn_poker",
        games=60,
        out=tmp_path / "m",
        names=("x", "y"),
        **QUICK,
    )
    assert again == result


def test_nobody_is_clairvoyant_with_perfect_information():
    result = match(
        "uct(simulations=5, information='perfect')", "random", "tic_tac_toe", games=2, balanced=False, **QUICK
    )
    assert result.clairvoyant == ()


def test_a_search_plays_poker_better_than_chance_does():
    result = match("uct(simulations=200)", "random", "kuhn_poker", games=200, **QUICK)
    assert result.advantage.low > 0
    assert result.graded
    assert "mean return" in str(result)


# Simultaneous moves, and numbers.


def test_all_are_asked_apart_with_simultaneous_moves(tmp_path):
    spies = [Spy(), Spy()]
    start = treetop.position("goofspiel")
    played = play_game(spies, start, seed=2)
    assert [spy.seat for spy in spies] == [0, 1]
    assert spies[0].reported == spies[1].reported == list(played.actions)
    assert any(isinstance(action, tuple) for action in played.actions)
    match("uct(simulations=30)", "greedy", "goofspiel", games=8, out=tmp_path / "m", **QUICK)
    _, games = read_match(tmp_path / "m")
    for game in games:
        assert start.play(
            [tuple(action) if isinstance(action, list) else action for action in game["actions"]]
        ).is_terminal
        assert all(isinstance(move, str) for move in game["moves"])


def test_an_illegal_choice_among_simultaneous_moves_is_a_forfeit():
    class Wrong(RandomPlayer):
        def choose(self, position):
            return 99

    played = play_game([RandomPlayer(), Wrong()], treetop.position("matching_pennies"), seed=1)
    assert (played.forfeit, played.rewards) == (1, (1.0, -1.0))


@pytest.mark.parametrize("wrong", [0.5, (0.1, 0.2), "0.1", None, (float("nan"),), (True,)])
def test_what_is_no_list_of_numbers_is_a_forfeit(wrong):
    class Wrong(RandomPlayer):
        def choose(self, position):
            return wrong

    game = treetop.load_game("pendulum")
    played = play_game([Wrong()], Position.start(game, treetop.Rng(1)), seed=1)
    assert played.forfeit == 0
    assert played.rewards == (game.facts.rewards[0],)


def test_the_pendulum_is_played_by_numbers():
    game = (
        treetop.load_game("pendulum(horizon=20)")
        if "horizon" in treetop.load_game("pendulum").parameters
        else treetop.load_game("pendulum")
    )
    played = play_game([make_player("greedy", game)], Position.start(game, treetop.Rng(1)), seed=1)
    assert played.end.is_terminal
    assert all(isinstance(action, tuple) for action in played.actions)


# Three.


def test_in_a_match_of_three_everybody_has_every_seat(tmp_path):
    out = tmp_path / "m"
    result = match_many(["greedy", "random", "uct(simulations=100)"], "nim_three", games=30, out=out, **QUICK)
    header, games = read_match(out)
    assert header["kind"] == "a match of many"
    for number in range(0, 30, 3):
        trio = games[number : number + 3]
        assert {tuple(game["seats"]) for game in trio} == {("A", "B", "C"), ("C", "A", "B"), ("B", "C", "A")}
        assert len({json.dumps(game["opening"]) for game in trio}) == 1
    assert sum(result.firsts) == pytest.approx(1)
    for letter, interval, seats in zip("ABC", result.returns, result.by_seat, strict=True):
        assert interval.value == pytest.approx(sum(game["rewards"][letter] for game in games) / 30)
        assert interval.value == pytest.approx(sum(seats) / 3)
        assert interval.low < interval.value < interval.high
    text = str(result)
    assert "seat 2" in text
    assert "Elo and sequential tests are for two" in text
    json.dumps(result.to_dict(), allow_nan=False)


def test_a_match_of_three_goes_on_where_it_was(tmp_path):
    trio = ["greedy", "random", "random"]
    whole = match_many(trio, "nim_three", games=12, out=tmp_path / "whole", **QUICK)
    match_many(trio, "nim_three", games=6, out=tmp_path / "m", **QUICK)
    content = (tmp_path / "m").read_bytes()
    (tmp_path / "m").write_bytes(content[:-9])  # a torn last line
    resumed = match_many(trio, "nim_three", games=12, out=tmp_path / "m", **QUICK)
    assert resumed.to_dict() | {"out": 0} == whole.to_dict() | {"out": 0}
    with pytest.raises(SaveError, match="players are"):
        match_many(["random", "random", "random"], "nim_three", games=12, out=tmp_path / "m", **QUICK)


def test_matches_of_the_wrong_size_are_refused_with_what_would_be_right(tmp_path):
    with pytest.raises(ConfigError, match="needs a game for two players, and nim_three"):
        match("random", "random", "nim_three", games=4, **QUICK)
    with pytest.raises(ConfigError, match="evaluate"):
        match("random", "random", "twenty48", games=4, **QUICK)
    with pytest.raises(ConfigError, match="needs 3 players, not 2"):
        match_many(["random", "random"], "nim_three", games=3, **QUICK)
    with pytest.raises(ConfigError, match="multiple of 3"):
        match_many(["random"] * 3, "nim_three", games=4, **QUICK)
    with pytest.raises(ConfigError, match="use `match`"):
        match_many(["random"] * 2, "nim", games=4, **QUICK)
    match("random", "random", "kuhn_poker", games=2, out=tmp_path / "m", **QUICK)
    with pytest.raises(SaveError, match="holds a match, not a match of many"):
        match_many(["random"] * 3, "nim_three", games=3, out=tmp_path / "m", **QUICK)


def test_random_openings_can_be_asked_for_where_chance_decides():
    result = match("random", "random", "goofspiel", games=8, opening_plies=1, **QUICK)
    assert result.games == 8


def test_a_player_without_a_seat_still_plays():
    played = play_game([Random("a"), Random("b")], treetop.position("kuhn_poker"), seed=1)
    assert played.end.is_terminal
