"""Players in games of every kind."""

from __future__ import annotations

from collections import Counter

import pytest

import treetop
from treetop.errors import ConfigError
from treetop.game.position import Position
from treetop.players.baselines import AlphaBetaPlayer, GreedyPlayer, RandomPlayer
from treetop.players.search import SearchPlayer
from treetop.players.spec import make_player
from treetop.search.limits import Limit
from treetop.types import CHANCE, SIMULTANEOUS


def search(simulations=200, config=None, **options):
    return SearchPlayer(
        "search", treetop.uct() if config is None else config, Limit(simulations=simulations), **options
    )


@pytest.mark.parametrize(("game", "words"), [
    ("pig", "chance"), ("kuhn_poker", "chance"), ("matching_pennies", "simultaneous moves"), ("nim_three", "two-player zero-sum"), ("pendulum", "two-player zero-sum"),
])  # fmt: skip
def test_alphabeta_says_what_it_cannot_play(game, words):
    with pytest.raises(ConfigError, match=words):
        AlphaBetaPlayer(treetop.load_game(game))


def test_an_engine_is_not_asked_for_what_it_does_not_support():
    with pytest.raises(ConfigError, match="receives only moves"):
        make_player('gtp("cat")', treetop.load_game("backgammon"))


def test_the_tree_follows_chance():
    player = search(simulations=2000)
    position = treetop.position("pig").resolve_chance(treetop.Rng(1))
    player.begin(position, 1)
    action = player.choose(position)
    player.observe(action)
    position = position.apply(action)
    rng, followed = treetop.Rng(2), 0
    while position.player == CHANCE:
        outcome = position.draw_outcome(rng)
        player.observe(outcome)
        position = position.apply(outcome)
        followed += 1
    assert followed
    assert player._search.position == position
    held = player._search.simulations
    assert 0 < held < 2000
    player.choose(position)
    assert player.last_result.root_visits == held + 2000


def test_a_search_chooses_for_its_own_seat_with_simultaneous_moves():
    position = treetop.position("matching_pennies(weight=3)")
    assert position.player == SIMULTANEOUS
    for seat in (0, 1):
        player = search(config=treetop.regret_matching())
        player.seat = seat
        player.begin(position, 5)
        assert player.choose(position) in position.legal_actions(seat)
        assert player.last_result.player == seat
        player.observe((0, 1))


def test_a_search_plays_numbers():
    position = Position.start(treetop.load_game("pendulum"), treetop.Rng(1))
    player = search(simulations=100)
    player.begin(position, 1)
    choice = player.choose(position)
    assert isinstance(choice, tuple)
    player.observe(choice)
    following = position.apply(choice)
    assert isinstance(player.choose(following), tuple)


def test_seeds_differ_where_the_history_is_hidden():
    start = Position(treetop.load_game("kuhn_poker"))
    player = RandomPlayer()
    player.begin(start, 1)
    seen = [start.play([card, (card + 1) % 3]).determinize(0, treetop.Rng(0)) for card in range(3)]
    assert len({player.seed_at(position) for position in seen}) == 3
    other = start.play([0, 2]).determinize(0, treetop.Rng(9))
    assert player.seed_at(other) == player.seed_at(seen[0])


def test_random_choices_are_spread_with_simultaneous_moves():
    position = treetop.position("rock_paper_scissors")
    player = RandomPlayer()
    counts: Counter[int] = Counter()
    for seed in range(300):
        player.begin(position, seed)
        counts[player.choose(position)] += 1
    assert len(counts) == 3
    assert min(counts.values()) > 60


def test_greedy_never_gives_the_best_card_away():
    game = treetop.load_game("kuhn_poker")
    player = GreedyPlayer(game)
    bet = Position(game).play([0, 2, 1]).determinize(1, treetop.Rng(1))  # the other one has bet, and the king answers
    player.seat = 1
    for seed in range(5):
        player.begin(bet, seed)
        assert player.choose(bet) == 1


def test_greedy_merges_tiles_by_what_that_earns():
    position = treetop.position("twenty48").resolve_chance(treetop.Rng(3))
    player = GreedyPlayer(treetop.load_game("twenty48"))
    player.begin(position, 1)
    assert player.choose(position) in position.legal_actions()


def test_clairvoyance_is_a_property_of_the_search():
    assert search(config=treetop.uct(information="perfect")).clairvoyant
    assert not search().clairvoyant
    assert not RandomPlayer().clairvoyant


@pytest.mark.parametrize("game", ["pig", "leduc_poker", "goofspiel", "pendulum", "blackjack", "scoundrel", "nim_three"])
def test_a_search_of_any_bundled_kind_can_be_named(game):
    assert make_player("uct(simulations=5)", treetop.load_game(game)).name == "uct(simulations=5)"
