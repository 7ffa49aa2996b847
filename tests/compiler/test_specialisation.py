"""Games with the same fields never get each other's code."""

from __future__ import annotations

import treetop as tt
from treetop.oracle.perft import perft, perft_plain


def test_games_of_one_layout_keep_their_own_rules():
    games = [tt.load_game(f"nim(stones={stones})") for stones in (4, 5, 6, 7, 9)]
    counts = [perft(game, 4) for game in games]
    assert counts == [perft_plain(game, 4) for game in games]
    assert len(set(counts)) == len(games)
