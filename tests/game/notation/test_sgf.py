"""Games in SGF: the same boards as in GNU Go, in both directions, and clear errors for wrong files."""

from __future__ import annotations

import shutil
import subprocess

import pytest

import treetop as tt
from treetop.errors import ConfigError, SaveError
from treetop.records import RecordedGame, parse_sgf, read_sgf, sgf_text, write_sgf


def gnu_go(*commands):
    """Return the answers of GNU Go."""
    program = shutil.which("gnugo") or shutil.which("gnugo", path="/usr/games:/usr/local/games")
    if program is None:
        pytest.skip("GNU Go is not installed: apt-get install gnugo")
    given = "\n".join([*commands, "quit"]) + "\n"
    done = subprocess.run([program, "--mode", "gtp"], input=given, text=True, capture_output=True, check=True)
    answers = done.stdout.split("\n\n")[: len(commands)]
    assert all(answer.startswith("=") for answer in answers), answers
    return [answer.removeprefix("=").strip() for answer in answers]


def stones(position):
    """Return the points of the stones of black and of white."""
    size, found = position.game.parameters["size"], {"X": set(), "O": set()}
    for row, cells in enumerate(position.board()):
        for column, cell in enumerate(cells):
            if cell:
                found[cell].add(f"{'ABCDEFGHJKLMNOPQRST'[column]}{size - row}")
    return found["X"], found["O"]


def random_game(start, seed, plies):
    """Play random moves."""
    rng, position = tt.Rng(seed), start
    while not position.is_terminal and len(position.actions) < plies:
        position = position.apply(position.sample_action(rng))
    return position


def one(text, **options):
    """Read the only game of a text."""
    [game] = parse_sgf(text, **options)
    return game


@pytest.mark.parametrize(("size", "seed"), [(5, 1), (9, 2), (9, 3), (13, 4)])
def test_gnu_go_reads_the_same_board_and_writes_what_we_read(tmp_path, size, seed):
    start = tt.position(f"go(size={size}, komi=6.5)")
    if seed % 2:
        start = tt.Position.parse(start.game, str(random_game(start, seed, 15)))
    end = random_game(start, seed + 10, 60)
    ours, theirs = tmp_path / "ours.sgf", tmp_path / "theirs.sgf"
    write_sgf(ours, [end])
    [back] = read_sgf(ours)
    assert (back.end, back.start, back.game) == (end, start, end.game)
    _, black, white, side, boardsize, komi, _ = gnu_go(
        f"loadsgf {ours}", "list_stones black", "list_stones white", "showboard", "query_boardsize", "get_komi",
        f"printsgf {theirs}",
    )  # fmt: skip
    assert (set(black.split()), set(white.split())) == stones(end)
    assert (boardsize, float(komi)) == (str(size), 6.5)
    assert side
    [read] = read_sgf(theirs)
    assert stones(read.end) == stones(end)
    assert end.is_terminal or read.end.player == end.player


def test_gnu_go_plays_a_handicap_that_we_read(tmp_path):
    file = tmp_path / "game.sgf"
    file.write_text("(;FF[4]GM[1]SZ[9]HA[2]AB[cg][gc];W[ee])")
    [game] = read_sgf(file)
    assert (stones(game.start), game.start.player) == (({"C3", "G7"}, set()), 1)
    assert [
        set(points.split()) for points in gnu_go(f"loadsgf {file}", "list_stones black", "list_stones white")[1:]
    ] == [*stones(game.end)]
    assert one("(;SZ[9]HA[2]AB[cg][gc])").start.player == 1


def test_a_record_has_its_names_comments_and_score():
    game = RecordedGame(
        tt.position("go(size=9, komi=0.5)", moves="E5 pass pass"),
        ("Honinbo [Shusaku]", "Gennan"),
        tags={"Event": "Castle", "Date": "1846.09.11", "RU": "Chinese", "ECO": "C40"},
        comments={0: "The start.", 1: "A \\ and ]."},
    )
    text = sgf_text(game)
    assert text.startswith(
        "(;FF[4]GM[1]CA[UTF-8]AP[Treetop]SZ[9]KM[0.5]PB[Honinbo [Shusaku\\]]PW[Gennan]DT[1846-09-11]"
    )
    assert "RE[B+80.5]" in text
    assert "ECO" not in text
    back = one(text)
    assert (back.end, back.players, back.result, back.comments) == (
        game.end, game.players, "1-0", game.comments,
    )  # fmt: skip
    assert back.tags == {"DT": "1846-09-11", "EV": "Castle", "RU": "Chinese", "RE": "B+80.5"}
    assert sgf_text(back) == text


def test_escapes_old_versions_passes_and_rectangles_are_read():
    text = "an e-mail\n(;FF[3]GaMe[1]SiZe[9]PlayerBlack[A\\\nb]AB[aa:bb][ee]AE[ab]\n;White[tt]C[1\\]2];B[];W[cc])"
    game = one(text)
    assert game.players[0] == "Ab"
    assert stones(game.start)[0] == {"A9", "B9", "B8", "E5"}
    assert game.end.moves() == ["pass", "pass"]
    assert "left out: 1 further move" in game.notes[0]
    assert game.comments == {1: "1]2"}


def test_the_main_line_or_the_whole_tree_is_read():
    text = "(;SZ[9];B[ee](;W[cc];B[gg](;W[gc])(;W[cg]C[x];B[aa]))(;W[gc](;B[aa])(;B[bb])))"
    assert one(text).end.moves() == ["E5", "C7", "G3", "G7"]
    assert one(text).variations == ()
    lines = one(text, variations=True).variations
    assert [(line.ply, line.moves) for line in lines] == [(1, ["G7", "A9"]), (2, ["B8"]), (3, ["C3", "A9"])]
    assert any(line.comments == {4: "x"} for line in lines)


@pytest.mark.parametrize("name", ["othello", "gomoku", "hex", "othello(size=6)", "hex(size=7)"])
def test_other_games_on_a_grid_are_written_and_read(name):
    end = random_game(tt.position(name), 3, 40)
    back = one(sgf_text(end))
    assert (back.end, back.actions) == (end, end.actions)


def test_a_player_of_othello_without_a_move_may_be_left_out():
    end = random_game(tt.position("othello(size=6)"), 6, 100)
    assert "pass" in end.moves()
    text = sgf_text(end).replace(";B[]", "").replace(";W[]", "")
    assert one(text).end.board() == end.board()


def test_a_result_by_agreement_counts_as_the_record_says():
    game = one("(;SZ[9]KM[7]RE[B+R];B[ee];W[cc];B[];W[])")
    assert game.result == "1-0"
    assert game.notes == ("the record says 1-0, by the rules the last position is 0-1",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(;SZ[9];B[ee]\n;B[cc])", r"the text: game 1, line 2: move 2, B\[cc\]: White is to move; a pass is a move"),
        ("(;SZ[9];B[ee];W[ee])", r"W\[ee\] is not a legal move after 1 move: correct the record"),
        ("(;SZ[9];B[jj])", "'jj' is no point of a board of 9x9; points are aa to ii"),
        ("(;SZ[9];B[ee", "a value that begins here is not closed by .*truncated"),
        ("(;SZ[9];B[ee];W[]", "the game is not closed by .*truncated"),
        ("1. e4", r"there is no game in it: one in SGF begins with \(;"),
        ("(;SZ[25])", "size must be a whole number from 2 to 19"),
        ("(;SZ[9:13])", "the board must be square"),
        ("(;GM[3])", "GM\\[3\\] is another game"),
        ("(;SZ[9]KM[six])", "the komi must be a number"),
        ("(;SZ[9]AB[aa][bb]AW[ba][ab])", "the stones that are set up: .* has no liberty"),
        ("(;SZ[9];B[ee];AB[aa])", "stones are set up after move 1"),
        ("(;SZ[9];B[ee]W[aa])", "a node has a move of both players"),
        ("(;GM[4];B[])", "is a pass, and gomoku.* has none"),
        ("(;SZ[9] 5)", "'5.*' is not expected here"),
        ("(;GM[11]SZ[2]RE[W+];B[aa];W[bb];B[ab])", "the record says 0-1, by the rules the last position is 1-0"),
    ],
)
def test_a_wrong_game_is_refused_with_its_place(text, message):
    with pytest.raises(SaveError, match=message):
        list(parse_sgf(text))


def test_bad_games_can_be_skipped_with_a_report_of_each():
    skipped = []
    text = "(;FF[4]SZ[9];B[ee])\n(;FF[4]SZ[9];B[zz])\n(;FF[4]SZ[9]?;B[ee](;W[aa]))\n(;SZ[9];B[cc])"
    assert [game.end.moves() for game in parse_sgf(text, skipped=skipped)] == [["E5"], ["C7"]]
    assert ["game 2, line 2" in str(skipped[0]), "game 3, line 3" in str(skipped[1])] == [True, True]


@pytest.mark.parametrize(("name", "encoding"), [("UTF-8", "utf-8"), ("GB2312", "gb2312"), ("", "latin-1")])
def test_names_are_read_in_the_encoding_that_the_file_names(tmp_path, name, encoding):
    player = "René" if encoding == "latin-1" else "柯洁"
    (tmp_path / "a.sgf").write_bytes(f"(;{f'CA[{name}]' if name else ''}SZ[9]PB[{player}])".encode(encoding))
    [game] = read_sgf(tmp_path / "a.sgf")
    assert game.players == (player, "?")


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"(;CA[zlib]SZ[9])", "'zlib', which is not known"), (b"(;CA[UTF-8]PB[\xff])", "not text in")],
)
def test_a_wrong_encoding_is_refused(tmp_path, content, message):
    (tmp_path / "a.sgf").write_bytes(content)
    with pytest.raises(SaveError, match=message):
        list(read_sgf(tmp_path / "a.sgf"))


def test_deep_and_long_texts_are_bounded():
    deep = "(;SZ[9];B[aa]" + "(;C[x](;W[bb]C[y]" * 20_000 + ")" * 40_001
    assert one("(;SZ[9]" + "(;C[x]" * 50_000 + ";B[aa]" + ")" * 50_001, variations=True).end.moves() == ["A9"]
    with pytest.raises(SaveError, match="move 3"):
        list(parse_sgf(deep))
    for text in ("(;" * 50_000, "(;C[" + "\\" * 200_001, "(;SZ[9]" + "[" * 1000):
        with pytest.raises(SaveError):
            list(parse_sgf(text))


def test_games_of_other_kinds_are_not_written():
    with pytest.raises(ConfigError, match="SGF is written for go, othello, gomoku, hex, not for chess"):
        sgf_text(tt.position("chess"))
