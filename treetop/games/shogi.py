"""Shogi, Japanese chess."""

from __future__ import annotations

from treetop.game import Game, checks, family
from treetop.games.shogi_rules import make
from treetop.games.shogi_tables import SHOGI


@family
def shogi(most_plies: int = 512) -> Game:
    """Checkmate the king on a board of 9 x 9 squares; captured pieces change sides and are dropped.

    `most_plies`: a game with this number of moves, of both players together, is a draw (20 to 1000).
    """
    checks.whole("most_plies", most_plies, 20, 1000)
    return make(SHOGI, most_plies)
