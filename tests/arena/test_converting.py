"""Games between files: of a match, saved games, PGN and SGF."""

from __future__ import annotations

import json

import pytest

import treetop as tt
from treetop.arena import convert, read_games
from treetop.errors import ConfigError, SaveError
from treetop.game.records import load_game_record
from treetop.records import read_pgn, read_sgf, write_pgn

ROUND = {"games": 4, "seed": 3, "workers": 1, "opening_plies": 1, "balanced": False}


@pytest.fixture
def journal(tmp_path):
    """The file of a match of tic-tac-toe."""
    tt.match("random", "greedy", "tic_tac_toe", out=tmp_path / "match.jsonl", **ROUND)
    return tmp_path / "match.jsonl"


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_match_becomes_a_file_of_pgn(journal, tmp_path):
    assert convert(journal, tmp_path / "games.pgn") == 4
    header, *records = lines(journal)
    games = list(read_pgn(tmp_path / "games.pgn"))
    for game, record in zip(games, records, strict=True):
        assert game.end.moves() == record["opening_moves"] + record["moves"]
        first = "AB".index(record["seats"][0])
        assert game.players == (header["names"][first], header["names"][1 - first])
        score = {"1-0": 1, "0-1": 0, "1/2-1/2": 0.5}[game.result]
        assert score == (record["score"] if first == 0 else 1 - record["score"])
    assert games[3].tags["Round"] == "2.2"


def test_a_game_lost_by_forfeit_keeps_its_result_and_the_reason(journal, tmp_path):
    header, record = lines(journal)[:2]
    record |= {"actions": record["actions"][:2], "score": 0, "forfeit": "A", "reason": "no move after 1 s"}
    journal.write_text(f"{json.dumps(header)}\n{json.dumps(record)}\n")
    convert(journal, tmp_path / "games.pgn")
    [game] = read_pgn(tmp_path / "games.pgn")
    assert (game.result, game.tags["Termination"]) == ("0-1", "forfeit: no move after 1 s")


def test_a_match_on_a_grid_becomes_a_file_of_sgf(tmp_path):
    tt.match("random", "random", "gomoku(size=5)", out=tmp_path / "m.jsonl", **ROUND, names=["a", "b"])
    assert convert(tmp_path / "m.jsonl", tmp_path / "games.sgf") == 4
    assert [game.end for game in read_sgf(tmp_path / "games.sgf", game="gomoku(size=5)")] == [
        game.end for game in read_games(tmp_path / "m.jsonl")
    ]


def test_a_game_of_pgn_becomes_a_saved_one_and_back(tmp_path):
    ends = [tt.position("chess", moves=moves) for moves in ("e4 e5", "d4 d5 c4")]
    write_pgn(tmp_path / "a.pgn", ends)
    with pytest.raises(ConfigError, match="holds one game, and there are 2: name one by its number"):
        convert(tmp_path / "a.pgn", tmp_path / "b.json")
    assert convert(tmp_path / "a.pgn", tmp_path / "b.json", number=2) == 1
    assert load_game_record(tmp_path / "b.json").position() == ends[1]
    convert(tmp_path / "b.json", tmp_path / "c.pgn")
    assert [game.end for game in read_pgn(tmp_path / "c.pgn")] == ends[1:]


def test_what_does_not_fit_is_refused(journal, tmp_path):
    write_pgn(tmp_path / "a.pgn", [tt.position("chess", setup="4k3/8/8/8/8/8/8/4K2R w K - 0 1", moves="O-O")])
    for source, target, message in (
        (journal, "a.txt", "games are written to files that end with"),
        (tmp_path / "a.txt", "b.pgn", "games are read from files that end with"),
        (journal, "a.sgf", "SGF is written for go"),
        (tmp_path / "a.pgn", "b.json", "this one was set up"),
    ):
        with pytest.raises(ConfigError, match=message):
            convert(source, tmp_path / target)
    with pytest.raises(ConfigError, match="the number must be from 1 to that, not 5"):
        convert(journal, tmp_path / "x.pgn", number=5)
    tt.match("random", "greedy", "pig(goal=20)", out=tmp_path / "pig.jsonl", **ROUND | {"opening_plies": 0})
    with pytest.raises(ConfigError, match="PGN and SGF hold games with no chance"):
        convert(tmp_path / "pig.jsonl", tmp_path / "x.pgn")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"actions": [99]}, "99 is not a legal action"),
        ({"actions": None}, "it has no actions"),
        ({"score": 0.5}, "its score is 1/2-1/2, by the rules it is"),
    ],
)
def test_a_damaged_game_of_a_match_is_refused_or_skipped(journal, tmp_path, change, message):
    header, record, *rest = lines(journal)
    if "score" in change:
        record = next(one for one in (record, *rest) if one["score"] != 0.5) | {"index": 0}
        record["pair"], record["seats"] = 0, record["seats"]
    journal.write_text("".join(json.dumps(one) + "\n" for one in (header, record | change)))
    with pytest.raises(SaveError, match=message):
        convert(journal, tmp_path / "x.pgn")
    skipped = []
    assert list(read_games(journal, skipped=skipped)) == []
    assert len(skipped) == 1
