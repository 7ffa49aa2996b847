"""`treetop suite` and `treetop convert`."""

from __future__ import annotations

import json

import treetop as tt
from treetop.records import read_pgn, write_pgn

SUITE = '6k1/5ppp/8/8/8/8/8/R3K3 w Q - bm Ra8; id "mate";\n6k1/5ppp/8/8/8/8/8/R3K3 w Q - am Ra8; id "not";\n'


def test_a_suite_is_a_table_or_json(run, tmp_path):
    (tmp_path / "s.epd").write_text(SUITE)
    out = run("suite", "s.epd", "--player", "greedy").out
    assert [line.split() for line in out.splitlines()[2:4]] == [
        ["mate", "Ra8#", "Ra8#", "yes"], ["not", "not", "Ra8#", "Ra8#", "no"],
    ]  # fmt: skip
    reported = json.loads(run("suite", "s.epd", "--player", "greedy", "--json").out)
    assert (reported["positions"], reported["solved"]) == (2, 1)


def test_bad_lines_of_a_suite_are_errors_or_skipped(run, tmp_path):
    (tmp_path / "s.epd").write_text(f"nonsense\n{SUITE}")
    ended = run("suite", "s.epd", "--player", "random")
    assert ended.code == 2
    assert "s.epd, line 1: a position has four fields" in ended.err
    ended = run("suite", "s.epd", "--player", "random", "--skip")
    assert ended.code == 0
    assert "skipped: s.epd, line 1" in ended.err


def test_games_are_converted_and_bad_ones_reported(run, tmp_path):
    write_pgn(tmp_path / "a.pgn", [tt.position("chess", moves="e4"), tt.position("chess", moves="d4 d5")])
    (tmp_path / "a.pgn").write_text((tmp_path / "a.pgn").read_text().replace("d5", "d5 d5"))
    ended = run("convert", "a.pgn", "b.pgn")
    assert ended.code == 2
    assert "a.pgn: game 2, line 19: move 3 ('d5' of player 0) is not a legal move" in ended.err
    assert not (tmp_path / "b.pgn").exists()
    ended = run("convert", "a.pgn", "b.pgn", "--skip")
    assert "b.pgn: 1 game" in ended.out
    assert "skipped: a.pgn: game 2" in ended.err
    assert [game.end.moves() for game in read_pgn(tmp_path / "b.pgn")] == [["e2e4"]]


def test_usage_errors_exit_with_2(run, tmp_path):
    (tmp_path / "a.pgn").write_text("*")
    for arguments, words in (
        (("convert", "a.pgn", "b.txt"), "end with .pgn, .sgf, .json"),
        (("convert", "a.pgn", "nowhere/b.pgn"), "there is no folder"),
        (("convert", "missing.pgn", "b.pgn"), "there is no file missing.pgn"),
        (("suite", "missing.epd", "--player", "random"), "there is no file missing.epd"),
    ):
        ended = run(*arguments)
        assert ended.code == 2
        assert words in ended.err
