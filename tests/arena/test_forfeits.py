"""A game that was lost by forfeit is shown with its reason, wherever games are counted."""

from __future__ import annotations

from tests.arena.stand_ins import MAKE
from treetop.arena.evaluation import evaluate
from treetop.arena.forfeits import describe, one_line
from treetop.arena.matches import match, match_many
from treetop.arena.tournaments import tournament

QUICK = {"make_player": MAKE, "workers": 1, "seed": 1}
DIED = "the engine has died"


def test_a_match_shows_why_games_were_forfeited_also_when_it_is_resumed(tmp_path):
    for games in (4, 4, 6):  # the second one plays nothing: all comes from the file
        result = match("quits", "random", "tic_tac_toe", games=games, balanced=False, out=tmp_path / "m", **QUICK)
        assert result.to_dict()["forfeit_reasons"] == {"A": {DIED: games}, "B": {}}
        assert f"forfeits        {games} by quits ({DIED})" in str(result)


def test_a_match_of_many_shows_why_games_were_forfeited():
    result = match_many(["random", "quits", "quits_early"], "nim_three", games=3, balanced=False, **QUICK)
    assert result.to_dict()["forfeit_reasons"] == [{}, {}, {"the engine does not start": 3}]
    assert "3 by quits_early (the engine does not start)" in str(result)


def test_a_tournament_shows_why_games_were_forfeited():
    result = tournament(["random", "quits", "first"], "tic_tac_toe", games=2, balanced=False, **QUICK)
    assert result.forfeit_reasons(1) == {DIED: 4}
    assert str(result).endswith(f"forfeits  4 by quits ({DIED})")
    assert "forfeits" not in str(tournament(["random", "first"], "tic_tac_toe", games=2, balanced=False, **QUICK))


def test_an_evaluation_shows_why_games_were_forfeited():
    result = evaluate("cliff_walking", ["quits", "random"], games=2, **QUICK)
    assert result.to_dict()["players"][0]["forfeit_reasons"] == {DIED: 2}
    assert f"2 by quits ({DIED})" in str(result)


def test_a_long_reason_is_cut_to_a_line():
    assert one_line("played e9, which is illegal\n8 . . .\n7 . . .") == "played e9, which is illegal"
    assert len(one_line("x" * 1000)) == 200
    assert one_line(None) == one_line(" \n") == "no reason was given"
    assert describe([("a", {"1": 5, "2": 4, "3": 3, "4": 1})]) == "13 by a (5: 1, 4: 2, 3: 3, ...)"
