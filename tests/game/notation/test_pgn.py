"""Games in PGN: the same positions as python-chess reads and writes, and clear errors for wrong files."""

from __future__ import annotations

import io
from itertools import pairwise

import pytest

import treetop as tt
from treetop.errors import ConfigError, SaveError
from treetop.games.chess import fen
from treetop.records import RecordedGame, parse_pgn, pgn_text, read_pgn, write_pgn

SCHOLAR = "1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7#"


def random_game(name, seed, plies=140, **options):
    """Play random moves, from a start that is dealt by the seed where there are several."""
    rng = tt.Rng(seed)
    position = tt.position(name, seed=seed, **options)
    while not position.is_terminal and len(position.actions) < plies:
        position = position.apply(position.sample_action(rng))
    return position


def one(text, **options):
    """Read the only game of a text."""
    [game] = parse_pgn(text, **options)
    return game


@pytest.mark.parametrize("name", ["chess", "chess(variant='960')"])
@pytest.mark.parametrize("seed", range(4))
def test_python_chess_reads_the_same_game_and_writes_what_we_read(name, seed):
    pgn = pytest.importorskip("chess.pgn")
    end = random_game(name, seed)
    read = pgn.read_game(io.StringIO(pgn_text(end)))
    assert not read.errors
    board = read.board()
    for position, action, move in zip(end.positions(), end.actions, read.mainline_moves(), strict=False):
        assert board.board_fen() == fen(position).split()[0]
        assert board.san(move) == position.state.notation(action)
        board.push(move)
    assert board.fen(en_passant="legal").split()[0::4] == fen(end).split()[0::4]
    back = one(str(read))
    assert (back.end, back.start, back.actions) == (end, tt.Position(end.game, end.start), end.actions)


@pytest.mark.parametrize(
    ("setup", "uci", "san"),
    [
        ("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "a1d1", "Rd1"),
        ("4k3/8/8/8/8/8/4K3/R6R w - - 0 1", "a1d1", "Rad1"),
        ("R7/8/8/4k3/8/8/4K3/R7 w - - 0 1", "a1a4", "R1a4"),
        ("8/8/8/Q7/8/8/2k5/Q3Q1K1 w - - 0 1", "a1c3", "Qa1c3#"),
        ("4k3/8/8/8/1b6/8/3N4/4K1N1 w - - 0 1", "g1f3", "Nf3"),  # the other knight is pinned
        ("4k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7a8n", "a8=N"),
        ("1r2k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7b8q", "axb8=Q+"),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2", "e5d6", "exd6"),
        ("6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 1", "a1a8", "Ra8#"),
        ("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "e1c1", "O-O-O"),
        ("5k2/8/8/8/8/8/8/R3K2R w KQ - 0 1", "e1g1", "O-O+"),
    ],
)
def test_algebraic_notation_names_no_more_than_is_needed(setup, uci, san):
    start = tt.position("chess", setup=setup)
    assert start.state.notation(start.parse_move(uci)) == san
    assert start.parse_move(san) == start.parse_move(uci)


def test_comments_glyphs_numbers_and_variations_are_read():
    text = """% an escaped line
[Event "Test \\"A\\""]
[Result "1-0"]

{ before } 1.e4! {one} {two} e5 $14 (1... c5 2. Nf3 (2. c3 d5) 2... d6) 2. Qh5?? ; the rest
2... Nc6 3 Bc4 Nf6 (3... g6 4. Qf3 Zz9 5. d3) 4. Qxf7# 1-0"""
    game = one(text, variations=True)
    assert game.tags == {"Event": 'Test "A"'}
    assert game.comments == {0: "before", 1: "one two", 3: "the rest"}
    assert game.nags == {1: (1,), 2: (14,), 3: (4,)}
    assert [(line.ply, line.moves) for line in game.variations] == [
        (2, ["c2c3", "d7d5"]),
        (1, ["c7c5", "g1f3", "d7d6"]),
        (5, ["g7g6", "h5f3"]),
    ]
    assert len(game.notes) == 1
    assert "'Zz9'" in game.notes[0]
    assert one(text).variations == ()
    assert one(text).actions == game.actions


def test_what_is_written_is_read_again():
    game = RecordedGame(
        tt.position("chess", moves="e4 e5 Nf3"),
        ("Ada \\ L.", 'Charles "B."'),
        "1/2-1/2",
        {"Event": "Cup", "Date": "1846.09.11", "ECO": "C40"},
        {0: "A start.", 2: "a {very} " + "long " * 40},
        {3: (1, 14)},
    )
    text = pgn_text(game)
    assert max(map(len, text.splitlines())) < 80
    assert [line.split()[0] for line in text.splitlines()[:8]] == [
        "[Event", "[Site", "[Date", "[Round", "[White", "[Black", "[Result", "[ECO",
    ]  # fmt: skip
    back = one(text)
    assert (back.end, back.players, back.result, back.nags) == (game.end, game.players, game.result, game.nags)
    assert back.comments == {0: "A start.", 2: "a (very) " + "long " * 39 + "long"}
    assert back.tags["Date"] == "1846.09.11"
    assert pgn_text(back) == text


@pytest.mark.parametrize("name", ["xiangqi", "shogi", "minishogi", "breakthrough", "connect_four", "hex(size=7)"])
def test_other_games_have_a_variant_and_their_own_moves(name):
    end = random_game(name, 1, plies=30)
    text = pgn_text(end)
    assert f'[Variant "{name}"]' in text
    back = one(text)
    assert (back.end, back.game) == (end, end.game)


@pytest.mark.parametrize("name", ["chess", "xiangqi", "shogi", "minishogi", "othello"])
def test_a_game_that_was_set_up_keeps_its_start(name):
    middle = random_game(name, 2, plies=21)
    start = tt.position(name, setup=str(middle))
    end = start.play(start.legal_moves()[0])
    text = pgn_text(end)
    assert '[SetUp "1"]' in text
    assert "1..." in text or "11..." in text
    back = one(text)
    assert (back.end, back.start) == (end, start)


def test_several_games_of_a_file_are_read_one_by_one(tmp_path):
    ends = [random_game("chess", seed, plies=20) for seed in range(3)]
    write_pgn(tmp_path / "games.pgn", ends)
    assert [game.end for game in read_pgn(tmp_path / "games.pgn")] == ends
    assert [game.source.partition(", ")[0][-6:] for game in read_pgn(tmp_path / "games.pgn")] == [
        "game 1", "game 2", "game 3",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1. e4 e5 2. Qh6 *", r"the text: game 1, line 1: move 3 \('Qh6' of player 0\) is not a legal move in '.* w"),
        ('[Event "A"]\n\n1. e4\n\n{on', "line 5: a comment that begins here is not closed"),
        ("1. e4 e5 2. Nf3", "it has no result .* may be truncated"),
        ("1. e4 e5 (2. Nf3 *", "a variation is not closed"),
        ("1. e4 e5) *", r"line 1: there is no \( before this"),
        (f"{SCHOLAR} 0-1", "the record says 0-1, by the rules the last position is 1-0: correct the result"),
        (f'[Result "1/2-1/2"]\n\n{SCHOLAR} 1-0', "the tag Result says 1/2-1/2, but the moves end with 1-0"),
        (f"{SCHOLAR} Kxf7 1-0", "comes after the end of the game"),
        ('[FEN "8/8/8/8/8/8/8/8 w - - 0 1"]\n\n*', "the tag FEN: .* White has no kings"),
        ('[Variant "Atomic"]\n\n1. e4 *', "the variant 'Atomic' is not a bundled game: pass the game"),
        ('[Variant "os:system"]\n\n1. e4 *', "is not a bundled game"),
        ('[Variant "Chess960"]\n\n1. e4 *', "the tag FEN must name it"),
        ('[Variant "backgammon"]\n\n1. e4 *', "PGN and SGF hold games with no chance"),
        ('[Event "A]\n\n1. e4 *', r'a tag must be written as \[Name "value"\]'),
        ("1. e4 " + "(" * 2000, "more than 500 variations inside each other"),
        ("1. -- *", "'--' of player 0. is not a legal move"),
    ],
)
def test_a_wrong_game_is_refused_with_its_place(text, message):
    with pytest.raises(SaveError, match=message):
        list(parse_pgn(text))


def test_bad_games_can_be_skipped_with_a_report_of_each():
    good = '[Event "A"]\n\n1. e4 *\n\n'
    bad = '[Event "B"]\n\n1. e5 *\n\n', '[Event "C"]\n\n1. d4 {open\n\n', '[Event "D"]\n\n1. d4\n\n'
    skipped = []
    games = list(parse_pgn(good + good.join(bad) + good, skipped=skipped))
    assert [len(game.actions) for game in games] == [1, 1, 1, 1]
    assert [str(error).partition(":")[2].split(",")[0].strip() for error in skipped] == ["game 2", "game 4", "game 6"]


def test_a_draw_that_others_must_claim_may_be_played_on():
    shuffle = "Nf3 Nf6 Ng1 Ng8 " * 2
    game = one(f"{shuffle} e4 e5 1-0")
    assert len(game.actions) == 8
    assert game.result == "1-0"
    assert "left out: 2 further moves" in game.notes[0]


@pytest.mark.parametrize(
    ("content", "message"),
    [("1. e4 *".encode("utf-16"), "save it as UTF-8"), (b"1. e4 \0 *", "null bytes")],
)
def test_a_file_in_another_encoding_is_refused(tmp_path, content, message):
    (tmp_path / "a.pgn").write_bytes(content)
    with pytest.raises(SaveError, match=message):
        list(read_pgn(tmp_path / "a.pgn"))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1"])
def test_names_are_read_in_utf_8_and_latin_1(tmp_path, encoding):
    (tmp_path / "a.pgn").write_bytes('[White "Réti"]\r\n\r\n1. Nf3 *\r\n'.encode(encoding))
    [game] = read_pgn(tmp_path / "a.pgn")
    assert game.players == ("Réti", "?")


def test_deep_and_long_texts_are_bounded():
    for text in ("1. e4 " + "(" * 300_000, "{" * 200_000, "e4 " * 300_000, '[A "' * 50_000, "{a}" * 250_000):
        with pytest.raises(SaveError):
            list(parse_pgn(text))


def test_games_that_need_more_than_moves_are_not_written():
    for name in ("backgammon", "kuhn_poker", "rock_paper_scissors", "twenty48"):
        with pytest.raises(ConfigError, match="PGN and SGF hold games with"):
            pgn_text(tt.position(name))


def test_a_file_is_not_replaced_by_half_of_the_games(tmp_path):
    write_pgn(tmp_path / "a.pgn", [tt.position("chess")])
    before = (tmp_path / "a.pgn").read_text()
    with pytest.raises(ConfigError):
        write_pgn(tmp_path / "a.pgn", [tt.position("chess", moves="e4"), tt.position("backgammon")])
    assert (tmp_path / "a.pgn").read_text() == before


def test_lines_of_a_variation_share_the_moves_before_them():
    game = one("1. e4 e5 (1... c5) 2. Nf3 (2. f4 exf4) *", variations=True)
    for line, positions in ((line, line.end.positions()) for line in game.variations):
        assert positions[: line.ply + 1] == game.positions()[: line.ply + 1]
    assert all(first != second for first, second in pairwise(game.positions()))
