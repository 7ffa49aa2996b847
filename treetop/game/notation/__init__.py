"""Games and positions in files: PGN, SGF, EPD."""

from __future__ import annotations

import re

from treetop.errors import SaveError
from treetop.game.notation.pgn import parse_pgn
from treetop.game.notation.recorded import RecordedGame
from treetop.game.notation.sgf import parse_sgf

_SGF = re.compile(r"\s*\(\s*;")


def first_game(text: str) -> RecordedGame:
    """Return the first game of a text in PGN or SGF.

    >>> first_game("(;SZ[9];B[ee])").end.moves(), first_game("1. e4 *").end.moves()
    (['E5'], ['e2e4'])
    """
    games = parse_sgf(text) if _SGF.match(text) else parse_pgn(text)
    for game in games:
        return game
    raise SaveError("there is no game in the text: it must be PGN or SGF")
