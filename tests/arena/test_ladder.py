"""Anchor ladders: which players meet, ratings that stay finite, rungs that are not installed."""

from __future__ import annotations

import json
import math

import pytest

import treetop
from treetop.arena.anchors import ANCHORS, GENERAL, rungs_of, split_rungs
from treetop.arena.ladders import ladder, pairs_of
from treetop.arena.ratings import bradley_terry, unbounded
from treetop.errors import ConfigError
from treetop.game.registry import BUNDLED
from treetop.players.line_process import _PACKAGES
from treetop.players.spec import parse_spec, player_names

RUNGS = ["random", "greedy", "uct(simulations=50)"]


def test_only_neighbours_meet_and_the_player_meets_every_rung():
    assert pairs_of(4, 4) == [(0, 1), (0, 4), (1, 2), (1, 4), (2, 3), (2, 4), (3, 4)]
    assert pairs_of(4, 1) == [(0, 1), (1, 2), (1, 3), (2, 3)]  # the player is a rung itself
    assert len(pairs_of(11, 11)) == 21


def test_a_player_is_rated_among_the_rungs(tmp_path):
    seen = []
    options = {"rungs": RUNGS, "seed": 1, "workers": 1, "out": tmp_path / "l"}
    result = ladder("tic_tac_toe", "uct(simulations=200)", games=4, progress=seen.append, **options)
    assert result.complete
    assert result.players == (*RUNGS, "uct(simulations=200)")
    assert set(result.matches) == {(0, 1), (1, 2), (0, 3), (1, 3), (2, 3)}
    assert result.games == seen[-1].asked == 20
    assert result.ratings.anchor == 0
    assert all(math.isfinite(rating.value) for rating in result.ratings.elo)
    assert result.order()[-1] == 0
    assert len(list((tmp_path / "l").glob("*.jsonl"))) == 5
    text = str(result)
    assert "* uct(simulations=200)" in text
    assert "uct(simulations=200) on the ladder of tic_tac_toe: 20 games, seed 1" in text
    again = ladder("tic_tac_toe", "uct(simulations=200)", games=4, **options)
    assert again == result
    other = ladder("tic_tac_toe", "alphabeta(depth=2)", games=4, progress=seen.append, **options)
    assert seen[-1].played == 12  # the rungs have met before
    assert other.matches[0, 1] == result.matches[0, 1]
    reported = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert reported["player"] == "uct(simulations=200)"
    assert reported["left_out"] == {}


def test_intervals_are_open_where_the_games_do_not_bound_them():
    """The second player scores against the first; the third wins everything, the fourth loses to the first."""
    cells = {(0, 1): (1, 0, 1, 0, 0), (1, 2): (5, 0, 0, 0, 0), (0, 3): (0, 0, 0, 0, 5)}
    below, above = unbounded(4, cells, 0)
    assert (sorted(below), sorted(above)) == ([3], [2])
    assert unbounded(2, {(0, 1): (0, 1, 0, 0, 0)}, 0) == (frozenset(), frozenset())
    assert unbounded(2, {(0, 1): (1, 0, 0, 0, 0)}, 0) == (frozenset(), frozenset({1}))
    assert all(math.isfinite(rating.value) for rating in bradley_terry(4, cells).elo)


def test_a_saturated_ladder_has_finite_ratings_and_names_the_open_ends():
    result = ladder("nim(stones=15)", "alphabeta(depth=12)", rungs=["random"], games=6, seed=1, workers=1)
    assert result.matches[0, 1].wins == 0
    rating = result.ratings.elo[1]
    assert math.isfinite(rating.value)
    assert math.isfinite(rating.low)
    assert rating.high == math.inf
    assert result.to_dict()["ratings"]["alphabeta(depth=12)"]["high"] is None
    assert result.facts()["no upper bound"].startswith("alphabeta(depth=12); ")
    assert "no lower bound" not in result.facts()


def test_rungs_that_are_not_installed_are_left_out_with_the_package(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    game = treetop.load_game("chess")
    playable, left_out = split_rungs(game, rungs_of(game))
    assert playable == ["random", "uct(simulations=100)", "uct(simulations=1000)", "alphabeta(depth=2)"]
    for package in ("gnuchess", "fairymax", "phalanx", "stockfish"):
        assert any(reason.endswith(f"apt-get install {package}") for reason in left_out.values())
    with pytest.raises(
        ConfigError, match="no rung of the ladder of tic_tac_toe can be played: gtp.*apt-get install gnugo"
    ):
        ladder("tic_tac_toe", "random", rungs=["gtp('gnugo')"])


@pytest.mark.parametrize(
    "name", [*sorted(BUNDLED), "chess(variant='960')", "go(size=5, komi=0.5)", "breakthrough(size=5)"]
)
def test_every_bundled_game_has_a_ladder_of_players_that_exist(name):
    rungs = rungs_of(treetop.load_game(name))
    assert rungs[0] == "random"
    assert len(set(rungs)) == len(rungs) > 4
    for rung in rungs:
        spec = parse_spec(rung)
        assert spec.name in player_names()
        assert "$" not in rung
        if spec.arguments:
            assert spec.arguments[0].split()[0] in _PACKAGES


def test_engines_play_only_the_variants_they_know():
    assert set(ANCHORS) - set(BUNDLED) == {"chess(variant='960')"}
    assert rungs_of(treetop.load_game("breakthrough(size=5)")) == GENERAL
    assert rungs_of(treetop.load_game("go(size=5, komi=0.5)"))[-1].endswith("10', komi=0.5)")


def test_ladders_that_cannot_be_are_refused():
    with pytest.raises(ConfigError, match="needs a rung besides the player"):
        ladder("tic_tac_toe", "random", rungs=["random"])
    with pytest.raises(ConfigError, match="each rung once"):
        ladder("tic_tac_toe", "greedy", rungs=["random", "random"])
    with pytest.raises(ConfigError, match="game for two players"):
        ladder("pendulum")
