"""Minishogi, shogi on a small board."""

from __future__ import annotations

from treetop.game import Game, checks, family
from treetop.games.shogi_rules import make
from treetop.games.shogi_tables import MINISHOGI


@family
def minishogi(most_plies: int = 256) -> Game:
    """Checkmate the king on a board of 5 x 5 squares; captured pieces change sides and are dropped.

    `most_plies`: a game with this number of moves, of both players together, is a draw (20 to 1000).
    """
    checks.whole("most_plies", most_plies, 20, 1000)
    return make(MINISHOGI, most_plies)
