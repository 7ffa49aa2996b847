"""Positions in EPD: the same as python-chess reads and writes."""

from __future__ import annotations

import pytest

import treetop as tt
from treetop.errors import ConfigError, SaveError
from treetop.games.chess import fen
from treetop.records import EpdPosition, epd_text, parse_epd, read_epd, write_epd

LINE = '1k1r4/pp1b1R2/3q2pp/4p3/2B5/4Q3/PPP2B2/2K5 b - - bm Qd1+; am Qd2+ Qd4; id "BK.01"; c0 "a; note"; ce -31;'


def test_operations_are_read_and_written():
    [position] = parse_epd(LINE)
    start = position.position
    assert position.name == "BK.01"
    assert position.best == (start.parse_move("d6d1"),)
    assert position.avoid == (start.parse_move("d6d2"), start.parse_move("d6d4"))
    assert position.operations == {"id": ("BK.01",), "c0": ("a; note",), "ce": ("-31",)}
    assert epd_text(position) == LINE
    assert position.solves(start.parse_move("Qd1"))
    assert not position.solves(start.parse_move("Qd2"))
    assert not position.solves(start.parse_move("Kc8"))


def test_python_chess_reads_what_we_write_and_we_read_what_it_writes():
    chess = pytest.importorskip("chess")
    for seed in range(5):
        rng, position = tt.Rng(seed), tt.position("chess")
        for _ in range(20 + seed):
            position = position.apply(position.sample_action(rng))
        best = position.legal_actions()[0]
        text = epd_text(EpdPosition(position, (best,), operations={"id": (f"no. {seed}",), "acd": ("3",)}))
        board, operations = chess.Board.from_epd(text)
        assert board.fen(en_passant="legal") == fen(position)
        assert [move.uci() for move in operations["bm"]] == [position.move_text(best)]
        assert operations["id"] == f"no. {seed}"
        [back] = parse_epd(board.epd(hmvc=board.halfmove_clock, fmvn=board.fullmove_number, bm=operations["bm"]))
        assert (fen(back.position), back.best) == (fen(position), (best,))


def test_a_fen_with_counters_and_a_line_without_operations_are_read(tmp_path):
    file = tmp_path / "a.epd"
    write_epd(file, [tt.position("chess")])
    file.write_text(f"# a comment\n\n{file.read_text()}4k3/8/8/8/8/8/8/4K2R w K - 7 30 bm O-O\n")
    first, second = read_epd(file)
    assert first.position == tt.position("chess")
    assert (fen(second.position).split()[4:], second.name) == (["7", "30"], "line 4")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("8/8/8/8 w -", "line 1: a position has four fields"),
        ("8/8/8/8/8/8/8/8 w - -", "line 1: .*White has no kings"),
        ("4k3/8/8/8/8/8/8/4K2R w K - bm Rh9;", "line 1: bm: 'Rh9' is not a legal move here"),
        ('4k3/8/8/8/8/8/8/4K2R w K - id "open', "is no operation"),
        ("4k3/8/8/8/8/8/8/4K2R w K - 5;", "is no operation"),
        ("4k3/8/8/8/8/8/8/4K2R w K - hmvc x;", "counters"),
        ("x" * 20_000, "at most 10,000 are read"),
    ],
)
def test_a_wrong_line_is_refused_or_skipped_with_its_number(line, message):
    with pytest.raises(SaveError, match=message):
        list(parse_epd(line))
    skipped = []
    assert len(list(parse_epd(f"{line}\n{LINE}", skipped=skipped))) == 1
    assert len(skipped) == 1


def test_other_games_have_no_epd():
    with pytest.raises(ConfigError, match="EPD holds positions of chess"):
        epd_text(tt.position("xiangqi"))
    with pytest.raises(ConfigError, match="EPD holds positions of chess"):
        list(parse_epd(LINE, game="xiangqi"))
