"""Games in the files that programs for chess and Go use: PGN, SGF, and positions in EPD.

>>> import treetop as tt
>>> [game] = tt.records.parse_pgn("1. f3 e5 2. g4 Qh4# 0-1")
>>> game.result, game.end.is_terminal
('0-1', True)
"""

from treetop.game.notation.pgn import parse_pgn, read_pgn
from treetop.game.notation.pgn_writing import pgn_text, write_pgn
from treetop.game.notation.recorded import RecordedGame, Variation
from treetop.game.notation.sgf import parse_sgf, read_sgf
from treetop.game.notation.sgf_writing import sgf_text, write_sgf

__all__ = [
    "RecordedGame",
    "Variation",
    "parse_pgn",
    "parse_sgf",
    "pgn_text",
    "read_pgn",
    "read_sgf",
    "sgf_text",
    "write_pgn",
    "write_sgf",
]
