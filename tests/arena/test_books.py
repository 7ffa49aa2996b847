"""Openings from a file: what is read, what is refused, and how matches use them."""

from __future__ import annotations

import pytest

import treetop
from tests.arena.stand_ins import MAKE
from treetop.arena.books import ORDERS, Opening, read_book
from treetop.arena.log import read_match
from treetop.arena.matches import match, match_many
from treetop.arena.tournaments import tournament
from treetop.errors import ConfigError, SaveError
from treetop.serve.run_replay import Recorded

GAME = treetop.load_game("tic_tac_toe")
CHESS = treetop.load_game("chess")
QUICK = {"make_player": MAKE, "workers": 1, "seed": 1}
SETUP = "X . . / . O . / . . ."
LINES = ["a1 b2", "# a comment", "", "b2 a1  # corner", SETUP, f"{SETUP} moves a1"]


def test_lines_are_moves_positions_or_both():
    book = read_book(LINES, GAME)
    assert book.openings == (Opening((0, 4)), Opening((4, 0)), Opening((), SETUP), Opening((0,), SETUP))
    fen = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"
    given = ["e4 e5 Nf3", "e2e4 e7e5 g1f3", fen, f"{fen} moves e4 Kd7", f'{fen[:-4]} bm e4; id "one";']
    book = read_book(given, CHESS)
    assert [opening.setup for opening in book.openings] == [None, fen, fen, fen[:-4]]
    assert treetop.position("chess", moves=list(book.openings[0].actions)).moves() == ["e2e4", "e7e5", "g1f3"]


def test_a_file_is_read_like_a_list_with_at_most_so_many_moves(tmp_path):
    file = tmp_path / "book.txt"
    file.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(LINES).encode())
    assert read_book(file, GAME) == read_book(LINES, GAME)
    assert read_book(file, GAME, plies=1).openings == (
        Opening((0,)), Opening((4,)), Opening((), SETUP), Opening((0,), SETUP)
    )  # fmt: skip
    assert len(read_book(["a1 b2", "a1 b3"], GAME, plies=1).openings) == 1


def test_the_first_moves_of_recorded_games_are_openings(tmp_path):
    file = tmp_path / "games.pgn"
    fen = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"
    games = [treetop.position(CHESS, moves="e4 e5 Nf3 Nc6"), treetop.position(CHESS, moves="e4 e5 Bc4"),
             treetop.position(CHESS, moves="f3 e5 g4 Qh4"), treetop.position(CHESS, setup=fen).play("e4 Kd7")]  # fmt: skip
    treetop.records.write_pgn(file, games)
    two = read_book(file, CHESS, plies=2).openings
    assert two == (Opening(games[0].actions[:2]), Opening(games[2].actions[:2]), Opening(games[3].actions, fen))
    assert [len(opening.actions) for opening in read_book(file, CHESS).openings] == [4, 3, 2]  # without the mate
    file.write_text("1. e4 e5 2. Ke4 *")
    with pytest.raises(SaveError, match="games.pgn.*Ke4"):
        read_book(file, CHESS)
    go = treetop.load_game("go(size=5)")
    record = tmp_path / "games.SGF"
    treetop.records.write_sgf(record, [treetop.position(go, moves="C3 B2 D4")])
    assert read_book(record, go).openings == (Opening(treetop.position(go, moves="C3 B2 D4").actions),)


@pytest.mark.parametrize(("line", "text"), [
    ("a1 a1", r"line 2: move 2, 'a1' is not a legal move here; the legal moves are .*; correct the line, or begin it with #"),
    ("a1 zz", "line 2: move 2, 'zz' is not a legal move"),
    ("a1 b1 a2 b2 a3", "line 2: the game is over after the 5 moves of the opening: use fewer"),
    ("X X . / . . . / . . .", "line 2: this is not a position of tic_tac_toe: X moves first"),
    ("X . . / . . . / . . . moves a3", "line 2: move 1, 'a3' is not a legal move"),
])  # fmt: skip
def test_an_illegal_line_is_an_error_with_its_number_the_move_and_what_to_do(tmp_path, line, text):
    file = tmp_path / "book.txt"
    file.write_text(f"a1 b2\n{line}\n")
    with pytest.raises(ConfigError, match=f"{file}, {text}"):
        match("random", "first", GAME, games=2, openings=file, **QUICK)


def test_files_that_hold_no_openings_are_refused(tmp_path):
    empty, binary = tmp_path / "empty.txt", tmp_path / "binary.txt"
    empty.write_text("# nothing\n")
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="has no opening"):
        read_book(empty, GAME)
    with pytest.raises(ConfigError, match="is not text in UTF-8"):
        read_book(binary, GAME)
    with pytest.raises(SaveError, match="there is no file"):
        read_book(tmp_path / "none.txt", GAME)
    with pytest.raises(ConfigError, match="deals its start, so moves need a position"):
        read_book(["e4 e5"], treetop.load_game("chess(variant='960')"))
    for wrong in ({"order": "best"}, {"plies": -1}):
        with pytest.raises(ConfigError, match="opening"):
            read_book(LINES, GAME, **wrong)
    with pytest.raises(ConfigError, match="list of texts"):
        read_book([1], GAME)


def test_each_opening_is_played_as_a_pair_in_order(tmp_path):
    file = tmp_path / "m.jsonl"
    match("random", "first", GAME, games=10, openings=LINES, out=file, **QUICK)
    header, games = read_match(file)
    assert header["openings"] == read_book(LINES, GAME).to_dict(GAME)
    assert [(game.get("setup"), game["opening"]) for game in games[::2]] == [
        (None, [0, 4]), (None, [4, 0]), (SETUP, []), (SETUP, [0]), (None, [0, 4])
    ]  # fmt: skip
    assert all(one["opening"] == two["opening"] for one, two in zip(games[::2], games[1::2], strict=True))
    assert games[0]["opening_moves"] == ["a1", "b2"]
    assert games[6]["opening_moves"] == ["a1"]


def test_an_order_by_the_seed_uses_every_opening_before_any_again():
    lines = [f"{column}{row}" for column in "abc" for row in "123"]
    book = read_book(lines, GAME, order="random")
    drawn = [[book.chooser(GAME, seed, {})(pair) for pair in range(27)] for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    for cycle in (drawn[0][:9], drawn[0][9:18], drawn[0][18:]):
        assert set(cycle) == set(book.openings)
    assert drawn[0][:9] != drawn[0][9:18]
    assert ORDERS == ("file", "random")


def test_a_match_is_continued_with_the_same_openings_only(tmp_path):
    file = tmp_path / "m.jsonl"
    options = {**QUICK, "out": file, "opening_order": "random"}
    match("random", "winner", GAME, games=4, openings=LINES, **options)
    more = match("random", "winner", GAME, games=8, openings=LINES, **options)
    whole = match("random", "winner", GAME, games=8, openings=LINES, **{**options, "out": None})
    assert more.pentanomial == whole.pentanomial
    for others in ({"openings": LINES[:2]}, {"openings": LINES, "opening_order": "file"}, {"opening_order": "file"}):
        with pytest.raises(SaveError, match="another match: its openings are book"):
            match("random", "winner", GAME, games=8, **{**options, **others})


def test_options_without_an_effect_are_refused():
    with pytest.raises(ConfigError, match="give openings too"):
        match("random", "first", GAME, games=2, opening_order="random", **QUICK)
    with pytest.raises(ConfigError, match="used as they are"):
        match("random", "first", GAME, games=2, openings=LINES, balanced=False, **QUICK)


def test_tournaments_and_matches_of_many_use_openings_too(tmp_path):
    result = tournament(["random", "first", "winner"], GAME, games=2, openings=LINES, out=tmp_path / "t", **QUICK)
    assert result.complete
    for file in (tmp_path / "t").glob("*.jsonl"):
        assert [game["opening"] for game in read_match(file)[1]] == [[0, 4]] * 2
    out = tmp_path / "many.jsonl"
    match_many(["random", "first", "random"], "nim_three", games=6, openings=["1 2", "2"], out=out, **QUICK)
    assert [game["opening_moves"] for game in read_match(out)[1]] == [["1", "2"]] * 3 + [["2"]] * 3


def test_a_game_from_a_set_up_is_replayed_from_there(tmp_path):
    file = tmp_path / "m.jsonl"
    match("random", "first", GAME, games=2, openings=[f"{SETUP} moves c3"], out=file, **QUICK)
    [record, _] = read_match(file)[1]

    class Content:
        game, header = GAME, {"rules": None, "seed": 1}
        deal_of = staticmethod(lambda record: 0)

    line, opening, _ = Recorded(Content, record).line(GAME)
    assert line[0].board()[0][0] == "X"
    assert line[0].moves() == []
    assert line[-1].moves() == record["opening_moves"] + record["moves"]
    assert opening == 1
