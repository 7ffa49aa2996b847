from __future__ import annotations

import builtins
import json
import math

import pytest

from tests.arena.stand_ins import MAKE
from treetop.arena.matches import match
from treetop.arena.ratings import bradley_terry
from treetop.arena.tournaments import tournament
from treetop.errors import ConfigError, MissingExtraError, SaveError

QUICK = {"make_player": MAKE, "balanced": False, "workers": 1, "seed": 1}


def test_two_players_are_rated_as_their_score_says():
    """One pairing: Bradley-Terry is the logistic curve, up to the quarter of a game that each side is given."""
    ratings = bradley_terry(2, {(0, 1): (10, 20, 60, 30, 80)})
    points, games = 20 / 2 + 60 + 30 * 1.5 + 80 * 2, 400
    share = (points + 0.25) / (games + 0.5)
    assert ratings.elo[0].value == ratings.elo[0].low == ratings.elo[0].high == 0
    assert ratings.elo[1].value == pytest.approx(-400 * math.log10(share / (1 - share)), abs=1e-4)
    assert ratings.elo[1].low < ratings.elo[1].value < ratings.elo[1].high


def test_ratings_of_a_consistent_table_are_found_again():
    """Scores made from known ratings give those ratings."""
    true = (0.0, 120.0, -200.0, 60.0)
    pairings = {}
    for i in range(4):
        for j in range(i + 1, 4):
            share = 1 / (1 + 10 ** ((true[j] - true[i]) / 400))
            won = round(100_000 * share)
            pairings[i, j] = (100_000 - won, 0, 0, 0, won)
    ratings = bradley_terry(4, pairings, anchor=2, anchor_elo=-200.0)
    assert [rating.value for rating in ratings.elo] == pytest.approx(true, abs=0.1)
    assert all(rating.low <= rating.value <= rating.high for rating in ratings.elo)
    assert ratings.elo[2].low == ratings.elo[2].high == -200.0


def test_a_player_that_won_everything_has_a_finite_rating_with_a_wide_interval():
    few, many = (bradley_terry(2, {(0, 1): (pairs, 0, 0, 0, 0)}).elo[1] for pairs in (2, 200))
    assert 200 < few.value < many.value < 2000
    assert few.low < many.low
    assert few.high - few.low > 100


def test_players_without_a_connection_are_not_compared():
    with pytest.raises(ConfigError, match="no rating can compare"):
        bradley_terry(3, {(0, 1): (1, 1, 1, 1, 1), (1, 2): (0, 0, 0, 0, 0)})
    with pytest.raises(ConfigError, match="anchor"):
        bradley_terry(2, {(0, 1): (1, 1, 1, 1, 1)}, anchor=2)


def test_a_round_robin_plays_every_pairing_and_ranks_the_players(tmp_path):
    result = tournament(["random", "winner", "uct:60"], "tic_tac_toe", games=12, out=tmp_path / "t", **QUICK)
    assert set(result.matches) == {(0, 1), (0, 2), (1, 2)}
    assert result.games == 36
    assert result.complete
    assert result.order() == [2, 1, 0]
    assert result.ratings is not None
    assert result.ratings.elo[0].value == 0
    assert result.ratings.elo[2].value > result.ratings.elo[1].value > 0
    assert sum(result.points(player)[0] for player in range(3)) == 36
    assert len(list((tmp_path / "t").glob("*.jsonl"))) == 3
    alone = match("random", "uct:60", "tic_tac_toe", games=12, **QUICK)
    assert result.matches[0, 2].pentanomial == alone.pentanomial
    text = str(result)
    assert "1 uct:60" in text
    assert "anchor" in text
    reported = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert reported["order"] == ["uct:60", "winner", "random"]


def test_a_tournament_goes_on_with_more_games_and_more_players(tmp_path):
    options = {**QUICK, "out": tmp_path / "t"}
    first = tournament(["random", "winner"], "tic_tac_toe", games=4, **options)
    assert first.games == 4
    seen = []
    second = tournament(["random", "winner", "first"], "tic_tac_toe", games=6, progress=seen.append, **options)
    assert second.games == 18
    assert seen[0].finished == 5
    assert (seen[-1].finished, seen[-1].asked, seen[-1].played) == (18, 18, 14)
    assert sum(seen[-1].points.values()) == 18
    whole = tournament(["random", "winner", "first"], "tic_tac_toe", games=6, **QUICK)
    assert second.to_dict()["ratings"] == whole.to_dict()["ratings"]
    again = tournament(["random", "winner", "first"], "tic_tac_toe", games=6, progress=seen.append, **options)
    assert again == second
    with pytest.raises(SaveError, match="seed is 1, not 2"):
        tournament(["random", "winner"], "tic_tac_toe", games=4, **{**options, "seed": 2})


def test_players_may_have_names_and_an_anchor():
    result = tournament(
        {"weak": "random", "good": "winner"}, "tic_tac_toe", games=6, anchor="good", anchor_elo=1500.0, **QUICK
    )
    assert result.players == ("weak", "good")
    assert result.to_dict()["ratings"]["good"] == {"value": 1500.0, "low": 1500.0, "high": 1500.0}
    assert result.to_dict()["anchor"] == "good"


def test_bad_tournaments_are_refused(tmp_path):
    for players in (["random"], ["random", "random"], {}):
        with pytest.raises(ConfigError, match="at least two players"):
            tournament(players, "tic_tac_toe", games=4, **QUICK)
    with pytest.raises(ConfigError, match="anchor must be one of"):
        tournament(["random", "winner"], "tic_tac_toe", games=4, anchor="me", **QUICK)
    (tmp_path / "file").touch()
    with pytest.raises(SaveError, match="cannot be the folder"):
        tournament(["random", "winner"], "tic_tac_toe", games=4, out=tmp_path / "file", **QUICK)


def test_without_choix_the_error_says_what_to_install(monkeypatch):
    usual = builtins.__import__

    def without(name, *args, **kwargs):
        if name == "choix":
            raise ImportError("no choix here")
        return usual(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError, match=r'pip install -e "\.\[arena\]"'):
        tournament(["random", "winner"], "tic_tac_toe", games=4, **QUICK)
